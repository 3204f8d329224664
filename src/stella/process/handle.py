"""One process, held so that a signal cannot reach another one that got its number [T-31]."""

import os
import signal
import sys
from contextlib import suppress


class Handle:
    """A process by its descriptor, where the system has such a thing.

    Without one a signal is sent only to a child of our own that we have not reaped (`own`),
    whose number nobody else can have; to any other process nothing is sent.
    """

    def __init__(self, pid: int, *, own: bool = False) -> None:
        self.pid = pid
        self._own = own
        self._descriptor: int | None = None
        if sys.platform == "linux":
            with suppress(OSError):  # gone already, or a system without
                self._descriptor = os.pidfd_open(pid)

    def send(self, number: int) -> bool:
        """Send a signal; return whether there was the process to send it to. 0 only asks."""
        try:
            if self._descriptor is not None and sys.platform == "linux":
                signal.pidfd_send_signal(self._descriptor, number)
                return True
            if self._own:
                os.kill(self.pid, number)
                return True
        except (ProcessLookupError, PermissionError):
            return False
        return False

    def close(self) -> None:
        """Let go of the process; may be called again."""
        number, self._descriptor, self._own = self._descriptor, None, False
        if number is not None:
            os.close(number)
