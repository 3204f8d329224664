"""How much money is left, and when it is spent: the one limit that all turns of a run share.

Money is exact: sums are decimals and never floats [M2-63]. A turn is stopped when more was spent
than there was [E-81]; a further round is forbidden as soon as nothing is left [Q-4].
"""

from dataclasses import dataclass
from decimal import Decimal

from stella.turn.tally import Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Purse:
    """What may still be spent, in USD; `left` None is no limit. `limit` is the run's own."""

    limit: Decimal | None = None
    left: Decimal | None = None

    @classmethod
    def of(cls, limit: Decimal | None) -> "Purse":
        """Return a full purse."""
        return cls(limit=limit, left=limit)

    def after(self, tally: Tally) -> "Purse":
        """Return what is left when a tally is paid; what has no price is not known to be paid."""
        if self.left is None:
            return self
        return Purse(limit=self.limit, left=self.left - tally.known_usd)

    def share(self, among: int) -> "Purse":
        """Return the part of one of several turns that are begun together [D-54, E-94]."""
        if self.left is None:
            return self
        return Purse(limit=self.limit, left=max(self.left, Decimal(0)) / among)

    @property
    def empty(self) -> bool:
        """Whether nothing is left, so that nothing new may begin [Q-4, E-94]."""
        return self.left is not None and self.left <= 0

    def crossed(self, tally: Tally) -> str | None:
        """Return why a turn with this tally must stop, None when it may go on [E-81, E-84]."""
        if self.left is None:
            return None
        if tally.unpriced:
            return f"a call has no known cost, and the run has a limit of {self.limit} USD"
        if tally.known_usd > self.left:
            return f"the run reached its limit of {self.limit} USD"
        return None
