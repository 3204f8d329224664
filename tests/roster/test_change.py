"""A change of a tier is whole or undone, wherever the system stops it [I-8, I-37, Q-12]."""

import errno
import os
from collections.abc import Callable
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from shutil import rmtree

import msgspec
import pytest

from stella import limits
from stella.errors import RosterError
from stella.roster.accept import accept
from stella.roster.change import OLD
from stella.roster.change import Change
from stella.roster.change import Move
from stella.roster.change import carry_out
from stella.roster.change import changing
from stella.roster.change import mend
from stella.roster.change import unfinished
from stella.roster.lock import AcceptedBy
from stella.roster.lock import put as put_record
from stella.roster.lock import read_records
from stella.roster.pending import Pending
from stella.roster.pending import Schema
from stella.roster.pending import SettingsBefore
from stella.roster.pending import write_pending
from stella.roster.remove import remove
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.scope import Tier
from stella.roster.switching import disable
from stella.roster.switching import enable
from stella.roster.target import Target
from stella.roster.target import read_target
from stella.settings.sections import SETTABLE
from tests.making.child import NOBODY
from tests.making.child import open_folder
from tests.making.child import said
from tests.making.child import said_by_nobody
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
    "forget": 8,
    "disable": 6,
    "enable": 6,
}
GROWING = ("open", "write", "mkdir")
SCAFFOLD = {".stella", ".stella/plugins", "plugins", "consent"}
"""Directories that a command which was cut off may leave empty."""
State_ = dict[str, dict[str, tuple[int, bytes]]]


