"""Published bugs through `stella run --pipeline verify`: what ends met, and what never does.

The packages are fetched at run time; the plugin, the test and the journal are the real ones.
Only the model is a script.
"""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any
from typing import Final

import pytest

from tests.real import cases
from tests.real import workspace
from tests.real.cases import Case
from tests.real.workspace import Script

CASES: Final = cases.load()
VERIFY: Final = Path(__file__).parents[2] / "plugins" / "verify-py"
HOLDS: Final = 2

pytestmark = pytest.mark.real
every_case = pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])


def environment(home: Path) -> dict[str, str]:
    """The environment of the host: `python` is the one that has pytest."""
    env = workspace.without(os.environ, "PYTEST_", "PYTHON", "COV_", "COVERAGE_", "STELLA_")
    own = str(Path(sys.executable).parent)
    return env | {"STELLA_HOME": str(home), "PATH": f"{own}{os.pathsep}{env['PATH']}"}


def stella(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        (sys.executable, "-m", "stella", *words),
        env=environment(home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def ran(case: Case, script: Script, cache: Path, tmp_path: Path) -> tuple[int, dict[str, Any]]:
    """Install verify, run the script in a fresh workspace; return exit code and result."""
    root = workspace.prepare(case, tmp_path / "work", cache)
    home = tmp_path / "home"
    model = tmp_path / "replies.jsonl"
    model.write_text("\n".join(script) + "\n", "utf-8")
    installed = stella(home, "plugin", "install", str(VERIFY), "--yes", "--workspace", str(root))
    assert installed.returncode == 0, installed.stderr
    done = stella(
        home,
        *("run", "make the failing test pass", "--workspace", str(root)),
        *("--model", f"script:{model}", "--pipeline", "verify", "--output-format", "json"),
        *("--test-command", shlex.join(workspace.command(case, "python"))),
    )
    result: dict[str, Any] = json.loads(done.stdout)
    assert result.get("exit_code") == done.returncode, done.stderr
    verified = stella(home, "journal", "verify", "--workspace", str(root))
    assert verified.returncode == 0, verified.stdout
    return done.returncode, result


def reasons(result: dict[str, Any]) -> set[str]:
    """The kinds of failed clauses of the last verdict."""
    return {key for clause in result["verdict"]["unmet"]["unmet"] for key in clause["because"]}


@every_case
def test_the_published_fix_is_met_in_one_round(case: Case, cache: Path, tmp_path: Path) -> None:
    code, result = ran(case, workspace.fix_script(case, cache), cache, tmp_path)
    assert (code, result["status"], result["rounds"]) == (0, "met", 1)
    assert result["verdict"] == {"met": {"evidence": "plugin-reported"}}
    assert result["changed_files"] == sorted(case.sources)
    assert result["faults"] == []


@every_case
def test_another_change_is_unmet_after_exactly_the_allowed_holds(
    case: Case, cache: Path, tmp_path: Path
) -> None:
    script = workspace.wrong_script(case, cache, rounds=HOLDS + 1)
    code, result = ran(case, script, cache, tmp_path)
    assert (code, result["status"], result["rounds"]) == (4, "unmet", HOLDS + 1)
    stopped = result["outcome"]["stop"]["unmet"]["stopped"]
    assert stopped == {"allowance_spent": {"spent": HOLDS, "allowed": HOLDS}}
    assert reasons(result) == {"no_flip", "budget"}


@every_case
def test_an_edited_test_is_unmet_by_tamper(case: Case, cache: Path, tmp_path: Path) -> None:
    script = workspace.cheating_script(case, cache, rounds=HOLDS + 1)
    code, result = ran(case, script, cache, tmp_path)
    assert (code, result["status"]) == (4, "unmet")
    assert reasons(result) == {"tampered"}
    artifacts = {
        clause["because"]["tampered"]["artifact"] for clause in result["verdict"]["unmet"]["unmet"]
    }
    assert artifacts == {case.test.partition("::")[0]}


@pytest.mark.parametrize("case", CASES[:1], ids=[case.id for case in CASES[:1]])
def test_a_fix_after_a_wrong_round_is_met_in_the_second(
    case: Case, cache: Path, tmp_path: Path
) -> None:
    script = (*workspace.wrong_script(case, cache, rounds=1), *workspace.fix_script(case, cache))
    code, result = ran(case, script, cache, tmp_path)
    assert (code, result["status"], result["rounds"]) == (0, "met", 2)
