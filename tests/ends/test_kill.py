"""The host is killed at many moments: the journal holds, nobody is left, the next run works.

What a killed host started is ended by its guards, so "left" is looked for by a mark that every
process of plugin, tool and test inherits, and for the guards by the host's number.
"""

import signal
import subprocess
import sys
import time
from contextlib import suppress
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

FALLING: Final = """\
import os, signal, sys
from stella.cli.main import main
from stella.journal.journal import Journal

at, part = int(sys.argv.pop(1)), int(sys.argv.pop(1))
write = Journal._write

def falling(journal, line):
    if journal.records + 1 == at:
        os.write(journal._opened.file, line[: len(line) * part // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    write(journal, line)

Journal._write = falling
main()
"""
"""The command, which dies when it writes a record: before it, in its middle or behind it."""

SHARDS: Final = 2
RECORDS: Final = 38
"""How many records the story writes at the least."""
DELAYS: Final = 20
GOLDEN: Final = 0.618033988749895
"""Its multiples, less their whole part, are spread as chance would spread them, only better."""


def demo(folder: Path, plugin: Path) -> Place:
    """A story like the demo's: a wrong round that is held, then the right one."""
    where = place(folder)
    where.install(plugin)
    where.scripted(works("41"), says("first"), works(), says("second"))
    return where


def words(where: Place, name: str) -> tuple[str, ...]:
    """The run that tells the story, from its beginning."""
    (where.root / "answer.txt").unlink(missing_ok=True)
    return ("run", "go", *where.asked, *granted(name))


def nobody_left(where: Place, process: subprocess.Popen[bytes]) -> None:
    eventually(lambda: not where.left(process.pid))


def holds(where: Place, name: str) -> list[str]:
    """Every journal is whole but for its last line, and the story can still be told."""
    said = where.verified().splitlines()
    assert len(said) == len(where.journals())
    assert all(": ok, " in line for line in said)
    done = where.stella(*words(where, name))
    assert (done.code, done.result["status"], done.result["rounds"]) == (0, "met", 2)
    return said


@pytest.mark.behaviour("B17", "L295")
@pytest.mark.parametrize("shard", range(SHARDS))
def test_killed_at_any_record_the_journal_holds(tmp_path: Path, shard: int) -> None:
    """[J2-32, T-30, T-33] In turn before a record, in its middle and behind it."""
    where = demo(tmp_path, arbiter(tmp_path / "judge", HONEST))
    for at in count(1 + shard, SHARDS):
        falling = (sys.executable, "-c", FALLING, str(at), str(at // SHARDS % 3))
        with where.started(*words(where, "judge"), command=falling) as process:
            process.communicate(timeout=60)
        nobody_left(where, process)
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL
    assert at > RECORDS
    said = holds(where, "judge")
    torn = sum("the last one torn" in line for line in said)
    assert torn == sum(number // SHARDS % 3 == 1 for number in range(1 + shard, at, SHARDS))


@pytest.mark.behaviour("B17", "L295")
@pytest.mark.parametrize("shard", range(SHARDS))
def test_killed_at_any_time_the_journal_holds(tmp_path: Path, shard: int) -> None:
    """[J2-32, T-30, T-33]"""
    where = demo(tmp_path, PLUGIN)
    began = time.monotonic()
    assert where.stella(*words(where, "verify")).code == 0
    whole = time.monotonic() - began
    for number in range(shard, DELAYS, SHARDS):
        with where.started(*words(where, "verify")) as process:
            with suppress(subprocess.TimeoutExpired):
                process.wait(whole * (number * GOLDEN % 1))
            process.kill()
            process.communicate()
        nobody_left(where, process)
    holds(where, "verify")


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
    nobody_left(where, process)
    where.verified()
    where.scripted(says("nothing left to do"))
    done = where.run()
    assert (done.code, done.result["status"]) == (0, "completed")
