"""Work done side by side; the first thing that goes wrong ends all of it."""

import asyncio
from collections.abc import Coroutine
from collections.abc import Iterable
from typing import Any
from typing import TypeVar

T = TypeVar("T")


async def together(works: Iterable[Coroutine[Any, Any, T]]) -> tuple[T, ...]:
    """Return what each gives, in their order.

    Raises what the first one raised, as it was raised: whoever handles the error of one handles
    it of several too. The others have ended by then.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    return tuple(task.result() for task in tasks)
