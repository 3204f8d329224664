"""A package is in its tier whole, with its record, or not at all."""

import errno
import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stella.clock import SystemClock
from stella.errors import NameTaken
from stella.errors import PackageRefused
from stella.errors import RosterError
from stella.files import tree
from stella.roster.change import OLD
from stella.roster.change import REMOVING
from stella.roster.change import STAGING
from stella.roster.change import mend
from stella.roster.install import Proposal
from stella.roster.lock import AcceptedBy
from stella.roster.lock import read_records
from stella.roster.place import refuse_taken
from stella.roster.place import token
from stella.roster.plugin import State
from stella.roster.remove import remove
from stella.roster.roster import read_roster
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.scope import entered
from tests.making.child import said
from tests.making.child import start
from tests.making.clocks import HandClock
from tests.making.faults import at_step
from tests.making.faults import die
from tests.making.faults import fail
from tests.making.packages import meter
from tests.making.packages import notes
from tests.making.packages import put
from tests.making.packages import seen
from tests.making.packages import settled
from tests.making.packages import yes

STEPS_AT_LEAST = 30
LOOKS = 8
"""Steps that only look whether anything is unfinished; nothing to see is no fault."""


def attempt(source: Path, here: Places, before: Callable[[], object]) -> str:
    """Install in a process of its own in which `before` was done first; say how it ended."""

    def work() -> str:
        before()
        try:
            put(source, here)
        except RosterError as error:
            return f"refused: {error}"
        return "installed"

    return said(work)


def steps(root: Path) -> int:
    """How many steps an undisturbed install takes."""
    here = settled(root)
    source = meter(root / "source")

    def work() -> str:
        count = at_step(0, die)
        put(source, here)
        return str(count())

    return int(said(work))


def nothing_is_left(here: Places) -> bool:
    """No tier holds anything, not even what is unfinished, and no record was kept."""
    return not any(
        list(tier.path.iterdir()) if tier.path.exists() else read_records(tier).by_name
        for tier in here.tiers
    )


def test_a_fault_at_any_step_leaves_nothing_in_the_tier(tmp_path: Path) -> None:
    """A28, I-2, G13: the disk is full, or broken, at each step in turn."""
    count = steps(tmp_path / "undisturbed")
    assert count >= STEPS_AT_LEAST
    outcomes = []
    for number in range(1, count + 1):
        here = settled(tmp_path / str(number))
        source = meter(tmp_path / f"{number}-source")
        before = seen(here.workspace)
        outcome = attempt(source, here, lambda: at_step(number, fail(errno.EIO)))  # noqa: B023  # called in this round
        outcomes.append(outcome)
        if outcome == "installed":  # the fault met a look for something unfinished
            (plugin,) = read_roster(here, None).plugins
            assert plugin.state is State.OK, f"step {number}"
            continue
        assert outcome.startswith("refused: "), f"step {number}: {outcome}"
        assert "\n" not in outcome
        assert outcome.endswith(("; nothing was copied", "; nothing was installed"))
        assert nothing_is_left(here), f"step {number}"
        assert seen(here.workspace) == before
        put(source, here)
    assert outcomes.count("installed") <= LOOKS
    assert any("nothing was installed" in outcome for outcome in outcomes)


def test_a_kill_at_any_step_leaves_the_whole_plugin_or_none(tmp_path: Path) -> None:
    """I-8: what is left half done is never read as a plugin, and the next command clears it."""
    count = steps(tmp_path / "undisturbed")
    states: set[State | None] = set()
    for number in range(1, count + 1):
        here = settled(tmp_path / str(number))
        source = meter(tmp_path / f"{number}-source")

        def work(number: int = number, here: Places = here, source: Path = source) -> None:
            at_step(number, die)
            put(source, here)

        _, status = os.waitpid(start(work), 0)
        assert os.WIFSIGNALED(status)
        assert os.WTERMSIG(status) == signal.SIGKILL
        states.add(_state_after(here, source))
    assert states == {None}


def _state_after(here: Places, source: Path) -> State | None:
    """What the roster says after a kill, once it was seen that every way on from there is open."""
    mend(here)
    roster = read_roster(here, None)
    tier = here.tier(Scope.PROJECT)
    state = None
    if roster.plugins:
        (plugin,) = roster.plugins
        state = plugin.state
        with tree.opened(plugin.directory) as placed, tree.opened(source) as original:
            assert tree.installed(placed) == tree.walk(original), "torn"
        remove("meter", here, SystemClock())
    put(source, here, clock=SystemClock())
    assert [path.name for path in tier.path.iterdir()] == ["meter"]
    (plugin,) = read_roster(here, None).plugins
    assert plugin.state is State.OK
    return state


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    """Ctrl-C while it copies."""
    here = settled(tmp_path)
    source = meter(tmp_path / "source")

    def interrupt(event: str, args: tuple[Any, ...]) -> None:
        raise KeyboardInterrupt

    for number in range(20, STEPS_AT_LEAST):
        ended = attempt(source, here, lambda: at_step(number, interrupt))  # noqa: B023  # called in this round
        assert ended.startswith("KeyboardInterrupt")
        assert nothing_is_left(here)
    assert list(here.workspace.iterdir()) == []


