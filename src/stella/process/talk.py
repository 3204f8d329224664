"""What a conversation may do with a child while it runs."""

from collections.abc import Awaitable
from collections.abc import Callable

from stella.process.pipes import Inlet
from stella.process.pipes import Outlet


class Child:
    """A running child, as its talk sees it. When the child is gone nothing here fails."""

    def __init__(self, inlet: Inlet, outlet: Outlet, stop: Callable[[], None]) -> None:
        self._inlet = inlet
        self._outlet = outlet
        self._stop = stop

    async def send(self, data: bytes) -> None:
        """Write to the child's stdin; returns when the pipe has it all or nobody reads [T-16]."""
        await self._inlet.send(data)

    @property
    def listening(self) -> bool:
        """Whether the child's stdin is open, as far as is known."""
        return self._inlet.open

    @property
    def room(self) -> bool:
        """Whether a short line would be in the pipe at once, whole."""
        return self._inlet.room

    def put(self, data: bytes) -> bool:
        """Write without waiting; return whether the pipe has all of it already [D-72]."""
        return self._inlet.put(data)

    async def sent(self) -> None:
        """Wait until the pipe has all that was put, or nobody reads."""
        await self._inlet.sent()

    def close_stdin(self) -> None:
        """End the child's stdin; what was sent before arrives first [T-18]."""
        self._inlet.close()

    async def receive(self) -> bytes:
        """Return the next bytes of stdout, at most 8 KiB; empty at the end [T-17]."""
        return await self._outlet.receive()

    def stop(self) -> None:
        """Have the child ended: the run is `STOPPED`, unless it was over by then [T-14]."""
        self._stop()


Talk = Callable[[Child], Awaitable[None]]
"""A conversation. It may be cancelled at any await; when it returns stdin is closed."""
