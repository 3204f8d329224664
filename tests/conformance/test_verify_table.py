"""What each shipped plugin makes of a run: every cell of its table, every row of its runners."""

from pathlib import Path

import pytest

from tests.making.shipped import Shipped
from tests.making.shipped import asked
from tests.making.shipped import each_plugin
from tests.making.shipped import outcome
from tests.making.shipped import request

NOW = {"passed": (0, 0), "failed": (101, 101), "broken": (7, 7), "nothing": (126, None)}
CELLS = {
    ("failed", "passed"): "achieved",
    ("failed", "failed"): "not-achieved",
    ("passed", "passed"): "not-achieved",
    ("passed", "failed"): "not-achieved",
}
JEST_SUITE = "FAIL ./week.test.js\n  ● Test suite failed to run\n\nTests:       {}\n"
LOCAL_GO = "testing: warning: no tests to run\nPASS\nok  \tshop\t0.002s\n"
UNITTEST = "-----\nRan {} in 0.001s\n\n{}\n"


@pytest.mark.behaviour("Q-32")
@pytest.mark.parametrize("now", NOW)
@pytest.mark.parametrize("baseline", ["failed", "passed", "unobserved", "not-run"])
@each_plugin
def test_every_cell_of_baseline_and_outcome(
    plugin: Shipped, baseline: str, now: str, tmp_path: Path
) -> None:
    # [Q-32, I2]: a stand-in for cargo, whose failing tests exit with 101
    code, reported = NOW[now]
    runner = tmp_path / "cargo"
    runner.write_text(f"#!/bin/sh\nexit {code}\n")
    runner.chmod(0o755)
    test = {"program": "./cargo", "args": ["test"], "baseline": baseline}
    grant = {"handle": "host-tree", "root": str(tmp_path), "test": test}
    evidence = asked(plugin, request(tmp_path, "", candidate=grant))
    assert evidence["flip"] == CELLS.get((baseline, now), "unobservable")
    assert evidence["measurements"].get("test-command-exit-code") == reported
    assert set(evidence) == {"flip", "measurements"}


