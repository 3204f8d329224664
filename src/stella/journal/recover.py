"""Reads a journal back and tells a torn tail from damage [J2-32, J2-33].

Reading takes no lock, holds one line at a time and never writes. A writer that dies leaves at
most one torn line at the end; anything else that is not as it was written is damage.
"""

import os
from collections import Counter
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import BinaryIO

from stella import limits
from stella.escape import counted
from stella.escape import visible
from stella.journal import entry
from stella.journal import lock
from stella.journal import place
from stella.journal.entry import Record
from stella.journal.kinds import known


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """The first line that is not what was written: `line` counts from 1, `seq` was due there."""

    line: int
    seq: int
    expected: str
    found: str

    def __str__(self) -> str:
        return f"line {self.line} (seq {self.seq}): expected {self.expected}, got {self.found}"


@dataclass(slots=True, kw_only=True)
class Walk:
    """One pass over a journal: iterate once for the records, then ask what was seen.

    `seen`, `head` and `size` are the number, the hash and the bytes of the whole lines before
    any fault. `torn` holds the bytes of a torn last line [J2-32], `damage` the first line that
    is wrong elsewhere [J2-33]. `skipped` counts records of types or versions this reader does
    not know; they are chained like the others and never yielded [J2-12].
    """

    file: BinaryIO
    seen: int = 0
    head: str = entry.GENESIS
    size: int = 0
    torn: bytes | None = None
    damage: Damage | None = None
    skipped: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[Record]:
        """Yield the known records up to the first fault, in order."""
        while raw := self.file.readline(limits.RECORD_BYTES + 1):
            found = self._judged(raw)
            if isinstance(found, bytes):
                self.torn = found
                return
            if isinstance(found, Damage):
                self.damage = found
                return
            self.seen += 1
            self.head = entry.digest(raw[:-1])
            self.size += len(raw)
            if known(found.type):
                yield found
            else:
                self.skipped[found.type] += 1

    def _judged(self, raw: bytes) -> Record | Damage | bytes:
        if len(raw) > limits.RECORD_BYTES:
            return self._wrong(f"a line of at most {limits.RECORD_BYTES} bytes", "a longer one")
        if not raw.endswith(b"\n"):
            return raw
        record = entry.read(raw[:-1])
        if isinstance(record, str):
            last = not self.file.read(1)
            return raw if last else self._wrong("a whole record", visible(record))
        if record.seq != self.seen + 1:
            return self._wrong(f"seq {self.seen + 1}", f"seq {record.seq}")
        if record.prev != self.head:
            return self._wrong(
                f"prev {self.head}, the hash of the line before", f"prev {visible(record.prev)}"
            )
        return record

    def _wrong(self, expected: str, found: str) -> Damage:
        due = self.seen + 1
        return Damage(line=due, seq=due, expected=expected, found=found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A journal in memory: its known records up to the first fault, and what else was seen."""

    records: tuple[Record, ...]
    head: str
    torn: bytes | None
    damage: Damage | None
    skipped: Mapping[str, int]

    def notes(self) -> tuple[str, ...]:
        """Return one line for a person per thing that is not as it should be."""
        return (*_odd(self.damage, self.torn), *_unread(self.skipped))


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What verifying found [J2-50]; a torn last record is reported and is not damage.

    `records` counts whole records, skipped ones included; `torn` is a number of bytes; `writer`
    is the id of the living process that has the session open.
    """

    records: int
    head: str
    torn: int | None
    damage: Damage | None
    skipped: Mapping[str, int]
    writer: int | None

    @property
    def ok(self) -> bool:
        """Whether everything that is there is what was written."""
        return self.damage is None


@contextmanager
def walk(path: Path) -> Iterator[Walk]:
    """Open a journal for one pass; raises `JournalError` when it is not a private file [J2-1]."""
    with os.fdopen(place.open_file(None, path, os.O_RDONLY), "rb") as file:
        yield Walk(file=file)


def read(path: Path) -> Reading:
    """Return what a journal holds; raises `JournalError` when it cannot be opened."""
    with walk(path) as steps:
        records = tuple(steps)
    return Reading(
        records=records,
        head=steps.head,
        torn=steps.torn,
        damage=steps.damage,
        skipped=dict(steps.skipped),
    )


def verify(path: Path, head: str | None = None) -> Report:
    """Return whether a journal is what was written, without keeping it in memory [J2-50].

    `head` is the hash of its last line as it was noted elsewhere; without it a change of the
    last line alone, or the loss of whole lines at the end, cannot show [J2-11].
    """
    with walk(path) as steps:
        for _ in steps:
            pass
    damage = steps.damage
    if damage is None and head is not None and head != steps.head:
        damage = Damage(
            line=steps.seen,
            seq=steps.seen,
            expected=f"a last line with the hash {visible(head)}",
            found=steps.head,
        )
    holder = lock.holder(path.with_name(place.LOCK))
    return Report(
        records=steps.seen,
        head=steps.head,
        torn=None if steps.torn is None else len(steps.torn),
        damage=damage,
        skipped=dict(steps.skipped),
        writer=holder.pid if holder else None,
    )


def repair(directory: int, path: Path, file: int, steps: Walk) -> tuple[int, str]:
    """Move a torn tail into a file of its own and cut the journal before it [J2-32].

    Returns the number of bytes moved and the name of that file, for the `repair` record. The
    tail is safe before the journal is cut, so a crash between the two loses nothing.
    """
    torn = steps.torn or b""
    name = f"torn-{steps.seen + 1}.bin"
    place.write_file(directory, path.with_name(name), torn, mode=0o600, tag="repair")
    with place.naming(path):
        os.ftruncate(file, steps.size)
        os.fsync(file)
    return len(torn), name


def _odd(damage: Damage | None, torn: bytes | None) -> Iterator[str]:
    if damage is not None:
        yield f"damaged: {damage}; nothing after it is shown"
    if torn is not None:
        yield f"the last record is torn: {counted(len(torn), 'byte')} at the end are no record"


def _unread(skipped: Mapping[str, int]) -> Iterator[str]:
    for kind, count in sorted(skipped.items()):
        yield f"skipped {counted(count, 'record')} of the unknown type {visible(kind)}"
