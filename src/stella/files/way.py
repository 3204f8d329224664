"""The way to a path beneath an open directory, through real directories only.

A link on the way is never followed: what lies behind one is not beneath the directory.
"""

import errno
import os
import stat
from collections.abc import Sequence
from typing import Final

from stella.files.tree import DIRECTORY

# What the system says where a part of a path is missing, no directory, or a link.
_NO_WAY: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})


class Way:
    """The directories down to the last path looked at, held open for the next one beside it."""

    def __init__(self, top: int) -> None:
        self.top = top
        self._parts: list[str] = []
        self._opened: list[int] = []

    def enter(self, parts: Sequence[str], *, like: "Way | None" = None) -> int:
        """Return the open directory that `parts` lead to; it stays the way's own.

        With `like`, a way that leads along the same parts, what is missing is made with the
        permissions found there. Raises `OSError`.
        """
        same = 0
        for mine, other in zip(self._parts, parts, strict=False):
            if mine != other:
                break
            same += 1
        self._back_to(same)
        for depth, name in enumerate(parts[same:], start=same):
            here = self._opened[-1] if self._opened else self.top
            self._opened.append(_stepped(here, name, None if like is None else like.mode(depth)))
            self._parts.append(name)
        return self._opened[-1] if self._opened else self.top

    def parent(self, path: str) -> int | None:
        """Return the open directory in which `path` stands, None when no real one leads there."""
        try:
            return self.enter(path.split("/")[:-1])
        except OSError as error:
            if error.errno in _NO_WAY:
                return None
            raise

    def mode(self, depth: int) -> int:
        """Return the permissions of a directory on the way, with all of its owner's."""
        return stat.S_IMODE(os.fstat(self._opened[depth]).st_mode) & 0o777 | stat.S_IRWXU

    def close(self) -> None:
        """Let go of every directory."""
        self._back_to(0)

    def _back_to(self, depth: int) -> None:
        while len(self._opened) > depth:
            os.close(self._opened.pop())
            self._parts.pop()


def _stepped(here: int, name: str, mode: int | None) -> int:
    if mode is not None:
        try:
            os.mkdir(name, mode, dir_fd=here)
            os.chmod(name, mode, dir_fd=here)
        except FileExistsError:
            pass
    return os.open(name, DIRECTORY, dir_fd=here)
