"""A test that is not there is no failing test [G-21]; real interpreters say it in many ways."""

import asyncio
import shlex
import sys
import venv
from pathlib import Path

import pytest

from stella.witness.baseline import Baseline
from stella.witness.baseline import measure
from stella.witness.command import parse_test_command
from stella.witness.plan import resolve
from stella.witness.readings import reading
from stella.witness.runners import recognise
from tests.making.processes import PATH
from tests.making.workspaces import program
from tests.making.workspaces import workspace

PYTHON = shlex.quote(sys.executable)
EXITS = "raise SystemExit(1)\n"
IMPORTS = "import nowhere_to_be_found\n"


def measured(root: Path, command: str) -> Baseline:
    private = root.parent / "private"
    private.mkdir(exist_ok=True)
    plan = resolve(parse_test_command(command), root, PATH, 60)
    return asyncio.run(measure(plan, root, {"PATH": PATH}, private, red_on_error=True))


def said(found: Baseline) -> tuple[str, str]:
    return found.baseline.value, found.reason.value


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    root = workspace(tmp_path / "root", "data/x.txt")
    files = {"pkg/__init__.py": "", "check.sh": "exit 1\n", "check.py": EXITS}
    files |= {"broken.py": IMPORTS, "bad/__init__.py": IMPORTS, "tests/__main__.py": EXITS}
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize(
    "command",
    [
        f"{PYTHON} nosuch.py",
        f"{PYTHON} no/such.py",
        f"{PYTHON} data",
        f"{PYTHON} -m nosuch",
        f"{PYTHON} -m no.such",
        f"{PYTHON} -m pkg",
        f"{PYTHON} -m pkg.nosuch",
        "sh nosuch.sh",
    ],
)
def test_without_a_test_nothing_was_seen(root: Path, command: str) -> None:
    found = measured(root, command)
    assert said(found) == ("unobserved", "not-started")
    assert found.exit_code


@pytest.mark.parametrize(
    "command",
    [
        f"{PYTHON} check.py",
        f"{PYTHON} tests",
        f"{PYTHON} -m tests",
        f"{PYTHON} broken.py",
        f"{PYTHON} -m broken",
        f"{PYTHON} -m bad.check",
        "sh check.sh",
    ],
)
def test_a_test_that_is_there_fails(root: Path, command: str) -> None:
    """What the test itself cannot import is its failure."""
    assert said(measured(root, command)) == ("failed", "exit-nonzero")


def test_an_environment_without_the_runner_says_nothing_of_the_test(root: Path) -> None:
    venv.create(root / ".venv", with_pip=False, symlinks=True)
    found = measured(root, ".venv/bin/python -m pytest")
    assert said(found) == ("unobserved", "not-started")


def test_a_missing_script_is_told(root: Path) -> None:
    found = measured(root, f"{PYTHON} nosuch.py")
    assert found.notices == ("nosuch.py does not exist, so the test was not seen before round 0",)


def test_a_program_that_never_exited_keeps_its_reason(root: Path) -> None:
    program(root / "python-killed", "#!/bin/sh\nkill -9 $$\n")
    found = measured(root, "./python-killed nosuch.py")
    assert said(found) == ("unobserved", "killed-by-signal")


def test_a_program_that_passes_without_the_script_passed(root: Path) -> None:
    """Words are only guessed at: exit 0 says that something ran."""
    program(root / "python-ish")
    assert said(measured(root, "./python-ish nosuch.py")) == ("passed", "exit-zero")


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("/v/bin/python: No module named pytest\n", "not-started"),
        ("/a b/python3.14: No module named pytest", "not-started"),
        ("E   ModuleNotFoundError: No module named 'pytest'\n", "exit-nonzero"),
        ("/v/bin/python: No module named pytester\n", "exit-nonzero"),
        ("/v/bin/python: No module named pytest\n1 failed\n", "exit-nonzero"),
        ("", "exit-nonzero"),
    ],
)
def test_only_the_interpreter_itself_is_believed(output: str, reason: str) -> None:
    found = reading(recognise(("python", "-m", "pytest")), 1, output)
    assert found.reason.value == reason
