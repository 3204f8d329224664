"""Environment, home and working directory are read in one place and judged before use."""

import os
from pathlib import Path

import pytest

from stella.errors import UsageError
from stella.settings.ambient import Ambient
from stella.settings.ambient import ambient
from stella.settings.ambient import refuse_overlap
from stella.settings.ambient import surrounding
from stella.settings.ambient import switched
from stella.settings.ambient import workspace_of
from tests.making.child import open_folder
from tests.making.child import said_by_nobody


def person(root: Path, cwd: str = "home/dev/shop") -> Ambient:
    """A person at home in `home/dev`, with a Stella of their own, in `cwd`."""
    (root / "home/dev/.stella").mkdir(parents=True, exist_ok=True)
    (root / cwd).mkdir(parents=True, exist_ok=True)
    return surrounding({"HOME": str(root / "home/dev")}, root / cwd)


def test_the_process_itself_is_read() -> None:
    """Law 4: the environment and the working directory of this very process."""
    around = ambient()
    assert around.env == dict(os.environ)
    assert around.cwd == Path(os.path.realpath(Path.cwd()))


def test_what_was_read_does_not_change_with_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    around = ambient()
    monkeypatch.setenv("STELLA_MODEL", "later")
    assert around.env.get("STELLA_MODEL") != "later"


def test_a_working_directory_that_is_gone_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(UsageError, match="the working directory cannot be read: "):
        ambient()


def test_the_home_is_stella_home_or_beneath_the_persons(tmp_path: Path) -> None:
    """S2-30; an empty variable is an unset one."""
    cwd = tmp_path
    for env, home in (
        ({"HOME": "/home/dev"}, "/home/dev/.stella"),
        ({"HOME": "/home/dev", "STELLA_HOME": ""}, "/home/dev/.stella"),
        ({"HOME": "/home/dev", "STELLA_HOME": "/opt/stella"}, "/opt/stella"),
        ({"STELLA_HOME": "/opt/stella"}, "/opt/stella"),
        ({"HOME": "", "STELLA_HOME": "/opt/./x/../stella/"}, "/opt/stella"),
    ):
        assert surrounding(env, cwd).home == Path(home)
    assert surrounding({"STELLA_HOME": "/opt/stella"}, cwd).person is None


def test_paths_are_canonical(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    env = {"HOME": str(tmp_path / "link"), "STELLA_HOME": str(tmp_path / "link" / "s")}
    around = surrounding(env, tmp_path / "link")
    assert (around.person, around.home, around.cwd) == (
        tmp_path / "real",
        tmp_path / "real" / "s",
        tmp_path / "real",
    )


def test_without_any_home_nothing_starts(tmp_path: Path) -> None:
    """S2-43."""
    for env in ({}, {"HOME": ""}, {"HOME": "", "STELLA_HOME": ""}):
        with pytest.raises(UsageError, match="HOME is not set; set it, or STELLA_HOME"):
            surrounding(env, tmp_path)


@pytest.mark.parametrize("name", ["HOME", "STELLA_HOME"])
def test_a_home_that_depends_on_where_one_stands_is_refused(tmp_path: Path, name: str) -> None:
    env = {"HOME": "/home/dev", name: "some\x1bwhere"}
    with pytest.raises(UsageError) as caught:
        surrounding(env, tmp_path)
    assert str(caught.value) == rf'{name}: expected an absolute path, got "some\u{{1B}}where"'


@pytest.mark.parametrize("mark", [".stella", ".git", ".hg", ".jj", ".svn"])
def test_the_workspace_is_the_nearest_parent_with_a_mark(tmp_path: Path, mark: str) -> None:
    """S-7."""
    around = person(tmp_path, "home/dev/shop/src/deep")
    (tmp_path / "home/dev/shop" / mark).mkdir()
    assert workspace_of(None, around) == tmp_path / "home/dev/shop"
    (tmp_path / "home/dev/shop/src" / mark).mkdir()
    assert workspace_of(None, around) == tmp_path / "home/dev/shop/src"


def test_a_linked_worktree_is_a_version_control_root(tmp_path: Path) -> None:
    """S-7: there `.git` is a file."""
    around = person(tmp_path, "home/dev/shop/src")
    (tmp_path / "home/dev/shop/.git").write_text("gitdir: /elsewhere")
    assert workspace_of(None, around) == tmp_path / "home/dev/shop"


def test_without_a_mark_it_is_the_working_directory(tmp_path: Path) -> None:
    around = person(tmp_path)
    assert workspace_of(None, around) == tmp_path / "home/dev/shop"


def test_only_a_directory_of_its_own_is_a_mark(tmp_path: Path) -> None:
    """A link or a file called `.stella` makes no workspace."""
    around = person(tmp_path, "home/dev/shop/src/deep")
    (tmp_path / "home/dev/shop/.stella").symlink_to("/tmp")  # noqa: S108  # a link to anywhere
    (tmp_path / "home/dev/shop/src/.stella").write_text("x")
    assert workspace_of(None, around) == tmp_path / "home/dev/shop/src/deep"


def test_what_a_person_keeps_at_home_makes_no_workspace_of_it(tmp_path: Path) -> None:
    """S-7: `~/.stella` is their own, and they may keep their home under version control."""
    around = person(tmp_path, "home/dev/unmarked/src")
    (tmp_path / "home/dev/.git").mkdir()
    (tmp_path / "home/.git").mkdir()
    assert workspace_of(None, around) == tmp_path / "home/dev/unmarked/src"


def test_a_home_of_stella_elsewhere_makes_no_workspace_of_what_is_around_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "opt/x/.stella").mkdir(parents=True)
    (tmp_path / "opt/x/shop").mkdir()
    env = {"HOME": "/home/dev", "STELLA_HOME": str(tmp_path / "opt/x/.stella")}
    around = surrounding(env, tmp_path / "opt/x/shop")
    assert workspace_of(None, around) == tmp_path / "opt/x/shop"


