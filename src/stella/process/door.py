"""The host's side of the warden: one per process, started when first needed, replaced when dead.

Several event loops, one after another or in threads of their own, use it together. Nothing
happens at import. When the interpreter exits, every child still running is ended first.
"""

import asyncio
import atexit
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final
from typing import Protocol

from stella import limits
from stella.process.handle import Handle

_PROGRAM: Final = Path(__file__).with_name("warden.py")


class Hangable(Protocol):
    """What holds a child: hanging up ends the child."""

    def hang_up(self) -> None:
        """Tell the guard that this is the end."""


class Warden:
    """The running warden. Making one starts it; raises OSError when that fails.

    `patience` are the seconds that it and its guards have for an answer.
    """

    def __init__(self, patience: float = limits.GUARD_SECS) -> None:
        self.patience = patience
        if not sys.executable:
            raise FileNotFoundError(2, "there is no Python interpreter to start the guard with")
        self._requests, theirs = socket.socketpair()
        with theirs:
            try:
                process = subprocess.Popen(  # noqa: S603 - our own program by our own interpreter
                    [
                        *(sys.executable, "-I", "-S", str(_PROGRAM)),
                        *(str(os.getpid()), str(patience)),
                    ],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env={},
                    start_new_session=True,
                )
            except OSError:
                self._requests.close()
                raise
        process.returncode = 0  # reaped in `drop`; Popen would complain of it at exit
        self._requests.setblocking(False)
        self._lock = threading.Lock()
        self.handle = Handle(process.pid, own=True)
        self.held: set[Hangable] = set()

    async def hand_over(self, *passed: int) -> None:
        """Ask for a child: its control socket and its pipes.

        Raises ConnectionError when the warden is gone, OSError when the system refuses.
        """
        while not self._handed_over(passed):
            await self._room()

    def _handed_over(self, passed: tuple[int, ...]) -> bool:
        # Under the lock, so that no other thread closes the socket between look and use.
        with self._lock:
            if self._requests.fileno() < 0:
                raise BrokenPipeError
            try:
                socket.send_fds(self._requests, [b"+"], passed)
            except BlockingIOError:
                return False
        return True

    async def _room(self) -> None:
        """Wait until one more request fits. A warden that takes none any more is killed."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._requests.fileno() < 0:
                return
            # Every waiter, in whatever loop, watches a descriptor of its own.
            watched = os.dup(self._requests.fileno())
        room = asyncio.Event()
        loop.add_writer(watched, room.set)
        try:
            async with asyncio.timeout(self.patience):
                await room.wait()
        except TimeoutError:
            self.handle.send(signal.SIGKILL)
        finally:
            loop.remove_writer(watched)
            os.close(watched)

    def close(self) -> None:
        """End every child still held and then the warden, in seconds at the most."""
        for held in tuple(self.held):
            held.hang_up()
        with self._lock, suppress(OSError):  # it is dead already, or does not answer
            self._requests.shutdown(socket.SHUT_WR)
            # It has the same patience with its guards; the end of its side is its exit.
            self._requests.settimeout(2 * self.patience)
            self._requests.recv(1)
        self.drop()

    def drop(self) -> None:
        """Kill and reap the warden. Guards go on without it. May be called again."""
        with self._lock:
            self._requests.close()
            if self.handle.send(signal.SIGKILL):
                with suppress(ChildProcessError):  # a host that reaps whatever it finds
                    os.waitpid(self.handle.pid, 0)
            self.handle.close()

    def forget(self) -> None:
        """In a fork of the host: let go of the warden, which is the parent's."""
        self._requests.close()
        self.handle.close()


class Door:
    """Where the one warden of this process is found."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._warden: Warden | None = None
        self._hooked = False

    def warden(self) -> Warden:
        """Return the running warden, started if need be; raises OSError when that fails."""
        with self._lock:
            if self._warden is None:
                self._warden = Warden()
            if not self._hooked:
                atexit.register(self.close)
                os.register_at_fork(after_in_child=self._forked)
                self._hooked = True
            return self._warden

    def replace(self, broken: Warden) -> None:
        """Make the next caller start another warden than `broken`."""
        with self._lock:
            if self._warden is broken:
                self._warden = None
        broken.drop()

    def close(self) -> None:
        """End the warden and, with it, everything it watches."""
        with self._lock:
            warden, self._warden = self._warden, None
        if warden is not None:
            warden.close()

    def _forked(self) -> None:
        self._lock = threading.Lock()
        warden, self._warden = self._warden, None
        if warden is not None:
            warden.forget()


DOOR: Final = Door()
"""The door of this process: a child of any session, in any loop, starts through it."""
