"""A failure counts when it is seen under the plugin's conditions too [G-13, T-10, G-27]."""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from stella.wire.grant import TestBaseline
from stella.witness.baseline import Baseline
from stella.witness.baseline import measure
from stella.witness.command import parse_test_command
from stella.witness.control import controlled
from stella.witness.plan import resolve
from stella.witness.readings import BaselineReason
from tests.making.processes import PATH

BARE = {"PATH": PATH}
NEEDS = "import os, sys\nsys.exit({0!r} in os.environ)\n"


def work(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "work"
    root.mkdir()
    return root


def both(root: Path, check: str, *environments: dict[str, str], **person: str) -> Baseline:
    """The baseline in the person's environment, controlled in `environments`."""
    (root / "check.py").write_text(check, "utf-8")
    private = root.parent / "private"
    private.mkdir()
    plan = resolve(parse_test_command(f"{sys.executable} -S check.py"), root, PATH)

    async def go() -> Baseline:
        first = await measure(plan, root, BARE | person, private)
        return await controlled(first, environments, again)

    async def again(env: Mapping[str, str]) -> Baseline:
        return await measure(plan, root, env, private)

    found = asyncio.run(go())
    assert list(private.iterdir()) == []
    return found


@pytest.mark.behaviour("I22")
def test_a_failure_of_the_persons_environment_alone_is_no_baseline(tmp_path: Path) -> None:
    found = both(work(tmp_path), NEEDS.format("MARK"), BARE, MARK="1")
    assert found.baseline is TestBaseline.UNOBSERVED
    assert found.reason is BaselineReason.INFRASTRUCTURE
    assert found.exit_code == 1
    (notice,) = found.notices
    assert "and passed in the environment a plugin gets (PATH)" in notice
    assert 'or put what it needs into the command, as in --test-command "env NAME=' in notice


@pytest.mark.behaviour("I10")
def test_a_test_that_fails_once_and_then_passes_is_no_baseline(tmp_path: Path) -> None:
    check = "import pathlib\nmark = pathlib.Path('mark')\ncode = mark.exists()\nmark.touch()\n"
    found = both(work(tmp_path), check + "raise SystemExit(not code)\n", BARE)
    assert (found.baseline, found.exit_code) == (TestBaseline.UNOBSERVED, 1)


def test_a_failure_seen_in_each_environment_stands(tmp_path: Path) -> None:
    check = "import pathlib, sys\npathlib.Path('runs').open('a').write('.')\nsys.exit(3)\n"
    root = work(tmp_path)
    found = both(root, check, BARE, BARE | {"A": "1"})
    assert (found.baseline, found.exit_code, found.notices) == (TestBaseline.FAILED, 3, ())
    assert (root / "runs").read_text("utf-8") == "..."


def test_one_environment_that_differs_ends_the_control(tmp_path: Path) -> None:
    check = "import os, pathlib, sys\npathlib.Path('runs').open('a').write('.')\n"
    root = work(tmp_path)
    found = both(root, check + "sys.exit('MARK' in os.environ)\n", BARE, BARE, MARK="1")
    assert found.baseline is TestBaseline.UNOBSERVED
    assert (root / "runs").read_text("utf-8") == ".."


def test_a_control_that_says_nothing_is_told_and_changes_nothing(tmp_path: Path) -> None:
    """A test that needs a variable: the plugin's run will not see it pass, and why is said."""
    check = "import os, sys\nif 'MARK' not in os.environ:\n    os.abort()\nsys.exit(1)\n"
    found = both(work(tmp_path), check, BARE, MARK="1")
    assert (found.baseline, found.reason) == (TestBaseline.FAILED, BaselineReason.EXIT_NONZERO)
    assert "(PATH) nobody can say (killed-by-signal)" in found.notices[-1]


def test_what_did_not_fail_is_not_run_again(tmp_path: Path) -> None:
    check = "import pathlib\npathlib.Path('runs').open('a').write('.')\n"
    root = work(tmp_path)
    assert both(root, check, BARE).baseline is TestBaseline.PASSED
    assert (root / "runs").read_text("utf-8") == "."


def test_what_the_control_noticed_is_told_too() -> None:
    """Its own notices come before what it means for the baseline, and its names are sorted."""
    first = Baseline(
        baseline=TestBaseline.FAILED,
        reason=BaselineReason.EXIT_NONZERO,
        exit_code=1,
        notices=("first",),
    )
    second = Baseline(
        baseline=TestBaseline.PASSED, reason=BaselineReason.EXIT_ZERO, notices=("second",)
    )

    async def passing(_env: Mapping[str, str]) -> Baseline:
        return second

    for env, names in (({"B": "1", "A": "2"}, "(A, B)"), ({}, "(nothing)")):
        found = asyncio.run(controlled(first, [env], passing))
        assert found.notices[:2] == ("first", "second")
        assert names in found.notices[2]
