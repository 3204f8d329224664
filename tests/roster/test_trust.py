"""[I-50 to I-56] A workspace is trusted by the person, here and as it is, and by nothing else."""

from pathlib import Path

import pytest

from stella import limits
from stella.roster.items import items_of
from stella.roster.scope import Places
from stella.roster.scope import places
from stella.roster.trust import By
from stella.roster.trust import Standing
from stella.roster.trust import Trust
from stella.roster.trust import read_trust
from stella.roster.trust import standing
from stella.roster.trust_file import put_trusted
from stella.roster.trust_file import read_trust_file
from stella.roster.trust_file import trusted_now
from tests.making.clocks import NOON
from tests.making.packages import seen
from tests.making.packages import settled

NOBODY = Trust()
TRUE = ("1", "true", "YES", " On ")
OTHER = ("0", "false", "no", "off", "2", "y", "t", "enable", "\uff11", "1 1", "\x001")


def here(tmp_path: Path, *, trusted: bool = True) -> Places:
    """A workspace with something in it, which was trusted as it stands."""
    made = settled(tmp_path)
    (made.workspace / ".stella/tools").mkdir(parents=True)
    (made.workspace / ".stella/tools/lint.toml").write_text('name = "lint"\n')
    (made.workspace / "stella.toml").write_text("")
    if trusted:
        trust(made)
    return made


def trust(where: Places) -> None:
    record = trusted_now(where.workspace, items_of(where.workspace), NOON)
    put_trusted(where.home, record, mark="m")


def said(where: Places, value: str | None = None) -> Trust:
    return read_trust(where, {} if value is None else {"STELLA_TRUST_PROJECT": value})


@pytest.mark.behaviour("I-50", "D82")
@pytest.mark.parametrize(
    ("value", "record", "by"),
    [
        (None, True, By.RECORD),
        (None, False, None),
        ("", True, By.RECORD),
        ("", False, None),
        (" \t", True, By.RECORD),
        (" ", False, None),
        *(
            (value, record, By.VARIABLE)
            for value in ("1", "true", "YES", " On ")
            for record in (0, 1)
        ),
        *((word, record, None) for word in OTHER for record in (True, False)),
    ],
)
def test_only_the_words_of_the_rule_trust_and_any_other_trusts_nothing(
    tmp_path: Path, *, value: str | None, record: bool, by: By | None
) -> None:
    """[I-50, Q-3, attacks D82] Whatever was recorded; an empty variable is an unset one [S2-31]."""
    found = said(here(tmp_path, trusted=record), value)
    assert (found.by, found.trusted, found.by_variable) == (by, bool(by), by is By.VARIABLE)
    assert bool(found.why) is not found.trusted


@pytest.mark.behaviour("D83")
def test_the_variable_alone_is_told_with_the_way_to_trust_this_one_place(tmp_path: Path) -> None:
    """[attacks D83] One notice, and none where the place was trusted by itself."""
    where = here(tmp_path, trusted=False)
    (notice,) = said(where, "1").notices
    assert notice == (
        "STELLA_TRUST_PROJECT trusts every workspace that stella is started in; "
        f"{where.workspace} was never trusted by itself: `stella trust` does that, and then the "
        "variable is not needed"
    )
    trust(where)
    assert said(where, "1").notices == ()


@pytest.mark.behaviour("I-54", "K-170")
@pytest.mark.parametrize(
    ("path", "changes"),
    [
        (".stella/tools/lint.toml", ("changed .stella/tools/lint.toml",)),
        (".stella/mcp.toml", ("added .stella/mcp.toml",)),
        ("stella.toml", ("changed stella.toml",)),
        (".stella/plugins/p/main.py", ()),
        (".stella/private/x", ()),
        ("AGENTS.md", ()),
    ],
)
def test_a_later_difference_ends_the_trust_and_is_told(
    tmp_path: Path, path: str, changes: tuple[str, ...]
) -> None:
    """[I-53, I-54, K-170, Q-1, Q-2] A plugin's bytes are bound by its own record."""
    where = here(tmp_path)
    (where.workspace / path).parent.mkdir(parents=True, exist_ok=True)
    with (where.workspace / path).open("a") as file:
        file.write("# more\n")
    found = said(where)
    assert (found.trusted, found.changes) == (not changes, changes)
    if changes:
        assert found.why == f"it is not what was trusted on 2026-08-11T12:00:00Z: {changes[0]}"
    assert said(where, "on").trusted


