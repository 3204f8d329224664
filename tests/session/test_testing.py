"""The granted test, run for a plugin."""

from pathlib import Path
from typing import Any

import pytest

from stella import limits
from tests.making.asking import Played
from tests.making.asking import asked
from tests.making.repositories import repository
from tests.making.sessions import CHECK
from tests.making.sessions import calls
from tests.making.sessions import project
from tests.making.sessions import says

ON_TREE = 'ask("run_test", candidate="host-tree")\nanswer()\n'


def outcome(played: Played) -> dict[str, Any]:
    (call,) = played.calls
    assert call.refusal is None, call.refusal
    return call.ok or {}


def refusal(played: Played) -> tuple[str, str]:
    (call,) = played.calls
    assert call.refusal is not None
    return call.refusal.refusal.value, call.refusal.detail


@pytest.mark.behaviour("K-50", "D-58")
def test_a_failing_test_is_told_with_its_code_baseline_and_output(tmp_path: Path) -> None:
    """[D-58, W-34]"""
    root = project(tmp_path / "work")
    (root / "check.py").write_text(
        "print('out'); import sys; print('err', file=sys.stderr)\n" + CHECK
    )
    played = asked(tmp_path, ON_TREE, says("done"), root=root, test="python3 -u check.py")
    found = outcome(played)
    assert found.pop("duration_ms") >= 0
    assert found == {
        "candidate": "host-tree",
        "passed": False,
        "exit_code": 1,
        "baseline": "failed",
        "output_tail": "out\nerr\n",
    }


@pytest.mark.behaviour("K-124", "W-34")
@pytest.mark.parametrize(
    ("script", "passed", "code"),
    [
        ("", True, 0),
        ("raise SystemExit(3)", False, 3),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", False, None),
    ],
)
def test_exit_0_alone_has_passed(
    tmp_path: Path, script: str, passed: bool, code: int | None
) -> None:
    """[D-58, W-34]"""
    root = project(tmp_path / "work")
    (root / "check.py").write_text(script)
    played = asked(tmp_path, ON_TREE, says("done"), root=root, test="python3 check.py")
    found = outcome(played)
    assert (found["passed"], found["exit_code"]) == (passed, code)


def test_a_test_that_takes_too_long_has_no_exit_code(tmp_path: Path) -> None:
    """[D-58, G-11]"""
    root = project(tmp_path / "work")
    (root / "check.py").write_text("import time\ntime.sleep(60)\n")
    played = asked(tmp_path, ON_TREE, says("done"), root=root, test="python3 check.py", test_secs=1)
    found = outcome(played)
    assert (found["passed"], found["exit_code"]) == (False, None)


def test_only_the_end_of_the_output_is_told(tmp_path: Path) -> None:
    """[W-34]"""
    root = project(tmp_path / "work")
    (root / "check.py").write_text(f"print('a' + 'b' * {limits.TEST_TAIL_CHARS - 1})\n")
    played = asked(tmp_path, ON_TREE, says("done"), root=root, test="python3 check.py")
    tail = outcome(played)["output_tail"]
    assert tail == "b" * (limits.TEST_TAIL_CHARS - 1) + "\n"


def test_without_a_plan_there_is_nothing_to_run(tmp_path: Path) -> None:
    """[D-58]"""
    word, detail = refusal(asked(tmp_path, ON_TREE, says("done")))
    assert (word, detail) == ("unavailable", "this run has no test command")


def test_an_unknown_handle_is_unavailable(tmp_path: Path) -> None:
    """[D-58, G-52]"""
    program = 'ask("run_test", candidate="c-0")\nanswer()\n'
    word, detail = refusal(asked(tmp_path, program, says("done"), test="python3 check.py"))
    assert word == "unavailable"
    assert detail == 'unknown_handle: "c-0" is neither host-tree nor a candidate of asks'


def test_a_program_that_cannot_start_has_failed(tmp_path: Path) -> None:
    """[D-58, G-9]"""
    word, detail = refusal(asked(tmp_path, ON_TREE, says("done"), test="./missing.sh"))
    assert word == "failed"
    assert "could not be run" in detail
    assert "missing.sh" in detail


@pytest.mark.behaviour("K-125", "G-13")
def test_a_candidate_runs_its_own_copy_of_a_relative_program(tmp_path: Path) -> None:
    """[G-13, D-58]"""
    root = repository(tmp_path / "work", {"check.sh": "#!/bin/sh\nexit 1\n"})
    (root / "check.sh").chmod(0o755)
    program = """
made = ask("candidate_fanout", role="builder", instruction="mend it", width=1)["ok"]["candidates"]
ask("run_test", candidate=made[0]["candidate"])
ask("run_test", candidate="host-tree")
answer()
"""
    mend = calls("write_file", path="check.sh", content="#!/bin/sh\necho mine\n")
    read = calls("read_file", path="check.sh")
    played = asked(tmp_path, program, read, mend, says("mended"), says("done"), root=root,
                   test="./check.sh")  # fmt: skip
    _, own, tree = played.calls
    assert (own.ok or {})["passed"] is True
    assert (own.ok or {})["output_tail"] == "mine\n"
    assert (tree.ok or {})["exit_code"] == 1
    assert (root / "check.sh").read_text() == "#!/bin/sh\nexit 1\n"


@pytest.mark.behaviour("D-59")
def test_what_a_test_said_is_no_evidence(tmp_path: Path) -> None:
    """[D-59]"""
    root = project(tmp_path / "work")
    (root / "check.py").write_text("")
    played = asked(tmp_path, ON_TREE, says("done"), root=root, test="python3 check.py")
    assert outcome(played)["passed"] is True
    assert played.done.result.status.value == "completed"
    assert played.data("verdict")[0]["evidence"]["provenance"] == "host-observed"


@pytest.mark.parametrize("then", ["", 'ln -s ../../.. "$D"'])
def test_a_candidate_whose_root_is_no_directory_is_not_tested(tmp_path: Path, then: str) -> None:
    """[D-58, G-52] A link in its place leads to another tree, whose test says nothing of it."""
    program = """
fan = ask("candidate_fanout", role="builder", instruction="x", width=1)
ask("run_test", candidate=fan["ok"]["candidates"][0]["candidate"])
answer()
"""
    root = repository(tmp_path / "work", {"a.txt": "a\n"})
    away = calls("bash", command=f'D="$PWD"; cd /; rm -rf "$D"; {then}')
    lines = (away, says("gone"), says("done"))
    played = asked(tmp_path, program, *lines, root=root, test="true")
    call = played.calls[1]
    assert call.refusal is not None
    assert call.refusal.refusal.value == "failed"
    assert call.refusal.detail.startswith("root_unavailable: ")
