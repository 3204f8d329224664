"""[I-52, I-57] A yes records what was shown, or nothing; and it can be taken back."""

from collections.abc import Callable
from pathlib import Path

import pytest

from stella.errors import RosterError
from stella.errors import Untrusted
from stella.roster.contribution import Contribution
from stella.roster.lock import AcceptedBy
from stella.roster.lock import read_records
from stella.roster.plugin import State
from stella.roster.roster import read_roster
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.trust import By
from stella.roster.trust import read_trust
from stella.roster.trusting import Done
from stella.roster.trusting import revoke
from stella.roster.trusting import trust_workspace
from stella.settings.schema import hook_entries
from tests.making.clocks import HandClock
from tests.making.packages import meter
from tests.making.packages import notes
from tests.making.packages import seen
from tests.making.packages import settled


def brought(tmp_path: Path) -> Places:
    """A workspace that brings a tool and two plugins."""
    here = settled(tmp_path)
    (here.workspace / ".stella/tools").mkdir(parents=True)
    (here.workspace / ".stella/tools/a.toml").write_text('name = "a"\ncommand = ["b"]\n')
    meter(here.workspace / ".stella/plugins/meter")
    notes(here.workspace / ".stella/plugins/notes")
    return here


def answered(here: Places, answer: Callable[[Contribution], bool]) -> Done | None:
    return trust_workspace(here, None, hook_entries, answer, HandClock())


def yes(_: Contribution) -> bool:
    return True


@pytest.mark.behaviour("I-52.yes", "I-34.trust-record")
def test_a_yes_trusts_the_workspace_and_accepts_each_plugin_that_was_shown(
    tmp_path: Path,
) -> None:
    """[I-34, I-52] Each bound to its bytes, the workspace to its items."""
    here = brought(tmp_path)
    shown: list[str] = []

    def reads(found: Contribution) -> bool:
        shown.append(found.text)
        return True

    done = answered(here, reads)
    assert done == Done(plugins=("meter", "notes"))
    assert "plugin meter, which nobody accepted here as it is:" in shown[0]
    assert read_trust(here, {}).by is By.RECORD
    records = read_records(here.tier(Scope.PROJECT)).by_name
    assert {name: record.accepted_by for name, record in records.items()} == {
        "meter": AcceptedBy.TRUST,
        "notes": AcceptedBy.TRUST,
    }
    roster = read_roster(here, None)
    assert {plugin.name: plugin.state for plugin in roster.plugins} == {
        "meter": State.OK,
        "notes": State.OK,
    }
    assert answered(here, yes) == Done(plugins=())


@pytest.mark.behaviour("A37.pull", "K-170.plugin")
def test_a_plugin_that_comes_later_needs_its_own_yes(tmp_path: Path) -> None:
    """[attacks A37, K-170] Trust is not consent: the workspace stays trusted, the plugin waits."""
    here = brought(tmp_path)
    answered(here, yes)
    notes(here.workspace / ".stella/plugins/late", "late")
    main = here.workspace / ".stella/plugins/notes/main.py"
    main.write_text("print(2)\n")
    assert read_trust(here, {}).trusted
    roster = read_roster(here, None)
    assert {plugin.name: plugin.state.value for plugin in roster.plugins} == {
        "late": "not-accepted",
        "meter": "ok",
        "notes": "changed",
    }


@pytest.mark.behaviour("H2")
def test_a_no_and_an_answer_that_never_comes_leave_nothing(tmp_path: Path) -> None:
    """[I-52, reports H2]"""
    here = brought(tmp_path)
    before = seen(tmp_path)
    assert answered(here, lambda _: False) is None

    def away(_: Contribution) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answered(here, away)
    assert seen(tmp_path) == before


@pytest.mark.behaviour("A22.trust")
@pytest.mark.parametrize(
    ("path", "told"),
    [
        (".stella/tools/a.toml", "changed .stella/tools/a.toml"),
        (".stella/tools/b.toml", "added .stella/tools/b.toml"),
        ("stella.toml", "added stella.toml"),
        (".stella/plugins/notes/main.py", "changed plugin notes"),
        (".stella/plugins/new/plugin.toml", "added plugin new"),
        ("AGENTS.md", "the directory, or what is in it"),
    ],
)
def test_what_changes_while_the_question_is_open_records_nothing(
    tmp_path: Path, path: str, told: str
) -> None:
    """[I-52, A22] What was shown is what is recorded."""
    here = brought(tmp_path)

    def meanwhile(_: Contribution) -> bool:
        (here.workspace / path).parent.mkdir(exist_ok=True)
        with (here.workspace / path).open("a") as file:
            file.write('name = "new"\n' if path.endswith("plugin.toml") else "# more\n")
        return True

    with pytest.raises(Untrusted) as refused:
        answered(here, meanwhile)
    assert str(refused.value) == (
        f"it changed while the question was open: {told}; nothing was recorded"
    )
    assert seen(here.home) == {}


def test_another_directory_in_its_place_records_nothing(tmp_path: Path) -> None:
    """[attacks D88] Though it holds the same bytes."""
    here = brought(tmp_path)
    twin = brought(tmp_path / "twin").workspace

    def swapped(_: Contribution) -> bool:
        here.workspace.rename(tmp_path / "away")
        twin.rename(here.workspace)
        return True

    with pytest.raises(Untrusted, match="the directory, or what is in it"):
        answered(here, swapped)


@pytest.mark.behaviour("D89.yes")
def test_a_damaged_file_is_put_aside_and_that_is_told(tmp_path: Path) -> None:
    """[attacks D89]"""
    here = brought(tmp_path)
    (here.home / "trust.toml").write_text("nonsense")
    done = answered(here, yes)
    assert done is not None
    (notice,) = done.notices
    assert f"it is {here.home}/trust.toml.damaged-" in notice
    assert read_trust(here, {}).trusted


@pytest.mark.behaviour("I-57", "D94")
def test_what_was_trusted_can_be_taken_back(tmp_path: Path) -> None:
    """[I-57, attacks D94, S2-14] What a session read when it opened stays; the next one asks."""
    here = brought(tmp_path)
    assert not revoke(here, HandClock())
    answered(here, yes)
    opened = read_trust(here, {})
    assert revoke(here, HandClock())
    assert opened.trusted
    assert not read_trust(here, {}).trusted
    assert read_roster(here, None).plugin("meter").state is State.OK
    (here.home / "trust.toml").write_text("nonsense")
    with pytest.raises(RosterError, match="kept for repair"):
        revoke(here, HandClock())
