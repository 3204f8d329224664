"""Verdict to continuation: one more round with a correction, or stop [J-21].

Pure and total over its types. Counts, ceilings and progress are facts the host hands in;
a plugin influences none of them, and its ask can only lower the bound [J-5, M-21].
"""

from typing import assert_never

import msgspec

from stella.codec import U32
from stella.codec import Word
from stella.verdict.finding import Clause
from stella.verdict.finding import Met
from stella.verdict.finding import Undecided
from stella.verdict.finding import Unmet
from stella.verdict.finding import Verdict
from stella.verdict.guidance import Guidance
from stella.verdict.guidance import guidance
from stella.verdict.progress import Progress
from stella.wire.grade import Grade

# ── what is given ─────────────────────────────────────────────────────────────────────


class Ceiling(Word):
    """The limit of the run that forbids another turn [J-52]."""

    MONEY = "money"
    TIME = "time"
    STEPS = "steps"


class State(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Facts of the run: holds spent in it so far, the person's bound on them [J-5, D-19]."""

    holds_spent: U32
    host_max_holds: U32
    progress: Progress = Progress.FIRST
    ceiling: Ceiling | None = None


class Grant(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What the person granted: the grade, and the plugin's own ask for holds [J-4]."""

    participation: Grade
    max_holds: U32 | None = None


# ── what is said ──────────────────────────────────────────────────────────────────────


class StopReason(Word):
    """Why a run ends unmet, when there is nothing to count [J-50]."""

    NOT_AN_ARBITER = "not_an_arbiter"
    NO_PROGRESS = "no_progress"


class Allowance(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Holds spent, and how many there were."""

    spent: U32
    allowed: U32


class AllowanceSpent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """No hold is left [J-21]."""

    allowance_spent: Allowance


class Reached(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which limit was reached."""

    ceiling: Ceiling


class BudgetSpent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A limit of the run forbids another turn [J-52, Q-4]."""

    budget_spent: Reached


Stopped = StopReason | AllowanceSpent | BudgetSpent
"""Why no further round is bought [J-50]."""


class Left(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The failed clauses a run ends with, all of them, and why it ends [J-22]."""

    unmet: tuple[Clause, ...]
    stopped: Stopped


class StoppedUnmet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The outcome of a run that ends unmet."""

    unmet: Left

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """Return every failed clause."""
        return self.unmet.unmet

    @property
    def stopped(self) -> Stopped:
        """Return why the run ends."""
        return self.unmet.stopped


Outcome = Met | StoppedUnmet | Undecided
"""How a run ends [J-50]."""


class Correction(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the next round is told: the failed clauses and their text [J-21]."""

    unmet: tuple[Clause, ...]
    guidance: Guidance


class Held(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A hold and its correction."""

    correction: Correction


class Another(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One more round."""

    again: Held

    @property
    def correction(self) -> Correction:
        """Return what the next round is told."""
        return self.again.correction


class Ended(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The end of the rounds and its outcome."""

    outcome: Outcome


class Stop(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """No further round."""

    stop: Ended

    @property
    def outcome(self) -> Outcome:
        """Return how the run ends."""
        return self.stop.outcome


Continuation = Another | Stop
"""What again gives [J-1]."""


# ── the decision ──────────────────────────────────────────────────────────────────────


def again(verdict: Verdict, state: State, grant: Grant) -> Continuation:
    """Return one more round or the end; at most `allowed + 1` rounds happen [J-21, J-23]."""
    match verdict:
        case Met() | Undecided():
            return Stop(stop=Ended(outcome=verdict))
        case Unmet():
            return _after_unmet(verdict.clauses, state, grant)
        case _:
            assert_never(verdict)


def allowed(state: State, grant: Grant) -> int:
    """Return the holds of the run: the lower of the plugin's ask and the person's bound [J-21].

    An ask of zero is zero holds, not the absence of an ask.
    """
    if grant.max_holds is None:
        return state.host_max_holds
    return min(grant.max_holds, state.host_max_holds)


def _after_unmet(clauses: tuple[Clause, ...], state: State, grant: Grant) -> Continuation:
    if (why := _stopped(state, grant)) is not None:
        left = Left(unmet=clauses, stopped=why)
        return Stop(stop=Ended(outcome=StoppedUnmet(unmet=left)))
    text = guidance(clauses, state.holds_spent, allowed(state, grant))
    return Another(again=Held(correction=Correction(unmet=clauses, guidance=text)))


def _stopped(state: State, grant: Grant) -> Stopped | None:
    """Return why an unmet verdict ends the run, the first that applies [J-21 rows 3 to 6]."""
    if grant.participation.rank < Grade.ARBITER.rank:
        return StopReason.NOT_AN_ARBITER
    if state.ceiling is not None:
        return BudgetSpent(budget_spent=Reached(ceiling=state.ceiling))
    bound = allowed(state, grant)
    if state.holds_spent >= bound:
        return AllowanceSpent(allowance_spent=Allowance(spent=state.holds_spent, allowed=bound))
    if state.progress is Progress.UNCHANGED:
        return StopReason.NO_PROGRESS
    return None
