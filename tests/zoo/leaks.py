"""Many dispatches in one host, and what is left of them: `python -m tests.zoo.leaks COUNT`.

The animals are those of the herd that end soon; a few times those come that end only at their
deadline, side by side. Prints one JSON object; exits with 1 when something has leaked.
"""

import asyncio
import gc
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any
from typing import Final

from stella.session.options import Pipeline
from stella.session.pipeline import bind
from stella.wire.after_turn import AfterTurnRequest
from stella.wire.after_turn import TurnOutcome
from stella.wire.points import Point
from stella.wire.silence import Silence
from stella.wrapper.plugin import PluginProcess
from tests.making.processes import children
from tests.making.processes import descriptors
from tests.making.processes import marked
from tests.making.processes import new_mark
from tests.making.processes import read
from tests.making.processes import wardens
from tests.making.repositories import git
from tests.making.sessions import options
from tests.making.zoo import NAME
from tests.making.zoo import caged

WARM: Final = 100
"""Dispatches after which everything that is kept for good should be there."""
GROWTH: Final = 1.05
"""How much larger the memory may be at the end than after the warm-up."""

QUICK: Final = (
    *("never_reads.sh", "mute.sh", "exits_255.sh", "killed.sh", "reads_to_the_end.sh"),
    *("garbage_after.sh", "closes_stdin.sh", "wrong_stream.sh", "delegates.sh", "segfault.sh"),
    *("never_reads.sh", "much_after.sh", "not_found.sh", "closes_stderr.sh", "terminated.sh"),
    *("asks.py", "shouts_and_waits.py", "murderer.py", "zombies.py", "six_lines.py"),
)
"""Asked one after the other, again and again."""
SLOW: Final = (
    *("hangs.sh", "debtor.py", "hangs_with_a_child.sh", "closes_stdout.sh", "deaf.sh"),
    *("daemon.py", "forks_on.py", "stopped.py", "floods_stdout.sh", "floods_stderr.sh"),
)
"""Asked all at once, at the start, in the middle and at the end of the count."""

REQUEST: Final = AfterTurnRequest(
    protocol_version=1, wrapper=NAME, round=0, goal="go", turn=TurnOutcome(completed=True)
)


def bound(folder: Path, animal: str, mark: str) -> PluginProcess:
    """Install an animal and return its process, as a run has it."""
    folder.mkdir()
    kept = caged(folder, animal, Point.AFTER_TURN, 1 if animal in SLOW else 20, mark)
    wanted = options(kept.root, kept.home, folder, env=kept.env, pipeline=Pipeline(names=(NAME,)))
    made = bind(wanted, kept.root)
    assert made is not None
    process = made.plugins[NAME]
    assert isinstance(process, PluginProcess)
    return process


def resident_kib(pid: int) -> int:
    """The resident memory of a process."""
    pages = int(read(f"/proc/{pid}/statm").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


def candidates(root: Path) -> dict[str, int]:
    """How many work trees and branches git knows in a workspace, and what the host has there."""
    own = root / ".stella"
    notes = list(own.glob("private/candidates/*"))
    return {
        "worktrees": git(root, "worktree", "list", "--porcelain").count("worktree "),
        "branches": git(root, "branch", "--list", "--all").count("\n"),
        "candidates": len([path for path in own.glob("candidates/*") if path.is_dir()]),
        "registrations": len([path for path in notes if path.is_file()]),
        "stages": len([path for path in notes if path.is_dir()]),
    }


def state(mark: str) -> dict[str, Any]:
    """What a host has and what it has left, now."""
    gc.collect()
    host = os.getpid()
    (warden,) = wardens(host)
    return {
        "zombies": len(children(host, "Z")),
        "processes": len(marked(mark)),
        "descriptors": descriptors(host),
        "warden_descriptors": descriptors(warden),
        "resident_kib": resident_kib(host),
        "warden_resident_kib": resident_kib(warden),
    }


async def asked(animals: dict[str, PluginProcess], count: int, mark: str) -> dict[str, Any]:
    """Ask `count` times; return the state after the warm-up and at the end."""
    heard: Counter[str] = Counter()

    async def ask(animal: str) -> None:
        answer = (await animals[animal].ask(REQUEST)).answer
        heard[answer.code.value if isinstance(answer, Silence) else "answered"] += 1

    async def all_at_once() -> None:
        await asyncio.gather(*map(ask, SLOW))

    async def until(total: int) -> None:
        while heard.total() < total:
            await ask(QUICK[heard.total() % len(QUICK)])

    began = time.monotonic()
    await all_at_once()
    await until(WARM)
    warm = state(mark)
    await until(count // 2)
    await all_at_once()
    await until(count - len(SLOW))
    await all_at_once()
    return {
        "dispatches": heard.total(),
        "seconds": round(time.monotonic() - began, 1),
        "heard": dict(sorted(heard.items())),
        "warm": warm,
        "end": state(mark),
    }


def leaked(report: dict[str, Any]) -> list[str]:
    """What is wrong with a report; nothing when nothing has leaked."""
    warm, end = report["warm"], report["end"]
    found = [name for name in ("zombies", "processes") if end[name]]
    found += [n for n in ("descriptors", "warden_descriptors") if end[n] > warm[n]]
    sizes = ("resident_kib", "warden_resident_kib")
    return found + [name for name in sizes if end[name] > GROWTH * warm[name]]


def main(count: int) -> int:
    """Ask, print the report, return the exit status."""
    mark = new_mark()
    with tempfile.TemporaryDirectory() as place:
        names = dict.fromkeys((*QUICK, *SLOW))
        animals = {name: bound(Path(place, name), name, mark) for name in names}
        report = asyncio.run(asked(animals, count, mark))
    report["leaked"] = leaked(report)
    print(json.dumps(report))
    return int(bool(report["leaked"]))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
