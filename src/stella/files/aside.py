"""Work with many files, done in a thread so that nothing else of the session waits for it."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def aside(work: Callable[[threading.Event], T]) -> T:
    """Return what `work` returns; a cancel sets its event and is raised once it has ended.

    So nothing of it goes on behind the back of whoever cleans up next [T-23].
    """
    stop = threading.Event()
    task = asyncio.ensure_future(asyncio.to_thread(work, stop))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        stop.set()
        while not task.done():
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:  # the first one is on its way already
                continue
        if not task.cancelled():
            task.exception()
        raise
