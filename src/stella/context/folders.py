"""Files below one open directory, reached step by step and never through a link [D-51].

What cannot be reached is absent: it may have gone, be another user's, or be a link by now.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from typing import Final

from stella import limits
from stella.files.tree import held
from stella.files.way import Way

_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

Parts = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A regular file as it stands: its size in bytes, and what tells this state from others."""

    size: int
    mark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What was read of a file; `mark` is empty when it changed meanwhile."""

    data: bytes
    mark: str


@dataclass(slots=True, kw_only=True)
class Folders:
    """Files beneath the open `top`; the way to the one looked at last is held until `close`."""

    top: int
    _way: Way = field(init=False)

    def __post_init__(self) -> None:
        """Begin at the top."""
        self._way = Way(self.top)

    def look(self, parts: Parts) -> Look | None:
        """Return how the regular file at `parts` stands, None when there is none."""
        try:
            found = os.stat(parts[-1], dir_fd=self._way.enter(parts[:-1]), follow_symlinks=False)
        except OSError:
            return None
        return _look(found)

    def is_directory(self, parts: Parts) -> bool:
        """Return whether a directory is at `parts`, and no link to one."""
        try:
            found = os.stat(parts[-1], dir_fd=self._way.enter(parts[:-1]), follow_symlinks=False)
        except OSError:
            return False
        return stat.S_ISDIR(found.st_mode)

    def read(self, parts: Parts) -> Contents | None:
        """Return the bytes of a regular file, None when it is none or above the bound."""
        try:
            with held(os.open(parts[-1], _FILE, dir_fd=self._way.enter(parts[:-1]))) as file:
                before = _look(os.fstat(file))
                if before is None:
                    return None
                data = _whole(file)
                after = _look(os.fstat(file))
        except OSError:
            return None
        if len(data) > limits.RECALL_FILE_BYTES:
            return None
        return Contents(data=data, mark=before.mark if after == before else "")

    def names(self, parts: Parts) -> Iterator[tuple[str, int]]:
        """Yield the names in the directory at `parts` with their modes, in no order."""
        try:
            with os.scandir(self._way.enter(parts)) as listed:
                for item in listed:
                    yield item.name, item.stat(follow_symlinks=False).st_mode
        except OSError:
            return

    def close(self) -> None:
        """Let go of what was opened; `top` is the caller's."""
        self._way.close()


def _look(found: os.stat_result) -> Look | None:
    if not stat.S_ISREG(found.st_mode):
        return None
    state = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return Look(size=found.st_size, mark=":".join(map(str, state)))


def _whole(file: int) -> bytes:
    """Return all bytes of an open file, or one more than are taken."""
    data = bytearray()
    while block := os.read(file, limits.RECALL_FILE_BYTES + 1 - len(data)):
        data += block
    return bytes(data)
