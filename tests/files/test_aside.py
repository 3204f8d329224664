"""Work in a thread is over when its waiter is told so, cancelled or not [T-23]."""

import asyncio
import threading

import pytest

from stella.files.aside import aside


def test_what_the_work_returns_or_raises_comes_back() -> None:
    def broken(stop: threading.Event) -> None:
        raise ValueError("broken")

    assert asyncio.run(aside(lambda stop: stop.is_set())) is False
    with pytest.raises(ValueError, match="broken"):
        asyncio.run(aside(broken))


@pytest.mark.behaviour("T-23")
@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("times", [1, 3])
def test_a_cancel_waits_for_the_work_to_stop(times: int, fails: bool) -> None:
    """However often it is cancelled, and whatever becomes of the work."""
    began, release, ended = threading.Event(), threading.Event(), threading.Event()

    def work(stop: threading.Event) -> None:
        began.set()
        assert stop.wait(5)
        release.wait(5)
        ended.set()
        if fails:
            raise ValueError("it broke while it stopped")

    async def main() -> None:
        task = asyncio.ensure_future(aside(work))
        assert await asyncio.to_thread(began.wait, 5)
        for _ in range(times):
            task.cancel()
            for _ in range(5):
                await asyncio.sleep(0)
            assert not task.done()
        release.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.is_set()

    asyncio.run(main())
