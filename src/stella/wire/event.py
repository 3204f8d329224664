"""The lines of an event stream, as the host writes and a plugin reads them [W-44 to W-47].

A name or a payload key that a reader does not know is no fault; the envelope is closed.
"""

from typing import Annotated
from typing import Any

import msgspec

from stella import codec
from stella import limits
from stella.codec import Fault
from stella.codec import JsonFault
from stella.codec import Refused

Count = Annotated[int, msgspec.Meta(ge=1, extra={"le": limits.U64_MAX})]


class Event(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One event of a session's bus, keys in the order of its line [W-44, H-2].

    `turn_id` is None outside turns and `agent_id` for the lead; `sequence` begins at 1.
    """

    id: str
    name: str
    timestamp: str
    session_id: str
    turn_id: str | None = None
    agent_id: str | None = None
    sequence: Count
    payload: dict[str, Any]


class Dropped(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many events were lost since the last line of this kind [W-45]."""

    dropped: Count


EventLine = Event | Dropped
"""What a line of the stream can be."""


def write_event(line: EventLine) -> bytes:
    """Return one compact line with its newline [W-2, W-44, W-45]."""
    return codec.encode(line) + b"\n"


def read_event(data: bytes) -> EventLine:
    """Return the line in `data` as a plugin reads it, or raise `Refused` [W-14, W-47].

    `dropped` and `sequence` tell the two kinds apart; a line has one of them and not both.
    """
    tree = codec.parse(data)
    if not isinstance(tree, dict):
        fault = Fault(token=JsonFault.WRONG_TYPE, path=(), message="expected an object")
        raise Refused(fault)
    if "dropped" in tree:
        return codec.decode(Dropped, tree)
    return codec.decode(Event, tree)
