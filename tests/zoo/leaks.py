"""Many dispatches in one host, and what is left of them: `python -m tests.zoo.leaks COUNT`.

The animals are those of the herd that end soon; a few times those come that end only at their
deadline, side by side, and with them whole sessions of animals that make host calls, most of them
in repositories of their own. Prints one JSON object; exits with 1 when something has leaked.
"""

import asyncio
import ctypes
import gc
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Any
from typing import Final

from stella.clock import SystemClock
from stella.session.options import Pipeline
from stella.session.pipeline import bind
from stella.session.session import run_once
from stella.turn.plugin_facts import CandidateTold
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
from tests.making.repositories import repository
from tests.making.sessions import options
from tests.making.zoo import NAME
from tests.making.zoo import Cage
from tests.making.zoo import caged
from tests.zoo.calling import CALLERS
from tests.zoo.sayings import fault_of

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
HANGING: Final = (
    *("hangs.sh", "debtor.py", "hangs_with_a_child.sh", "closes_stdout.sh", "deaf.sh"),
    *("daemon.py", "forks_on.py", "stopped.py"),
)
"""These are given a second: what a busy machine takes longer for would end the same."""
SLOW: Final = (*HANGING, "floods_stdout.sh", "floods_stderr.sh")
"""Asked all at once, twice at the start, in the middle and at the end of the count."""

CALLING: Final = (
    *(name for name, caller in CALLERS.items() if caller.tracked and caller.turns),
    *("a forged handle", "a test of somebody's tree"),
    *("never reads its answers", "nine recalls", "dies while its child works"),
    *("asks on behind a closed stdin", "floods stderr while its child works", "asks for ever"),
)
"""Animals that make host calls, each in a session of its own whenever the slow ones are asked.

One that says mebibytes is not among them: what it makes a host hold for a moment is not a leak.
"""

REQUEST: Final = AfterTurnRequest(
    protocol_version=1, wrapper=NAME, round=0, goal="go", turn=TurnOutcome(completed=True)
)


def bound(folder: Path, animal: str, mark: str) -> PluginProcess:
    """Install an animal and return its process, as a run has it."""
    folder.mkdir()
    kept = caged(folder, animal, Point.AFTER_TURN, 1 if animal in HANGING else 20, mark)
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


KEPT: Final = ("worktrees", "branches", "candidates", "registrations", "stages")
"""What candidates leave in a workspace when they are not taken away."""


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


def kept(cages: Iterable[Cage]) -> Counter[str]:
    """What is left of candidates in all workspaces together."""
    left: Counter[str] = Counter()
    for each in cages:
        left.update(candidates(each.root))
    return left


def state(mark: str, cages: Iterable[Cage]) -> dict[str, Any]:
    """What a host has and what it has left, now."""
    gc.collect()
    # What was freed and not given back yet depends on what came at the same time: it is no leak.
    ctypes.CDLL(None).malloc_trim(0)
    host = os.getpid()
    (warden,) = wardens(host)
    return {
        "zombies": len(children(host, "Z")),
        "processes": len(marked(mark)),
        "descriptors": descriptors(host),
        "warden_descriptors": descriptors(warden),
        "resident_kib": resident_kib(host),
        "warden_resident_kib": resident_kib(warden),
        **kept(cages),
    }


@dataclass(slots=True, kw_only=True)
class Keeper:
    """Asks animals and does sessions with those that call, and counts what came of it."""

    animals: Mapping[str, PluginProcess]
    cages: Mapping[str, Cage]
    mark: str
    heard: Counter[str] = field(default_factory=Counter)
    sessions: Counter[str] = field(default_factory=Counter)
    made: Counter[str] = field(default_factory=Counter)

    async def ask(self, animal: str) -> None:
        answer = (await self.animals[animal].ask(REQUEST)).answer
        self.heard[answer.code.value if isinstance(answer, Silence) else "answered"] += 1

    async def session(self, name: str) -> None:
        caller = CALLERS[name]
        wanted = self.cages[name].options("go", caller.turns, caller.test)
        done = await run_once(wanted, SystemClock(), ())
        fault = "".join(row.fault for row in done.result.faults)
        assert fault == (fault_of(caller.line) or ""), (name, fault)
        self.sessions[fault or "answered"] += 1
        self.made.update(fact.event for fact in done.told if isinstance(fact, CandidateTold))

    async def all_at_once(self) -> None:
        await asyncio.gather(*map(self.ask, SLOW), *map(self.session, CALLING))

    async def until(self, total: int) -> None:
        while self.heard.total() < total:
            await self.ask(QUICK[self.heard.total() % len(QUICK)])

    async def asked(self, count: int) -> dict[str, Any]:
        """Ask `count` times; return the state after the warm-up and at the end."""
        before = kept(self.cages.values())
        began = time.monotonic()
        for _ in range(2):
            await self.all_at_once()
        await self.until(WARM)
        warm = state(self.mark, self.cages.values())
        await self.until(count // 2)
        await self.all_at_once()
        await self.until(count - len(SLOW))
        await self.all_at_once()
        return {
            "dispatches": self.heard.total(),
            "seconds": round(time.monotonic() - began, 1),
            "heard": dict(sorted(self.heard.items())),
            "sessions": dict(sorted(self.sessions.items())),
            "made": dict(sorted(self.made.items())),
            "before": before,
            "warm": warm,
            "end": state(self.mark, self.cages.values()),
        }


def leaked(report: dict[str, Any]) -> list[str]:
    """What is wrong with a report; nothing when nothing has leaked."""
    before, warm, end = report["before"], report["warm"], report["end"]
    found = [name for name in ("zombies", "processes") if end[name]]
    found += [n for n in ("descriptors", "warden_descriptors") if end[n] > warm[n]]
    found += [name for name in KEPT if end[name] > before[name]]
    sizes = ("resident_kib", "warden_resident_kib")
    return found + [name for name in sizes if end[name] > GROWTH * warm[name]]


def main(count: int) -> int:
    """Ask, print the report, return the exit status."""
    mark = new_mark()
    with tempfile.TemporaryDirectory() as place:
        names = dict.fromkeys((*QUICK, *SLOW))
        animals = {name: bound(Path(place, name), name, mark) for name in names}
        cages = {
            name: CALLERS[name].caged(Path(place, f"calling-{at}"), Point.AFTER_TURN, mark)
            for at, name in enumerate(CALLING)
        }
        for each in cages.values():
            if not (each.root / ".git").exists():
                repository(each.root, {})
        report = asyncio.run(Keeper(animals=animals, cages=cages, mark=mark).asked(count))
    report["leaked"] = leaked(report)
    print(json.dumps(report))
    return int(bool(report["leaked"]))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
