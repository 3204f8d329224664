"""The conversation: messages, tool calls, results, replies. No provider's dialect [M2-3, M2-4]."""

from typing import Any

import msgspec

from stella.codec import U64
from stella.codec import Word


class Role(Word):
    """Who a message is from [M2-3]."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class FinishReason(Word):
    """Why a reply ended [M2-4]."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "tool_calls"
    CONTENT_FILTER = "content_filter"


class ErrorClass(Word):
    """What kind of failure a tool call met [T2-2]."""

    INVALID_INPUT = "invalid_input"
    NOT_FOUND = "not_found"
    PERMISSION_DENIED = "permission_denied"
    REFUSED_BY_POLICY = "refused_by_policy"
    TIMEOUT = "timeout"
    ENVIRONMENT = "environment"
    CANCELLED = "cancelled"
    NOT_EXECUTED = "not_executed"
    INTERNAL = "internal"
    OTHER = "other"


class Ok(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a call gave: text for the model, data for programs [T2-1]."""

    content: str
    data: dict[str, Any] | None = None


class Failure(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    rename={"kind": "class"},
):
    """Why a call gave nothing: the message for the model, its class and cause [T2-1, T2-2]."""

    message: str
    kind: ErrorClass
    cause: str | None = None
    data: dict[str, Any] | None = None


class Output(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The envelope of a tool's result: exactly one of `ok` and `error` [T2-1]."""

    ok: Ok | None = None
    error: Failure | None = None

    def __post_init__(self) -> None:
        """Refuse both and neither [T2-4]."""
        if (self.ok is None) == (self.error is None):
            message = 'expected exactly one of "ok" and "error"'
            raise ValueError(message)

    @property
    def text(self) -> str:
        """What the model is shown."""
        if self.ok is not None:
            return self.ok.content
        assert self.error is not None  # noqa: S101  # one of the two is there by construction
        return self.error.message


def succeeded(content: str, data: dict[str, Any] | None = None) -> Output:
    """Return the envelope of a call that gave something [T2-1]."""
    return Output(ok=Ok(content=content, data=data))


def failed(
    kind: ErrorClass, message: str, cause: str | None = None, data: dict[str, Any] | None = None
) -> Output:
    """Return the envelope of a call that gave nothing [T2-1]."""
    return Output(error=Failure(message=message, kind=kind, cause=cause, data=data))


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call a reply asks for; `input` is an object, or raw text that did not parse [M2-20]."""

    name: str
    input: dict[str, Any] | str


class Asked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call with the id the host gave it, `t1.c2` [E-2]."""

    call_id: str
    name: str
    input: dict[str, Any] | str


class Answered(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The result of a call, for the transcript [M2-3]."""

    call_id: str
    output: Output


class Message(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One entry of the transcript [M2-3]; empty lists are omitted."""

    role: Role
    content: str | None = None
    tool_calls: tuple[Asked, ...] = ()
    tool_results: tuple[Answered, ...] = ()


class Usage(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What a model call used; None is unknown, which is not zero [M2-4]."""

    reported: bool
    input_tokens: U64
    output_tokens: U64
    cached_input_tokens: U64 | None = None
    cache_write_tokens: U64 | None = None
    reasoning_tokens: U64 | None = None


class Reply(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One complete answer of a model [M2-4]; `cost_usd` None is unknown, never zero."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    usage: Usage
    model: str
    cost_usd: float | None
    finish_reason: FinishReason


class ModelFault(Word):
    """Why a model call gave no reply [M2-30]."""

    TRANSPORT = "transport"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    AUTH = "auth"
    UNKNOWN_MODEL = "unknown_model"
    MALFORMED = "malformed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    CONTEXT_OVERFLOW = "context_overflow"
    OUTPUT_BUDGET_EXCEEDED = "output_budget_exceeded"
    TERMINAL = "terminal"
    SCRIPT_EXHAUSTED = "script_exhausted"
    REPLAY_MISMATCH = "replay_mismatch"


class NoReply(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A model call failed: a typed error as a value [M2-5, M2-30]."""

    kind: ModelFault
    message: str
    status: int | None = None
    retry_after_ms: U64 | None = None
    affordable_output_tokens: U64 | None = None
