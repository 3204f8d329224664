"""Taking a directory away, whatever was left in it, without following a link [I-66, D-85].

A tree can be deeper than a process may hold directories open, and its directories can be
closed to their owner; neither keeps it from being removed.
"""

import errno
import os
import stat
from typing import Final

from stella.files.tree import DIRECTORY
from stella.files.tree import names_in

_NEEDED: Final = stat.S_IRWXU


def delete(above: int, name: str) -> None:
    """Delete the directory `name` in an open directory, with all that is in it.

    Raises the system's `OSError` at the first thing that cannot be deleted; a link is none.
    """
    if not is_directory(above, name):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    # One directory is open at a time: the way back is `..`, compared with what was left there.
    way: list[tuple[str, tuple[int, int], list[str]]] = []
    here, names = os.dup(above), [name]
    try:
        while names or way:
            if not names:
                each, left, names = way.pop()
                here = _moved(here, "..")
                if _identity(here) != left:
                    raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
                os.rmdir(each, dir_fd=here)
            elif is_directory(here, each := names.pop()):
                _open_up(here, each)
                way.append((each, _identity(here), names))
                here = _moved(here, each)
                names = names_in(here)
            else:
                os.unlink(each, dir_fd=here)
    finally:
        os.close(here)


def is_directory(above: int, name: str) -> bool:
    """Return whether a name in an open directory is a directory and no link to one."""
    return stat.S_ISDIR(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode)


def _moved(here: int, name: str) -> int:
    there = os.open(name, DIRECTORY, dir_fd=here)
    os.close(here)
    return there


def _identity(directory: int) -> tuple[int, int]:
    found = os.fstat(directory)
    return found.st_dev, found.st_ino


def _open_up(above: int, name: str) -> None:
    """Give the owner back what a directory needs to be listed and emptied."""
    mode = os.stat(name, dir_fd=above, follow_symlinks=False).st_mode
    if mode & _NEEDED != _NEEDED:
        os.chmod(name, _NEEDED, dir_fd=above)
