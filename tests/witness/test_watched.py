"""Which files are watched for a plan, within bounds [G-31 to G-33, G-41, Q-26]."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from stella import limits
from stella.errors import UsageError
from stella.witness.appearing import Bounds
from stella.witness.artifact import Form
from stella.witness.named import named
from stella.witness.watched import Group
from stella.witness.watched import Watched
from stella.witness.watched import find
from tests.making.child import open_folder
from tests.making.child import said_by_nobody
from tests.making.workspaces import planned
from tests.making.workspaces import program
from tests.making.workspaces import workspace

PROJECT = (
    "conftest.py",
    "pyproject.toml",
    "setup.cfg",
    "pytest.toml",
    "src/calc/__init__.py",
    "src/calc/conftest.py",
    "src/calc/test_inner.py",
    "tests/__init__.py",
    "tests/conftest.py",
    "tests/test_week.py",
    "tests/data.json",
    "tests/unit/week_test.py",
    "tests/unit/tox.ini",
    "tests/unit/deep/conftest.py",
    "sub/.pytest.ini",
)


def watched(
    root: Path,
    command: str,
    *globs: str,
    bounds: Bounds = Bounds(),  # noqa: B008  # frozen
) -> Watched:
    return find(root, named(planned(root, command), root), globs, bounds)


def split(found: Watched) -> tuple[list[str], list[str]]:
    """The test artifacts and the files of the runner."""
    groups: dict[Group, list[str]] = {Group.TEST: [], Group.RUNNER: []}
    for path, want in sorted(found.wants.items()):
        groups[want.group].append(path)
    return groups[Group.TEST], groups[Group.RUNNER]


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    return workspace(tmp_path / "root", *PROJECT)


ON_THE_WAY = ["conftest.py", "pyproject.toml", "pytest.toml", "setup.cfg"]


@pytest.mark.behaviour("G-31")
@pytest.mark.parametrize(
    ("command", "tests", "runner"),
    [
        (
            "pytest -q tests/test_week.py::test_iso",
            ["tests/test_week.py"],
            [*ON_THE_WAY, "tests/__init__.py", "tests/conftest.py"],
        ),
        (
            "pytest tests",
            [
                "tests/conftest.py",
                "tests/test_week.py",
                "tests/unit/deep/conftest.py",
                "tests/unit/week_test.py",
            ],
            [*ON_THE_WAY, "tests/__init__.py", "tests/unit/tox.ini"],
        ),
        (
            "pytest",
            [
                "conftest.py",
                "src/calc/conftest.py",
                "src/calc/test_inner.py",
                "tests/conftest.py",
                "tests/test_week.py",
                "tests/unit/deep/conftest.py",
                "tests/unit/week_test.py",
            ],
            [
                "pyproject.toml",
                "pytest.toml",
                "setup.cfg",
                "src/calc/__init__.py",
                "sub/.pytest.ini",
                "tests/__init__.py",
                "tests/unit/tox.ini",
            ],
        ),
        ("pytest -c sub/.pytest.ini tests/unit/week_test.py", ["tests/unit/week_test.py"],
         [*ON_THE_WAY, "sub/.pytest.ini", "tests/__init__.py", "tests/conftest.py",
          "tests/unit/tox.ini"]),
        ("sh tests/test_week.py", ["tests/test_week.py"], []),
        ("cargo test week", [], []),
        ("python3 -m unittest tests.test_week", [], []),
        ("python3 tests/test_week.py", ["tests/test_week.py"], []),
        ("go test ./tests", ["tests/conftest.py", "tests/test_week.py",
                             "tests/unit/deep/conftest.py", "tests/unit/week_test.py"], []),
    ],
)  # fmt: skip
def test_the_watched_set_of_a_command(
    root: Path, command: str, tests: Sequence[str], runner: Sequence[str]
) -> None:
    """[G-31, G-32, Q-26]"""
    found = watched(root, command)
    assert split(found) == (list(tests), list(runner))
    assert found.gaps == ()


@pytest.mark.behaviour("G-31")
def test_of_a_pyproject_only_the_tables_are_wanted(root: Path) -> None:
    """[G-31]"""
    assert watched(root, "pytest").wants["pyproject.toml"].form is Form.PYTEST_TABLES
    by_glob = watched(root, "pytest", "*.toml").wants["pyproject.toml"]
    assert (by_glob.form, by_glob.group) == (Form.WHOLE, Group.TEST)


@pytest.mark.behaviour("G-31")
def test_startup_files_are_watched_wherever_they_lie(root: Path) -> None:
    """[G-31]"""
    names = ("sitecustomize.py", "src/usercustomize.py", ".venv/lib/a.pth")
    workspace(root, *names, ".git/b.pth")
    for command in ("pytest tests", "python3 -m unittest", "python3 tests/test_week.py"):
        assert sorted(names) == sorted(set(split(watched(root, command))[1]).intersection(names))
    assert split(watched(root, "sh tests/test_week.py"))[1] == []


@pytest.mark.behaviour("G-31")
def test_globs_add_test_artifacts(root: Path) -> None:
    """[G-31, K-112]"""
    assert split(watched(root, "cargo test", "tests/*.json", "src/**"))[0] == [
        "src/calc/__init__.py",
        "src/calc/conftest.py",
        "src/calc/test_inner.py",
        "tests/data.json",
    ]


@pytest.mark.behaviour("Q-31")
def test_compiled_caches_match_no_glob(root: Path) -> None:
    """[Q-31]"""
    workspace(root, "tests/__pycache__/a.pyc", "tests/b.pyc", "tests/__pycache__/data")
    assert watched(root, "cargo test", "tests/**").wants.keys() == {
        path for path in PROJECT if path.startswith("tests/")
    }


def test_a_glob_that_matches_nothing_is_a_notice_and_no_gap(root: Path) -> None:
    found = watched(root, "pytest", "tests", "none/**")
    assert [notice.split('"')[1] for notice in found.notices] == ["tests", "none/**"]
    assert found.gaps == ()


def test_a_glob_that_leaves_the_root_is_refused(root: Path) -> None:
    with pytest.raises(UsageError):
        watched(root, "pytest", "../**")


def test_an_environment_holds_no_tests_of_the_project(root: Path) -> None:
    """A runner collects nothing there."""
    inside = ("lib/test_x.py", "lib/conftest.py", "lib/tox.ini")
    for environment, mark in ((".venv", "pyvenv.cfg"), ("env", "conda-meta/history")):
        workspace(root, f"{environment}/{mark}", *(f"{environment}/{name}" for name in inside))
    found = watched(root, "pytest")
    assert not [path for path in found.wants if path.startswith((".venv/", "env/"))]
    assert found.scope.exempt == {".venv", "env"}
    granted = watched(root, "pytest .venv/lib")
    assert ".venv/lib/test_x.py" in granted.wants


# ── program words ─────────────────────────────────────────────────────────────────────


def test_a_script_is_a_test_artifact_and_an_interpreter_is_not(root: Path) -> None:
    """[G-31, Q-28]"""
    program(root / "check.sh")
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "bin" / "python").symlink_to("/bin/sh")
    os.link(program(root / "tool"), root / "tool-too")
    script = watched(root, "./check.sh").wants["check.sh"]
    assert (script.group, script.form) == (Group.TEST, Form.WHOLE)
    python = watched(root, ".venv/bin/python -m unittest x").wants[".venv/bin/python"]
    assert (python.group, python.form) == (Group.RUNNER, Form.PROGRAM)
    assert watched(root, "./tool").wants["tool"].form is Form.PROGRAM


def test_a_program_that_does_not_exist_yet_is_not_wanted(root: Path) -> None:
    """[G-9]"""
    assert watched(root, "./new.sh").wants == {}
    assert watched(root, ".venv/bin/python -m unittest x").wants == {}


# ── bounds ────────────────────────────────────────────────────────────────────────────


@pytest.mark.behaviour("G-33")
def test_the_bounds_are_those_of_the_rule() -> None:
    """[G-33]"""
    assert Bounds() == Bounds(files=limits.WATCHED_FILES, entries=limits.WATCHED_ENTRIES)
    assert (limits.WATCHED_FILES, limits.WATCHED_ENTRIES) == (5000, 200_000)


@pytest.mark.behaviour("G-33")
def test_as_many_files_as_allowed_are_watched_and_one_more_is_a_gap(root: Path) -> None:
    """[G-33]"""
    whole = watched(root, "pytest tests", bounds=Bounds(files=5))
    assert (len(whole.wants), whole.gaps) == (10, ())
    short = watched(root, "pytest tests", bounds=Bounds(files=4))
    (gap,) = short.gaps
    assert gap == (
        "more than 4 files lie beneath directory arguments and globs; "
        "the last 1 of them are not watched"
    )
    assert "tests/unit/week_test.py" not in short.wants


@pytest.mark.behaviour("G-33")
def test_as_many_entries_as_allowed_are_visited_and_one_more_is_a_gap(tmp_path: Path) -> None:
    """[G-33]"""
    root = workspace(tmp_path / "r", "tests/test_a.py", "tests/test_b.py")
    assert watched(root, "pytest tests", bounds=Bounds(entries=3)).gaps == ()
    short = watched(root, "pytest tests", bounds=Bounds(entries=2))
    assert [gap.partition(" lie")[0] for gap in short.gaps] == ["more than 2 directory entries"]
    assert short.scope.horizon == ("tests",)


def test_only_what_can_hold_something_is_walked(root: Path) -> None:
    assert watched(root, "cargo test", "tests/unit/*.py", "tests/*.json").scope.starts == (
        "tests/unit",
        "tests",
    )
    assert watched(root, "sh tests").scope.starts == ("tests",)
    assert watched(root, "pytest tests").scope.starts == ("tests", "")
    assert watched(root, "cargo test", "missing/*").scope.starts == ()


# ── links ─────────────────────────────────────────────────────────────────────────────


def test_a_directory_link_to_what_is_watched_anyway_is_no_gap(root: Path) -> None:
    (root / "tests" / "again").symlink_to("unit")
    (root / "tests" / "file").symlink_to("data.json")
    (root / "tests" / "nowhere").symlink_to("missing")
    assert watched(root, "pytest tests").gaps == ()


def test_a_directory_link_to_elsewhere_is_a_gap(root: Path, tmp_path: Path) -> None:
    (root / "tests" / "away").symlink_to(tmp_path)
    (root / "tests" / "source").symlink_to("../src")
    assert list(watched(root, "go test ./tests").gaps) == [
        "tests/away is a link to a directory that is not watched",
        "tests/source is a link to a directory that is not watched",
    ]


def test_a_glob_behind_a_link_is_a_gap(root: Path) -> None:
    (root / "linked").symlink_to("tests")
    (gap,) = watched(root, "cargo test", "linked/*.json").gaps
    assert gap.startswith("linked is reached through a symbolic link")


def test_a_directory_that_may_not_be_listed_is_a_gap() -> None:
    with open_folder() as folder:
        root = workspace(folder / "r", "tests/test_a.py", "tests/closed/test_b.py")
        plan = planned(root, "pytest tests")
        (root / "tests" / "closed").chmod(0o300)
        said = said_by_nobody(lambda: str(find(root, named(plan, root), (), Bounds()).gaps))
        (root / "tests" / "closed").chmod(0o700)
    assert said == "('tests/closed cannot be listed, so nothing in it is watched',)"


def test_modules_shadow_in_the_root_beside_tests_and_where_their_package_begins(
    tmp_path: Path,
) -> None:
    """[Q-26]"""
    root = workspace(tmp_path / "r", "a/b/c/test_x.py", "a/b/c/__init__.py", "a/b/__init__.py")
    assert watched(root, "pytest a/b/c/test_x.py").scope.shadow == {"", "a/b/c", "a"}
    assert watched(root, "sh a").scope.shadow == frozenset()
