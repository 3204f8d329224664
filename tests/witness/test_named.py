"""What the words of a plan name beneath the root [G-31, G-32, Q-26, Q-28]."""

import os
from pathlib import Path

import pytest

from stella.witness.named import Named
from stella.witness.named import named
from stella.witness.named import relative
from stella.witness.plan import resolve
from tests.making.workspaces import planned
from tests.making.workspaces import program
from tests.making.workspaces import programs
from tests.making.workspaces import workspace

FILES = ("check.sh", "tests/test_a.py", "tests/unit/test_b.py", "cfg.ini", "args.txt", "report.xml")


def names(root: Path, command: str) -> Named:
    return named(planned(root, command), root)


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    return workspace(tmp_path / "root", *FILES)


@pytest.mark.behaviour("G-31", "G-32")
@pytest.mark.parametrize(
    ("command", "files", "directories"),
    [
        ("pytest -q tests/test_a.py::test_iso", ["tests/test_a.py"], []),
        ("pytest tests/test_a.py::A::b tests/unit", ["tests/test_a.py"], ["tests/unit"]),
        ("pytest tests", [], ["tests"]),
        ("pytest ./tests/../tests/", [], ["tests"]),
        ("pytest", [], [""]),
        ("pytest -q", [], [""]),
        ("pytest .", [], [""]),
        ("pytest -k tests", [], [""]),
        ("pytest -m slow -p no:x --tb short", [], [""]),
        ("pytest --unknown-plugin-option value", [], [""]),
        ("pytest --unknown tests", [], ["tests"]),
        ("pytest tests/new_test.py", [], []),
        ("pytest --unknown tests/new", [], []),
        ("pytest --flag=1 new", [], []),
        ("pytest new", [], []),
        ("pytest --junitxml report.xml tests", [], ["tests"]),
        ("pytest @args.txt", ["args.txt"], [""]),
        ("python3 -m pytest tests", [], ["tests"]),
        ("python3 -m unittest tests.test_a", [], []),
        ("python3 -m unittest discover -s tests -t .", [], ["tests", ""]),
        ("python3 tests/test_a.py", ["tests/test_a.py"], []),
        ("sh check.sh tests", ["check.sh"], ["tests"]),
        ("sh check.sh ../outside", ["check.sh"], []),
        ("cargo test week", [], []),
        ("cargo test tests", [], ["tests"]),
        ("uv run pytest tests", [], ["tests"]),
        ("uv run pytest", [], [""]),
    ],
)
def test_words_name_files_and_directories(
    root: Path, command: str, files: list[str], directories: list[str]
) -> None:
    """[G-31, G-32]"""
    found = names(root, command)
    assert (list(found.files), list(found.directories)) == (files, directories)
    assert found.notices == ()


def test_an_absolute_path_beneath_the_root_is_a_path_of_the_root(root: Path) -> None:
    assert names(root, f"pytest {root}/tests/test_a.py").files == ("tests/test_a.py",)
    (root.parent / "alias").symlink_to(root)
    assert names(root, f"pytest {root.parent}/alias/tests").directories == ("tests",)


def test_a_file_that_is_no_regular_one_is_not_named(root: Path) -> None:
    os.mkfifo(root / "pipe")
    assert names(root, "sh pipe").files == ()


def test_a_linked_file_is_named_and_met_by_whoever_observes_it(root: Path) -> None:
    """[G-41]"""
    (root / "linked.sh").symlink_to("check.sh")
    assert names(root, "sh linked.sh").files == ("linked.sh",)


def test_a_directory_behind_a_link_cannot_be_watched(root: Path) -> None:
    """[G-41]"""
    (root / "linked").symlink_to("tests")
    found = names(root, "pytest linked linked/unit")
    assert found.directories == ()
    assert [notice.partition(" is reached through")[0] for notice in found.notices] == [
        "linked",
        "linked/unit",
    ]


@pytest.mark.parametrize(
    ("word", "path"),
    [
        ("tests", "tests"),
        ("./tests//unit/", "tests/unit"),
        ("tests/..", ""),
        (".", ""),
        ("..", None),
        ("/", None),
        ("linked/test_a.py", "linked/test_a.py"),
        ("linked/../check.sh", "check.sh"),
        ("away/../x", None),
        ("away/x", "away/x"),
    ],
)
def test_the_path_of_a_word(root: Path, word: str, path: str | None) -> None:
    """A `..` that crosses a link leads where the link leads."""
    (root / "linked").symlink_to("tests")
    (root / "away").symlink_to(root.parent.parent)
    assert relative(root, word) == path