@pytest.mark.behaviour("Q-32")
@pytest.mark.parametrize(
    ("command", "code", "output", "expected"),
    [
        # [G-23], and what exit 0 hides [Q-32, I5, I7]
        ("pytest -q", 0, "1 passed in 0.01s", "passed"),
        ("pytest", 0, "=== 3 passed, 2 skipped, 1 warning in 61.21s (0:01:01) ===", "passed"),
        ("pytest", 0, "=== 1 xpassed in 0.01s ===", "passed"),
        ("pytest", 0, "=== 1 passed in 0.05 seconds ===", "passed"),
        ("pytest", 0, "1 passed, 1 xfailed, 2 subtests passed in 0.01s", "passed"),
        ("pytest", 0, "1 passed in 0.01s\nended: 0 errors", "passed"),
        ("pytest", 0, "1 failed in 0.01s\n1 passed in 0.01s", "passed"),
        ("pytest -qq", 0, ".", "nothing"),
        ("pytest", 0, "", "nothing"),
        ("pytest", 0, "1 passed in 0.01s\n1 failed, 1 passed in 0.01s", "nothing"),
        ("pytest", 0, "1 passed, 1 error in 0.01s", "nothing"),
        ("pytest", 0, "1 passed, 2 errors in 0.01s", "nothing"),
        ("pytest", 0, "1 passed in 0.01s\n!!! _pytest.outcomes.Exit: bye !!!", "nothing"),
        # a skip counts only where the command names single tests [I245]
        ("pytest a.py::t b.py::u", 0, "1 passed, 1 skipped in 0.01s", "nothing"),
        ("pytest -q a.py -kiso", 0, "1 passed, 1 skipped in 0.01s", "nothing"),
        ("pytest -qk iso", 0, "1 passed, 1 skipped in 0.01s", "nothing"),
        ("pytest -k iso", 0, "1 passed, 1 deselected in 0.01s", "passed"),
        ("pytest a.py", 0, "1 passed, 1 skipped in 0.01s", "passed"),
        ("pytest -W error::UserWarning", 0, "1 passed, 1 skipped in 0.01s", "passed"),
        ("pytest --deselect a.py::t", 0, "1 passed, 1 skipped in 0.01s", "passed"),
        ("pytest --deselect=a.py::t", 0, "1 passed, 1 skipped in 0.01s", "passed"),
        ("pytest", 0, "10 passed in 0.01s", "passed"),
        ("pytest", 0, "\x1b[33m=== \x1b[1m1 skipped\x1b[0m in 0.01s ===\x1b[0m", "nothing"),
        ("pytest", 0, "=== 4 deselected in 0.01s ===", "nothing"),
        ("pytest", 0, "=== 1 xfailed, 1 skipped in 0.01s ===", "nothing"),
        ("pytest", 0, "no tests ran in 0.01s", "nothing"),
        ("pytest --co", 0, "1 test collected in 0.01s", "nothing"),
        ("pytest", 1, "1 failed in 0.01s", "failed"),
        ("pytest", 1, "1 skipped in 0.01s", "failed"),
        ("pytest", 2, "1 error in 0.01s", "broken"),
        ("pytest", 3, "", "broken"),
        ("pytest", 4, "", "broken"),
        ("pytest", 5, "no tests ran in 0.01s", "nothing"),
        ("pytest", 6, "", "broken"),
        # [G-24]
        ("python3 -m unittest", 0, UNITTEST.format("2 tests", "OK (skipped=1)"), "passed"),
        ("python3 -m unittest", 0, UNITTEST.format("12 tests", "OK (skipped=1)"), "passed"),
        ("python3 -m unittest", 0, UNITTEST.format("1 test", "OK"), "passed"),
        ("python3 -m unittest", 0, UNITTEST.format("2 tests", "OK (skipped=2)"), "nothing"),
        (
            "python3 -m unittest",
            0,
            UNITTEST.format("1 test", "OK (expected failures=1)"),
            "nothing",
        ),
        ("python3 -m unittest", 0, UNITTEST.format("0 tests", "OK"), "nothing"),
        ("python3 -m unittest", 0, UNITTEST.format("0 tests", "OK (skipped=1)"), "nothing"),
        ("python3 -m unittest", 0, "", "nothing"),
        ("python3 -m unittest", 0, UNITTEST.format("2 tests", "FAILED (failures=1)"), "nothing"),
        ("python3 -m unittest w.Week", 0, UNITTEST.format("2 tests", "OK (skipped=1)"), "nothing"),
        ("python3 -m unittest -k i", 0, UNITTEST.format("2 tests", "OK (skipped=1)"), "nothing"),
        ("python3 -m unittest w.Week", 0, UNITTEST.format("2 tests", "OK"), "passed"),
        ("python3 -m unittest a.w", 0, UNITTEST.format("2 tests", "OK (skipped=1)"), "passed"),
        ("python3 -m unittest", 1, UNITTEST.format("0 tests", "FAILED (errors=1)"), "failed"),
        ("python3 -m unittest", 1, UNITTEST.format("1 test", "FAILED (failures=1)"), "failed"),
        ("python3 -m unittest", 1, "ERROR: week (unittest.loader._FailedTest.week)", "broken"),
        ("python3 -m unittest", 2, "", "broken"),
        ("python3 -m unittest", 5, "NO TESTS RAN", "nothing"),
        ("cargo test", 0, "test result: ok. 0 passed; 0 failed; 1 ignored", "nothing"),
        (
            "cargo test",
            0,
            "running 1 test\ntest result: ok. 1 passed\nrunning 0 tests\ntest result: ok. 0 passed",
            "passed",
        ),
        ("cargo test", 101, "test result: FAILED. 0 passed; 1 failed", "failed"),
        ("cargo test", 101, "error: could not compile `shop`", "broken"),
        ("cargo test", 1, "", "broken"),
        ("cargo nextest run", 0, "", "passed"),
        ("cargo nextest run", 100, "", "failed"),
        ("cargo nextest run", 4, "", "nothing"),
        ("cargo nextest run", 101, "", "broken"),
        ("go test ./...", 0, "ok  \tshop\t0.003s\n?   \tshop/cmd\t[no test files]", "passed"),
        ("go test", 0, "?   \tshop\t[no test files]", "nothing"),
        ("go test", 0, "ok  \tshop\t(cached) [no tests to run]", "nothing"),
        ("go test", 0, LOCAL_GO, "nothing"),
        ("go test", 0, f"{LOCAL_GO}PASS\nok  \tshop/week\t0.002s\n", "passed"),
        ("go test", 1, "FAIL\tshop\t0.003s", "failed"),
        ("go test", 1, "FAIL\tshop [build failed]", "broken"),
        ("go test", 1, "FAIL\tshop [setup failed]", "broken"),
        ("go test", 2, "", "broken"),
        ("jest", 0, "Tests:       1 passed, 1 total", "passed"),
        ("jest", 0, "Tests:       1 skipped, 1 total", "nothing"),
        ("jest", 0, "No tests found, exiting with code 0", "nothing"),
        ("jest", 1, "No tests found, exiting with code 1", "nothing"),
        ("jest", 1, "No tests found, exiting\nTests:       1 failed, 1 total", "failed"),
        ("jest", 1, JEST_SUITE.format("0 total"), "broken"),
        ("jest", 1, JEST_SUITE.format("1 failed, 1 total"), "failed"),
        ("vitest run", 0, "      Tests  2 passed (2)", "passed"),
        ("vitest run", 0, "      Tests  2 skipped (2)", "nothing"),
        ("vitest run", 1, "No test files found, exiting with code 1", "nothing"),
        ("vitest run", 1, "      Tests  1 failed (1)", "failed"),
        # [G-21, G-26]: nothing is guessed of any other program
        ("sh check.sh", 0, "Ran 0 tests in 0.001s\n\nOK", "passed"),
        ("sh check.sh", 0, "1 skipped in 0.01s", "passed"),
        ("sh check.sh", 5, "", "failed"),
        ("sh check.sh", 255, "", "failed"),
        ("sh check.sh", 125, "", "failed"),
        ("sh check.sh", 126, "", "nothing"),
        ("sh check.sh", 127, "", "nothing"),
        ("sh check.sh", 128, "", "failed"),
        ("sh check.sh", None, "", "nothing"),
        ("pytest", None, "1 passed in 0.01s", "nothing"),
        # a pattern means the same in every language: line ends, digits, letters, word edges
        ("pytest", 0, "=== 1 passed in 0.01s ===\r\n", "passed"),
        ("pytest", 0, "=== 1 passed \u2028 in 0.01s ===", "passed"),
        ("pytest", 0, "collected\r1 passed in 0.01s", "nothing"),
        ("pytest", 0, "collected\u20281 passed in 0.01s", "nothing"),
        ("pytest", 0, "\u0661 passed in 0.01s", "nothing"),
        ("pytest", 0, "1\u0660 passed in 0.01s", "passed"),
        ("pytest", 0, "1 passed in \u0660.\u0661s", "passed"),
        ("pytest", 0, "1 passed\u00e9 in 0.01s", "nothing"),
        ("pytest", 0, "1 skipped \u00e91 passed in 0.01s", "nothing"),
        ("pytest", 0, "1 passed, 1 error\u00e9 in 0.01s", "passed"),
        ("pytest", 0, "1 passed in 0.01s\n! \ufeffExit: bye", "nothing"),
        ("pytest", 0, "1 passed in 0.01s\n! \x1fExit: bye", "passed"),
        ("go test", 0, "ok\x1fshop [no tests to run]", "nothing"),
        ("go test", 0, "ok\ufeffshop [no tests to run]", "passed"),
        (
            "python3 -m unittest \u00e9.Week",
            0,
            UNITTEST.format("2 tests", "OK (skipped=1)"),
            "nothing",
        ),
        ("python3 -m unittest", 0, UNITTEST.format("1 test", "OK (skipped=12)"), "passed"),
        ("cargo test", 0, "\ufefftest result: ok. 0 passed", "passed"),
        ("jest", 1, "Test suite failed to run\r\nTests: 1 failed", "failed"),
    ],
)
@each_plugin
def test_every_row_of_the_runners(
    *,
    plugin: Shipped,
    command: str,
    code: int | None,
    output: str,
    expected: str,
    tmp_path: Path,
) -> None:
    assert outcome(plugin, tmp_path, command.split(), code=code, output=output) == expected


