"""Taking a directory away, whatever a plugin left in it, without following a link [I-66].

A tree can be deeper than a process may hold directories open, and its directories can be
closed to their owner. So each level is lifted to the top before it is emptied.
"""

import errno
import os
import stat
from typing import Final

from stella.files.tree import DIRECTORY
from stella.files.tree import held
from stella.files.tree import names_in

_OCCUPIED: Final = frozenset({errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR})


def delete(above: int, name: str) -> None:
    """Delete the directory `name` in an open directory, with all that is in it.

    Raises the system's `OSError` at the first thing that cannot be deleted; a link is none.
    """
    _open_up(above, name)
    with held(os.open(name, DIRECTORY, dir_fd=above)) as top:
        lifted = 0
        while names := names_in(top):
            for each in names:
                if is_directory(top, each):
                    lifted = _flatten(top, each, lifted)
                else:
                    os.unlink(each, dir_fd=top)
    os.rmdir(name, dir_fd=above)


def is_directory(above: int, name: str) -> bool:
    """Return whether a name in an open directory is a directory and no link to one."""
    return stat.S_ISDIR(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode)


def _flatten(top: int, name: str, lifted: int) -> int:
    """Empty one directory: its files go, its directories move up. Returns the last number used."""
    _open_up(top, name)
    with held(os.open(name, DIRECTORY, dir_fd=top)) as here:
        for each in names_in(here):
            if is_directory(here, each):
                _open_up(here, each)
                lifted = _lift(here, each, top, lifted)
            else:
                os.unlink(each, dir_fd=here)
    os.rmdir(name, dir_fd=top)
    return lifted


def _lift(here: int, name: str, top: int, lifted: int) -> int:
    while True:
        lifted += 1
        try:
            os.rename(name, f".{lifted}", src_dir_fd=here, dst_dir_fd=top)
        except OSError as error:
            if error.errno not in _OCCUPIED:
                raise
        else:
            return lifted


def _open_up(above: int, name: str) -> None:
    """Give the owner back what a directory needs to be read, emptied and moved."""
    mode = os.stat(name, dir_fd=above, follow_symlinks=False).st_mode
    if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(name, stat.S_IRWXU, dir_fd=above)
