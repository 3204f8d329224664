"""Which records of a folded set contradict each other in how they are enforced [P-64].

Two records do when their precedence is equal, their modes differ and their paths overlap. The
work grows with the text of the records, not with the number of pairs.
"""

from bisect import bisect_left
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from typing import Final

from stella import limits
from stella.content.record import Mode

RESTRICTIVE: Final = (Mode.HARD, Mode.SOFT, Mode.NONE)
"""The modes, the most restrictive first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stance:
    """A record as far as conflicts go; `tier` is its rank, 0 the highest.

    `mode` is how it is enforced in fact, None for a record that says nothing of it: such a one
    conflicts with nothing.
    """

    tier: int
    precedence: int
    mode: Mode | None
    paths: tuple[str, ...] = ()

    @property
    def starts(self) -> tuple[str, ...]:
        """The literal starts of its globs; a record without paths overlaps every other one."""
        return tuple(_start(path) for path in self.paths) or ("",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """That a record conflicts with the one at `other`, and whether it gives way to it [P-64]."""

    other: int
    gives_way: bool


def conflicts(stances: Sequence[Stance]) -> dict[int, Conflict]:
    """Return the conflict of each record that has one, by its place in the sequence.

    Of several the one it gives way to is told, else the first of the strongest. Between tiers the
    higher tier stays in force; within one the less restrictive record gives way.
    """
    indexes: dict[tuple[int, int, Mode], _Starts] = {}
    for at, stance in enumerate(stances):
        if stance.mode is not None:
            key = (stance.precedence, stance.tier, stance.mode)
            indexes.setdefault(key, _Starts()).add(at, stance.starts)
    found: dict[int, Conflict] = {}
    tiers = sorted({stance.tier for stance in stances})
    for at, stance in enumerate(stances):
        for tier, mode in _others(stance, tiers):
            index = indexes.get((stance.precedence, tier, mode))
            other = index.overlapping(stance.starts) if index is not None else None
            if other is not None:
                found[at] = Conflict(other=other, gives_way=_stronger(tier, mode, stance))
                break
    return found


def _others(stance: Stance, tiers: Sequence[int]) -> Iterator[tuple[int, Mode]]:
    """Yield what a record could conflict with, those it would give way to first."""
    if stance.mode is None:
        return
    rest = [(tier, mode) for tier in tiers for mode in RESTRICTIVE if mode is not stance.mode]
    yield from sorted(rest, key=lambda each: not _stronger(each[0], each[1], stance))


def _stronger(tier: int, mode: Mode, stance: Stance) -> bool:
    if tier != stance.tier or stance.mode is None:
        return tier < stance.tier
    return RESTRICTIVE.index(mode) < RESTRICTIVE.index(stance.mode)


@dataclass(slots=True)
class _Starts:
    """The literal starts of many records, to be asked which of them overlaps another one."""

    first: dict[str, int] = field(default_factory=dict)
    ordered: list[str] | None = None

    def add(self, at: int, starts: tuple[str, ...]) -> None:
        for start in starts:
            self.first.setdefault(start, at)

    def overlapping(self, starts: tuple[str, ...]) -> int | None:
        """Return a record that overlaps, None when none does: one start begins with the other."""
        if self.ordered is None:
            self.ordered = sorted(self.first)
        for start in starts:
            for end in range(len(start) + 1):
                if start[:end] in self.first:
                    return self.first[start[:end]]
            at = bisect_left(self.ordered, start)
            if at < len(self.ordered) and self.ordered[at].startswith(start):
                return self.first[self.ordered[at]]
        return None


def _start(path: str) -> str:
    """Return what stands before the first `*`, as much of it as is compared."""
    return path.partition("*")[0][: limits.GLOB_START_CHARS]
