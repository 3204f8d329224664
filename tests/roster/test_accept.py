"""An installed plugin is accepted as it is now, after all that changed was shown [I-33]."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from shutil import rmtree

import pytest

from stella.errors import NotInstalled
from stella.errors import PackageRefused
from stella.errors import RosterError
from stella.roster.accept import Anew
from stella.roster.accept import Standing
from stella.roster.accept import accept
from stella.roster.drift import UNNAMED
from stella.roster.install import Declined
from stella.roster.install import Proposal
from stella.roster.install import Question
from stella.roster.install import install
from stella.roster.lock import AcceptedBy
from stella.roster.lock import read_records
from stella.roster.plugin import State
from stella.roster.roster import read_roster
from stella.roster.scope import Places
from stella.roster.scope import Scope
from tests.making.clocks import HandClock
from tests.making.content import tool
from tests.making.packages import meter
from tests.making.packages import notes
from tests.making.packages import put
from tests.making.packages import seen
from tests.making.packages import settled
from tests.making.packages import skin
from tests.making.packages import wish
from tests.making.packages import yes


def accepted(
    here: Places, name: str, ask: Callable[[Proposal], AcceptedBy | None] = yes
) -> Anew | Standing | Declined:
    return accept(name, wish(here.workspace, here), ask, HandClock())


def state(here: Places, name: str) -> State:
    return read_roster(here, None).plugin(name).state


def _byte(root: Path) -> None:
    (root / "main.py").write_text("print(2)\n", "utf-8")


def _added(root: Path) -> None:
    (root / "more.py").touch()


def _removed(root: Path) -> None:
    (root / "main.py").unlink()


def _mode(root: Path) -> None:
    (root / "main.py").chmod(0o755)


def _directory(root: Path) -> None:
    (root / "empty").mkdir()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_byte, ("changed main.py",)),
        (_added, ("added more.py",)),
        (_removed, ("removed main.py",)),
        (_mode, (UNNAMED,)),
        (_directory, (f"{UNNAMED}; no accepted file lies in empty",)),
    ],
)
@pytest.mark.parametrize("scope", Scope)
@pytest.mark.behaviour("I-33")
def test_what_changed_is_shown_and_a_yes_restores_it(
    tmp_path: Path, change: Callable[[Path], None], told: tuple[str, ...], scope: Scope
) -> None:
    """I-33, K-160, I-30: nothing but the record is written."""
    here = settled(tmp_path)
    done = put(notes(tmp_path / "source"), here, scope)
    change(done.directory)
    assert state(here, "notes") is State.CHANGED
    before = seen(done.directory)
    shown: list[Proposal] = []

    def ask(proposal: Proposal) -> AcceptedBy:
        shown.append(proposal)
        return AcceptedBy.TTY

    found = accepted(here, "notes", ask)
    assert isinstance(found, Anew)
    (proposal,) = shown
    assert proposal.question is Question.ACCEPT
    assert proposal.files == told
    assert proposal.difference == ()
    assert proposal.consent == done.record.consent_text
    assert found.record.source == done.record.source
    assert state(here, "notes") is State.OK
    assert seen(done.directory) == before
    assert read_records(here.tier(scope)).by_name == {"notes": found.record}


def test_a_widened_manifest_is_shown_line_by_line(tmp_path: Path) -> None:
    """K-161, A29."""
    here = settled(tmp_path)
    done = put(meter(tmp_path / "source"), here)
    manifest = done.directory / "plugin.toml"
    text = manifest.read_text("utf-8") + 'env = ["HOME"]\n'
    manifest.write_text(text, "utf-8")
    shown: list[Proposal] = []

    def no(proposal: Proposal) -> None:
        shown.append(proposal)

    assert accepted(here, "meter", no) == Declined(name="meter")
    assert shown[0].difference == (
        "-       environment: nothing",
        "+       environment: HOME and nothing else",
    )
    assert state(here, "meter") is State.CHANGED


def test_a_no_and_an_interrupt_write_nothing(tmp_path: Path) -> None:
    here = settled(tmp_path)
    done = put(notes(tmp_path / "source"), here)
    _byte(done.directory)
    before = seen(tmp_path)

    def interrupted(proposal: Proposal) -> None:
        raise KeyboardInterrupt

    assert isinstance(accepted(here, "notes", lambda _: None), Declined)
    with pytest.raises(KeyboardInterrupt):
        accepted(here, "notes", interrupted)
    assert seen(tmp_path) == before


@pytest.mark.parametrize("scope", Scope)
def test_a_directory_placed_by_hand_is_shown_whole_and_can_be_accepted(
    tmp_path: Path, scope: Scope
) -> None:
    """K-163, I-30, I-38."""
    here = settled(tmp_path)
    placed = notes(here.tier(scope).path / "notes")
    shown: list[Proposal] = []

    def ask(proposal: Proposal) -> AcceptedBy:
        shown.append(proposal)
        return AcceptedBy.TTY

    done = accepted(here, "notes", ask)
    assert isinstance(done, Anew)
    assert done.record.source == str(placed)
    (proposal,) = shown
    assert proposal.files == ("added main.py", "added plugin.toml")
    assert proposal.difference == tuple(f"+ {line}" for line in proposal.consent.split("\n"))
    assert state(here, "notes") is State.OK


def test_what_stands_as_accepted_is_not_asked_about(tmp_path: Path) -> None:
    here = settled(tmp_path)
    done = put(notes(tmp_path / "source"), here)
    before = seen(tmp_path)
    assert accepted(here, "notes") == Standing(name="notes", directory=done.directory)
    assert seen(tmp_path) == before


def test_of_two_copies_the_one_that_is_used_is_meant(tmp_path: Path) -> None:
    """I-42."""
    here = settled(tmp_path)
    both = {scope: put(notes(tmp_path / scope.value), here, scope) for scope in Scope}
    for done in both.values():
        _byte(done.directory)
    found = accepted(here, "notes")
    assert isinstance(found, Anew)
    assert found.directory == both[Scope.PROJECT].directory
    other = accept("notes", wish(tmp_path, here), yes, HandClock(), scope=Scope.USER)
    assert isinstance(other, Anew)
    assert other.directory == both[Scope.USER].directory


def _link(root: Path) -> None:
    (root / "link").symlink_to("main.py")


def _twice(root: Path) -> None:
    os.link(root / "main.py", root / "twin")


def _setuid(root: Path) -> None:
    (root / "main.py").chmod(0o4755)


def _faulty(root: Path) -> None:
    (root / "plugin.toml").write_text("name = 7", "utf-8")


def _content(root: Path) -> None:
    tool(root, "fix")


def _renamed(root: Path) -> None:
    (root / "plugin.toml").write_text('name = "other"\n', "utf-8")


def _nothing(root: Path) -> None:
    (root / "plugin.toml").unlink()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_link, "link: a symbolic link"),
        (_twice, "main.py: a hard link"),
        (_setuid, "main.py: has the setuid bit"),
        (_faulty, "plugin.toml cannot be loaded: 1 fault"),
        (_content, 'tools/fix.toml: tool "fix" is not declared in [[tools]]'),
        (_renamed, 'its manifest calls it "other", so accept that name'),
        (_nothing, "there is no plugin.toml in it"),
    ],
)
def test_what_could_not_be_installed_cannot_be_accepted(
    tmp_path: Path, change: Callable[[Path], None], said: str
) -> None:
    """I-33: limits, kinds and the declaration are judged again."""
    here = settled(tmp_path)
    done = put(notes(tmp_path / "source"), here)
    change(done.directory)
    before = seen(here.home)
    with pytest.raises(PackageRefused) as caught:
        accepted(here, "notes")
    assert said in str(caught.value)
    assert str(done.directory) in str(caught.value)
    assert str(caught.value).endswith("nothing was accepted")
    assert seen(here.home) == before


def test_what_changes_while_the_question_is_open_is_refused(tmp_path: Path) -> None:
    """Q-15."""
    here = settled(tmp_path)
    done = put(notes(tmp_path / "source"), here)
    _byte(done.directory)

    def ask(proposal: Proposal) -> AcceptedBy:
        _added(done.directory)
        return AcceptedBy.TTY

    with pytest.raises(PackageRefused, match=r"while the question was open: more\.py; nothing was"):
        accepted(here, "notes", ask)
    assert state(here, "notes") is State.CHANGED


def test_an_unknown_name_is_refused_with_the_near_ones(tmp_path: Path) -> None:
    here = settled(tmp_path)
    put(notes(tmp_path / "source"), here)
    with pytest.raises(NotInstalled, match=r"did you mean notes\?"):
        accepted(here, "ntoes")


def test_settings_are_not_changed_and_new_ones_are_named(tmp_path: Path) -> None:
    """I-33."""
    here = settled(tmp_path)
    done = put(skin(tmp_path / "source"), here)
    more = '[[configure]]\nkey = "ui.live"\nvalue = false\npurpose = "x"\n'
    manifest = done.directory / "plugin.toml"
    manifest.write_text(manifest.read_text("utf-8") + more, "utf-8")
    before = (here.workspace / "stella.toml").read_bytes()
    shown: list[Proposal] = []

    def ask(proposal: Proposal) -> AcceptedBy:
        shown.append(proposal)
        return AcceptedBy.YES

    accepted(here, "skin", ask)
    assert shown[0].notes == (
        "not set by this: ui.live; an install with --upgrade sets what it asks for",
    )
    assert (here.workspace / "stella.toml").read_bytes() == before
    assert state(here, "skin") is State.OK


@pytest.mark.behaviour("I-26.anchor")
def test_a_workspace_that_took_the_place_of_the_one_asked_about_gets_nothing(
    tmp_path: Path,
) -> None:
    """[I-26, A22] By install and by accept: a yes is about one directory, not about its path."""
    here = settled(tmp_path)
    aside = here.workspace.with_name("aside")

    def swapped(_: Proposal) -> AcceptedBy:
        here.workspace.rename(aside)
        copytree(aside, here.workspace)
        return AcceptedBy.TTY

    wanted = replace(wish(tmp_path, here), source=notes(tmp_path / "source"))
    with pytest.raises(RosterError, match=r"took the place of .* nothing was installed"):
        install(wanted, swapped, HandClock())
    assert list(here.workspace.rglob("plugin.toml")) == []
    rmtree(aside)
    there = here.workspace / ".stella" / "plugins" / "notes"
    notes(there)
    with pytest.raises(RosterError, match=r"took the place of .* nothing was accepted"):
        accepted(here, "notes", swapped)
    assert state(here, "notes") is State.NOT_ACCEPTED


@pytest.mark.behaviour("I-33.waiting")
def test_a_copy_nobody_accepted_is_meant_only_when_it_is_named(tmp_path: Path) -> None:
    """[I-33, A-70] As in a session: being there is not enough to take the person's place."""
    here = settled(tmp_path)
    own = put(notes(tmp_path / "source"), here, Scope.USER)
    _byte(own.directory)
    there = notes(here.workspace / ".stella" / "plugins" / "notes")
    found = accepted(here, "notes")
    assert isinstance(found, Anew)
    assert found.directory == own.directory
    other = accept("notes", wish(tmp_path, here), yes, HandClock(), scope=Scope.PROJECT)
    assert isinstance(other, Anew)
    assert other.directory == there
    assert read_roster(here, None).plugin("notes").directory == there
