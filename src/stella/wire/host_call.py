"""What a plugin may ask between request and answer, one shape of arguments per call [W-30].

The plugin writes these and the host reads them; what it is told stands in `host_result`.
"""

import msgspec

from stella.codec import U32
from stella.wire.points import Call


class RecallArgs(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Search for `goal`, at most `limit` frames [W-30]."""

    goal: str
    limit: U32 | None = None


class ChildTurnArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One read-only turn in a declared role [W-30]."""

    role: str
    instruction: str


class RunTestArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Run the granted test in a candidate [W-30]."""

    candidate: str


class FanoutArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Start several isolated attempts [W-30]."""

    role: str
    instruction: str
    width: U32


class AdoptArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Apply one attempt to the real tree [W-30]."""

    candidate: str


class EmitArgs(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Write an event of the plugin's own into the journal [W-30, W-32]."""

    name: str
    payload: dict[str, object]


CallArgs = RecallArgs | ChildTurnArgs | RunTestArgs | FanoutArgs | AdoptArgs | EmitArgs

ARGS: dict[Call, type[CallArgs]] = {
    Call.RECALL: RecallArgs,
    Call.CHILD_TURN: ChildTurnArgs,
    Call.RUN_TEST: RunTestArgs,
    Call.CANDIDATE_FANOUT: FanoutArgs,
    Call.ADOPT_CANDIDATE: AdoptArgs,
    Call.EMIT: EmitArgs,
}
"""The shape of `args` per call [W-30]."""


class HostCall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One call of a plugin; `id` is the plugin's own number and is echoed [W-30]."""

    call: Call
    id: U32
    args: CallArgs
