"""The bytes of a regular file, opened without waiting and read a block at a time.

Reading gives way to the event loop between blocks, so a cancel is heard in the middle of a
large file. What is not a regular file is never opened [T2-31].
"""

import asyncio
import hashlib
import os
import stat
from collections.abc import AsyncIterator
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from stella import limits
from stella.escape import counted
from stella.message import Failure
from stella.tools.paths import FILE
from stella.tools.paths import Spot
from stella.tools.trouble import invalid
from stella.tools.trouble import protected


def irregular(spot: Spot, status: os.stat_result) -> Failure | None:
    """Return why what stands at `spot` is no file to read or write, None when it is one."""
    mode = status.st_mode
    if stat.S_ISREG(mode):
        return None
    if stat.S_ISDIR(mode):
        return invalid(spot.given, "this is a directory; list_files shows what is in it")
    if stat.S_ISLNK(mode):
        return protected(spot.given, "this is a symbolic link")
    return protected(spot.given, "this is a device, a pipe or a socket, not a file")


@contextmanager
def opened(spot: Spot) -> Iterator[int | Failure]:
    """Hold the file at `spot` open for reading, or say why not; raises `OSError`."""
    if spot.status is not None and (failure := irregular(spot, spot.status)):
        yield failure
        return
    descriptor = os.open(spot.name, FILE, dir_fd=spot.parent)
    try:
        # What was looked at and what was opened may differ: only the open file is believed.
        yield irregular(spot, os.fstat(descriptor)) or descriptor
    finally:
        os.close(descriptor)


async def blocks(descriptor: int) -> AsyncIterator[bytes]:
    """Yield the contents of an open file from its start, at most a mebibyte at a time."""
    while block := os.read(descriptor, limits.MIB):
        yield block
        await asyncio.sleep(0)


async def digest_of(descriptor: int) -> str:
    """Return the SHA-256 of an open file's contents in hexadecimal."""
    digest = hashlib.sha256()
    async for block in blocks(descriptor):
        digest.update(block)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """What a result tells of a file's contents [T2-13]: how large, how many lines, which."""

    bytes: int
    lines: int
    sha256: str

    @property
    def shown(self) -> str:
        """The size in words."""
        return f"{counted(self.bytes, 'byte')}, {counted(self.lines, 'line')}"


def measure(data: bytes) -> Measure:
    """Return the measure of contents."""
    return Measure(bytes=len(data), lines=line_count(data), sha256=hashlib.sha256(data).hexdigest())


def line_count(data: bytes) -> int:
    """Return the number of lines; a last line without its newline counts."""
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
