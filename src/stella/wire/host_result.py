"""What a plugin is told of a host call: what was found or done, or why it was refused [W-33].

The host writes these and a plugin reads them; `ok` has no tag, because the plugin knows what it
asked. A refusal is data: the point goes on and the plugin decides what to do [W-37].
"""

from dataclasses import dataclass
from typing import Any

import msgspec

from stella import codec
from stella.codec import U8
from stella.codec import U32
from stella.codec import U64
from stella.codec import Fault
from stella.codec import JsonFault
from stella.codec import Refused
from stella.wire.envelope import as_object
from stella.wire.envelope import within
from stella.wire.grant import TestBaseline
from stella.wire.points import Call
from stella.wire.points import Refusal


class Frame(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One passage that a recall found [W-33, D-51].

    `kind` is `memory` or `file` and `source` `notes` or `workspace` where this host found it;
    `uri` is a path relative to the root.
    """

    label: str
    kind: str
    source: str
    uri: str | None = None
    content: str


class RecallOk(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What a recall found; nothing found is the empty object [W-33]."""

    frames: tuple[Frame, ...] = ()


class ChildTurnOk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a child turn reported, and whether it came to its end [W-33, D-53]."""

    role: str
    seat: str
    report: str
    completed: bool


class RunTestOk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the granted test ended in a candidate [W-34].

    `exit_code` is null when the run timed out or a signal ended it; `duration_ms` are
    milliseconds; `output_tail` is the end of stdout and stderr as they came.
    """

    candidate: str
    passed: bool
    # A factory, not a default: msgspec would take null for a missing key otherwise.
    exit_code: U8 | None = msgspec.field(default_factory=lambda: None)
    baseline: TestBaseline
    duration_ms: U64
    output_tail: str


class Attempt(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One candidate of a fan-out: where it lies and what its turn did there [W-33, D-55]."""

    candidate: str
    root: str
    report: str
    completed: bool
    files_changed: U32
    lines_changed: U32


class FanoutOk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The asked width and the candidates that were made [W-33, D-54]."""

    requested: U32
    candidates: tuple[Attempt, ...]


class AdoptOk(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The candidate whose changes stand in the real tree now, and those that are gone [D-57]."""

    adopted: str
    discarded: tuple[str, ...] = ()


class EmitOk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The full name of the event that was written [W-33, D-60]."""

    emitted: str


class RefusedCall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why a call was not served; `detail` names the value and what would be accepted [W-36]."""

    refusal: Refusal
    detail: str


CallOk = RecallOk | ChildTurnOk | RunTestOk | FanoutOk | AdoptOk | EmitOk
"""What stands in `ok`, one shape per call [W-33]."""

OK: dict[Call, type[CallOk]] = {
    Call.RECALL: RecallOk,
    Call.CHILD_TURN: ChildTurnOk,
    Call.RUN_TEST: RunTestOk,
    Call.CANDIDATE_FANOUT: FanoutOk,
    Call.ADOPT_CANDIDATE: AdoptOk,
    Call.EMIT: EmitOk,
}
"""The shape of `ok` per call [W-33]."""


class _Result(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    result: U32
    ok: dict[str, Any] | None = None
    err: RefusedCall | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostResult:
    """The answer to the host call numbered `id` [W-33]."""

    id: int
    outcome: CallOk | RefusedCall


def write_result(result: HostResult) -> bytes:
    """Return a result as one compact line with its newline, keys in wire order [W-2, W-33]."""
    key = "err" if isinstance(result.outcome, RefusedCall) else "ok"
    return codec.encode({"result": result.id, key: result.outcome}) + b"\n"


def read_result(data: bytes, call: Call) -> HostResult:
    """Return the result of `call` in one document, as a plugin reads it, or raise `Refused`.

    Exactly one of `ok` and `err` must be there [W-33].
    """
    tree = as_object(codec.parse(data))
    ok = tree.get("ok")
    if isinstance(ok, dict):
        # Read by the shape of its call: as free data its numbers would be held to 64 signed bits.
        tree = {**tree, "ok": {}}
    told = codec.decode(_Result, tree)
    if (told.ok is None) == (told.err is None):
        message = 'expected exactly one of "ok" and "err"'
        raise Refused(Fault(token=JsonFault.MIXED_MESSAGE, path=(), message=message))
    if told.err is not None:
        return HostResult(id=told.result, outcome=told.err)
    return HostResult(id=told.result, outcome=within("ok", OK[call], ok))