def state(here: Places) -> State_:
    """All that is in the home and the workspace, to the byte: tiers, settings, records, leftovers.

    The files that a tier is held by are always empty and say nothing.
    """
    return {
        str(root): {
            name: found
            for name, found in seen(root).items()
            if name not in SCAFFOLD and not name.endswith(".lock")
        }
        for root in (here.home, here.workspace)
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What is done in one scope of a place that `ready` has set up."""

    ready: Callable[[Places, Path, Scope], object]
    work: Callable[[Places, Path, Scope], object]


def _bare(here: Places, sources: Path, scope: Scope) -> None:
    here.tier(scope).settings_path.write_text(SETTINGS, "utf-8")
    put(notes(sources / "other", "other"), here, scope)
    skin(sources / "new", theme="high-contrast", more=_LIVE)


def _there(here: Places, sources: Path, scope: Scope) -> None:
    _bare(here, sources, scope)
    put(skin(sources / "old"), here, scope)
    put(notes(sources / "third", "third"), here, scope)
    tier = here.tier(scope)
    if tier.kinds != (tier,):
        record = read_records(tier).by_name["skin"]
        by_variable = msgspec.structs.replace(record, accepted_by=AcceptedBy.ENV)
        put_record(tier.apart, by_variable, mark="m")


def _drifted(here: Places, sources: Path, scope: Scope) -> None:
    _there(here, sources, scope)
    (here.tier(scope).path / "skin" / "main.py").write_text("print(2)\n", "utf-8")


def _gone(here: Places, sources: Path, scope: Scope) -> None:
    _there(here, sources, scope)
    rmtree(here.tier(scope).path)


def _off(here: Places, sources: Path, scope: Scope) -> None:
    _there(here, sources, scope)
    disable("skin", here, scope, HandClock())


def _without_settings(here: Places, sources: Path, scope: Scope) -> None:
    del here, scope
    skin(sources / "new", theme="high-contrast", more=_LIVE)


_LIVE = '[[configure]]\nkey = "ui.live"\nvalue = false\npurpose = "To read."\n'

OPERATIONS = {
    "install": Operation(
        ready=_bare, work=lambda here, at, scope: put(at / "new", here, scope, clock=HandClock())
    ),
    "first install": Operation(
        ready=_without_settings, work=lambda here, at, scope: put(at / "new", here, scope)
    ),
    "upgrade": Operation(
        ready=_there, work=lambda here, at, scope: put(at / "new", here, scope, upgrade=True)
    ),
    "accept": Operation(
        ready=_drifted,
        work=lambda here, at, _: accept("skin", wish(at, here), yes, HandClock()),
    ),
    "remove": Operation(
        ready=_there, work=lambda here, *_: remove("skin", here, HandClock(), settable=SETTABLE)
    ),
    "forget": Operation(ready=_gone, work=lambda here, *_: remove("skin", here, HandClock())),
    "disable": Operation(
        ready=_there, work=lambda here, _, scope: disable("skin", here, scope, HandClock())
    ),
    "enable": Operation(
        ready=_off, work=lambda here, _, scope: enable("skin", here, scope, HandClock())
    ),
}
EACH = [pytest.param(scope, name, id=f"{scope}-{name}") for scope in Scope for name in OPERATIONS]


class Stage:
    """One folder in which an operation is set up and stopped, over and over.

    The workspace and the home stay the same directories, because records name them.
    """

    def __init__(self, folder: Path, name: str, scope: Scope) -> None:
        self.here = settled(folder)
        self.sources = folder / "sources"
        self.sources.mkdir()
        self.scope = scope
        self.operation = OPERATIONS[name]
        self.operation.ready(self.here, self.sources, scope)
        self.model = folder / "model"
        self.folders = (self.here.home, self.here.workspace)
        for root in self.folders:
            copytree(root, self.model / root.name)
        self.before = self.after = state(self.here)

    @property
    def tier(self) -> Tier:
        return self.here.tier(self.scope)

    def ready(self) -> State_:
        """Set up anew and return the state before."""
        for root in self.folders:
            for path in root.iterdir():
                rmtree(path) if path.is_dir() else path.unlink()
            copytree(self.model / root.name, root, dirs_exist_ok=True)
        return self.before

    def undisturbed(self) -> tuple[list[str], State_]:
        """The steps of a run that nothing stops, and the state after it."""

        def work() -> str:
            steps = interposed(0, killed)
            self.operation.work(self.here, self.sources, self.scope)
            return " ".join(steps())

        return said(work).split(), state(self.here)

    def stopped(self, number: int, act: Act) -> str:
        """Run until `act` at the step of that number and say how it ended."""

        def work() -> str:
            interposed(number, act)
            self.operation.work(self.here, self.sources, self.scope)
            return "done"

        return said(work)

    def swept(self) -> State_:
        """The state once the next command that writes has looked for what is unfinished."""
        mend(self.here)
        with changing(self.tier):
            return state(self.here)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """What came of an operation that something stopped at one step.

    `at_once` is the state it left, `found` the one after the next command that writes.
    """

    place: str
    outcome: str
    at_once: State_
    found: State_


def stopped_everywhere(stage: Stage, act: Callable[[str], Act]) -> Iterator[Stopped]:
    """Stop an operation at each of its steps in turn, by the act that is given for it."""
    steps, stage.after = stage.undisturbed()
    for number, step in enumerate(steps, 1):
        stage.ready()
        outcome = stage.stopped(number, act(step))
        at_once = state(stage.here)
        yield Stopped(
            place=f"step {number} of {len(steps)}, {step}: {outcome}",
            outcome=outcome,
            at_once=at_once,
            found=stage.swept(),
        )


def fault(step: str) -> Act:
    """What a disk says that is full, or broken."""
    return failing(errno.ENOSPC if step in GROWING else errno.EIO)


@pytest.mark.parametrize(("scope", "name"), EACH)
@pytest.mark.behaviour("I-37", "I-8", "A25")
def test_a_kill_at_any_step_leaves_the_old_state_or_the_new_one(
    tmp_path: Path, scope: Scope, name: str
) -> None:
    """I-8, I-37: and what it left lying about is gone after the next command that writes."""
    stage = Stage(tmp_path, name, scope)
    found = []
    for each in stopped_everywhere(stage, lambda _: killed):
        assert each.outcome == "", each.place
        assert each.found in (stage.before, stage.after), each.place
        found.append(each.found)
    assert len(found) >= FEWEST[name]
    assert (found[0], found[-1]) == (stage.before, stage.after)


@pytest.mark.parametrize(("scope", "name"), EACH)
@pytest.mark.behaviour("A28", "G13", "K-164")
def test_a_fault_at_any_step_leaves_the_old_state_or_the_new_one(
    tmp_path: Path, scope: Scope, name: str
) -> None:
    """A28, G13, I-37: a command that says it has done its work has done it."""
    stage = Stage(tmp_path, name, scope)
    for each in stopped_everywhere(stage, fault):
        assert each.found in (stage.before, stage.after), each.place
        if each.outcome == "done":
            assert each.found == stage.after, each.place
        else:
            assert each.outcome.startswith(("RosterError: ", "PackageRefused: ")), each.place
            assert "\n" not in each.outcome
            # Undone by the command itself; of a removal what is left to delete is nothing to undo.
            assert each.at_once == stage.before or name == "remove", each.place


@pytest.mark.parametrize(("scope", "name"), EACH)
def test_a_disk_that_stays_broken_is_undone_by_the_next_command(
    tmp_path: Path, scope: Scope, name: str
) -> None:
    """I-37: when nothing can be written any more, not even back, the note of it waits."""
    stage = Stage(tmp_path, name, scope)
    for each in stopped_everywhere(stage, lambda _: failing_from_now):
        assert each.found in (stage.before, stage.after), each.place


def test_a_kill_while_it_is_undone_is_undone_as_well(tmp_path: Path) -> None:
    """Q-12: a crash of the repair is repaired."""
    stage = Stage(tmp_path, "upgrade", Scope.PROJECT)
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


@pytest.mark.parametrize("shut", ["home/consent", "shop", "shop/.stella/plugins"])
@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("install", 3),
        ("upgrade", 3),
        ("remove", 3),
        ("disable", 2),
        ("accept", 1),
    ],
)
@pytest.mark.behaviour("A28")
def test_who_may_not_write_changes_nothing(name: str, needs: int, shut: str) -> None:
    """I-37, I-70: one line says where; `needs` are how many of the three it writes to."""
    with open_folder() as folder:
        stage = Stage(folder, name, Scope.PROJECT)
        for path in folder.rglob("*"):
            os.chown(path, NOBODY, NOBODY)
        (folder / shut).chmod(0o555)
        before = state(stage.here)

        def work() -> str:
            stage.operation.work(stage.here, stage.sources, stage.scope)
            return "done"

        outcome = said_by_nobody(work)
        needed = ("home/consent", "shop", "shop/.stella/plugins")[:needs]
        if shut not in needed:
            assert outcome == "done"
            return
        assert outcome.startswith("RosterError: ")
        assert "Permission denied" in outcome
        assert "\n" not in outcome
        assert state(stage.here) == before


# ── what one repair does, step by step ────────────────────────────────────────────────


def _renaming(here: Places, *, record: bytes = b"", mark: str = "m") -> tuple[Tier, Change]:
    """A change of every kind: settings, a move, and a file of records."""
    tier = here.tier(Scope.PROJECT)
    old = read_target(tier)
    change = Change(
        name="notes",
        mark=mark,
        moves=(Move(before="notes", after=f"{OLD}{mark}"),),
        settings=(old, Target(text=f"{old.text}# more\n", mode=old.mode)),
        records=((tier.apart, record),),
    )
    return tier, change


def _begun(tmp_path: Path) -> Places:
    here = settled(tmp_path)
    (here.workspace / "stella.toml").write_text(SETTINGS, "utf-8")
    put(notes(tmp_path / "source"), here)
    return here


TOO_LARGE = b"x" * (limits.LOCK_BYTES + 1)


def test_a_step_that_is_refused_takes_all_earlier_ones_back(tmp_path: Path) -> None:
    """[I-37] Here the last one: the file of records would be too large."""
    here = _begun(tmp_path)
    before = state(here)
    tier, change = _renaming(here, record=TOO_LARGE)
    with changing(tier), pytest.raises(RosterError, match=r"would have \d+ bytes") as caught:
        carry_out(tier, change)
    assert "undone" not in str(caught.value)
    assert state(here) == before


def test_an_undoing_that_fails_is_done_by_the_next_command(tmp_path: Path) -> None:
    """[Q-12] It is said so, and the note of it stays."""
    here = _begun(tmp_path)
    before = state(here)
    tier, change = _renaming(here, record=TOO_LARGE)
    with changing(tier):
        (here.workspace / f".stella-tmp-{tier.key}-m-back").touch()
        with pytest.raises(RosterError, match=r"could not be undone at once .*File exists"):
            carry_out(tier, change)
    (begun,) = (line for line in unfinished(tier) if "has begun and not ended" in line)
    assert begun.startswith(f"{tier.path}: a change of it has begun")
    (told,) = mend(here)
    assert told == (
        f"{tier.path}: undone, since it was cut off: what a command had begun to change about notes"
    )
    assert state(here) == before
    assert unfinished(tier) == ()


def test_a_change_of_what_is_gone_is_refused_before_it_begins(tmp_path: Path) -> None:
    here = _begun(tmp_path)
    tier, change = _renaming(here)
    rmtree(tier.path / "notes")
    before = state(here)
    with changing(tier), pytest.raises(RosterError, match="notes: is not there any more"):
        carry_out(tier, change)
    assert state(here) == before


def _cut_off(here: Places, step: str) -> Tier:
    """Be killed just after the first step of that kind that the change itself takes."""
    tier, change = _renaming(here, record=b"new")

    def work() -> str:
        with changing(tier):
            steps = interposed(0, killed)
            carry_out(tier, change)
            return " ".join(steps())

    def cut(number: int) -> Callable[[], str]:
        def work() -> str:
            with changing(tier):
                interposed(number, killed)
                carry_out(tier, change)
                return "done"

        return work

    folder = here.home.parent / "model"
    for root in (here.home, here.workspace):
        copytree(root, folder / root.name)
    steps = said(work).split()
    for root in (here.home, here.workspace):
        for path in root.iterdir():
            rmtree(path) if path.is_dir() else path.unlink()
        copytree(folder / root.name, root, dirs_exist_ok=True)
    assert said(cut(len(steps) - steps[::-1].index(step))) == ""
    return tier


def test_settings_that_somebody_changed_meanwhile_are_left_and_told(tmp_path: Path) -> None:
    """[I-23, Q-12] Also when they cannot be read any more; all else is taken back."""
    here = _begun(tmp_path)
    before = state(here)
    tier = _cut_off(here, "unlink")
    path = here.workspace / "stella.toml"
    path.write_text("# mine alone\n", "utf-8")
    assert len(mend(here)) == 1
    assert path.read_text("utf-8") == "# mine alone\n"
    path.write_text(SETTINGS, "utf-8")
    assert state(here) == before
    rmtree(tmp_path / "model")
    _cut_off(here, "unlink")
    path.unlink()
    path.mkdir()
    assert len(mend(here)) == 2
    assert path.is_dir()
    assert [each.name for each in tier.path.iterdir()] == ["notes"]


@pytest.mark.behaviour("I-37.edited")
def test_what_a_change_had_set_goes_back_although_somebody_edited_the_file(tmp_path: Path) -> None:
    """[I-37, I-23, Q-12] Else the next install takes the plugin's value for the person's."""
    here = _begun(tmp_path)
    tier = here.tier(Scope.PROJECT)
    path = here.workspace / "stella.toml"
    text = "[ui]\ntheme = 'default'\nlive = false\n"
    path.write_text(text, "utf-8")
    old = read_target(tier)
    new = Target(text='[ui]\ntheme = "plain"\nlive = true\n', mode=old.mode)
    settings = SettingsBefore(text=old.text, mode=old.mode, written=new.digest, after=new.text)
    note = Pending(schema=Schema.V1, name="skin", mark="m", moves=(), settings=settings)
    for edited, back, left in (
        (f"{new.text}# mine\n", f"{text}# mine\n", ""),
        ('[ui]\ntheme = "plain"\nlive = 3\n', "[ui]\ntheme = 'default'\nlive = 3\n", "ui.live"),
    ):
        write_pending(tier, note)
        path.write_text(edited, "utf-8")
        told = mend(here)
        assert path.read_text("utf-8") == back
        assert [line.partition("meanwhile; ")[2].partition(" not put")[0] for line in told[1:]] == (
            [left] if left else []
        )
    write_pending(tier, note)
    path.unlink()
    assert "ui.theme, ui.live not put back" in mend(here)[1]
    assert not path.exists()


def test_of_a_tier_that_is_gone_nothing_is_moved_back(tmp_path: Path) -> None:
    """[Q-12] The records are put back all the same."""
    here = _begun(tmp_path)
    tier = _cut_off(here, "unlink")
    assert tier.apart.record_path.read_bytes() == b"new"
    rmtree(here.workspace / ".stella")
    assert len(mend(here)) == 1
    assert not (here.workspace / ".stella").exists()
    assert not tier.apart.record_path.exists()
    assert unfinished(tier) == ()


def test_what_somebody_put_in_the_place_meanwhile_stays(tmp_path: Path) -> None:
    """[Q-12] Nothing but what was moved is moved back, and only where nothing stands."""
    here = _begun(tmp_path)
    tier = _cut_off(here, "unlink")
    (tier.path / "notes").mkdir()
    assert len(mend(here)) == 1
    assert list((tier.path / "notes").iterdir()) == []


@pytest.mark.parametrize("text", [b"nonsense", b"{}", b"\xff"])
def test_a_note_that_is_none_is_put_aside_and_nothing_is_undone(
    tmp_path: Path, text: bytes
) -> None:
    """[Q-12] What cannot be believed moves nothing."""
    here = _begun(tmp_path)
    tier = here.tier(Scope.PROJECT)
    path = here.home / "consent" / f"{tier.key}.change.json"
    path.write_bytes(text)
    before = state(here)
    (told,) = mend(here)
    assert told.startswith(f"{path}: ")
    assert told.endswith("; it was put aside and nothing was undone")
    assert path.with_name(f"{path.name}.damaged").read_bytes() == text
    path.with_name(f"{path.name}.damaged").rename(path)
    assert state(here) == before


def test_what_lies_about_is_told_by_name_and_goes(tmp_path: Path) -> None:
    """[I-8, I-37] An old copy goes back to a free name that its manifest declares, else it goes."""
    here = _begun(tmp_path)
    tier = here.tier(Scope.PROJECT)
    for name in ("notes", "other", "con"):
        notes(tier.path / f"{OLD}{name}", name)
    (tier.path / f"{OLD}bare").mkdir()
    (tier.path / ".staging-a").mkdir()
    (tier.path / ".removing-a").touch()
    (here.workspace / f".stella-tmp-{tier.key}-m").touch()
    (here.workspace / f".stella-tmp-{tier.key}-folder").mkdir()
    (here.workspace / ".stella-tmp-another").touch()
    told = unfinished(tier)
    assert len(told) == 5
    assert all("was cut off; the next one that changes plugins takes it away" in t for t in told)
    assert mend(here) == ()
    assert sorted(each.name for each in tier.path.iterdir()) == [".removing-a", "notes", "other"]
    left = sorted(path.name for path in here.workspace.glob(".stella-tmp*"))
    assert left == sorted([f".stella-tmp-{tier.key}-folder", ".stella-tmp-another"])


def test_a_workspace_that_is_gone_has_nothing_to_mend(tmp_path: Path) -> None:
    """[Q-12]"""
    here = settled(tmp_path)
    here.workspace.rmdir()
    with changing(here.tier(Scope.PROJECT)) as told:
        assert told == ()
    assert mend(here) == ()
