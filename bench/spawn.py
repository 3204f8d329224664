"""What the certainty of an end costs: a guarded child against a bare one, medians.

Run as `python bench/spawn.py [COUNT]`. The number that matters is the ratio.
"""

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable
from collections.abc import Callable

from stella.process.run import run

PROGRAM = "/bin/true"
COUNT = 200


async def guarded() -> None:
    """One child the way Stella starts it."""
    await run([PROGRAM], env={}, cwd="/", timeout=60)


async def bare() -> None:
    """One child the way asyncio starts it, with the same pipes and nothing guarded."""
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(
        PROGRAM, stdin=pipe, stdout=pipe, stderr=pipe, env={}, cwd="/", start_new_session=True
    )
    await child.communicate()


async def taken_ms(start: Callable[[], Awaitable[None]]) -> float:
    """The time from the start of a child to its end, in milliseconds."""
    begun = time.perf_counter()
    await start()
    return (time.perf_counter() - begun) * 1000


async def main(count: int) -> None:
    """Print both medians and their ratio; the two take turns, so that noise hits both."""
    first = await taken_ms(guarded)
    one: list[float] = []
    other: list[float] = []
    for _ in range(count):
        one.append(await taken_ms(guarded))
        other.append(await taken_ms(bare))
    ratio = statistics.median(one) / statistics.median(other)
    print(f"first guarded child  {first:7.2f} ms (starts the warden)")
    print(f"guarded              {statistics.median(one):7.2f} ms")
    print(f"bare                 {statistics.median(other):7.2f} ms")
    print(f"ratio                {ratio:7.2f}")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else COUNT))
