"""What hooks add to a journal: each run of one, and each asking of the Stop gate [H-53, E-38]."""

from stella.codec import U32
from stella.codec import U64
from stella.codec import Word
from stella.turn.facts import Fact


class GateEnd(Word):
    """What the Stop gate came to in a turn [E-44]."""

    NOT_ASKED = "not_asked"
    ALLOWED = "allowed"
    CAPPED = "capped"
    UNAVAILABLE = "unavailable"
    UNANSWERED = "unanswered"


class HookRan(Fact, frozen=True, kw_only=True):
    """One run of a hook; `cause` None is a success, and only then it may have decided [H-53]."""

    type = "hook_run"
    event: str
    by: str
    cause: str | None = None
    decision: str
    exit_code: int | None = None
    duration_ms: U64
    stdout_tail: str | None = None
    stderr_tail: str | None = None


class StopGated(Fact, frozen=True, kw_only=True):
    """The Stop gate was asked: whom, what the strongest word was and whose [E-38].

    `spent` and `allowed` are the holds of the one who decided, after this asking.
    """

    type = "stop_gate"
    asked: tuple[str, ...]
    decision: str
    by: str | None = None
    spent: U32 | None = None
    allowed: U32 | None = None
    reason: str | None = None
