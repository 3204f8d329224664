"""The question after a turn and its answer [W-18, W-19, W-26]."""

import msgspec

from stella.codec import U32
from stella.wire.evidence import ObservedEvidence
from stella.wire.grant import CandidateGrant


class TurnOutcome(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What the turn did [W-19].

    For `tools` and `changed_files` None means "not measured by this host" and an empty
    tuple "measured, none". An aborted turn has `completed` false and the reason in `answer`.
    """

    completed: bool
    answer: str = ""
    tools: tuple[str, ...] | None = None
    changed_files: tuple[str, ...] | None = None


class AfterTurnRequest(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What a member is told after a turn [W-18]; `stage` is the last that ran, if any [Q-8]."""

    protocol_version: U32
    wrapper: str
    stage: str | None = None
    round: U32
    goal: str
    candidate: CandidateGrant | None = None
    turn: TurnOutcome


class AfterTurnAnswer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a member observed [W-26]."""

    protocol_version: U32
    evidence: ObservedEvidence
