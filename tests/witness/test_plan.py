"""A test plan: the program is resolved once, the words stay as typed [G-8 to G-11]."""

import os
from pathlib import Path

import pytest

from stella import codec
from stella import limits
from stella.errors import TestCommandError
from stella.errors import UsageError
from stella.wire.grant import HOST_TREE
from stella.wire.grant import CandidateGrant
from stella.wire.grant import TestBaseline
from stella.witness.plan import grant
from stella.witness.plan import leaves
from stella.witness.plan import resolve
from stella.witness.plan import root_of
from tests.making.child import open_folder
from tests.making.child import said_by_nobody
from tests.making.workspaces import planned
from tests.making.workspaces import program
from tests.making.workspaces import programs
from tests.making.workspaces import workspace


@pytest.mark.behaviour("G-9")
def test_a_bare_name_is_found_on_the_path_and_kept_as_typed(tmp_path: Path) -> None:
    """[G-9, G-10, K-105]"""
    root = workspace(tmp_path / "r")
    plan = resolve(("pytest", "-q"), root, programs(tmp_path / "bin", "pytest"))
    assert (plan.program, plan.args, plan.path) == ("pytest", ("-q",), tmp_path / "bin" / "pytest")
    assert plan.argv(root) == (str(tmp_path / "bin" / "pytest"), "-q")
    assert plan.notices == ()


@pytest.mark.behaviour("G-10", "G-11", "G-22", "Q-25")
def test_the_wire_has_the_words_and_the_baseline_and_nothing_else(tmp_path: Path) -> None:
    """[W-22, W-23, K-105]"""
    plan = planned(workspace(tmp_path / "r"), "pytest -q")
    assert codec.plain(plan.on_wire(TestBaseline.FAILED)) == {
        "program": "pytest",
        "args": ["-q"],
        "baseline": "failed",
    }


@pytest.mark.behaviour("G-9")
def test_a_name_that_is_not_on_the_path_is_a_usage_error_with_near_names(tmp_path: Path) -> None:
    """[G-9, K-97]"""
    path = programs(tmp_path / "bin", "pytest", "pyteste", "cargo")
    (tmp_path / "bin" / "pytesst").write_text("not executable")
    (tmp_path / "bin" / "pytestt").mkdir()
    with pytest.raises(TestCommandError) as refused:
        resolve(("pytets",), workspace(tmp_path / "r"), path)
    assert "pytets: no such program" in refused.value.message
    assert "did you mean pytest or pyteste?" in refused.value.message
    assert refused.value.exit_code == 2


@pytest.mark.parametrize("path", [None, "", "relative", "/nowhere"])
def test_without_a_usable_path_nothing_is_suggested(tmp_path: Path, path: str | None) -> None:
    with pytest.raises(TestCommandError) as refused:
        resolve(("pytest",), workspace(tmp_path / "r"), path)
    assert "did you mean" not in refused.value.message


def test_a_relative_program_is_taken_from_the_root_it_runs_in(tmp_path: Path) -> None:
    """Each candidate runs its own copy [G-9, G-13]."""
    root = workspace(tmp_path / "r")
    program(root / "check.sh")
    plan = resolve(("./check.sh", "--fast"), root, None)
    assert plan.path == root / "check.sh"
    assert plan.argv(root) == (str(root / "check.sh"), "--fast")
    assert plan.argv(tmp_path / "candidate") == (str(tmp_path / "candidate/check.sh"), "--fast")


def test_an_absolute_program_is_the_same_in_every_root(tmp_path: Path) -> None:
    there = program(tmp_path / "tool")
    plan = resolve((str(there),), workspace(tmp_path / "r"), None)
    assert plan.argv(tmp_path / "other") == (str(there),)


@pytest.mark.behaviour("G-9")
def test_a_relative_program_that_does_not_exist_yet_is_a_notice(tmp_path: Path) -> None:
    """[G-9, K-97]"""
    plan = resolve(("./check.sh",), workspace(tmp_path / "r"), None)
    (notice,) = plan.notices
    assert notice.startswith("test command: ./check.sh does not exist yet")


@pytest.mark.behaviour("G-11")
@pytest.mark.parametrize("timeout", [limits.TEST_SECS_MIN, limits.TEST_SECS_MAX])
def test_a_timeout_at_a_bound_is_taken(tmp_path: Path, timeout: int) -> None:
    """[G-11]"""
    plan = resolve(("./x",), workspace(tmp_path / "r"), None, timeout)
    assert plan.timeout == timeout


@pytest.mark.behaviour("G-11")
@pytest.mark.parametrize("timeout", [limits.TEST_SECS_MIN - 1, limits.TEST_SECS_MAX + 1])
def test_a_timeout_past_a_bound_is_refused(tmp_path: Path, timeout: int) -> None:
    """[G-11]"""
    with pytest.raises(TestCommandError, match=f"1 to 600 seconds, got {timeout}"):
        resolve(("./x",), workspace(tmp_path / "r"), None, timeout)


