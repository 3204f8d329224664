"""The one writer of a session's journal [J2-2, J2-14, J2-30].

A record is cleared of secrets, chained to the one before and written by one call. The first
error ends the journal for good: what the disk refused once is not tried again in the hope that
nobody asks [J2-34].
"""

import os
import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any
from typing import Final
from typing import NoReturn
from typing import Self

from stella.clock import Clock
from stella.clock import stamp
from stella.errors import JournalDamaged
from stella.errors import JournalError
from stella.escape import visible
from stella.journal import entry
from stella.journal import lock
from stella.journal import place
from stella.journal import recover
from stella.journal.entry import Record
from stella.redact import Redactor

SESSION_ID: Final = re.compile(r"ses-[0-9]{8}T[0-9]{6}Z-[a-z2-7]{8}")
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz234567"
_LETTERS: Final = 8
_EXAMPLE: Final = "ses-20260811T142233Z-k3f5qa2m"

# Some systems have no call that makes the data durable without the times of the file.
_sync = getattr(os, "fdatasync", os.fsync)


def new_session_id(clock: Clock) -> str:
    """Return an id as `ses-20260811T142233Z-k3f5qa2m` [J2-3]."""
    return f"ses-{clock.now().astimezone(UTC):%Y%m%dT%H%M%SZ}-{clock.letters(_ALPHABET, _LETTERS)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A journal and its directory as open descriptors; `held` closes them and the lock."""

    path: Path
    file: int
    directory: int
    held: ExitStack


class Journal:
    """An open journal; made by `create` or `reopen`, used by one thread, closed once."""

    def __init__(self, opened: Opened, clock: Clock, redactor: Redactor) -> None:
        self._opened = opened
        self._clock = clock
        self._redactor = redactor
        self._records = 0
        self._head = entry.GENESIS
        self._size = 0
        self._durable: int | None = None
        self._failure: str | None = None

    @classmethod
    def create(cls, workspace: Path, session: str, clock: Clock, redactor: Redactor) -> Self:
        """Make a session's directory, lock it and return its empty journal [J2-1 to J2-4].

        Raises `JournalError` naming the path and the cause when any of it cannot be had.
        """
        return cls._open(workspace, session, clock, redactor, make=True)

    @classmethod
    def reopen(cls, workspace: Path, session: str, clock: Clock, redactor: Redactor) -> Self:
        """Lock a session that exists and return its journal, ready for the next record.

        A torn tail is moved aside and a `repair` record written [J2-32]. Raises
        `JournalDamaged` with the first bad line for damage anywhere else [J2-33] and
        `JournalError` when another process writes the session or its files are not private.
        """
        return cls._open(workspace, session, clock, redactor, make=False)

    @classmethod
    def _open(
        cls, workspace: Path, session: str, clock: Clock, redactor: Redactor, *, make: bool
    ) -> Self:
        if SESSION_ID.fullmatch(session) is None:
            raise JournalError(f'"{visible(session)}" is no session id; one reads {_EXAMPLE}')
        opened = _opened(workspace, session, make=make)
        with ExitStack() as failed:
            failed.push(opened.held)
            journal = cls(opened, clock, redactor)
            journal._go_on()
            failed.pop_all()
        return journal

    @property
    def path(self) -> Path:
        """Where the journal lies."""
        return self._opened.path

    @property
    def records(self) -> int:
        """How many records the journal holds, which is the `seq` of the last."""
        return self._records

    @property
    def head(self) -> str:
        """The hash of the last line, 64 zeros before the first [J2-11]."""
        return self._head

    def append(self, kind: str, turn: str | None, data: Mapping[str, Any]) -> Record:
        """Write one record by one call and return it as it stands [J2-30].

        `data["redacted"]` counts what was replaced in it, absent when nothing was [J2-23].
        Raises `ValueError` when the data is not of the type's shape, and `JournalError` when
        the disk refuses: the file is then cut back to the last whole record and takes no more.
        """
        self._usable()
        draft = Record(
            seq=self._records + 1,
            ts=stamp(self._clock.now().astimezone(UTC)),
            type=kind,
            turn=turn,
            data=dict(data),
            prev=self._head,
        )
        record, line = entry.compose(draft, self._redactor)
        self._write(line + b"\n")
        self._records = record.seq
        self._head = entry.digest(line)
        self._size += len(line) + 1
        return record

    def barrier(self) -> None:
        """Return when every record so far is durable [J2-30]; raises `JournalError` for good.

        What a disk could not make durable may be lost even if it says yes the next time, so a
        failure here ends the journal too. So does a journal somebody else moved, removed or wrote
        to: what it would tell is no longer what happened [J2-14].
        """
        self._usable()
        if self._durable == self._size:
            return
        try:
            _sync(self._opened.file)
            if self._durable is None:
                os.fsync(self._opened.directory)
            self._ours()
        except OSError as error:
            self._fail(error)
        self._durable = self._size

    def close(self) -> None:
        """Let the session go; closing again does nothing. Makes nothing durable by itself."""
        self._failure = self._failure or f"{visible(str(self.path))}: the journal is closed"
        self._opened.held.close()

    def _go_on(self) -> None:
        """Take up where the file ends, after repairing its tail."""
        with os.fdopen(os.dup(self._opened.file), "rb") as reader:
            steps = recover.Walk(file=reader)
            for _ in steps:
                pass
        if steps.damage is not None:
            raise JournalDamaged(f"{visible(str(self.path))}: {steps.damage}")
        self._records, self._head, self._size = steps.seen, steps.head, steps.size
        if steps.torn is not None:
            moved, name = recover.repair(
                self._opened.directory, self.path, self._opened.file, steps
            )
            self.append("repair", None, {"bytes": moved, "file": name})

    def _ours(self) -> None:
        found = self.path.stat(follow_symlinks=False)
        held = os.fstat(self._opened.file)
        if not os.path.samestat(found, held):
            raise OSError("somebody else moved or replaced this file during the run")
        if held.st_size != self._size:
            raise OSError(
                f"somebody else wrote to this file during the run: {self._size} bytes were "
                f"expected and {held.st_size} were found"
            )

    def _usable(self) -> None:
        if self._failure is not None:
            raise JournalError(self._failure)

    def _write(self, line: bytes) -> None:
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._opened.file, rest) :]
        except OSError as error:
            self._fail(error, torn=len(rest) < len(line))

    def _fail(self, error: OSError, *, torn: bool = False) -> NoReturn:
        cause = error.strerror or str(error)
        self._failure = f"{visible(str(self.path))}: {cause}; the journal takes no more records"
        if torn:
            try:
                os.ftruncate(self._opened.file, self._size)
            except OSError as second:
                self._failure += f", and its torn end could not be cut off: {second.strerror}"
        raise JournalError(self._failure) from error


def _opened(workspace: Path, session: str, *, make: bool) -> Opened:
    path = place.sessions_path(workspace) / session / place.JOURNAL
    opener = place.create_file if make else place.open_file
    with ExitStack() as held:
        directory = place.enter(workspace, session, make=make)
        held.callback(os.close, directory)
        lock_file = lock.take(directory, path.with_name(place.LOCK), session, make=make)
        held.callback(os.close, lock_file)
        file = opener(directory, path, os.O_RDWR | os.O_APPEND)
        held.callback(os.close, file)
        return Opened(path=path, file=file, directory=directory, held=held.pop_all())
