"""Whose a candidate is: a note on disk, written before there is anything to clean up [D-54, T-33].

The host that made a candidate holds its note locked for as long as it lives; the note also names
the host's process. Only when the lock is free and that process is gone does the note mean that
the candidate was left behind.
"""

import fcntl
import os
from dataclasses import dataclass
from typing import Final

import msgspec

from stella import codec
from stella import limits
from stella.candidates.place import NAME
from stella.codec import Refused
from stella.files.tree import names_in
from stella.files.write import TEMPORARY
from stella.files.write import sync_directory
from stella.files.write import write_all
from stella.process.identity import Identity
from stella.process.identity import alive

_END: Final = ".json"
_MODE: Final = 0o600
_CREATE: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN: Final = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Note(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person and a later host are told of a candidate."""

    handle: str
    plugin: str
    root: str
    host: Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A note that nobody else holds: it is locked until `file` is closed."""

    file: int
    note: Note


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A note that says nothing one could act on, so that what it is for is kept."""

    reason: str


def register(notes: int, name: str, note: Note) -> int:
    """Write a note, durably, and return the open file that holds it as this process's own.

    Raises the system's `OSError`; then there is no note.
    """
    temporary = f"{TEMPORARY}{name}"
    file = os.open(temporary, _CREATE, _MODE, dir_fd=notes)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.fchmod(file, _MODE)
        write_all(file, codec.encode(note) + b"\n")
        os.fsync(file)
        os.rename(temporary, f"{name}{_END}", src_dir_fd=notes, dst_dir_fd=notes)
        sync_directory(notes)
    except OSError:
        os.close(file)
        for each in (temporary, f"{name}{_END}"):
            _unlink(notes, each)
        raise
    return file


def unregister(notes: int, name: str) -> None:
    """Take a note away, durably; one that is gone already is fine."""
    _unlink(notes, f"{name}{_END}")
    sync_directory(notes)


def sweep(notes: int) -> None:
    """Take away notes that were never finished: there is no workspace for any of them."""
    for name in names_in(notes):
        if not NAME.fullmatch(name.removeprefix(TEMPORARY)) or not name.startswith(TEMPORARY):
            continue
        file = os.open(name, _OPEN, dir_fd=notes)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(name, dir_fd=notes)
        except BlockingIOError:  # a living host is about to finish it
            continue
        finally:
            os.close(file)


def registered(notes: int) -> list[str]:
    """Return the names of all candidates that have a note, in order."""
    ends = (name.removesuffix(_END) for name in names_in(notes) if name.endswith(_END))
    return [name for name in ends if NAME.fullmatch(name)]


def claim(notes: int, name: str) -> Claim | Unknown | None:
    """Return the note of a candidate whose host is gone; None while that lives [T-33].

    A number that another process has by now, with another start, counts as gone.
    """
    try:
        file = os.open(f"{name}{_END}", _OPEN, dir_fd=notes)
    except FileNotFoundError:
        return None
    except OSError as error:
        return Unknown(reason=f"its note cannot be opened: {error.strerror}")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        note = codec.read(Note, os.pread(file, limits.CANDIDATE_NOTE_BYTES, 0))
    except BlockingIOError:
        note = None
    except (Refused, OSError):
        os.close(file)
        return Unknown(reason="its note cannot be read")
    if note is None or alive(note.host):
        os.close(file)
        return None
    return Claim(file=file, note=note)


def _unlink(notes: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=notes)
    except FileNotFoundError:
        return
