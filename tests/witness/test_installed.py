"""What is installed where a test's interpreter looks [Q-26]."""

import sys
from pathlib import Path

import pytest

from stella.witness.installed import AUTOLOADED
from stella.witness.installed import installed
from stella.witness.installed import modules
from tests.making.workspaces import fill
from tests.making.workspaces import program
from tests.making.workspaces import workspace

SITE = "lib/python3.14/site-packages"


@pytest.fixture(name="home", autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def environment(place: Path, *names: str, text: str = "home = /usr\n") -> Path:
    """Make an environment in which the files `names` are installed; return its interpreter."""
    fill(place, "lib/other/x", *(f"{SITE}/{name}" for name in names))
    (place / "pyvenv.cfg").write_text(text)
    return program(place / "bin" / "python")


def test_modules_and_packages_bear_names(tmp_path: Path) -> None:
    fill(tmp_path, "xdist/__init__.py", "space/inner.py", "_fast.abi3.so", "six.py", "old.pyc")
    fill(tmp_path, "a-1.dist-info/a.py", "__pycache__/six.pyc", "data/x.txt", "x.pth", "a-b/c.py")
    assert modules(tmp_path) == {"xdist", "space", "_fast", "six", "old"}
    assert modules(tmp_path / "gone") == set()


def test_an_interpreter_finds_what_its_environment_holds(tmp_path: Path) -> None:
    root = workspace(tmp_path / "r")
    python = environment(tmp_path / "venv", "xdist/__init__.py", "tests/__init__.py")
    assert installed(root, python) == {"xdist"}


@pytest.mark.parametrize(
    "text", ["#!{}\n", "#!{} -E\n", "#!/bin/sh\n'''exec' \"{}\" \"$0\" \"$@\"\n' '''\n"]
)
def test_a_script_names_its_interpreter(tmp_path: Path, text: str) -> None:
    root = workspace(tmp_path / "r")
    python = environment(tmp_path / "venv", "six.py")
    script = program(tmp_path / "elsewhere" / "pytest", text.format(python))
    assert installed(root, script) == {"six"}


def test_an_environment_in_the_workspace_counts_whatever_is_started(tmp_path: Path) -> None:
    root = workspace(tmp_path / "r", f".venv/{SITE}/six.py")
    assert installed(root, None) == {"six"}
    assert installed(root, program(tmp_path / "bin" / "uv")) == {"six"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("include-system-site-packages = false\n", {"inner"}),
        ("home = x\nInclude-System-Site-Packages = True\n", {"inner", "outer", "own"}),
    ],
)
def test_an_environment_may_share_what_lies_outside(
    tmp_path: Path, home: Path, text: str, names: set[str]
) -> None:
    fill(tmp_path, "usr/lib/python3/dist-packages/outer.py")
    fill(home, f".local/{SITE}/own.py")
    python = environment(tmp_path / "venv", "inner.py", text=text)
    python.unlink()
    python.symlink_to(program(tmp_path / "usr" / "bin" / "python3"))
    assert installed(workspace(tmp_path / "r"), python) == names


@pytest.mark.parametrize("name", ["gone", "plain", "odd"])
def test_where_nothing_is_found_the_known_plugins_count(tmp_path: Path, name: str) -> None:
    program(tmp_path / "bin" / "plain", "ELF")
    program(tmp_path / "bin" / "odd", "#!/usr/bin/env perl\n")
    assert installed(workspace(tmp_path / "r"), tmp_path / "bin" / name) == AUTOLOADED
    assert {"xdist", "execnet", "pytest_cov", "_hypothesis_pytestplugin"} <= AUTOLOADED


def test_this_interpreter_finds_the_plugins_of_this_project(tmp_path: Path) -> None:
    found = installed(workspace(tmp_path / "r"), Path(sys.executable))
    assert {"pytest", "hypothesis", "_hypothesis_pytestplugin"} <= found
