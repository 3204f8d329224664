"""Several works side by side fail as one would."""

import asyncio

import pytest

from stella.errors import JournalError
from stella.session.together import together


def test_what_each_gives_comes_back_in_order() -> None:
    async def work(number: int) -> int:
        await asyncio.sleep(0)
        return number

    assert asyncio.run(together(work(number) for number in range(3))) == (0, 1, 2)


def test_the_error_of_one_is_the_error_of_all_and_ends_them() -> None:
    """[E-6] A broken journal is a broken journal, however many were at work."""
    ended: list[str] = []

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("waits")
            raise

    async def breaks() -> None:
        await asyncio.sleep(0)
        raise JournalError("no space")

    with pytest.raises(JournalError, match="no space"):
        asyncio.run(together([waits(), breaks()]))
    assert ended == ["waits"]


def test_a_cancel_is_a_cancel() -> None:
    async def go() -> None:
        task = asyncio.ensure_future(together([asyncio.sleep(60), asyncio.sleep(60)]))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(go())
