"""The two parts of a fuzz run: what is read, and what may come of it."""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from stella.codec import Refused
from stella.manifest.fault import report
from stella.manifest.fault import warning_report
from stella.manifest.read import Loaded
from stella.manifest.read import Unloadable
from stella.manifest.read import examine
from stella.wire.driver import read_drive
from stella.wire.driver import read_driver_message
from stella.wire.driver import read_driver_result
from stella.wire.envelope import read_message
from stella.wire.envelope import read_request
from stella.wire.host_result import read_result
from stella.wire.points import Call
from tests.fuzz.documents import MANIFEST_BYTES
from tests.fuzz.documents import MANIFESTS
from tests.fuzz.documents import MESSAGE_BYTES
from tests.fuzz.documents import MESSAGES
from tests.fuzz.documents import manifest
from tests.fuzz.documents import message
from tests.fuzz.mutation import mutated

SLOW_SECS: Final = 0.1
"""How long reading one document may take."""

GROWTH: Final = 1.1
"""How much larger the process may be at the end than after a tenth of the documents.

A larger one reads a tenth more: what leaks goes on growing, and what the allocator keeps from the
largest documents does not.
"""

STALLED: Final = 18
"""Half the growth that a leak over nine tenths of the documents has in one more."""

AGAIN: Final = 3
"""How often a slow document is read again before it counts as slow: machines are noisy."""


class Wrong(Exception):
    """A document was read as neither a value nor a refusal; the text says how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a share of a part came to; `slowest` is in seconds, sizes are in bytes."""

    read: int
    accepted: int
    slowest: float
    slow_document: bytes
    early: int
    late: int
    failure: str | None = None
    document: bytes = b""


def a_manifest(chance: Random) -> bytes:
    """Return a manifest, most often one that was made worse."""
    data = manifest(chance)
    return data if chance.random() < 0.25 else mutated(chance, data, MANIFESTS, MANIFEST_BYTES)


def a_message(chance: Random) -> bytes:
    """Return a message, most often one that was made worse."""
    data = message(chance)
    return data if chance.random() < 0.25 else mutated(chance, data, MESSAGES, MESSAGE_BYTES)


def examined(data: bytes) -> bool:
    """Read a manifest and tell of it; return whether it loads."""
    found = examine(data)
    match found:
        case Loaded():
            _told(warning_report("p", found.warnings))
        case Unloadable():
            if not found.faults:
                raise Wrong("it does not load and nothing is said to be wrong")
            _told(report("p", found.faults))
    return isinstance(found, Loaded)


def heard(reader: Callable[[bytes], object]) -> Callable[[bytes], bool]:
    """Return how a reader of the wire takes a message: whether it did, or it refused."""

    def hear(data: bytes) -> bool:
        try:
            reader(data)
        except Refused as refused:
            if not refused.reasons:
                raise Wrong("it is refused and nothing is said to be wrong") from refused
            _told("\n".join(map(str, refused.reasons)))
            return False
        return True

    return hear


def _result(data: bytes) -> object:
    """Read a result of a call that hangs on the document alone."""
    return read_result(data, tuple(Call)[len(data) % len(Call)])


def _told(text: str) -> None:
    """Refuse a text about a document that could forge a line or hide [C-3]."""
    if any(ord(char) < 32 and char != "\n" for char in text) or "\u202e" in text:
        raise Wrong(f"what is told of it is not safe to show: {text!r}")


Reader = Callable[[bytes], bool]

_WIRE: Final[tuple[Callable[[bytes], object], ...]] = (
    read_message,
    read_request,
    _result,
    read_drive,
    read_driver_message,
    read_driver_result,
)
READERS: Final[tuple[Reader, ...]] = tuple(heard(reader) for reader in _WIRE)
PARTS: Final[dict[str, tuple[Callable[[Random], bytes], tuple[Reader, ...]]]] = {
    "manifests": (a_manifest, (examined,)),
    "messages": (a_message, READERS),
}


@dataclass(slots=True)
class Clock:
    """The longest reading so far."""

    slowest: float = 0.0
    reader: Reader = examined
    document: bytes = b""

    def read(self, reader: Reader, data: bytes) -> bool:
        """Read a document; raise `Wrong` when it took too long, again and again."""
        begun = time.perf_counter()
        taken = reader(data)
        secs = time.perf_counter() - begun
        if secs > SLOW_SECS and (secs := again(reader, data)) > SLOW_SECS:
            raise Wrong(f"{len(data)} bytes took {secs * 1000:.0f} ms")
        if secs > self.slowest:
            self.slowest, self.reader, self.document = secs, reader, data
        return taken


def share(part: str, seed: str, count: int) -> Found:
    """Read `count` documents of a part and return what came of them."""
    make, readers = PARTS[part]
    chance = Random(seed)
    clock = Clock()
    accepted, early, number, data = 0, 0, 0, b""
    failure = None
    for number in range(1, count + 1):
        data = make(chance)
        try:
            taken = [clock.read(reader, data) for reader in readers]
        except Exception as error:  # noqa: BLE001  # whatever it is, it is what is looked for
            failure = f"{type(error).__name__}: {error}"
            break
        accepted += any(taken)
        if number == count // 10:
            early = resident()
    late = resident()
    if failure is None and early and late > early * GROWTH:
        for _ in range(count // 10):
            read_all(readers, make(chance))
        if (last := resident()) - late > (late - early) / STALLED:
            failure = f"the process grew from {early} to {late} and {last} bytes"
            data = clock.document
    return Found(
        read=number,
        accepted=accepted,
        slowest=clock.slowest if failure else again(clock.reader, clock.document),
        slow_document=clock.document,
        early=early,
        late=late,
        failure=failure,
        document=data if failure else b"",
    )


def read_all(readers: tuple[Reader, ...], data: bytes) -> None:
    """Read a document with every reader, unmeasured."""
    for reader in readers:
        reader(data)


def again(reader: Reader, data: bytes) -> float:
    """Return the least time of a few more readings, in seconds of this process alone.

    The first reading is timed by the clock on the wall, which other people's work moves too.
    """
    times = []
    for _ in range(AGAIN):
        begun = time.process_time()
        reader(data)
        times.append(time.process_time() - begun)
    return min(times)


def resident() -> int:
    """Return how large this process is in memory, in bytes; 0 where the system does not say."""
    gc.collect()
    place = Path("/proc/self/statm")
    return int(place.read_text("ascii").split()[1]) * 4096 if place.exists() else 0
