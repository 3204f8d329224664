"""A file of the person's home that must be theirs alone, read and written [I-26, S2-42].

What others could have written proves nothing, so it is not read at all. What a reader could not
use is put aside for repair and never overwritten.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from contextlib import contextmanager
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stella import limits
from stella.errors import RosterError
from stella.escape import visible
from stella.files import tree
from stella.files.write import READ
from stella.files.write import TEMPORARY
from stella.files.write import sync_directory
from stella.files.write import write_atomic
from stella.roster.scope import kept
from stella.roster.scope import naming

_ANCHOR: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_MODE: Final = 0o600
_NO_FILE: Final = frozenset({errno.ENXIO, errno.ENOTDIR})
"""What opening says of a socket and of a file in place of a directory."""
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class Unreadable(RosterError):
    """The system did not give the bytes of a file that may be a good one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Private:
    """The bytes of a file and when they were last written, in nanoseconds by the file system."""

    data: bytes
    written: int


def read_private(home: Path, path: Path, most: int) -> Private | None:
    """Return a file that stands in the home or one directory below it, None without one.

    Raises `RosterError` when it is no regular file with one name, belongs to somebody else, may
    be written by others, has more than `most` bytes, or lies behind a link; `Unreadable` when
    the system does not say what it is.
    """
    with ExitStack() as held:
        try:
            here = held.enter_context(tree.held(os.open(home, _ANCHOR)))
            if path.parent != home:
                below = os.open(path.parent.name, tree.DIRECTORY, dir_fd=here)
                here = held.enter_context(tree.held(below))
            file = held.enter_context(tree.held(os.open(path.name, READ, dir_fd=here)))
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise RosterError("a symbolic link, which is not followed here") from error
            kind = RosterError if error.errno in _NO_FILE else Unreadable
            raise kind(error.strerror or str(error)) from error
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise RosterError("expected a regular file with one name")
        if found.st_uid != os.geteuid():
            raise RosterError("the file belongs to somebody else")
        if found.st_mode & _OTHERS_WRITE:
            raise RosterError("others may write the file, so it proves nothing; see chmod 600")
        try:
            data = tree.content(file, most + 1)
        except OSError as error:
            raise Unreadable(error.strerror or str(error)) from error
    if len(data) > most:
        raise RosterError(f"the file has more than {most} bytes")
    return Private(data=data, written=found.st_mtime_ns)


def contents_of(home: Path, path: Path, most: int) -> bytes | None:
    """Return the bytes of a private file, None without one or when it is not the person's alone.

    Raises `RosterError` when the system does not give them.
    """
    try:
        found = read_private(home, path, most)
    except Unreadable as error:
        raise RosterError(f"{visible(str(path))}: {error}") from error
    except RosterError:
        return None
    return None if found is None else found.data


def write_private(home: Path, path: Path, data: bytes, *, token: str, damaged: bool) -> None:
    """Put a file in place whole, with mode 0600; the caller keeps other writers away [I-26].

    It stands in the home or one directory below it. `token` is a key of the file's own, so that
    only its own temporary files are taken away, a dash, and letters of chance. A file that is
    `damaged` is renamed first and kept for repair. Raises `RosterError`.
    """
    if len(data) > limits.LOCK_BYTES:
        raise RosterError(
            f"{visible(str(path))}: would have {len(data)} bytes, the limit is {limits.LOCK_BYTES}"
        )
    key, _, mark = token.rpartition("-")
    with _beside(home, path) as directory:
        clear_temporary(directory, key)
        if damaged:
            aside = _aside(path, mark)
            os.rename(path.name, aside, src_dir_fd=directory, dst_dir_fd=directory)
            sync_directory(directory)
        write_atomic(directory, path.name, data, _MODE, token=token)


def come_back(home: Path, path: Path, *, mark: str) -> bool:
    """Return whether a file that a writer of this mark put aside as damaged is in its place again.

    Raises `RosterError`.
    """
    with _beside(home, path) as directory:
        aside = _aside(path, mark)
        if aside not in tree.names_in(directory):
            return False
        os.rename(aside, path.name, src_dir_fd=directory, dst_dir_fd=directory)
        sync_directory(directory)
        return True


def delete_private(home: Path, path: Path) -> None:
    """Delete a private file that is there. Raises `RosterError`."""
    with _beside(home, path) as directory:
        os.unlink(path.name, dir_fd=directory)
        sync_directory(directory)


def clear_temporary(directory: int, key: str) -> None:
    """Take away what killed writers of `key` left in an open directory.

    Other writers of that key wait for the caller. Raises the system's `OSError`.
    """
    for name in tree.names_in(directory):
        if name.startswith(f"{TEMPORARY}{key}-"):
            with suppress(IsADirectoryError):
                os.unlink(name, dir_fd=directory)


@contextmanager
def _beside(home: Path, path: Path) -> Iterator[int]:
    below = () if path.parent == home else (path.parent.name,)
    with kept(home, *below) as directory, naming(path):
        yield directory


def _aside(path: Path, mark: str) -> str:
    return f"{path.name}.damaged-{mark}"