@pytest.mark.parametrize("size", [0, 10, 5_000, 70_000])
def test_a_disk_that_fills_up_leaves_nothing(tmp_path: Path, size: int) -> None:
    """A28: the write itself fails, at the first byte and at later ones."""
    here = settled(tmp_path)
    source = meter(tmp_path / "source")
    (source / "big").write_bytes(b"x" * 100_000)
    limit = (size, size)
    outcome = attempt(source, here, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    assert outcome == (
        f"refused: {source}: {here.workspace}/.stella/plugins/meter: File too large; "
        "nothing was installed"
    )
    assert nothing_is_left(here)
    assert list(here.workspace.iterdir()) == []


def test_a_disk_that_is_full_for_the_record_alone_leaves_nothing(tmp_path: Path) -> None:
    """I-2, step 14: the plugin is in its place by then."""
    here = settled(tmp_path)
    source = notes(tmp_path / "source")
    limit = (500, 500)
    outcome = attempt(source, here, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    assert f"{here.tier(Scope.PROJECT).record_path}: File too large" in outcome
    assert nothing_is_left(here)


def test_a_workspace_that_is_gone_is_said_so(tmp_path: Path) -> None:
    here = settled(tmp_path)
    source = notes(tmp_path / "source")

    def ask(proposal: object) -> None:
        here.workspace.rmdir()

    with pytest.raises(RosterError) as caught:
        _with(source, here, ask)
    assert str(caught.value) == (
        f"{source}: {here.workspace}: is not there any more; nothing was installed"
    )


def _with(
    source: Path, here: Places, act: Callable[[object], None], *, upgrade: bool = False
) -> None:
    def ask(proposal: Proposal) -> AcceptedBy | None:
        act(proposal)
        return yes(proposal)

    put(source, here, ask=ask, upgrade=upgrade)


def test_an_upgrade_of_what_another_command_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    """Q-15, I-36: the difference that was shown is none to what stands there now."""
    here = settled(tmp_path)
    put(notes(tmp_path / "first"), here)
    second = notes(tmp_path / "second")
    (second / "more").touch()
    source = notes(tmp_path / "source")

    def meanwhile(proposal: object) -> None:
        put(second, here, upgrade=True)

    with pytest.raises(RosterError, match="another command changed it while the question was"):
        _with(source, here, meanwhile, upgrade=True)
    (plugin,) = read_roster(here, None).plugins
    assert (plugin.state, (plugin.directory / "more").exists()) == (State.OK, True)


def test_a_name_taken_while_the_question_was_open_is_refused(tmp_path: Path) -> None:
    """Q-15, A26: the tier is read again; what was there stays."""
    here = settled(tmp_path)
    source = notes(tmp_path / "source")
    first = notes(tmp_path / "first")

    def meanwhile(proposal: object) -> None:
        put(first, here)

    with pytest.raises(NameTaken) as caught:
        _with(source, here, meanwhile)
    assert str(caught.value).endswith("makes room for it; nothing was installed")
    (plugin,) = read_roster(here, None).plugins
    assert plugin.record is not None
    assert plugin.record.source == str(first)
    assert plugin.state is State.OK


def _byte(source: Path) -> None:
    (source / "main.py").write_text("print(2)\n", "utf-8")


def _link(source: Path) -> None:
    (source / "main.py").unlink()
    (source / "main.py").symlink_to("plugin.toml")


def _whole(source: Path) -> None:
    source.rename(source.with_name("moved"))
    notes(source)
    (source / "main.py").write_text("import evil\n", "utf-8")


@pytest.mark.behaviour("I-7", "K-159")
@pytest.mark.parametrize(
    ("change", "named"),
    [
        (_byte, "main.py"),
        (lambda source: (source / "main.py").chmod(0o755), "main.py"),
        (lambda source: (source / "main.py").unlink(), "main.py"),
        (lambda source: (source / "added").touch(), "added"),
        (lambda source: (source / "plugin.toml").write_text('name = "notes" \n'), "plugin.toml"),
    ],
)
def test_a_source_that_changes_while_the_question_is_open_is_refused_with_the_paths(
    tmp_path: Path, change: Callable[[Path], None], named: str
) -> None:
    """K-159, A22, I-7."""
    here = settled(tmp_path)
    source = notes(tmp_path / "source")
    with pytest.raises(PackageRefused) as caught:
        _with(source, here, lambda _: change(source))
    assert str(caught.value) == (
        f"{source}: it changed while the question was open: {named}; nothing was installed"
    )
    assert nothing_is_left(here)


@pytest.mark.behaviour("K-159")
def test_a_source_that_becomes_something_else_while_the_question_is_open_is_refused(
    tmp_path: Path,
) -> None:
    here = settled(tmp_path)
    source = notes(tmp_path / "source")
    with pytest.raises(PackageRefused, match=r"main\.py: a symbolic link"):
        _with(source, here, lambda _: _link(source))
    assert nothing_is_left(here)


def test_another_directory_in_place_of_the_source_is_not_what_is_copied(tmp_path: Path) -> None:
    """A22: the directory that was judged is held open; a swap of the name changes nothing."""
    here = settled(tmp_path)
    source = notes(tmp_path / "source")
    _with(source, here, lambda _: _whole(source))
    (plugin,) = read_roster(here, None).plugins
    assert (plugin.directory / "main.py").read_text("utf-8") == "print(1)\n"
    assert plugin.state is State.OK


def test_what_a_crash_left_is_cleared_by_the_next_install_and_nothing_else(
    tmp_path: Path,
) -> None:
    """I-8, Q-12: directories only, so that a file of that name stops nothing."""
    here = settled(tmp_path)
    tier = here.tier(Scope.PROJECT).path
    for name in (f"{STAGING}a", f"{REMOVING}b-0"):
        notes(tier / name)
    notes(tier / f"{OLD}c", "other")
    notes(tier / f"{OLD}d", "gone")
    (tier / f"{OLD}e").mkdir()
    notes(tier / "other", "other")
    (tier / f"{STAGING}file").touch()
    (tier / f"{STAGING}link").symlink_to(tmp_path)
    put(notes(tmp_path / "source"), here)
    assert sorted(path.name for path in tier.iterdir()) == sorted(
        (f"{STAGING}file", f"{STAGING}link", "gone", "notes", "other")
    )


@pytest.mark.parametrize(
    ("name", "declared"), [("notes", "other"), ("other", "notes"), ("Notes", "other")]
)
def test_a_name_is_taken_by_whoever_bears_or_declares_it(
    tmp_path: Path, name: str, declared: str
) -> None:
    """A4, G4, I-2: case twins too; the message names the holder and the way out."""
    here = settled(tmp_path)
    tier = here.tier(Scope.PROJECT)
    notes(tier.path / name, declared)
    with entered(tier, make=False) as directory, pytest.raises(NameTaken) as caught:
        refuse_taken(tier, directory, "notes")
    upgrade = "`--upgrade` puts this one in its place, " if name == "notes" else ""
    assert str(caught.value) == (
        f'"notes" is taken in the project scope by {tier.path}/{name}; {upgrade}'
        "`stella plugin remove notes` makes room for it"
    )


@pytest.mark.parametrize("make", [os.mkfifo, Path.touch, lambda path: path.symlink_to("/none")])
def test_a_name_is_taken_by_anything_that_stands_there(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    here = settled(tmp_path)
    tier = here.tier(Scope.PROJECT)
    tier.path.mkdir(parents=True)
    make(tier.path / "notes")
    with entered(tier, make=False) as directory:
        refuse_taken(tier, directory, "other")
        with pytest.raises(NameTaken):
            refuse_taken(tier, directory, "notes")


def test_a_name_is_free_in_a_tier_that_is_not_there(tmp_path: Path) -> None:
    refuse_taken(settled(tmp_path).tier(Scope.PROJECT), None, "notes")


def test_the_name_of_what_is_unfinished_cannot_be_guessed(tmp_path: Path) -> None:
    """A25: eighty bits of chance, and one that is there already is refused."""
    assert len({token(SystemClock()) for _ in range(100)}) == 100
    assert len(token(SystemClock())) == 16
    here = settled(tmp_path)
    tier = here.tier(Scope.PROJECT).path
    tier.mkdir(parents=True)
    (tier / f"{STAGING}{token(HandClock())}").symlink_to(tmp_path)
    before = seen(tier)
    with pytest.raises(RosterError, match="File exists; nothing was installed"):
        put(notes(tmp_path / "source"), here, clock=HandClock())
    assert seen(tier) == before
