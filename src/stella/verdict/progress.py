"""Whether a round moved anything: the last round's clauses and tree against this one's [J-19].

Pure: the tree digest is measured elsewhere and only compared here.
"""

from dataclasses import dataclass

from stella.codec import Word
from stella.verdict.finding import Clause


class Progress(Word):
    """How a round stands to the one directly before it [J-4, J-20]."""

    FIRST = "first"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    UNMEASURED = "unmeasured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a round left: its failed clauses, and the tree digest or None if unmeasurable [D-43]."""

    unmet: tuple[Clause, ...]
    tree_digest: str | None


def progress(previous: Standing | None, current: Standing) -> Progress:
    """Return how `current` stands to `previous`, which is None in round 0 [J-19, D-44].

    Clauses are compared whole, reported numbers included [J-20].
    """
    if previous is None:
        return Progress.FIRST
    if previous.tree_digest is None or current.tree_digest is None:
        return Progress.UNMEASURED
    return Progress.UNCHANGED if previous == current else Progress.CHANGED
