"""Who writes a session: one process, for as long as it lives [J2-2, J2-35].

The kernel holds the lock and lets it go with the process, however that ends. What the file
says is for people: which process it is.
"""

import fcntl
import os
from pathlib import Path

from stella import codec
from stella import limits
from stella.codec import Refused
from stella.errors import JournalError
from stella.escape import visible
from stella.journal import place
from stella.process.identity import Identity
from stella.process.identity import alive
from stella.process.identity import own


def take(directory: int, path: Path, session: str, *, make: bool) -> int:
    """Lock a session for this process and return the open lock file; closing it lets go.

    Raises `JournalError` naming the session and the process that holds it [J2-2].
    """
    opener = place.create_file if make else place.open_file
    file = opener(directory, path, os.O_RDWR)
    try:
        with place.naming(path):
            _claim(file, session)
    except JournalError:
        os.close(file)
        raise
    return file


def _claim(file: int, session: str) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = _read(file)
        who = f"process {holder.pid}" if holder and alive(holder) else "another process"
        raise JournalError(f"session {visible(session)}: {who} is writing it") from error
    os.ftruncate(file, 0)
    os.pwrite(file, codec.encode(own()) + b"\n", 0)


def holder(path: Path) -> Identity | None:
    """Return the living process that a lock file names, or None; takes no lock [J2-2].

    Raises `JournalError` for a lock file that is not private.
    """
    if not os.path.lexists(path):
        return None
    file = place.open_file(None, path, os.O_RDONLY)
    try:
        found = _read(file)
    finally:
        os.close(file)
    return found if found and alive(found) else None


def _read(file: int) -> Identity | None:
    try:
        return codec.read(Identity, os.pread(file, limits.LOCK_NOTE_BYTES, 0))
    except Refused:
        return None