def test_what_is_taken_away_ends_the_trust_too_and_bringing_it_back_restores_it(
    tmp_path: Path,
) -> None:
    """[I-54]"""
    where = here(tmp_path)
    tool = where.workspace / ".stella/tools/lint.toml"
    tool.rename(tmp_path / "away")
    assert said(where).changes == ("removed .stella/tools/lint.toml",)
    (tmp_path / "away").rename(tool)
    assert said(where).trusted
    tool.chmod(0o755)
    assert said(where).changes == ("changed .stella/tools/lint.toml",)


def test_very_many_changes_are_told_in_few_words(tmp_path: Path) -> None:
    """[I-54] limits.CHANGED_PATHS_SHOWN, one past it."""
    where = here(tmp_path)
    for number in range(limits.CHANGED_PATHS_SHOWN + 1):
        (where.workspace / f".stella/{number:02}").touch()
    found = said(where)
    assert found.why.endswith(f"added .stella/{limits.CHANGED_PATHS_SHOWN - 1}, and 1 more")
    assert len(found.changes) == limits.CHANGED_PATHS_SHOWN + 1


@pytest.mark.behaviour("I-55", "K-171", "D86", "H5")
def test_nothing_around_or_inside_a_trusted_workspace_inherits(tmp_path: Path) -> None:
    """[I-55, K-171, attacks D86, reports H5] A nested one, the one above, a copy, a work tree."""
    where = here(tmp_path)
    trusted = where.workspace
    for other in (trusted / "nested", tmp_path / "copy", tmp_path / "SHOP"):
        (other / ".stella/tools").mkdir(parents=True)
        (other / ".stella/tools/lint.toml").write_text('name = "lint"\n')
        (other / "stella.toml").write_text("")
        assert said(places(where.home, other)) == NOBODY
    assert said(Places(home=where.home, workspace=tmp_path)) == NOBODY


@pytest.mark.behaviour("Q-11")
def test_a_link_that_leads_to_a_trusted_workspace_is_that_workspace(tmp_path: Path) -> None:
    """[Q-11] The canonical path decides; the other way round nothing is inherited."""
    where = here(tmp_path)
    (tmp_path / "link").symlink_to(where.workspace)
    assert said(places(where.home, tmp_path / "link")).trusted
    moved = tmp_path / "moved"
    where.workspace.rename(moved)
    where.workspace.symlink_to(moved)
    assert said(places(where.home, where.workspace)) == NOBODY
    assert said(places(where.home, moved)) == NOBODY


@pytest.mark.behaviour("D85")
@pytest.mark.parametrize("kind", ["gitdir", "commondir", "worktree"])
def test_what_git_says_of_a_folder_is_no_part_of_its_trust(tmp_path: Path, kind: str) -> None:
    """[attacks D85, I-55]"""
    where = here(tmp_path)
    (where.workspace / ".git/worktrees/other").mkdir(parents=True)
    other = tmp_path / "other"
    (other / ".stella").mkdir(parents=True)
    if kind == "gitdir":
        (other / ".git").write_text(f"gitdir: {where.workspace}/.git\n")
    elif kind == "commondir":
        (other / ".git").mkdir()
        (other / ".git/commondir").write_text(f"{where.workspace}/.git\n")
    else:
        (other / ".git").write_text(f"gitdir: {where.workspace}/.git/worktrees/other\n")
        (where.workspace / ".git/worktrees/other/gitdir").write_text(f"{other}/.git\n")
    assert said(places(where.home, other)) == NOBODY
    assert said(where).trusted


@pytest.mark.behaviour("D88")
def test_another_directory_in_the_place_of_a_trusted_one_is_not_trusted(tmp_path: Path) -> None:
    """[attacks D88, I-53] Though every byte in it is the same."""
    where = here(tmp_path)
    where.workspace.rename(tmp_path / "away")
    here(tmp_path / "second", trusted=False).workspace.rename(where.workspace)
    found = said(where)
    assert found == Trust(why="another directory stood at this path when it was trusted")
    assert said(where, "1").trusted


@pytest.mark.behaviour("I-55.symlink", "K-171.link")
@pytest.mark.parametrize("value", [None, "1"])
def test_a_link_among_the_items_ends_the_trust_by_record_and_by_variable(
    tmp_path: Path, value: str | None
) -> None:
    """[I-55, K-171]"""
    where = here(tmp_path)
    (where.workspace / ".stella/tools/more").symlink_to(tmp_path)
    found = said(where, value)
    assert not found.trusted
    assert "cannot be trusted: .stella/tools/more: is a symbolic link" in found.why


