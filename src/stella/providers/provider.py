"""What the drive asks a model and how: the port every kind of model fills [M2-1, M2-5]."""

from typing import Any
from typing import Protocol

import msgspec

from stella import limits
from stella.message import Message
from stella.message import ModelFault
from stella.message import NoReply
from stella.message import Reply


class ToolSchema(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tool as a model is told of it; `input_schema` is a JSON schema [M2-1]."""

    name: str
    description: str
    input_schema: dict[str, Any]


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One model call [M2-1].

    `max_output_tokens` is None where nobody set it. `role` says why the call is made and never
    changes what is sent [M2-2].
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    max_output_tokens: int | None = None
    role: str


def oversized(size: int, calls: int) -> NoReply | None:
    """Return why a reply of `size` bytes with so many calls is none, or None [M2-43]."""
    if size > limits.REPLY_BYTES:
        message = f"expected a reply of at most {limits.REPLY_BYTES} bytes, got {size}"
    elif calls > limits.REPLY_CALLS:
        message = f"expected at most {limits.REPLY_CALLS} calls in a reply, got {calls}"
    else:
        return None
    return NoReply(kind=ModelFault.MALFORMED, message=message)


class Model(Protocol):
    """A model that answers; an answer is one whole reply or one typed error [M2-5]."""

    @property
    def name(self) -> str:
        """The model as it was written on the command line or in settings [M2-10]."""
        ...

    @property
    def in_turn(self) -> bool:
        """Whether its answers depend on the order of the calls, so that no two agents ask at once.

        [E-96]
        """
        ...

    async def reply(self, request: ModelRequest) -> Reply | NoReply:
        """Return the model's answer; cancelling the task ends the call."""
        ...