# ── programs ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("command", "script", "others"),
    [
        ("./check.sh --fast", "check.sh", ()),
        ("env A=1 ./check.sh", "check.sh", ()),
        ("./new.sh", "new.sh", ()),
        (".venv/bin/python check.sh", None, (".venv/bin/python",)),
        (".venv/bin/python -m unittest tests.test_a", None, (".venv/bin/python",)),
        (".venv/bin/pytest", None, (".venv/bin/pytest",)),
        ("env A=1 .venv/bin/python -m pytest", None, (".venv/bin/python",)),
        ("sh check.sh", None, ()),
        ("/bin/true", None, ()),
    ],
)
def test_a_program_word_is_the_test_only_when_nothing_else_can_be(
    root: Path, command: str, script: str | None, others: tuple[str, ...]
) -> None:
    """[G-31, Q-28]: an interpreter alone says nothing about whether the test was touched."""
    found = names(root, command)
    assert (found.script, found.programs) == (script, others)


def test_a_program_that_is_found_beneath_the_root_is_watched(root: Path) -> None:
    path = os.pathsep.join([str(root / "bin"), programs(root.parent / "bin", "pytest")])
    program(root / "bin" / "pytest")
    found = named(resolve(("pytest", "tests"), root, path), root)
    assert (found.script, found.programs) == (None, ("bin/pytest",))


def test_a_place_before_the_program_on_the_path_must_stay_empty(root: Path) -> None:
    (root / "bin").mkdir()
    path = os.pathsep.join([str(root / "bin"), programs(root.parent / "bin", "pytest")])
    assert named(resolve(("pytest",), root, path), root).appearing == {"bin/pytest"}


# ── configuration ─────────────────────────────────────────────────────────────────────


@pytest.mark.behaviour("G-31")
@pytest.mark.parametrize(
    "words",
    ["-c cfg.ini", "-ccfg.ini", "-c=cfg.ini", "--config-file cfg.ini", "--config-file=cfg.ini"],
)
def test_the_configuration_that_pytest_is_given(root: Path, words: str) -> None:
    """[G-31]"""
    found = names(root, f"pytest {words} tests/test_a.py")
    assert (found.config, found.files) == (("cfg.ini",), ("tests/test_a.py",))
    assert found.appearing == {"cfg.ini"}


def test_configuration_outside_the_root_is_not_watched(root: Path) -> None:
    assert names(root, "pytest -c ../cfg.ini").config == ()
    assert names(root, "pytest -c").config == ()


@pytest.mark.parametrize(
    ("there", "command", "config", "appearing"),
    [
        (["Makefile"], "make check", ["Makefile"], ["GNUmakefile", "makefile", "check"]),
        (["makefile"], "make check", ["makefile"], ["GNUmakefile", "check"]),
        (["GNUmakefile", "Makefile"], "make check", ["GNUmakefile"], ["check"]),
        ([], "make check", [], ["GNUmakefile", "makefile", "Makefile", "check"]),
        (["Makefile"], "make", ["Makefile"], ["GNUmakefile", "makefile"]),
        (["ci.mk"], "make -f ci.mk all check", ["ci.mk"], ["all", "check"]),
        (["ci.mk"], "make -fci.mk A=1 check -k", ["ci.mk"], ["check"]),
        (["ci.mk"], "make --file=ci.mk check", ["ci.mk"], ["check"]),
        (["sub/Makefile"], "make -C sub check", ["sub/Makefile"],
         ["sub/GNUmakefile", "sub/makefile", "sub/check"]),
        (["Makefile"], "env A=1 make check", ["Makefile"], ["GNUmakefile", "makefile", "check"]),
        ([], "make -C .. check", [], []),
    ],
)  # fmt: skip
def test_make_reads_one_makefile_and_is_fooled_by_others(
    tmp_path: Path, there: list[str], command: str, config: list[str], appearing: list[str]
) -> None:
    """[Q-26]"""
    found = names(workspace(tmp_path / "made", *there), command)
    assert list(found.config) == config
    assert found.appearing == {*appearing, *config}
