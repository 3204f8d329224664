"""The runner of a test command is recognised from its words [G-14]."""

import shlex
from typing import Any

import pytest

from stella.witness.command import parse_test_command
from stella.witness.runners import Runner
from stella.witness.runners import recognise
from stella.witness.runners import unwrapped
from tests.making.vectors import vectors

VECTORS = vectors("witness/runners")


def test_every_runner_has_a_vector() -> None:
    assert {data["runner"] for _, data in VECTORS} == {runner.value for runner in Runner}


@pytest.mark.behaviour("G-14", "K-102")
@pytest.mark.parametrize("vector", [pytest.param(data, id=name) for name, data in VECTORS])
def test_the_runner_and_its_own_arguments_are_recognised(vector: dict[str, Any]) -> None:
    """[G-14, K-102]"""
    found = recognise(parse_test_command(vector["command"]))
    assert found.runner.value == vector["runner"]
    assert found.program == vector["program"]
    assert found.args == tuple(shlex.split(vector["args"]))


@pytest.mark.parametrize(
    ("command", "python"),
    [
        ("pytest", True),
        ("python3 check.py", True),
        ("env X=1 python -m unittest", True),
        ("sh check.sh", False),
        ("cargo test", False),
    ],
)
def test_a_python_interpreter_is_told_apart(
    command: str, python: bool
) -> None:  # a column of the table
    assert recognise(parse_test_command(command)).python is python


@pytest.mark.behaviour("G-14")
def test_launchers_are_looked_through_to_the_program() -> None:
    assert unwrapped(parse_test_command("env X=1 uv run ./check.sh a")) == ("./check.sh", "a")


@pytest.mark.parametrize(
    ("command", "script", "module"),
    [
        ("python3 check.py a.py", "check.py", ""),
        ("python3 -W error -X dev --help-all check.py", "check.py", ""),
        ("python3 -Werror check.py", "check.py", ""),
        ("python3", "", ""),
        ("python3 -", "", ""),
        ("python3 -c x a.py", "", ""),
        ("python3 -m", "", ""),
        ("python3 -m pkg.check a.py", "", "pkg.check"),
        ("python3 -Bmpytest a.py", "", "pytest"),
        ("pytest a.py", "", ""),
        ("sh check.sh a.sh", "check.sh", ""),
        ("bash -eo pipefail bin/check", "bin/check", ""),
        ("sh -ec ./check.sh", "", ""),
        ("sh check", "", ""),
        ("node --test a.js", "a.js", ""),
        ("node -e 'a.b()'", "", ""),
        ("uv run check.py", "check.py", ""),
        ("./check.py", "", ""),
    ],
)
def test_what_an_interpreter_is_to_run(command: str, script: str, module: str) -> None:
    found = recognise(parse_test_command(command))
    assert (found.script, found.module) == (script, module)
