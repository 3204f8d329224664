"""What became of one content file: a value, or every reason why there is none [P-4, P-31]."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic
from typing import TypeVar

from stella import limits
from stella.escape import counted

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Reading(Generic[T]):
    """A file's text as a value, None when nothing can be made of it.

    `faults` say why there is none: in a package they refuse it [P-4], elsewhere the file is left
    out. `notes` say what was passed over or fell back, and refuse nothing. Both are single lines
    for people, author words in them already made visible.
    """

    value: T | None
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Hold what the type promises: `ValueError` for a value beside a fault, or neither."""
        if (self.value is None) is not bool(self.faults):
            raise ValueError("a reading has a value or a reason why there is none, and not both")


def first_of(notes: Iterable[str], about: str = "") -> tuple[str, ...]:
    """Return the first `limits.IGNORED_SHOWN` lines, and one that says how many more there are.

    An author writes as many as fit a file, and nobody reads them. `about` begins that line.
    """
    every = tuple(notes)
    more = len(every) - limits.IGNORED_SHOWN
    return every if more <= 0 else (*every[:-more], about + counted(more, "more note"))
