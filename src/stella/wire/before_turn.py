"""The question before a turn and its answer [W-17, W-24, W-25]."""

import msgspec

from stella.codec import U32
from stella.codec import U64
from stella.wire.grant import CandidateGrant
from stella.wire.points import Signal


class SignalValue(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Exactly one of a boolean or a count [W-24]."""

    boolean: bool | None = None
    count: U64 | None = None

    def __post_init__(self) -> None:
        """Refuse both and neither: the value would have two meanings or none."""
        if (self.boolean is None) == (self.count is None):
            message = 'expected exactly one of "boolean" and "count"'
            raise ValueError(message)


class PublishedSignal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A signal and the value a stage published for it [W-24]."""

    signal: Signal
    value: SignalValue


class BeforeTurnRequest(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What a member is told before a turn, keys in wire order [W-17]."""

    protocol_version: U32
    wrapper: str
    stage: str
    round: U32
    goal: str
    candidate: CandidateGrant | None = None
    published: tuple[PublishedSignal, ...] = ()


class ContextEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text for the turn and the heading it gets [W-25, D-30]."""

    label: str
    text: str


class BeforeTurnAnswer(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What a member contributes to a turn; only the version is required [W-25]."""

    protocol_version: U32
    context: tuple[ContextEntry, ...] = ()
    role: str | None = None
    scope: tuple[str, ...] = ()
    publish: tuple[PublishedSignal, ...] = ()
