"""Where a session's files lie, made and opened so that nobody else can reach them [J2-1, S2-42].

Every step goes from one open directory to the next and follows no link, so nothing can be put
in the way between a check and a use. Modes are set, not left to the umask. What exists and is
not private is refused with its path, never repaired.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from contextlib import contextmanager
from contextlib import suppress
from pathlib import Path
from typing import Final

from stella.errors import JournalError
from stella.escape import visible

JOURNAL: Final = "journal.jsonl"
LOCK: Final = "lock"

_STELLA: Final = ".stella"
_IGNORED: Final = b"private/\ncandidates/\n"
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_OPEN_MODE: Final = 0o755
_DIRECTORY_MODE: Final = 0o700
_FILE_MODE: Final = 0o600
_IGNORE_MODE: Final = 0o644
_STEPS: Final = ((_STELLA, _OPEN_MODE), ("private", _DIRECTORY_MODE), ("sessions", _DIRECTORY_MODE))


def sessions_path(workspace: Path) -> Path:
    """Return the directory that holds one directory per session [S2-41]."""
    return workspace.joinpath(*(name for name, _ in _STEPS))


def enter(workspace: Path, session: str, *, make: bool) -> int:
    """Return the directory of a session, open for the caller to close.

    With `make` it is made, and what is missing above it, `.stella/.gitignore` included; a
    session that is there already is refused. Without, everything must be there. Raises
    `JournalError` naming the path and the cause [J2-1, J2-4].
    """
    path = workspace
    with ExitStack() as held, naming(path):
        here = os.open(path, _DIRECTORY)
        held.callback(os.close, here)
        for name, mode in (*_STEPS, (session, _DIRECTORY_MODE)):
            path /= name
            made = make and _made(here, path)
            if make and not made and name == session:
                raise JournalError(f"{_shown(path)}: this session exists already")
            here = _step(here, path, mode, made=made)
            held.callback(os.close, here)
            if make and name == _STELLA:
                _ignore(here, path / ".gitignore", session)
        return os.dup(here)


def create_file(directory: int, path: Path, flags: int) -> int:
    """Return a new private file of an open directory; one that exists is refused [J2-1]."""
    with naming(path):
        file = os.open(
            path.name, flags | _FILE | os.O_CREAT | os.O_EXCL, _FILE_MODE, dir_fd=directory
        )
        os.fchmod(file, _FILE_MODE)
        return file


def open_file(directory: int | None, path: Path, flags: int) -> int:
    """Return an existing private file, by its name in an open directory or by its path.

    Raises `JournalError` when it is a link, no regular file, somebody else's, reachable under
    a second name or open to others [J2-1, S2-42].
    """
    file = _opened(directory, path, flags | _FILE)
    try:
        _check(file, path, _FILE_MODE)
    except JournalError:
        os.close(file)
        raise
    return file


def write_file(directory: int, path: Path, data: bytes, *, mode: int, tag: str) -> None:
    """Put a whole file in place of what bears its name, durably [S2-42].

    `tag` keeps two writers of one name apart until the rename.
    """
    name = f"{path.name}.{tag}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _FILE
    with naming(path), os.fdopen(os.open(name, flags, mode, dir_fd=directory), "wb") as file:
        os.fchmod(file.fileno(), mode)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
        os.rename(name, path.name, src_dir_fd=directory, dst_dir_fd=directory)
        os.fsync(directory)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn what the system refuses inside into a `JournalError` naming the file and the cause."""
    try:
        yield
    except OSError as error:
        raise JournalError(f"{_shown(path)}: {error.strerror or error}") from error


def _made(above: int, path: Path) -> bool:
    with naming(path), suppress(FileExistsError):
        os.mkdir(path.name, _DIRECTORY_MODE, dir_fd=above)
        return True
    return False


def _step(above: int, path: Path, mode: int, *, made: bool) -> int:
    here = _opened(above, path, _DIRECTORY | os.O_NOFOLLOW)
    try:
        if made:
            with naming(path):
                os.fchmod(here, mode)
                os.fsync(above)
        elif mode == _DIRECTORY_MODE:
            _check(here, path, mode)
    except JournalError:
        os.close(here)
        raise
    return here


def _opened(above: int | None, path: Path, flags: int) -> int:
    """Return what bears a name, open; a link is not followed, and the message says so."""
    place = path if above is None else path.name
    try:
        return os.open(place, flags, dir_fd=above)
    except OSError as error:
        with naming(path):
            link = stat.S_ISLNK(os.stat(place, dir_fd=above, follow_symlinks=False).st_mode)
        cause = "a symbolic link, which is not followed here" if link else error.strerror
        raise JournalError(f"{_shown(path)}: {cause}") from error


def _check(opened: int, path: Path, mode: int) -> None:
    found = os.fstat(opened)
    shown = _shown(path)
    if mode == _FILE_MODE and not stat.S_ISREG(found.st_mode):
        raise JournalError(f"{shown}: expected a regular file")
    if found.st_uid != os.geteuid():
        raise JournalError(f"{shown}: belongs to user {found.st_uid}, expected {os.geteuid()}")
    if mode == _FILE_MODE and found.st_nlink != 1:
        raise JournalError(f"{shown}: has {found.st_nlink} names (hard links), expected one")
    given = stat.S_IMODE(found.st_mode)
    if given & 0o777 & ~mode:
        raise JournalError(
            f"{shown}: expected mode {mode:04o}, got {given:04o}, which lets others in;"
            f" if that is not their doing, run: chmod {mode:o} {shown}"
        )


def _ignore(stella: int, path: Path, session: str) -> None:
    try:
        found = os.stat(path.name, dir_fd=stella, follow_symlinks=False)
    except FileNotFoundError:
        write_file(stella, path, _IGNORED, mode=_IGNORE_MODE, tag=session)
        return
    # A file of the person's is theirs; git reads nothing else, and then private/ is not ignored.
    if not stat.S_ISREG(found.st_mode):
        link = "a symbolic link, which git does not follow"
        cause = link if stat.S_ISLNK(found.st_mode) else "no regular file"
        raise JournalError(
            f"{_shown(path)}: {cause}; expected a file that ignores private/; remove what is there"
        )


def _shown(path: Path) -> str:
    return visible(str(path))