@pytest.mark.behaviour("I-56", "K-172", "A32")
def test_nothing_in_the_workspace_trusts_it(tmp_path: Path) -> None:
    """[I-56, K-172, attacks A32] Neither an environment file nor a record that it brings."""
    where = here(tmp_path)
    record = (where.home / "trust.toml").read_bytes()
    (where.home / "trust.toml").unlink()
    for name in (".env", ".stella/.env", ".envrc"):
        (where.workspace / name).write_text("STELLA_TRUST_PROJECT=1\nexport STELLA_TRUST_PROJECT\n")
    for name in ("trust.toml", ".stella/trust.toml"):
        (where.workspace / name).write_bytes(record)
    assert said(where) == NOBODY


def test_looking_writes_nothing_and_tells_of_a_damaged_file(tmp_path: Path) -> None:
    """[Q-12, attacks D89]"""
    where = here(tmp_path)
    before = seen(tmp_path)
    for value in (None, "1", "0"):
        said(where, value)
    assert seen(tmp_path) == before
    (where.home / "trust.toml").write_text("nonsense")
    found = said(where)
    assert not found.trusted
    assert "kept for repair" in found.notices[0]
    assert len(said(where, "1").notices) == 2
    assert (where.home / "trust.toml").read_text() == "nonsense"


def test_a_session_can_tell_whether_the_settings_it_read_are_the_trusted_ones(
    tmp_path: Path,
) -> None:
    """[S2-14, I-53] Between the look and the reading somebody may have been quick."""
    where = here(tmp_path)
    found = said(where)
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert (found.covers(empty), found.covers(None), found.covers("0" * 64)) == (True, False, False)
    assert said(where, "1").covers("0" * 64)
    (where.workspace / "stella.toml").unlink()
    trust(where)
    assert said(where).covers(None)
    assert not said(where).covers(empty)


@pytest.mark.behaviour("I-57.states")
def test_the_files_that_a_record_is_about_go_with_the_trust(tmp_path: Path) -> None:
    """[I-53] With the variable any will do, without trust there are none."""
    where = here(tmp_path)
    assert said(where).files == items_of(where.workspace).files
    assert said(where, "1").files is None
    assert said(where, "0").files is None


def test_the_list_tells_what_became_of_each_workspace(tmp_path: Path) -> None:
    """[I-57]"""
    where = here(tmp_path)
    record = read_trust_file(where.home).by_path[str(where.workspace)]
    assert standing(record) is Standing.VALID
    (where.workspace / ".stella/new").symlink_to("/")
    assert standing(record) is Standing.CHANGED
    (where.workspace / ".stella/new").unlink()
    (where.workspace / ".stella/tools/lint.toml").write_text("")
    assert standing(record) is Standing.CHANGED
    where.workspace.rename(tmp_path / "away")
    assert standing(record) is Standing.MISSING
    where.workspace.mkdir()
    assert standing(record) is Standing.CHANGED
    where.workspace.rmdir()
    where.workspace.touch()
    assert standing(record) is Standing.MISSING


@pytest.mark.behaviour("I-57.link")
def test_a_workspace_that_a_link_leads_to_by_now_is_not_the_one_of_the_list(
    tmp_path: Path,
) -> None:
    """[I-57, I-55] A session would enter another directory, and trust it by its own path."""
    here = settled(tmp_path)
    record = trusted_now(here.workspace, items_of(here.workspace), NOON)
    assert standing(record) is Standing.VALID
    moved = here.workspace.with_name("moved")
    here.workspace.rename(moved)
    here.workspace.symlink_to(moved)
    assert standing(record) is Standing.CHANGED


@pytest.mark.behaviour("I-51.one")
def test_one_notice_names_each_kind_and_the_way_to_trust() -> None:
    """[I-51, A-72]"""
    there = Path("/w")
    (told,) = Trust(why="never").without(there, ("/w/a: left out", "/w/b: left out"))
    assert told == (
        "/w: a: left out; b: left out; because it is not trusted (never); "
        "`stella trust` shows it and asks"
    )
    assert Trust(why="never").without(there, ()) == ()
    assert Trust(by=By.VARIABLE, why="").without(there, ("a",)) == ()
