"""A change of a tier is whole or undone, wherever the system stops it [I-8, I-37, Q-12]."""

import errno
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

import pytest

from stella.clock import SystemClock
from stella.roster.accept import accept
from stella.roster.change import changing
from stella.roster.change import mend
from stella.roster.remove import remove
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.scope import Tier
from stella.roster.switching import disable
from stella.roster.switching import enable
from stella.settings.sections import SETTABLE
from tests.making.child import said
from tests.making.clocks import HandClock
from tests.making.packages import notes
from tests.making.packages import put
from tests.making.packages import seen
from tests.making.packages import settled
from tests.making.packages import skin
from tests.making.packages import wish
from tests.making.packages import yes
from tests.making.steps import Act
from tests.making.steps import failing
from tests.making.steps import failing_from_now
from tests.making.steps import interposed
from tests.making.steps import killed

SETTINGS = "# mine\n[pipeline]\nmax_holds = 1  # enough\n"
FEWEST = {
    "install": 30,
    "first install": 30,
    "upgrade": 35,
    "accept": 5,
    "remove": 20,
    "disable": 6,
}
GROWING = ("open", "write", "mkdir")
State_ = tuple[object, ...]


def state(tier: Tier) -> State_:
    """Everything a change may touch: the tier, the settings, the records; and what is left over."""
    packages = {path.name: seen(path) for path in tier.path.iterdir()} if tier.path.exists() else {}
    settings = tier.settings_path
    record = tier.record_path
    left = [
        path.name
        for directory in (tier.anchor, tier.home, tier.home / "consent")
        if directory.exists()
        for path in directory.iterdir()
        if path.name.startswith(".stella-tmp") or path.name.endswith((".json", ".damaged"))
    ]
    return (
        packages,
        (settings.stat().st_mode, settings.read_bytes()) if settings.exists() else None,
        record.read_bytes() if record.exists() else None,
        left,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What is done to a place that `ready` has set up."""

    ready: Callable[[Places, Path], object]
    work: Callable[[Places, Path], object]


def _bare(here: Places, sources: Path) -> None:
    (here.workspace / "stella.toml").write_text(SETTINGS, "utf-8")
    put(notes(sources / "other", "other"), here)
    skin(sources / "new", theme="high-contrast", more=_LIVE)


def _there(here: Places, sources: Path) -> None:
    _bare(here, sources)
    put(skin(sources / "old"), here)
    put(notes(sources / "third", "third"), here)


def _drifted(here: Places, sources: Path) -> None:
    _there(here, sources)
    plugin = here.tier(Scope.PROJECT).path / "skin"
    (plugin / "main.py").write_text("print(2)\n", "utf-8")


def _without_settings(here: Places, sources: Path) -> None:
    skin(sources / "new", theme="high-contrast", more=_LIVE)


_LIVE = '[[configure]]\nkey = "ui.live"\nvalue = false\npurpose = "To read."\n'

OPERATIONS = {
    "install": Operation(ready=_bare, work=lambda here, at: put(at / "new", here)),
    "first install": Operation(
        ready=_without_settings, work=lambda here, at: put(at / "new", here)
    ),
    "upgrade": Operation(ready=_there, work=lambda here, at: put(at / "new", here, upgrade=True)),
    "accept": Operation(
        ready=_drifted, work=lambda here, at: accept("skin", wish(at, here), yes, HandClock())
    ),
    "remove": Operation(
        ready=_there, work=lambda here, _: remove("skin", here, HandClock(), settable=SETTABLE)
    ),
    "disable": Operation(
        ready=_there, work=lambda here, _: disable("skin", here, Scope.PROJECT, HandClock())
    ),
}


class Stage:
    """One folder in which an operation is set up and stopped, over and over.

    The workspace and the home stay the same directories, because records name them.
    """

    def __init__(self, folder: Path, operation: Operation) -> None:
        self.here = settled(folder)
        self.sources = folder / "sources"
        self.sources.mkdir()
        self.operation = operation

    @property
    def tier(self) -> Tier:
        return self.here.tier(Scope.PROJECT)

    def ready(self) -> State_:
        """Set up anew and return the state before."""
        for folder in (self.here.home, self.here.workspace, self.sources):
            for path in folder.iterdir():
                rmtree(path) if path.is_dir() else path.unlink()
        self.operation.ready(self.here, self.sources)
        return state(self.tier)

    def undisturbed(self) -> tuple[list[str], State_]:
        """The steps of a run that nothing stops, and the state after it."""
        self.ready()

        def work() -> str:
            steps = interposed(0, killed)
            self.operation.work(self.here, self.sources)
            return " ".join(steps())

        return said(work).split(), state(self.tier)

    def stopped(self, number: int, act: Act) -> str:
        """Run until `act` at the step of that number and say how it ended."""

        def work() -> str:
            interposed(number, act)
            self.operation.work(self.here, self.sources)
            return "done"

        return said(work)

    def swept(self) -> State_:
        """The state once the next command that writes has looked for what is unfinished."""
        said(lambda: str(enable("other", self.here, Scope.PROJECT, SystemClock())))
        mend(self.here)
        with changing(self.tier):
            return state(self.tier)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.behaviour("I-37", "I-8", "A25")
def test_a_kill_at_any_step_leaves_the_old_state_or_the_new_one(tmp_path: Path, name: str) -> None:
    """I-8, I-37: and what it left lying about is gone after the next command that writes."""
    stage = Stage(tmp_path, OPERATIONS[name])
    steps, after = stage.undisturbed()
    assert len(steps) >= FEWEST[name]
    ends = set()
    for number in range(1, len(steps) + 1):
        before = stage.ready()
        assert stage.stopped(number, killed) == ""
        found = stage.swept()
        assert found in (before, after), f"step {number}, {steps[number - 1]}"
        ends.add("old" if found == before else "new")
    assert ends == {"old", "new"}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.behaviour("A28", "G13", "K-164")
def test_a_fault_at_any_step_leaves_the_old_state_or_the_new_one(tmp_path: Path, name: str) -> None:
    """A28, G13, I-37: a command that says it has done its work has done it."""
    stage = Stage(tmp_path, OPERATIONS[name])
    steps, after = stage.undisturbed()
    for number in range(1, len(steps) + 1):
        before = stage.ready()
        error = errno.ENOSPC if steps[number - 1] in GROWING else errno.EIO
        outcome = stage.stopped(number, failing(error))
        found = stage.swept()
        place = f"step {number}, {steps[number - 1]}: {outcome}"
        assert found in (before, after), place
        if outcome == "done":
            assert found == after, place
        else:
            assert outcome.startswith(("RosterError: ", "PackageRefused: ")), place
            assert "\n" not in outcome


@pytest.mark.parametrize("name", ["upgrade", "remove"])
def test_a_disk_that_stays_broken_is_undone_by_the_next_command(tmp_path: Path, name: str) -> None:
    """I-37: when nothing can be written any more, not even back, the note of it waits."""
    stage = Stage(tmp_path, OPERATIONS[name])
    steps, after = stage.undisturbed()
    for number in range(1, len(steps) + 1):
        before = stage.ready()
        outcome = stage.stopped(number, failing_from_now)
        found = stage.swept()
        assert found in (before, after), f"step {number}, {steps[number - 1]}: {outcome}"


def test_a_kill_while_it_is_undone_is_undone_as_well(tmp_path: Path) -> None:
    """Q-12: a crash of the repair is repaired."""
    stage = Stage(tmp_path, OPERATIONS["upgrade"])
    steps, _ = stage.undisturbed()
    half = len(steps) - 12

    def mending() -> str:
        steps = interposed(0, killed)
        mend(stage.here)
        return str(len(steps()))

    stage.ready()
    stage.stopped(half, killed)
    count = int(said(mending))
    assert count >= 8
    for number in range(1, count + 1):
        before = stage.ready()
        stage.stopped(half, killed)

        def cut(number: int = number) -> str:
            interposed(number, killed)
            mend(stage.here)
            return "mended"

        assert said(cut) == ""
        assert stage.swept() == before, f"step {number}"
