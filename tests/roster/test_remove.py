"""Every copy of a plugin goes, whatever state it is in, and nothing else."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from stella import limits
from stella.clock import SystemClock
from stella.errors import NotInstalled
from stella.errors import RosterError
from stella.errors import UsageError
from stella.roster.change import REMOVING
from stella.roster.change import STAGING
from stella.roster.lock import read_records
from stella.roster.plugin import State
from stella.roster.remove import Removed
from stella.roster.remove import remove
from stella.roster.roster import read_roster
from stella.roster.scope import Places
from stella.roster.scope import Scope
from tests.making.child import open_folder
from tests.making.child import said
from tests.making.child import said_by_nobody
from tests.making.child import start
from tests.making.clocks import HandClock
from tests.making.faults import at_step
from tests.making.faults import die
from tests.making.faults import on_opening
from tests.making.packages import meter
from tests.making.packages import notes
from tests.making.packages import put
from tests.making.packages import seen
from tests.making.packages import settled


def records(here: Places) -> set[str]:
    return {name for tier in here.tiers for name in read_records(tier).by_name}


@pytest.mark.parametrize("scope", Scope)
def test_a_removed_plugin_leaves_neither_directory_nor_record(tmp_path: Path, scope: Scope) -> None:
    """G1, I-66: and the other plugin of the tier stays whole."""
    here = settled(tmp_path)
    kept = put(notes(tmp_path / "kept", "kept"), here, scope)
    before = seen(kept.directory)
    done = put(meter(tmp_path / "source"), here, scope)
    assert remove("meter", here, HandClock()) == Removed(
        directories=(done.directory,), records=(here.tier(scope).record_path,)
    )
    assert [path.name for path in here.tier(scope).path.iterdir()] == ["kept"]
    assert seen(kept.directory) == before
    assert records(here) == {"kept"}
    (plugin,) = read_roster(here, None).plugins
    assert plugin.state is State.OK


@pytest.mark.behaviour("A35")
def test_every_copy_goes_the_projects_first(tmp_path: Path) -> None:
    """A35, I-66: both tiers, each directory that bears or declares the name."""
    here = settled(tmp_path)
    user = put(notes(tmp_path / "a"), here, Scope.USER).directory
    project = put(notes(tmp_path / "b"), here).directory
    tier = here.tier(Scope.PROJECT).path
    declares = notes(tier / "another-name")
    faulty = notes(tier / "faulty", manifest='name = "{name}"\nmore = 1\n')
    kept = notes(tier / "kept", "kept")
    done = remove("notes", here, HandClock())
    assert done.directories == (declares, faulty, project, user)
    assert done.records == tuple(tier.record_path for tier in here.tiers)
    assert [path.name for path in tier.iterdir()] == ["kept"]
    assert kept.is_dir()
    assert records(here) == set()


@pytest.mark.behaviour("A35")
@pytest.mark.parametrize(
    "manifest", [None, "name", "name = 7\n", 'name = "other"\nmore = 1\n', 'name = "Bad Name"\n']
)
def test_a_directory_of_the_name_goes_whatever_its_manifest_says(
    tmp_path: Path, manifest: str | None
) -> None:
    """A35, F10, I-66, S-5."""
    here = settled(tmp_path)
    put(notes(tmp_path / "source"), here)
    directory = here.tier(Scope.PROJECT).path / "notes"
    (directory / "plugin.toml").unlink()
    if manifest is not None:
        (directory / "plugin.toml").write_text(manifest, "utf-8")
    assert remove("notes", here, HandClock()).directories == (directory,)
    assert not directory.exists()
    assert records(here) == set()


def _fifo(root: Path) -> None:
    (root / "plugin.toml").unlink()
    os.mkfifo(root / "plugin.toml")


def _loop(root: Path) -> None:
    (root / "loop").symlink_to("loop")
    (root / "up").symlink_to("..")


def _deep(root: Path) -> None:
    here = os.open(root, os.O_RDONLY)
    for _ in range(2 * limits.PACKAGE_DEPTH):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


@pytest.mark.parametrize("spoil", [_fifo, _loop, _deep, lambda root: root.chmod(0)])
def test_a_plugin_cannot_make_itself_impossible_to_remove(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    """F10, I-66."""
    here = settled(tmp_path)
    spoil(put(notes(tmp_path / "source"), here).directory)
    remove("notes", here, HandClock())
    assert list(here.tier(Scope.PROJECT).path.iterdir()) == []


def test_a_plugin_without_a_record_goes_too(tmp_path: Path) -> None:
    here = settled(tmp_path)
    placed = notes(here.tier(Scope.USER).path / "notes")
    assert remove("notes", here, HandClock()) == Removed(directories=(placed,), records=())


def test_a_record_without_a_plugin_goes_too(tmp_path: Path) -> None:
    """What a crash between the two leaves."""
    here = settled(tmp_path)
    done = put(notes(tmp_path / "source"), here)
    done.directory.rename(tmp_path / "gone")
    record = here.tier(Scope.PROJECT).record_path
    assert remove("notes", here, HandClock()) == Removed(directories=(), records=(record,))
    assert records(here) == set()


def test_nothing_found_is_an_error_with_near_words(tmp_path: Path) -> None:
    """I-66, M-8; nothing is written."""
    here = settled(tmp_path)
    put(notes(tmp_path / "source"), here)
    (here.tier(Scope.PROJECT).path / "empty").mkdir()
    before = seen(tmp_path)
    with pytest.raises(NotInstalled) as caught:
        remove("ntoes", here, HandClock())
    project, user = here.tiers
    assert str(caught.value) == (
        f'"ntoes" is installed neither in {project.path} nor in {user.path}; did you mean notes?'
    )
    assert seen(tmp_path) == before


def test_nothing_is_found_where_nothing_was_ever_installed(tmp_path: Path) -> None:
    here = settled(tmp_path)
    with pytest.raises(NotInstalled, match=r"plugins$"):
        remove("notes", here, HandClock())
    assert list(here.home.iterdir()) == []


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "/etc", ".staging-a", "a\0b"])
def test_a_path_is_no_name(tmp_path: Path, name: str) -> None:
    """A1, F5: refused before any file operation."""
    here = settled(tmp_path)
    notes(tmp_path / "x")
    before = seen(tmp_path)
    with pytest.raises(UsageError, match="is a path, not the name of a plugin"):
        remove(name, here, HandClock())
    assert seen(tmp_path) == before


@pytest.mark.behaviour("A34")
@pytest.mark.parametrize("scope", Scope)
def test_a_link_in_place_of_the_plugin_is_refused_before_anything_goes(
    tmp_path: Path, scope: Scope
) -> None:
    """A34, I-66: also when the copy of the other scope could have gone."""
    here = settled(tmp_path)
    (other,) = set(Scope) - {scope}
    put(notes(tmp_path / "source"), here, other)
    here.tier(scope).path.mkdir(parents=True)
    (here.tier(scope).path / "notes").symlink_to(notes(tmp_path / "precious"))
    before = seen(tmp_path)
    with pytest.raises(RosterError, match="is no directory but a link or a file"):
        remove("notes", here, HandClock())
    assert seen(tmp_path) == before


def test_a_tier_behind_a_link_is_refused(tmp_path: Path) -> None:
    """Q-11: a direct child of the tier, nothing else."""
    here = settled(tmp_path)
    notes(tmp_path / "elsewhere/plugins/notes")
    (here.workspace / ".stella").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RosterError, match="symbolic link"):
        remove("notes", here, HandClock())
    assert (tmp_path / "elsewhere/plugins/notes/main.py").exists()


def test_the_first_deletion_that_fails_ends_it_and_is_named() -> None:
    """I-66: what was not reached is as it was."""
    with open_folder() as folder:
        here = settled(folder)
        project = notes(here.tier(Scope.PROJECT).path / "notes")
        user = notes(here.tier(Scope.USER).path / "notes")
        for path in (here.home, here.home / "plugins", user):
            path.chmod(0o777)
        here.tier(Scope.PROJECT).path.chmod(0o555)

        def work() -> str:
            remove("notes", here, SystemClock())
            return "removed"

        assert said_by_nobody(work) == f"RosterError: {project}: Permission denied"
        assert project.is_dir()
        assert user.is_dir()


def test_a_kill_at_any_step_leaves_the_whole_plugin_or_none(tmp_path: Path) -> None:
    """I-66: never half of one, and a second remove finishes what is left."""

    def undisturbed() -> str:
        here = settled(tmp_path / "undisturbed")
        put(meter(tmp_path / "undisturbed-source"), here)
        count = at_step(0, die)
        remove("meter", here, HandClock())
        return str(count())

    steps = int(said(undisturbed))
    assert steps > 20
    states: set[State | None] = set()
    for number in range(1, steps + 1):
        here = settled(tmp_path / str(number))
        source = meter(tmp_path / f"{number}-source")
        (source / "zebra").touch()  # what is deleted first must not be the manifest
        put(source, here)

        def work(number: int = number, here: Places = here) -> None:
            at_step(number, die)
            remove("meter", here, HandClock())

        _, status = os.waitpid(start(work), 0)
        assert os.WTERMSIG(status) == signal.SIGKILL
        found = {plugin.name: plugin.state for plugin in read_roster(here, None).plugins}
        states.add(found.get("meter"))
        with suppress(NotInstalled):  # the kill came after the last thing to do
            remove("meter", here, SystemClock())
        assert list(here.tier(Scope.PROJECT).path.iterdir()) == []
        assert records(here) == set()
    assert states == {None, State.OK}


def test_what_a_crash_left_in_the_tier_goes_as_well(tmp_path: Path) -> None:
    """Q-12."""
    here = settled(tmp_path)
    put(notes(tmp_path / "source"), here)
    tier = here.tier(Scope.PROJECT).path
    notes(tier / f"{REMOVING}x-0")
    notes(tier / f"{STAGING}x")
    remove("notes", here, HandClock())
    assert list(tier.iterdir()) == []


def test_a_removed_plugin_can_be_installed_again(tmp_path: Path) -> None:
    """G2: every state reached by a command has a command that leaves it."""
    here = settled(tmp_path)
    source = notes(tmp_path / "source")
    for _ in range(3):
        done = put(source, here)
        (done.directory / "main.py").unlink()
        assert read_roster(here, None).plugin("notes").state is State.CHANGED
        remove("notes", here, HandClock())
    put(source, here)
    assert read_roster(here, None).plugin("notes").state is State.OK


def test_a_damaged_file_of_records_does_not_stop_a_removal(tmp_path: Path) -> None:
    """S-5: and the file is left for repair."""
    here = settled(tmp_path)
    put(notes(tmp_path / "source"), here)
    record = here.tier(Scope.PROJECT).record_path
    record.write_bytes(b"not toml")
    assert remove("notes", here, HandClock()).records == ()
    assert record.read_bytes() == b"not toml"
    assert list(here.tier(Scope.PROJECT).path.iterdir()) == []


@pytest.mark.behaviour("G11")
def test_of_two_removals_at_once_one_finds_nothing(tmp_path: Path) -> None:
    """Q-15: the other has come first, between the look and the hold."""
    here = settled(tmp_path)
    put(notes(tmp_path / "source"), here)
    lock = f"{here.tier(Scope.PROJECT).key}.lock"

    def other() -> None:
        remove("notes", here, HandClock())

    def work() -> str:
        on_opening(lock, other)
        remove("notes", here, HandClock())
        return "removed"

    assert said(work).startswith('NotInstalled: "notes" is installed neither in ')
    assert records(here) == set()