def test_a_given_workspace_is_taken_from_the_working_directory(tmp_path: Path) -> None:
    around = person(tmp_path, "home/dev/shop")
    (tmp_path / "home/dev/other").mkdir()
    (tmp_path / "home/dev/link").symlink_to("other")
    other = tmp_path / "home/dev/other"
    assert [workspace_of(given, around) for given in ("../other", str(other), "../link", ".")] == [
        other,
        other,
        other,
        tmp_path / "home/dev/shop",
    ]


@pytest.mark.parametrize("given", ["", "none", "file"])
def test_what_is_no_directory_is_no_workspace(tmp_path: Path, given: str) -> None:
    around = person(tmp_path)
    (tmp_path / "home/dev/shop/file").write_text("x")
    with pytest.raises(UsageError, match=f'--workspace: "{given}" is not a directory'):
        workspace_of(given, around)


@pytest.mark.parametrize("given", [None, ".", "../dev"])
def test_the_home_directory_itself_is_refused(tmp_path: Path, given: str | None) -> None:
    """S-7, S2-43."""
    around = person(tmp_path, "home/dev")
    with pytest.raises(UsageError, match="the home directory itself is no workspace"):
        workspace_of(given, around)


@pytest.mark.parametrize("given", ["..", "/", ".stella", ".stella/plugins"])
def test_a_workspace_and_stellas_home_lie_apart(tmp_path: Path, given: str) -> None:
    """S2-43, A32: neither may hold the other."""
    around = person(tmp_path, "home/dev")
    (tmp_path / "home/dev/.stella/plugins").mkdir()
    with pytest.raises(UsageError, match="must lie apart"):
        workspace_of(given, around)


def test_stellas_home_inside_the_workspace_is_refused_by_any_of_its_names(tmp_path: Path) -> None:
    """S2-43, I-56: through a link as well."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "link").symlink_to("shop")
    for home in (tmp_path / "shop/.home", tmp_path / "link/.home", tmp_path / "shop"):
        env = {"HOME": "/home/dev", "STELLA_HOME": str(home)}
        with pytest.raises(UsageError, match="must lie apart"):
            workspace_of(None, surrounding(env, tmp_path / "shop"))


def test_a_person_without_a_home_may_work_anywhere_else(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    around = surrounding({"STELLA_HOME": str(tmp_path / "home")}, tmp_path / "shop")
    refuse_overlap(tmp_path / "shop", around)
    assert workspace_of(None, around) == tmp_path / "shop"


def test_a_parent_that_may_not_be_looked_into_is_passed_over() -> None:
    """A directory can be entered before its parent is closed."""
    with open_folder() as folder:
        (folder / "parent" / "shop").mkdir(parents=True)
        around = surrounding({"HOME": "/nowhere"}, folder / "parent" / "shop")
        (folder / "parent").chmod(0o000)
        assert said_by_nobody(lambda: str(workspace_of(None, around))) == str(around.cwd)
        (folder / "parent").chmod(0o755)


@pytest.mark.behaviour("S2-31")
def test_a_boolean_variable_is_on_off_or_a_usage_error() -> None:
    """[S2-31]"""
    for text in ("1", "true", " Yes ", "ON"):
        assert switched({"X": text}, "X")
    for env in ({}, *({"X": text} for text in ("", " ", "0", "False", "no", " off"))):
        assert not switched(env, "X")
    for text in ("2", "y", "enabled", "on off"):
        with pytest.raises(UsageError, match=f'X: expected .* got "{text}"'):
            switched({"X": text}, "X")