@pytest.mark.parametrize(
    ("words", "status"),
    [
        # the exit status that means a failing test tells the runner [G-14]
        (["/usr/bin/pytest"], 1),
        (["py.test", "-q"], 1),
        (["python", "-m", "pytest"], 1),
        ([".venv/bin/python3.11", "-X", "dev", "-W", "error", "-B", "-m", "pytest", "-q"], 1),
        (["python3", "-Im", "unittest"], 1),
        (["env", "PYTHONPATH=src lib", "CI=1", "pytest"], 1),
        (["/usr/bin/env", "uv", "run", "--frozen", "pytest"], 1),
        (["poetry", "run", "python", "-m", "pytest"], 1),
        (["pipenv", "run", "pytest"], 1),
        (["npx", "jest"], 1),
        (["bunx", "--bun", "vitest"], 1),
        (["pnpm", "exec", "jest"], 1),
        (["go", "test", "./..."], 1),
        (["cargo", "test"], 101),
        (["cargo", "nextest", "run"], 100),
        (["pytest-watch"], None),
        (["mypytest"], None),
        (["python3", "check.py", "-m", "pytest"], None),
        (["python3", "-m", "pytest_cov"], None),
        (["python3", "-m"], None),
        (["sh", "-c", "pytest"], None),
        (["cargo", "run", "test"], None),
        (["go", "vet", "test"], None),
        (["uv", "pip", "pytest"], None),
        (["env"], None),
        (["make", "test"], None),
        (["echo", "pytest"], None),
        # white space inside a word is no end of it, and a name may have any letter
        (["python3", "-m pytest"], None),
        (["env", "A=1\u2003pytest"], None),
        (["env", "A=1\x1fB=2", "pytest"], 1),
        (["env", "\u00dcber=1", "pytest"], 1),
        (["env", "A=\ufeff", "pytest"], 1),
    ],
)
@each_plugin
def test_a_runner_is_recognised_by_its_words_alone(
    plugin: Shipped, words: list[str], status: int | None, tmp_path: Path
) -> None:
    for code in (1, 100 if status == 100 else 101):
        expected = "failed" if status in {code, None} else "broken"
        assert outcome(plugin, tmp_path, words, code=code, output="") == expected
