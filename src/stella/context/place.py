"""Where the index lies: one private directory and one session in it at a time [D-51, S2-42].

The index is shared by the sessions of a workspace, so that only the first pays for it; a lock
of the kernel's, let go with the process that holds it, keeps them apart. An index file that
is not private is no index and is thrown away; a directory that is not is refused.
"""

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from contextlib import contextmanager
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Final

from stella import limits
from stella.clock import Clock
from stella.files.private import OPEN_MODE
from stella.files.private import PRIVATE_MODE
from stella.files.private import exposed
from stella.files.private import step
from stella.files.tree import held

INDEX: Final = "index.db"
LOCK: Final = "lock"

_BESIDE: Final = tuple(f"{INDEX}-{name}" for name in ("journal", "wal", "shm"))
_FILE: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FILE_MODE: Final = 0o600
_ASK_AGAIN_SECS: Final = 0.02


@contextmanager
def alone(root: int, below: tuple[str, ...], clock: Clock, stop: Event) -> Iterator[int]:
    """Hold the directory at `below` the open `root` for this search alone.

    What is missing is made, all but the first of them open to nobody else. Raises `OSError`: the
    directory cannot be made, is a link or not private, or another session keeps it for
    `limits.RECALL_WAIT_MS`.
    """
    with ExitStack() as kept:
        here = root
        for at, name in enumerate(below):
            mode = PRIVATE_MODE if at else OPEN_MODE
            here = kept.enter_context(held(step(here, name, mode, make=True)))
        lock = kept.enter_context(held(os.open(LOCK, _FILE, _FILE_MODE, dir_fd=here)))
        _wait(lock, clock, stop)
        yield here


def prepare(directory: int) -> None:
    """See to it that the index is a private file; what stands in its place is removed."""
    for name in (INDEX, *_BESIDE):
        with suppress(FileNotFoundError):
            found = os.stat(name, dir_fd=directory, follow_symlinks=False)
            if not (
                stat.S_ISREG(found.st_mode)
                and exposed(found, _FILE_MODE) is None
                and found.st_nlink == 1
            ):
                os.unlink(name, dir_fd=directory)
    os.close(os.open(INDEX, _FILE, _FILE_MODE, dir_fd=directory))


def discard(directory: int) -> None:
    """Throw the index away, with what the database keeps beside it."""
    for name in (INDEX, *_BESIDE):
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=directory)


def path_of(root: Path, below: tuple[str, ...]) -> Path:
    """Return the path of the index, for the database that opens files by path only."""
    return root.joinpath(*below, INDEX)


def _wait(lock: int, clock: Clock, stop: Event) -> None:
    began = clock.ticks()
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        if clock.ticks() - began >= limits.RECALL_WAIT_MS:
            raise OSError(errno.EBUSY, "another session is working on the index")
        if stop.wait(_ASK_AGAIN_SECS):
            raise OSError(errno.EINTR, "the search was given up")
