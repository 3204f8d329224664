"""A clock that tests turn by hand."""

from dataclasses import dataclass
from dataclasses import field
from datetime import UTC
from datetime import datetime
from datetime import timedelta

NOON = datetime(2026, 8, 11, 12, 0, tzinfo=UTC)


@dataclass(kw_only=True)
class HandClock:
    """Stands still until it is turned; waiting only notes how long."""

    moment: datetime = NOON
    slept: list[int] = field(default_factory=list)
    drawn: int = 0

    def now(self) -> datetime:
        return self.moment

    def ticks(self) -> int:
        return int((self.moment - NOON) / timedelta(milliseconds=1))

    async def sleep(self, milliseconds: int) -> None:
        self.slept.append(milliseconds)

    def letters(self, alphabet: str, count: int) -> str:
        """Letters in the order of the alphabet, going on where the last draw ended."""
        start, self.drawn = self.drawn, self.drawn + count
        return "".join(alphabet[(start + i) % len(alphabet)] for i in range(count))

    def turn(self, milliseconds: int) -> None:
        """Move the clock; a negative number moves it back."""
        self.moment += timedelta(milliseconds=milliseconds)
