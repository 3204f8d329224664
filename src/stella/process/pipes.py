"""What connects the host with a child: three pipes, read and written at once, and a control socket.

[T-7, T-16]
"""

import asyncio
import os
import select
import socket
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from io import BytesIO

from stella import limits


class Meter:
    """Counts the output of all streams of a run together and knows the cap [T-24].

    `crossed` is the stream whose byte was one too many, or None. Without a cap nothing is.
    """

    def __init__(self, cap: int | None) -> None:
        self.crossed: str | None = None
        self._room = cap

    def admit(self, stream: str, size: int) -> int:
        """Return how many of `size` further bytes of `stream` fit."""
        if self._room is None:
            return size
        fits = min(size, self._room)
        self._room -= fits
        if fits < size and self.crossed is None:
            self.crossed = stream
        return fits


class Kept:
    """The bytes of one stream: all of them, or only the last `tail`, in flat memory."""

    def __init__(self, tail: int | None) -> None:
        self.total = 0
        self.tail = tail
        self._all = BytesIO()
        self._last = bytearray()

    def add(self, block: bytes) -> None:
        """Keep a block."""
        self.total += len(block)
        if self.tail is None:
            self._all.write(block)
            return
        self._last += block
        if len(self._last) > 2 * self.tail + limits.READ_BLOCK_BYTES:
            del self._last[: len(self._last) - self.tail]

    def at(self, start: int, size: int) -> bytes:
        """Return up to `size` bytes from `start`, when all is kept."""
        with self._all.getbuffer() as view:
            return bytes(view[start : start + size])

    def value(self) -> bytes:
        """Return what is kept."""
        if self.tail is None:
            return self._all.getvalue()
        return bytes(self._last[max(0, len(self._last) - self.tail) :])


class Outlet:
    """The end of the child's stdout or stderr: always drained, counted, kept [T-20, T2-42].

    `fault` is the system's error that ended the stream, or empty.
    """

    def __init__(self, name: str, descriptor: int, *, meter: Meter, kept: Kept) -> None:
        self.name = name
        self.over = False
        self.fault = ""
        self.kept = kept
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self._meter = meter
        self._taken = 0
        self._news = asyncio.Event()
        self._changed: Callable[[], None] = self._news.set
        os.set_blocking(descriptor, False)

    def watch(self, changed: Callable[[], None]) -> None:
        """Begin to drain. `changed` is called once, when the stream is over or crosses the cap."""
        self._changed = changed
        self._loop.add_reader(self._descriptor, self._read)

    async def receive(self) -> bytes:
        """Return the next block that nobody has received, at most 8 KiB; empty at the end [T-17].

        Raises RuntimeError when only the tail is kept: what comes could be gone before it is read.
        """
        if self.kept.tail is not None:
            raise RuntimeError("a run that keeps only a tail has nothing to receive")
        while self._taken == self.kept.total and not self.over:
            self._news.clear()
            await self._news.wait()
        block = self.kept.at(self._taken, limits.READ_BLOCK_BYTES)
        self._taken += len(block)
        return block

    def finish(self) -> None:
        """Take what is in the pipe at this moment and close it."""
        left = limits.PIPE_BYTES
        while not self.over and left > 0 and (read := self._read()):
            left -= read
        self.close()

    def close(self) -> None:
        """Stop reading. May be called again."""
        if self.over:
            return
        self.over = True
        self._news.set()
        if not self._loop.is_closed():
            self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)

    def _read(self) -> int:
        try:
            block = os.read(self._descriptor, limits.READ_BLOCK_BYTES)
        except BlockingIOError:
            return 0
        except OSError as error:
            self.fault = str(error)
            block = b""
        fits = self._meter.admit(self.name, len(block))
        self.kept.add(block[:fits])
        self._news.set()
        if not block or fits < len(block):
            self.close()
            self._changed()
        return len(block)


class Inlet:
    """The end of the child's stdin. A child that does not read is no fault [T-21].

    `fault` is the write error other than a broken pipe that ended it, or None [W-52].
    """

    def __init__(self, descriptor: int) -> None:
        self.fault: str | None = None
        self._loop = asyncio.get_running_loop()
        self._descriptor = descriptor
        self._open = True
        self._waiting = False
        self._unsent = bytearray()
        self._sent = asyncio.Event()
        self._sent.set()
        os.set_blocking(descriptor, False)

    @property
    def open(self) -> bool:
        """Whether neither side has closed the stream, as far as is known."""
        return self._open

    @property
    def room(self) -> bool:
        """Whether the pipe takes a short line at once, whole; False for one that is closed."""
        if not self._open:
            return False
        poller = select.poll()
        poller.register(self._descriptor, select.POLLOUT)
        return [events for _, events in poller.poll(0)] == [select.POLLOUT]

    def put(self, data: bytes) -> bool:
        """Write what the pipe takes at once and return whether that was all of `data`.

        The rest follows as the child reads. False as well when nobody reads any more.
        """
        if not self._open:
            return False
        blocked = bool(self._unsent)
        self._unsent += data
        if not blocked:
            self._write()
        return not self._unsent

    async def send(self, data: bytes) -> None:
        """Write `data` and wait until the pipe has all of it, or nobody reads it any more."""
        self.put(data)
        await self.sent()

    async def sent(self) -> None:
        """Wait until the pipe has all that was put, or nobody reads it any more."""
        await self._sent.wait()

    def close(self) -> None:
        """End the stream; bytes not written yet are dropped. May be called again."""
        if not self._open:
            return
        self._open = False
        self._sent.set()
        self._wait_no_more()
        os.close(self._descriptor)

    def _write(self) -> None:
        try:
            while self._unsent:
                del self._unsent[: os.write(self._descriptor, self._unsent[: limits.PIPE_BYTES])]
        except BlockingIOError:
            self._sent.clear()
            self._waiting = True
            self._loop.add_writer(self._descriptor, self._write)
        except BrokenPipeError:
            self.close()
        except OSError as error:
            self.fault = str(error)
            self.close()
        else:
            self._wait_no_more()
            self._sent.set()

    def _wait_no_more(self) -> None:
        # Most writes fit at once, and the loop takes its time to say that it watches nothing.
        if self._waiting and not self._loop.is_closed():
            self._loop.remove_writer(self._descriptor)
        self._waiting = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """Our ends, and what is handed over: the descriptors of the child's."""

    control: socket.socket
    inlet: Inlet
    outlets: tuple[Outlet, ...]
    theirs: tuple[int, ...]


def connect(
    ours: ExitStack, theirs: ExitStack, *, meter: Meter, keep: int | None, merge: bool
) -> Ends:
    """Make everything that connects host and child; each stack closes its ends.

    Merged, stderr is stdout's pipe. Raises OSError when there are no descriptors left.
    """
    control, far = socket.socketpair()
    ours.callback(control.close)
    theirs.callback(far.close)
    stdin, ours_in = os.pipe()
    theirs.callback(os.close, stdin)
    inlet = Inlet(ours_in)
    ours.callback(inlet.close)
    passed = [far.fileno(), stdin]
    outlets: list[Outlet] = []
    for name in ("stdout",) if merge else ("stdout", "stderr"):
        ours_out, out = os.pipe()
        theirs.callback(os.close, out)
        outlets.append(Outlet(name, ours_out, meter=meter, kept=Kept(keep)))
        ours.callback(outlets[-1].close)
        passed.append(out)
    if merge:
        passed.append(passed[-1])
    return Ends(control=control, inlet=inlet, outlets=tuple(outlets), theirs=tuple(passed))
