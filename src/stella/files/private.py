"""Directories of the host's own, that nobody else can reach where they are to be private [S2-42].

They are entered one by one. Modes are set, not left to the umask, and no link is followed. What
exists and is not private is refused, never repaired. Every fault is an `OSError` whose text
says what was expected.
"""

import errno
import os
import stat
from typing import Final

from stella.files.tree import DIRECTORY
from stella.files.write import sync_directory

OPEN_MODE: Final = 0o755
PRIVATE_MODE: Final = 0o700

_ACCESS: Final = 0o777


def step(above: int, name: str, mode: int, *, make: bool, fresh: bool = False) -> int:
    """Return the directory `name` of an open one, open for the caller to close.

    With `make` it is made when it is missing, with exactly `mode`. One that was there keeps its
    mode, and is refused when it should be private and is not; with `fresh` too it is refused
    whatever it is, by `FileExistsError`.
    """
    made = make and _made(above, name, fresh=fresh)
    here = opened(above, name, DIRECTORY)
    try:
        if made:
            os.fchmod(here, mode)
            sync_directory(above)
        elif mode == PRIVATE_MODE:
            _refuse_exposed(here, name)
    except OSError:
        os.close(here)
        raise
    return here


def opened(above: int | None, place: str, flags: int) -> int:
    """Return what bears a name, open; a link is not followed, and the error says so."""
    try:
        return os.open(place, flags | os.O_NOFOLLOW, dir_fd=above)
    except OSError as error:
        found = os.stat(place, dir_fd=above, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            said = "a symbolic link, which is not followed here"
            raise OSError(errno.ELOOP, said, place) from error
        raise


def exposed(found: os.stat_result, mode: int) -> str | None:
    """Return how somebody else can reach what should have at most `mode`, None when nobody can."""
    if found.st_uid != os.geteuid():
        return f"belongs to user {found.st_uid}, expected {os.geteuid()}"
    given = stat.S_IMODE(found.st_mode)
    if given & _ACCESS & ~mode:
        return f"expected mode {mode:04o}, got {given:04o}, which lets others in"
    return None


def _made(above: int, name: str, *, fresh: bool) -> bool:
    try:
        os.mkdir(name, PRIVATE_MODE, dir_fd=above)
    except FileExistsError:
        if fresh:
            raise
        return False
    return True


def _refuse_exposed(here: int, name: str) -> None:
    if fault := exposed(os.fstat(here), PRIVATE_MODE):
        raise OSError(errno.EPERM, fault, name)
