"""A bounded walk over directories that follows no link, in the order of their paths.

It visits at most a given number of entries [G-33] and says where it stopped, so that a
later walk is compared only with what this one saw.
"""

import os
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stella import limits
from stella.files.kind import Kind

_VERSION_CONTROL: Final = ".git"
# Written by the host itself and picked up by no runner.
_OURS: Final = (".stella/private", ".stella/candidates")

Place = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry: its path relative to the root, and what it is."""

    path: str
    kind: Kind

    @property
    def name(self) -> str:
        """The last component."""
        return self.path.rpartition("/")[2]


class Walk:
    """One walk beneath `root` from the directories `starts`, "" being the root itself.

    `.git` is never entered, nor what the host writes under `.stella`. After `entries` is
    used up, `horizon` is the last place seen before the bound, or None when all was seen,
    and `unreadable` lists the directories that could not be listed.
    """

    def __init__(
        self, root: Path, starts: Iterable[str], *, most: int = limits.WATCHED_ENTRIES
    ) -> None:
        self.root = root
        self.starts = outermost(starts)
        self.left = most
        self.horizon: Place | None = None
        self.unreadable: list[str] = []

    def entries(self) -> Iterator[Entry]:
        """Yield every entry beneath the starts, parents before children, paths in order."""
        waiting = [Entry(path=start, kind=Kind.DIRECTORY) for start in reversed(self.starts)]
        first = frozenset(self.starts)
        while waiting:
            entry = waiting.pop()
            if entry.path not in first:
                yield entry
            if entry.kind is not Kind.DIRECTORY:
                continue
            children = self._children(entry.path)
            if children is None:
                self.horizon = place(entry.path)
                return
            waiting += reversed(children)

    def _children(self, path: str) -> list[Entry] | None:
        """Return the sorted entries of one directory, or None when they are too many."""
        found: list[Entry] = []
        try:
            with os.scandir(self.root / path) as listing:
                for item in listing:
                    self.left -= 1
                    if self.left < 0:
                        return None
                    inner = f"{path}/{item.name}" if path else item.name
                    if not left_out(inner):
                        found.append(Entry(path=inner, kind=_kind(item)))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError:
            self.unreadable.append(path)
            return []
        return sorted(found, key=lambda entry: entry.name)


def left_out(path: str) -> bool:
    """Return whether a path is version control's own or written by the host itself [Q-1]."""
    return _VERSION_CONTROL in path.split("/") or any(beneath(path, ours) for ours in _OURS)


def outermost(starts: Iterable[str]) -> tuple[str, ...]:
    """Return the directories of `starts` that lie in no other one of them, in path order."""
    kept: list[str] = []
    for start in sorted(set(starts), key=place):
        if not any(beneath(start, other) for other in kept):
            kept.append(start)
    return tuple(kept)


def place(path: str) -> Place:
    """Return a path as its components, the order in which a walk visits; () is the root."""
    return tuple(path.split("/")) if path else ()


def beneath(path: str, directory: str) -> bool:
    """Return whether `path` is `directory` or lies in it."""
    return directory in ("", path) or path.startswith(f"{directory}/")


def parent(path: str) -> str:
    """Return the directory a path lies in, "" for the root."""
    return path.rpartition("/")[0]


def _kind(item: "os.DirEntry[str]") -> Kind:
    if item.is_symlink():
        return Kind.LINK
    if item.is_dir(follow_symlinks=False):
        return Kind.DIRECTORY
    return Kind.FILE if item.is_file(follow_symlinks=False) else Kind.OTHER
