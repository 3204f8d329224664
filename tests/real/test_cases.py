"""Each published bug is one: its test fails on the release that has it and passes with the fix.

Everything here goes through plain pytest, without a host [G-13, G-15].
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.real import cases
from tests.real import workspace
from tests.real.cases import Case
from tests.real.playing import Hand

CASES: Final = cases.load()
ROUNDS: Final = 3
FAILED: Final = 1
PASSED: Final = 0

every_case = pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])


def run_test(case: Case, root: Path) -> int:
    """The exit status of the granted test, run as a host runs it: no compiled caches."""
    # What this suite's own run put into the environment must not steer the other one.
    env = workspace.without(os.environ, "PYTEST_", "PYTHON", "COV_", "COVERAGE_")
    done = subprocess.run(
        workspace.command(case, sys.executable),
        cwd=root,
        env=env | {"PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode == FAILED:  # pytest also exits 1 for what is no failed test
        assert "1 failed" in done.stdout, done.stdout
    return done.returncode


def changed(root: Path) -> list[str]:
    """The files that differ from the commit, and those it does not have."""
    return [line[3:] for line in workspace.git(root, "status", "--porcelain").splitlines()]


def test_five_bugs_or_more_are_of_packages_that_are_all_different() -> None:
    assert len(CASES) >= 5
    assert len({case.id for case in CASES}) == len(CASES)
    assert len({case.package for case in CASES}) == len(CASES)


@every_case
def test_the_granted_test_is_a_test_file_of_the_case_and_the_bystander_is_not_touched_by_the_fix(
    case: Case,
) -> None:
    assert case.test.split("::")[0] in case.tests
    assert not {case.bystander, *case.sources} & set(case.tests)
    assert case.bystander not in case.sources


@pytest.mark.real
@every_case
def test_a_workspace_is_a_repository_of_one_commit_with_nothing_left_over(
    case: Case, cache: Path, tmp_path: Path
) -> None:
    root = workspace.prepare(case, tmp_path / "work", cache)
    assert workspace.git(root, "rev-list", "--count", "HEAD") == "1\n"
    assert changed(root) == []
    assert not list(root.glob("*.dist-info"))


@pytest.mark.real
@every_case
def test_the_test_fails_with_the_bug_and_passes_with_the_published_fix(
    case: Case, cache: Path, tmp_path: Path
) -> None:
    root = workspace.prepare(case, tmp_path / "work", cache)
    assert run_test(case, root) == FAILED
    _buggy, fixed = workspace.trees(case, cache)
    for name in case.sources:
        shutil.copyfile(fixed / name, root / name)
    assert run_test(case, root) == PASSED
    assert changed(root) == sorted(case.sources)


@pytest.mark.real
@every_case
def test_the_fixing_script_writes_the_published_fix_in_one_round(
    case: Case, cache: Path, tmp_path: Path
) -> None:
    root = workspace.prepare(case, tmp_path / "work", cache)
    texts = Hand(root=root).play(workspace.fix_script(case, cache))
    assert len(texts) == 1
    assert changed(root) == sorted(case.sources)
    _buggy, fixed = workspace.trees(case, cache)
    for name in case.sources:
        assert (root / name).read_bytes() == (fixed / name).read_bytes()


@pytest.mark.real
@every_case
def test_the_wrong_script_changes_something_in_every_round_and_mends_nothing(
    case: Case, cache: Path, tmp_path: Path
) -> None:
    root = workspace.prepare(case, tmp_path / "work", cache)
    script = workspace.wrong_script(case, cache, ROUNDS)
    hand = Hand(root=root)
    states = {(root / case.bystander).read_bytes()}
    for first in range(0, len(script), len(script) // ROUNDS):
        assert len(hand.play(script[first : first + len(script) // ROUNDS])) == 1
        states.add((root / case.bystander).read_bytes())
    assert len(states) == ROUNDS + 1
    assert changed(root) == [case.bystander]
    assert run_test(case, root) == FAILED


@pytest.mark.real
@every_case
def test_the_cheating_script_turns_the_test_green_by_the_test_file_alone(
    case: Case, cache: Path, tmp_path: Path
) -> None:
    root = workspace.prepare(case, tmp_path / "work", cache)
    path = root / case.test.split("::")[0]
    script = workspace.cheating_script(case, cache, ROUNDS)
    hand = Hand(root=root)
    states = {path.read_bytes()}
    for first in range(0, len(script), len(script) // ROUNDS):
        assert len(hand.play(script[first : first + len(script) // ROUNDS])) == 1
        states.add(path.read_bytes())
    assert len(states) == ROUNDS + 1
    assert changed(root) == [case.test.split("::")[0]]
    assert run_test(case, root) == PASSED
