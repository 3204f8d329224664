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
from pathlib import Path
from typing import Final

from stella.errors import JournalError
from stella.escape import visible
from stella.files.private import OPEN_MODE
from stella.files.private import PRIVATE_MODE
from stella.files.private import exposed
from stella.files.private import opened
from stella.files.private import step

JOURNAL: Final = "journal.jsonl"
LOCK: Final = "lock"

_STELLA: Final = ".stella"
_IGNORED: Final = b"private/\ncandidates/\n"
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FILE_MODE: Final = 0o600
_IGNORE_MODE: Final = 0o644
_STEPS: Final = ((_STELLA, OPEN_MODE), ("private", PRIVATE_MODE), ("sessions", PRIVATE_MODE))


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
        for name, mode in (*_STEPS, (session, PRIVATE_MODE)):
            path /= name
            here = _step(here, path, mode, make=make, fresh=name == session)
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
    with naming(path):
        file = opened(directory, path.name if directory is not None else str(path), flags | _FILE)
    try:
        _check(file, path)
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


def _step(above: int, path: Path, mode: int, *, make: bool, fresh: bool) -> int:
    try:
        return step(above, path.name, mode, make=make, fresh=fresh)
    except FileExistsError as error:
        raise JournalError(f"{_shown(path)}: this session exists already") from error
    except OSError as error:
        raise _refused(path, mode, str(error.strerror)) from error


def _check(file: int, path: Path) -> None:
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode):
        raise JournalError(f"{_shown(path)}: expected a regular file")
    if found.st_nlink != 1:
        raise JournalError(f"{_shown(path)}: has {found.st_nlink} names (hard links), expected one")
    if fault := exposed(found, _FILE_MODE):
        raise _refused(path, _FILE_MODE, fault)


def _refused(path: Path, mode: int, fault: str) -> JournalError:
    shown = _shown(path)
    cure = f"if that is not their doing, run: chmod {mode:o} {shown}"
    return JournalError(
        f"{shown}: {fault}; {cure}" if fault.startswith("expected mode") else f"{shown}: {fault}"
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
