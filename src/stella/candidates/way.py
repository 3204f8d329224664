"""Looking at a path beneath an open directory, through real directories only, and reading it.

A link on the way is never followed: what lies behind one is not beneath the directory.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Callable
from collections.abc import Sequence
from typing import Final

from stella import limits
from stella.candidates.candidate import Item
from stella.files.kind import Kind
from stella.files.kind import kind_of
from stella.files.tree import DIRECTORY

READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
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


def kind_at(here: int | None, name: str) -> Kind | None:
    """Return what stands at a name in an open directory, None for nothing."""
    if here is None:
        return None
    try:
        return kind_of(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return None


def item_at(
    here: int | None, name: str, *, sink: Callable[[bytes], None] | None = None
) -> Item | None:
    """Return what stands at a name in an open directory, read whole, None for nothing.

    `sink` is given each block of a regular file and may raise to end the reading. Raises
    `OSError` when it cannot be read.
    """
    kind = kind_at(here, name)
    if here is None or kind is None:
        return None
    if kind is Kind.LINK:
        target = os.readlink(name, dir_fd=here)
        digest = hashlib.sha256(os.fsencode(target)).hexdigest()
        return Item(kind=kind, digest=digest, target=target)
    if kind is not Kind.FILE:
        return Item(kind=kind)
    file = os.open(name, READ, dir_fd=here)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):  # something else took its place just now
            return Item(kind=kind_of(found.st_mode))
        digest = _digest(file, sink)
    finally:
        os.close(file)
    return Item(kind=kind, digest=digest, program=bool(found.st_mode & stat.S_IXUSR))


def _digest(file: int, sink: Callable[[bytes], None] | None) -> str:
    whole = hashlib.sha256()
    while block := os.read(file, limits.MIB):
        whole.update(block)
        if sink is not None:
            sink(block)
    return whole.hexdigest()


def _stepped(here: int, name: str, mode: int | None) -> int:
    if mode is not None:
        try:
            os.mkdir(name, mode, dir_fd=here)
            os.chmod(name, mode, dir_fd=here)
        except FileExistsError:
            pass
    return os.open(name, DIRECTORY, dir_fd=here)
