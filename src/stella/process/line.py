"""The host's line to the guard of one child: the request goes out, reports come in.

Every wait of it ends: a guard or a warden that does not answer is woken, then killed, then
given up.
"""

import os
import signal
import socket
from asyncio import AbstractEventLoop
from asyncio import TimerHandle
from collections.abc import Callable
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from stella import limits
from stella.process import warden as guard
from stella.process.door import Warden
from stella.process.handle import Handle


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """The child runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The system refused to start it: its error number, and whether the directory was at fault."""

    errno: int
    at_cwd: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Exited:
    """The child is dead; what it left may not be yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """Nothing is left but `left` processes that could not be killed.

    `code` is the child's exit status, negative for a signal, None when unknown; `killed`
    counts the others that had to be killed.
    """

    code: int | None
    killed: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """The guard is gone. With `given_up` it did not go and what it guards may still run."""

    given_up: bool


Report = Started | Failed | Exited | Ended | Lost


def request(
    cwd: str, argv: Iterable[str], env: Iterable[tuple[str, str]], umask: int = limits.UMASK
) -> bytes:
    """Return the request for one child, byte for byte as the system will see it [T-3].

    Raises ValueError for what no system can take: a NUL, or `=` in the name of a variable.
    """
    words = tuple(argv)
    pairs: list[str] = []
    for name, value in env:
        if not name or "=" in name:
            raise ValueError(f"a variable cannot be named {name!r}")
        pairs.append(f"{name}={value}")
    fields = (cwd, str(umask), str(len(words)), *words, *pairs)
    if any("\0" in field for field in fields):
        raise ValueError("a NUL character cannot be passed to a program")
    body = b"\0".join(map(os.fsencode, fields))
    return guard.LENGTH.pack(len(body)) + body


class Line:
    """Our end of the control socket. `hear` gets every report, none after an ending one."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        control: socket.socket,
        warden: Warden,
        hear: Callable[[Report], None],
    ) -> None:
        self.accepted = False
        """Whether a guard took the request: from then on the child may have run."""
        self._loop = loop
        self._control = control
        # Once and as a number: the loop writes out a socket each time it finds it unwatched.
        self._descriptor = control.fileno()
        self._waiting = False
        self._warden = warden
        self._hear = hear
        self._unsent = memoryview(b"")
        self._heard = bytearray()
        self._ending = False
        self._ended = False
        self._guard: Handle | None = None
        self._child: Handle | None = None
        self._patience: TimerHandle | None = None
        control.setblocking(False)
        loop.add_reader(self._descriptor, self._read)
        warden.held.add(self)

    def ask(self, wanted: bytes) -> None:
        """Send a `request`."""
        self._send(wanted)
        self._after(self._wake)

    def terminate(self) -> None:
        """Have the child's group sent SIGTERM [T-25, T2-44]."""
        self._send(guard.TERMINATE)

    def end(self) -> None:
        """Have everything killed and reaped [T-30]. If the last report is not in, it will be."""
        self._ending = True
        self._stop_sending()
        self.hang_up()
        if not self._ended:
            self._after(self._wake)

    def hang_up(self) -> None:
        """Close our side, which the guard takes as the end; from any thread."""
        with suppress(OSError):  # closed already, by either side
            self._control.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Let go. What is not ended by now ends, with nobody to tell. May be called again."""
        self._warden.held.discard(self)
        if self._patience is not None:
            self._patience.cancel()
        if self._control.fileno() >= 0:
            self._stop_sending()
            if not self._loop.is_closed():
                self._loop.remove_reader(self._descriptor)
            self._control.close()
        for handle in (self._guard, self._child):
            if handle is not None:
                handle.close()

    def _send(self, data: bytes) -> None:
        self._unsent = memoryview(bytes(self._unsent) + data)
        self._write()

    def _write(self) -> None:
        try:
            while self._unsent:
                self._unsent = self._unsent[self._control.send(self._unsent) :]
        except BlockingIOError:
            self._waiting = True
            self._loop.add_writer(self._descriptor, self._write)
        except OSError:
            self._stop_sending()  # the guard is gone: its end is read, not written
        else:
            self._stop_sending()

    def _stop_sending(self) -> None:
        self._unsent = memoryview(b"")
        if self._waiting and not self._loop.is_closed():
            self._loop.remove_writer(self._descriptor)
        self._waiting = False

    def _read(self) -> None:
        try:
            block = self._control.recv(limits.READ_BLOCK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            block = b""
        self._heard += block
        while len(self._heard) >= guard.REPORT.size:
            frame = bytes(self._heard[: guard.REPORT.size])
            del self._heard[: guard.REPORT.size]
            if self._take(*guard.REPORT.unpack(frame)):
                return
        if not block:
            self._sever()
            self._last(Lost(given_up=False))

    def _take(self, kind: bytes, first: int, second: int, third: int) -> bool:
        """Take one report; return whether it was the last."""
        match kind:
            case guard.ACCEPTED:
                self.accepted = True
                self._guard = Handle(first)
                if self._patience is not None and not self._ending:
                    self._patience.cancel()
            case guard.STARTED:
                self._child = Handle(first)
                self._hear(Started())
            case guard.EXITED:
                self._hear(Exited())
            case guard.FAILED:
                self._last(Failed(errno=first, at_cwd=bool(second)))
                return True
            case _:
                code = None if first == guard.UNKNOWN else os.waitstatus_to_exitcode(first)
                self._last(Ended(code=code, killed=second, left=third))
                return True
        return False

    def _last(self, report: Report) -> None:
        self._ended = True
        self._loop.remove_reader(self._descriptor)
        self._stop_sending()
        if self._patience is not None:
            self._patience.cancel()
        self._hear(report)

    def _after(self, step: Callable[[], None]) -> None:
        if self._patience is not None:
            self._patience.cancel()
        self._patience = self._loop.call_later(self._warden.patience, step)

    def _wake(self) -> None:
        """A child may have stopped its guard or the warden: let them go on."""
        for handle in (self._warden.handle, self._guard):
            if handle is not None:
                handle.send(signal.SIGCONT)
        self._after(self._kill)

    def _kill(self) -> None:
        """A guard that is killed leaves its child to the warden, which kills it [T-32]."""
        (self._guard or self._warden.handle).send(signal.SIGKILL)
        self._after(self._give_up)

    def _give_up(self) -> None:
        self._sever()
        self._last(Lost(given_up=True))

    def _sever(self) -> None:
        """Kill the child's group ourselves, in case guard and warden were both killed."""
        if self._child is not None and self._child.send(0):
            with suppress(OSError):  # it died meanwhile
                os.killpg(self._child.pid, signal.SIGKILL)