@pytest.mark.behaviour("G-11")
def test_without_a_timeout_the_test_has_five_minutes(tmp_path: Path) -> None:
    """[G-11]"""
    assert planned(workspace(tmp_path / "r"), "pytest").timeout == limits.TEST_SECS_DEFAULT == 300


@pytest.mark.behaviour("G-8")
def test_arguments_outside_the_root_are_named(tmp_path: Path) -> None:
    """[G-8]"""
    root = workspace(tmp_path / "r", "tests/t.py")
    plan = planned(root, "pytest tests/t.py ../other.py::test_x --rootdir=/ -k /x")
    assert plan.notices == tuple(
        f"test command: {word} lies outside the workspace and is not watched"
        for word in ("../other.py::test_x", "--rootdir=/", "/x")
    )


@pytest.mark.behaviour("G-8")
@pytest.mark.parametrize(
    ("word", "outside"),
    [
        ("tests", False),
        ("tests/../tests", False),
        ("-q", False),
        ("--", False),
        ("--opt=tests", False),
        ("::test_x", False),
        ("a or b", False),
        ("link/x", False),
        ("..", True),
        ("tests/../..", True),
        ("/", True),
        ("--opt=../x", True),
    ],
)
def test_whether_an_argument_leaves_the_root(tmp_path: Path, word: str, *, outside: bool) -> None:
    """[G-8]: a link that leads out is inside as written; it is unwatched for its own reason."""
    root = workspace(tmp_path / "r", "tests/t.py")
    (root / "link").symlink_to(tmp_path)
    assert leaves(root, word) is outside


def test_an_argument_that_reaches_the_root_through_a_link_elsewhere_is_inside(
    tmp_path: Path,
) -> None:
    root = workspace(tmp_path / "r", "t.py")
    (tmp_path / "alias").symlink_to(root)
    assert not leaves(root, str(tmp_path / "alias" / "t.py"))


def test_places_beneath_the_root_that_come_first_on_the_path_are_noted(tmp_path: Path) -> None:
    """Somebody who searches again would find a program written there."""
    root = workspace(tmp_path / "r")
    (root / "bin").mkdir()
    (root / "later").mkdir()
    path = os.pathsep.join(
        [str(root / "bin"), "relative", programs(tmp_path / "bin", "pytest"), str(root / "later")]
    )
    assert resolve(("pytest",), root, path).shims == ("bin/pytest",)
    assert resolve(("./pytest",), root, path).shims == ()


@pytest.mark.behaviour("G-1")
def test_the_root_of_a_grant_has_its_links_resolved(tmp_path: Path) -> None:
    """[G-1]"""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert root_of(tmp_path / "link") == (tmp_path / "real").resolve()


@pytest.mark.behaviour("G-1")
def test_a_root_that_cannot_be_resolved_refuses_the_run(tmp_path: Path) -> None:
    """[G-1]"""
    (tmp_path / "loop").symlink_to("loop")
    for name in ("missing", "loop"):
        with pytest.raises(UsageError, match="cannot be resolved"):
            root_of(tmp_path / name)


@pytest.mark.behaviour("G-1")
def test_a_root_that_is_not_utf8_refuses_the_run(tmp_path: Path) -> None:
    """[G-1]"""
    place = tmp_path / os.fsdecode(b"\xff")
    place.mkdir()
    with pytest.raises(UsageError, match="its path is not UTF-8") as refused:
        root_of(place)
    assert refused.value.message.isprintable()


@pytest.mark.behaviour("G-1", "G-12")
def test_the_grant_is_the_real_tree_with_the_plan_when_there_is_one(tmp_path: Path) -> None:
    """[G-1, G-12]"""
    root = workspace(tmp_path / "r")
    plan = planned(root, "pytest")
    assert grant(root, None, TestBaseline.NOT_RUN) == CandidateGrant(
        handle=HOST_TREE, root=str(root)
    )
    assert grant(root, plan, TestBaseline.FAILED) == CandidateGrant(
        handle="host-tree", root=str(root), test=plan.on_wire(TestBaseline.FAILED)
    )


def test_a_directory_of_the_path_that_may_not_be_listed_names_no_program() -> None:
    with open_folder() as folder:
        closed = folder / "bin"
        programs(closed, "pytest")
        closed.chmod(0o300)
        root = workspace(folder / "r")

        def look() -> str:
            try:
                resolve(("pytets",), root, str(closed))
            except TestCommandError as refused:
                return refused.message
            return "found"

        said = said_by_nobody(look)
        closed.chmod(0o700)
    assert "no such program" in said
    assert "did you mean" not in said
