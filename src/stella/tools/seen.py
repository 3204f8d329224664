"""What one agent has read, so that nothing is written over unseen or changed since [T2-33].

A file is known by its real path and the digest of all its bytes. Records belong to one agent
and live as long as it; a child starts with none.
"""

from dataclasses import dataclass
from enum import Enum


class Unread(Enum):
    """Why a file may not be changed; the value is the cause of the refusal [A-51]."""

    NOT_READ = "not_read"
    CHANGED = "changed_since_read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The file as it was last read: its digest, its number of lines, the ranges shown."""

    sha256: str
    lines: int
    shown: tuple[tuple[int, int], ...]

    @property
    def whole(self) -> bool:
        """Whether every line has been shown."""
        reached = 0
        for first, last in sorted(self.shown):
            if first > reached + 1:
                return False
            reached = max(reached, last)
        return reached >= self.lines


class Seen:
    """The reads of one agent, by real path relative to the root."""

    def __init__(self) -> None:
        self._records: dict[str, Record] = {}

    def read(self, path: str, sha256: str, lines: int, *shown: tuple[int, int]) -> None:
        """Record a read: `shown` are the ranges of lines shown, first and last, from 1.

        Ranges of an earlier read still count while the digest is the same. A file whose
        lines cannot be shown (a binary one) is read with `lines` above what was shown.
        """
        known = self._records.get(path)
        earlier = known.shown if known is not None and known.sha256 == sha256 else ()
        self._records[path] = Record(
            sha256=sha256, lines=lines, shown=tuple(dict.fromkeys((*earlier, *shown)))
        )

    def wrote(self, path: str, sha256: str, lines: int) -> None:
        """Record that the agent itself wrote the whole file."""
        self._records[path] = Record(sha256=sha256, lines=lines, shown=((1, lines),))

    def edited(self, path: str, sha256: str, lines: int) -> None:
        """Record the agent's edit: known in full before, known in full after; else in part."""
        known = self._records.get(path)
        whole = known is not None and known.whole
        self._records[path] = Record(
            sha256=sha256, lines=lines, shown=((1, lines),) if whole else ()
        )

    def forget(self, path: str) -> None:
        """Record that the file is gone."""
        self._records.pop(path, None)

    def fault(self, path: str, sha256: str, *, whole: bool) -> Unread | None:
        """Return why the file with digest `sha256` may not be changed, None when it may.

        `whole` asks that all of it has been shown, as writing over it does.
        """
        known = self._records.get(path)
        if known is None:
            return Unread.NOT_READ
        if known.sha256 != sha256:
            return Unread.CHANGED
        return Unread.NOT_READ if whole and not known.whole else None
