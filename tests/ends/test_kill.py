"""The host is killed at many moments: the journal holds, nobody is left, the next run works.

What a killed host started is ended by its guards, so "left" is looked for by a mark that every
process of plugin, tool and test inherits, and for the guards by the host's number.
"""

import subprocess
import time
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from tests.making.ends import HONEST
from tests.making.ends import STUBBORN
from tests.making.ends import Place
from tests.making.ends import asks
from tests.making.ends import granted
from tests.making.ends import place
from tests.making.ends import says
from tests.making.ends import works
from tests.making.plugins import arbiter
from tests.making.processes import eventually
from tests.making.shipped import PLUGIN

SHARDS: Final = 3
RECORDS: Final = 30
"""Fewer records than a whole run of the story writes."""
DELAYS: Final = 20
GOLDEN: Final = 0.618033988749895
"""Its multiples, less their whole part, are spread as chance would spread them, only better."""


def demo(folder: Path) -> Place:
    """A story like the demo's: a wrong round that is held, then the right one."""
    where = place(folder)
    where.install(PLUGIN)
    where.scripted(works("41"), says("first"), works(), says("second"))
    return where


@contextmanager
def begun(where: Place) -> Iterator[subprocess.Popen[bytes]]:
    """Start the story from its beginning, and kill its host at the end of the block."""
    (where.root / "answer.txt").unlink(missing_ok=True)
    with where.started("run", "go", *where.asked, *granted("verify")) as process:
        try:
            yield process
        finally:
            process.kill()
            process.communicate()
    eventually(lambda: not where.left(process.pid))


def wait_until(process: subprocess.Popen[bytes], condition: Callable[[], bool]) -> bool:
    """Look as often as can be; return False when the process ended before it came true."""
    while not condition():
        if process.poll() is not None:
            return False
        time.sleep(0.0005)
    return True


def holds(where: Place, kills: int) -> None:
    """Every journal is whole but for its last line, and the story can still be told."""
    said = where.verified().splitlines()
    assert len(said) == len(where.journals()) >= kills
    assert all(": ok, " in line for line in said)
    (where.root / "answer.txt").unlink(missing_ok=True)
    done = where.run(*granted("verify"))
    assert (done.code, done.result["status"], done.result["rounds"]) == (0, "met", 2)


@pytest.mark.behaviour("B17", "L295")
@pytest.mark.parametrize("shard", range(SHARDS))
def test_killed_at_any_record_the_journal_holds(tmp_path: Path, shard: int) -> None:
    """[J2-32, T-30, T-33] Each shard takes every third record."""
    where = demo(tmp_path)
    kills = 0
    for wanted in count(1 + shard, SHARDS):
        earlier = set(where.journals())
        with begun(where) as process:
            if not wait_until(process, lambda: written(where, earlier) >= wanted):  # noqa: B023  # called before the next turn of the loop
                break
        kills += 1
    assert kills >= RECORDS // SHARDS
    holds(where, kills)


def written(where: Place, earlier: set[Path]) -> int:
    """How many records the new session has."""
    return sum(path.read_bytes().count(b"\n") for path in where.journals() if path not in earlier)


@pytest.mark.behaviour("B17", "L295")
@pytest.mark.parametrize("shard", range(2))
def test_killed_at_any_time_the_journal_holds(tmp_path: Path, shard: int) -> None:
    """[J2-32, T-30, T-33]"""
    where = demo(tmp_path)
    start = time.monotonic()
    with begun(where) as process:
        process.communicate()
    whole = time.monotonic() - start
    for number in range(shard, DELAYS, 2):
        until = time.monotonic() + whole * (number * GOLDEN % 1)
        with begun(where) as process:
            wait_until(process, lambda: time.monotonic() >= until)  # noqa: B023  # called before the next turn of the loop
    holds(where, 0)


@pytest.mark.behaviour("B5", "B17")
@pytest.mark.parametrize("moment", ["baseline", "tool", "plugin"])
def test_a_killed_host_takes_the_stubborn_with_it(tmp_path: Path, moment: str) -> None:
    """[T-30, T-33] They ignore every polite signal and have children in other sessions."""
    where = place(tmp_path)
    flag = tmp_path / "flag"
    stubborn = STUBBORN.format(flag=str(flag))
    program = stubborn if moment == "plugin" else HONEST
    where.install(arbiter(tmp_path / "judge", program, timeout=60))
    where.scripted(works(), says())
    if moment == "baseline":
        (where.root / "check.py").write_text(stubborn, "utf-8")
    if moment == "tool":
        (where.root / "stubborn.py").write_text(stubborn, "utf-8")
        where.scripted(asks("bash", command="python3 -S stubborn.py"), says())
    with where.started("run", "go", *where.asked, *granted("judge")) as process:
        eventually(flag.exists)
        assert where.left(process.pid)
        process.kill()
        process.communicate()
    eventually(lambda: not where.left(process.pid))
    where.verified()
    where.scripted(says("nothing left to do"))
    done = where.run()
    assert (done.code, done.result["status"]) == (0, "completed")
