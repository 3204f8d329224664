"""Time and chance, read in one place and handed in as ports.

Nothing else in the package asks the system for either, so a test can turn both by hand.
"""

import secrets
import time
from datetime import UTC
from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Wall time for records, monotonic time for durations, waiting and chance."""

    def now(self) -> datetime:
        """Return the wall time in UTC."""
        ...

    def ticks(self) -> int:
        """Return monotonic milliseconds; only differences mean something."""
        ...

    async def sleep(self, milliseconds: int) -> None:
        """Wait; cancelling the task ends the wait at once."""
        ...

    def letters(self, alphabet: str, count: int) -> str:
        """Return `count` characters of `alphabet`, chosen by chance."""
        ...


class SystemClock:
    """The system's own time and chance."""

    def now(self) -> datetime:
        """Return the wall time in UTC."""
        return datetime.now(UTC)

    def ticks(self) -> int:
        """Return monotonic milliseconds."""
        return time.monotonic_ns() // 1_000_000

    async def sleep(self, milliseconds: int) -> None:
        """Wait in the running event loop."""
        # Here and not above: commands that only read start faster without an event loop.
        import asyncio  # noqa: PLC0415

        await asyncio.sleep(milliseconds / 1000)

    def letters(self, alphabet: str, count: int) -> str:
        """Return characters chosen with the system's secure source."""
        return "".join(secrets.choice(alphabet) for _ in range(count))


def stamp(moment: datetime) -> str:
    """Return a moment as ISO 8601 with milliseconds and `Z` [W-44, J2-10]."""
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"
