"""Who asks for what at a plane, and what came of it."""

from dataclasses import dataclass
from dataclasses import field

from stella.turn.purse import Purse
from stella.turn.questions import Change
from stella.turn.stages import Member
from stella.turn.tally import Tally
from stella.wire.grant import TestBaseline
from stella.wire.host_result import CallOk
from stella.wire.host_result import RefusedCall
from stella.wire.points import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """The member that asks, for which turn and round, and what that turn runs on.

    `seat` runs the turn's worker, so no child may [D-52]; `baseline` is what the run's grant
    carries [W-34]; `purse` what its turns may spend.
    """

    member: Member
    turn: str
    round: int
    seat: str
    baseline: TestBaseline
    purse: Purse = field(default_factory=Purse)


@dataclass(slots=True)
class Bill:
    """What one host call used and changed so far; it stands also when a cancel ends the call.

    `steps` is None for a call that runs no turn; `changes` are those of the real tree, None when
    they could not be measured.
    """

    spent: Tally = field(default_factory=Tally)
    steps: int | None = None
    changes: tuple[Change, ...] | None = ()

    def charge(self, tally: Tally, steps: int) -> None:
        """Add what a turn used."""
        self.spent.add(tally)
        self.steps = (self.steps or 0) + steps


Outcome = CallOk | RefusedCall
"""What a plugin is told of its call [W-33]."""


def spent(purse: Purse) -> RefusedCall | None:
    """Return the refusal of a turn when no money is left for one, else None [E-94]."""
    if not purse.empty:
        return None
    detail = f"nothing is left of the run's limit of {purse.limit} USD"
    return RefusedCall(refusal=Refusal.ALLOWANCE_SPENT, detail=detail)


def failed(detail: str) -> RefusedCall:
    """Return the refusal of what was tried and did not succeed [W-35]."""
    return RefusedCall(refusal=Refusal.FAILED, detail=detail)


def unavailable(detail: str) -> RefusedCall:
    """Return the refusal of what has nothing behind it here [W-35]."""
    return RefusedCall(refusal=Refusal.UNAVAILABLE, detail=detail)
