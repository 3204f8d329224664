"""What a driver and the host say to each other, as shapes only [W-80 to W-86].

This release starts no process for a `[driver]` block. The messages are fixed here, so that a
release that does can change none of them.
"""

from dataclasses import dataclass
from typing import Any

import msgspec

from stella import codec
from stella.codec import U32
from stella.codec import Fault
from stella.codec import JsonFault
from stella.codec import Refused
from stella.wire.envelope import as_object
from stella.wire.envelope import unmixed
from stella.wire.host_result import RefusedCall
from stella.wire.points import DriverVerb

POINT = "drive"
"""The value of `point` in the first and the last message of a session [W-81, W-84]."""


class Drive(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a driver is told first: the session it drives; there is no version [W-81]."""

    session: str


class DriverAsk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One request of a driver, without arguments; `id` is its own number and is echoed [W-82]."""

    call: DriverVerb
    id: U32


class Sleep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Be woken again after so many seconds [W-84]."""

    secs: U32


class Halt(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Be woken no more, and why [W-84]."""

    reason: str


class Next(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What comes after a session: exactly one of a sleep and a halt [W-84]."""

    sleep: Sleep | None = None
    halt: Halt | None = None

    def __post_init__(self) -> None:
        """Refuse both and neither: the host assumes none of them [W-86]."""
        if (self.sleep is None) == (self.halt is None):
            message = 'expected exactly one of "sleep" and "halt"'
            raise ValueError(message)


class DriverEnd(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The last message of a driver [W-84]."""

    next: Next


class Served(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What stands in `ok` when a request was served: nothing [W-83]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverResult:
    """The answer to the request numbered `id` [W-83]."""

    id: int
    outcome: Served | RefusedCall


@dataclass(frozen=True, slots=True)
class NoNext:
    """A session that ended without saying what comes next: a failure, no decision [W-86]."""


class _Opened(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    point: str
    body: Drive


class _Ended(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    point: str
    body: DriverEnd


class _Result(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    result: U32
    ok: Served | None = None
    err: RefusedCall | None = None


def write_drive(opening: Drive) -> bytes:
    """Return the first message of a session as one line with its newline [W-2, W-81]."""
    return codec.encode({"point": POINT, "body": opening}) + b"\n"


def read_drive(data: bytes) -> Drive:
    """Return the first message of a session, as a driver reads it, or raise `Refused`."""
    tree = as_object(codec.parse(data))
    _drives(tree)
    return codec.decode(_Opened, tree).body


def read_driver_message(data: bytes) -> DriverAsk | DriverEnd:
    """Return what a driver says in one document, or raise `Refused` [W-82, W-84, W-85]."""
    tree = as_object(codec.parse(data))
    unmixed(tree)
    if "call" in tree:
        return codec.decode(DriverAsk, tree)
    _drives(tree)
    return codec.decode(_Ended, tree).body


def write_driver_result(result: DriverResult) -> bytes:
    """Return the answer to a driver's request as one line with its newline [W-83]."""
    key = "err" if isinstance(result.outcome, RefusedCall) else "ok"
    return codec.encode({"result": result.id, key: result.outcome}) + b"\n"


def read_driver_result(data: bytes) -> DriverResult:
    """Return the answer to a request, as a driver reads it, or raise `Refused` [W-83].

    Exactly one of `ok` and `err` must be there.
    """
    told = codec.read(_Result, data)
    outcome = told.err if told.ok is None else told.ok
    if outcome is None or None not in (told.ok, told.err):
        message = 'expected exactly one of "ok" and "err"'
        raise Refused(Fault(token=JsonFault.MIXED_MESSAGE, path=(), message=message))
    return DriverResult(id=told.result, outcome=outcome)


def after(end: DriverEnd | None) -> Sleep | Halt | NoNext:
    """Return what follows a session; None means that it ended without its last message [W-86]."""
    chosen = None if end is None else end.next.sleep or end.next.halt
    return NoNext() if chosen is None else chosen


def _drives(tree: dict[str, Any]) -> None:
    """Refuse a message of another point; a missing one is told by its table."""
    point = tree.get("point")
    if isinstance(point, str) and point != POINT:
        raise Refused(
            Fault(
                token=JsonFault.UNKNOWN_TOKEN,
                path=("point",),
                message=f'expected "{POINT}"',
                found=point,
            )
        )
