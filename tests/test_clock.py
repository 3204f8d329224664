import asyncio
from datetime import UTC
from datetime import datetime

import pytest

from stella.clock import SystemClock
from stella.clock import stamp


@pytest.mark.parametrize(
    ("micros", "text"), [(0, "000"), (999, "000"), (1000, "001"), (999_999, "999")]
)
def test_a_stamp_has_milliseconds_and_a_z(micros: int, text: str) -> None:
    """[W-44, J2-10]"""
    moment = datetime(2026, 3, 4, 5, 6, 7, micros, UTC)
    assert stamp(moment) == f"2026-03-04T05:06:07.{text}Z"


def test_the_system_clock_is_in_utc_and_never_goes_back() -> None:
    clock = SystemClock()
    assert clock.now().tzinfo is UTC
    first = clock.ticks()
    asyncio.run(clock.sleep(2))
    assert clock.ticks() >= first + 1


def test_letters_come_from_the_alphabet() -> None:
    letters = SystemClock().letters("ab", 200)
    assert len(letters) == 200
    assert set(letters) == {"a", "b"}
