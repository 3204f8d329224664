"""The host's own run of the test plan, and what becomes of it [G-13, G-15, G-20, G-21, G-34]."""

import asyncio
import marshal
import os
import shlex
import sys
from pathlib import Path

import pytest

from stella import limits
from stella.process.ending import Completed
from stella.process.ending import Ending
from stella.wire.evidence import TamperState
from stella.wire.grant import TestBaseline
from stella.witness.baseline import NO_PLAN
from stella.witness.baseline import Baseline
from stella.witness.baseline import after_baseline
from stella.witness.baseline import judged
from stella.witness.baseline import measure
from stella.witness.command import parse_test_command
from stella.witness.plan import ResolvedPlan
from stella.witness.plan import resolve
from stella.witness.readings import BaselineReason
from stella.witness.snapshot import pin
from tests.making.processes import PATH
from tests.making.processes import eventually
from tests.making.processes import new_mark
from tests.making.processes import none_left
from tests.making.workspaces import fill
from tests.making.workspaces import program
from tests.making.workspaces import workspace

PYTEST = f"{shlex.quote(sys.executable)} -m pytest -p no:cacheprovider"
ENV = {"PATH": PATH, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def plan_of(root: Path, command: str, timeout: int = 60) -> ResolvedPlan:
    return resolve(parse_test_command(command), root, PATH, timeout)


def measured(
    root: Path,
    command: str,
    *,
    timeout: int = 60,
    red_on_error: bool = False,
    env: dict[str, str] | None = None,
) -> Baseline:
    """Measure a command in `root`, with a private directory beside it that must stay empty."""
    private = root.parent / "private"
    private.mkdir(exist_ok=True)
    plan = plan_of(root, command, timeout)
    found = asyncio.run(
        measure(plan, root, {**ENV, **(env or {})}, private, red_on_error=red_on_error)
    )
    assert list(private.iterdir()) == []
    return found


def said(found: Baseline) -> tuple[str, str]:
    return found.baseline.value, found.reason.value


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    root = workspace(tmp_path / "root")
    fill(root, calc_py="def half(n): return n // 2\n")
    (root / "test_calc.py").write_text("from calc import half\ndef test(): assert half(3) == 1.5\n")
    (root / "test_broken.py").write_text("import nowhere_to_be_found\ndef test(): pass\n")
    (root / "test_stopped.py").write_text("def test(): raise KeyboardInterrupt\n")
    (root / "test_good.py").write_text("def test(): pass\n")
    (root / "sub").mkdir()
    (root / "sub" / "conftest.py").write_text("import nowhere_to_be_found\n")
    (root / "sub" / "test_x.py").write_text("def test(): pass\n")
    return root


@pytest.mark.behaviour("G-23", "K-93", "K-95")
@pytest.mark.parametrize(
    ("arguments", "baseline", "reason"),
    [
        ("test_calc.py", "failed", "exit-nonzero"),
        ("test_good.py", "passed", "exit-zero"),
        ("test_good.py -k nothing", "unobserved", "nothing-collected"),
        ("--no-such-option", "unobserved", "usage-error"),
        ("test_stopped.py", "unobserved", "interrupted"),
        ("test_broken.py", "failed", "collection-error"),
        ("test_broken.py::test", "failed", "collection-error"),
        ("sub", "failed", "import-error"),
        (
            "--continue-on-collection-errors test_broken.py test_good.py",
            "failed",
            "collection-error",
        ),
    ],
)
def test_a_real_pytest_says_what_the_table_says_red_on_error(
    root: Path, arguments: str, baseline: str, reason: str
) -> None:
    """[G-23, G-25, K-92 to K-95]"""
    found = measured(root, f"{PYTEST} {arguments}", red_on_error=True)
    assert said(found) == (baseline, reason)
    assert found.exit_code is not None


@pytest.mark.behaviour("G-24")
def test_a_real_unittest_that_cannot_import_is_not_red(root: Path) -> None:
    """[G-24]"""
    found = measured(root, f"{shlex.quote(sys.executable)} -m unittest test_broken")
    assert said(found) == ("unobserved", "import-error")


@pytest.mark.behaviour("G-12")
def test_without_a_plan_nothing_runs(tmp_path: Path) -> None:
    """[G-12, G-21]"""
    found = asyncio.run(measure(None, tmp_path, {}, tmp_path / "missing"))
    assert found is NO_PLAN
    assert said(found) == ("not-run", "no-plan")


@pytest.mark.behaviour("G-21")
def test_a_program_that_does_not_exist_could_not_start(root: Path) -> None:
    """[G-9, G-21, K-97]"""
    found = measured(root, "./check.sh")
    assert said(found) == ("unobserved", "not-started")
    assert found.exit_code is None
    assert "check.sh" in found.notices[0]


@pytest.mark.behaviour("G-21")
def test_a_program_that_is_not_executable_could_not_start(root: Path) -> None:
    (root / "check.sh").write_text("exit 0")
    found = measured(root, "./check.sh")
    assert said(found) == ("unobserved", "not-started")
    assert "chmod +x" in found.notices[0]


@pytest.mark.behaviour("G-13", "K-96")
def test_a_plan_that_outlives_its_timeout_is_ended_with_all_it_started(root: Path) -> None:
    """[G-13, G-21, K-96]"""
    mark = new_mark()
    program(root / "slow.sh", "#!/bin/sh\nsleep 600 &\nsleep 600\n")
    found = measured(root, "./slow.sh", timeout=1, env={"MARK": mark})
    assert said(found) == ("unobserved", "timed-out")
    assert found.exit_code is None
    none_left(mark)


@pytest.mark.behaviour("K-96")
def test_a_plan_that_dies_by_a_signal_says_nothing(root: Path) -> None:
    """[G-21, K-96]"""
    program(root / "dies.sh", "#!/bin/sh\nkill -9 $$\n")
    assert said(measured(root, "./dies.sh")) == ("unobserved", "killed-by-signal")


@pytest.mark.behaviour("G-21")
@pytest.mark.parametrize(
    ("code", "baseline", "reason"),
    [
        (0, "passed", "exit-zero"),
        (1, "failed", "exit-nonzero"),
        (126, "unobserved", "not-started"),
        (127, "unobserved", "not-started"),
    ],
)
def test_an_unknown_runner_is_read_by_its_status(
    root: Path, code: int, baseline: str, reason: str
) -> None:
    """[G-21]"""
    program(root / "check.sh", f"#!/bin/sh\nexit {code}\n")
    found = measured(root, "./check.sh")
    assert (*said(found), found.exit_code) == (baseline, reason, code)


@pytest.mark.behaviour("G-21")
@pytest.mark.parametrize("ending", [ending for ending in Ending if ending is not Ending.EXITED])
def test_every_ending_without_a_status_is_unobserved(ending: Ending, tmp_path: Path) -> None:
    """[G-21]"""
    reasons = {
        Ending.SIGNALLED: "killed-by-signal",
        Ending.TIMED_OUT: "timed-out",
        Ending.NOT_STARTED: "not-started",
    }
    plan = plan_of(workspace(tmp_path / "r"), "sh check.sh")
    found = judged(plan, Completed(ending=ending, code=0))
    assert said(found) == ("unobserved", reasons.get(ending, "infrastructure"))
    assert found.exit_code is None


def test_an_exit_that_nobody_saw_is_unobserved(tmp_path: Path) -> None:
    plan = plan_of(workspace(tmp_path / "r"), "sh check.sh")
    found = judged(plan, Completed(ending=Ending.EXITED))
    assert said(found) == ("unobserved", "infrastructure")


# ── how it runs ───────────────────────────────────────────────────────────────────────


@pytest.mark.behaviour("G-13", "G-15")
def test_the_plan_runs_in_the_root_with_empty_input_and_a_cache_of_its_own(root: Path) -> None:
    """[G-13, G-15]"""
    program(
        root / "show.sh",
        '#!/bin/sh\npwd\ncat\necho "[$PYTHONDONTWRITEBYTECODE] [$SEEN]"\n'
        'ls -d "$PYTHONPYCACHEPREFIX"\n',
    )
    found = measured(root, "./show.sh", env={"SEEN": "yes"})
    place, flags, cache = found.tail.splitlines()
    assert (place, flags) == (str(root), "[1] [yes]")
    assert Path(cache).parent == root.parent / "private"
    assert not Path(cache).exists()


@pytest.mark.behaviour("G-15")
def test_no_compiled_cache_decides_a_result(root: Path) -> None:
    """Neither of the code nor the one pytest keeps of a test [G-15, I23, I218]."""
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_calc.py"]
    assert asyncio.run(_spawn(argv, root)) == 1
    caches = sorted((root / "__pycache__").iterdir())
    assert len(caches) == 2
    for cache, poison in zip(
        caches, ("def half(n): return n / 2", "def test(): pass"), strict=True
    ):
        clean = cache.read_bytes()
        # The head says which source it is of, and stays true.
        cache.write_bytes(clean[:16] + marshal.dumps(compile(poison, "x", "exec")))
        assert asyncio.run(_spawn(argv, root)) == 0, "the poison works where nothing is done"
        assert said(measured(root, f"{PYTEST} test_calc.py")) == ("failed", "exit-nonzero")
        cache.write_bytes(clean)
    assert sorted((root / "__pycache__").iterdir()) == caches


async def _spawn(argv: list[str], cwd: Path) -> int:
    # Bytecode is wanted here, whatever the suite runs with.
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    quiet = asyncio.subprocess.DEVNULL
    child = await asyncio.create_subprocess_exec(*argv, cwd=cwd, env=env, stdout=quiet)
    return await child.wait()


@pytest.mark.behaviour("G-13")
def test_a_relative_program_of_another_root_is_that_roots_own(root: Path, tmp_path: Path) -> None:
    """[G-13]"""
    other = workspace(tmp_path / "other")
    program(root / "check.sh", "#!/bin/sh\nexit 1\n")
    program(other / "check.sh", "#!/bin/sh\nexit 0\n")
    plan = plan_of(root, "./check.sh")
    for place, baseline in ((root, TestBaseline.FAILED), (other, TestBaseline.PASSED)):
        found = asyncio.run(measure(plan, place, ENV, tmp_path))
        assert found.baseline is baseline


def test_the_last_output_is_kept_of_both_streams(root: Path) -> None:
    """[G-13]"""
    program(root / "talk.sh", "#!/bin/sh\nprintf 'out\\377\\n'\necho err >&2\n")
    assert measured(root, "./talk.sh").tail == "out\ufffd\nerr\n"


@pytest.mark.behaviour("G-13")
@pytest.mark.parametrize("extra", [0, 1])
def test_at_most_so_many_characters_are_kept_for_answers(root: Path, extra: int) -> None:
    """[G-13]"""
    count = limits.TEST_TAIL_CHARS + extra
    (root / "talk.py").write_text(f"print('a' + 'b' * {count - 1}, end='')")
    tail = measured(root, f"{shlex.quote(sys.executable)} talk.py").tail
    assert tail == ("a" if not extra else "b") + "b" * (limits.TEST_TAIL_CHARS - 1)


@pytest.mark.behaviour("G-13")
@pytest.mark.parametrize(("extra", "reason"), [(0, "nothing-collected"), (1, "exit-zero")])
def test_a_marker_counts_in_the_last_output_only(root: Path, extra: int, reason: str) -> None:
    """[G-13]: 64 KiB are read, however much there was."""
    marker = "Ran 0 tests"
    rest = limits.TEST_MARKER_BYTES - len(marker) + extra
    (root / "unittest.py").write_text(f"print('{marker}' + 'x' * {rest}, end='')")
    found = measured(root, f"{shlex.quote(sys.executable)} -m unittest")
    assert found.reason.value == reason


def test_endless_output_is_no_failure(root: Path) -> None:
    """A runner may say as much as it likes; the end of it is read."""
    (root / "talk.py").write_text("print('x' * 20_000_000)\nprint('end')\n")
    found = measured(root, f"{shlex.quote(sys.executable)} talk.py")
    assert said(found) == ("passed", "exit-zero")
    assert found.tail.endswith("x\nend\n")


def test_a_private_directory_that_cannot_be_made_is_infrastructure(root: Path) -> None:
    found = asyncio.run(measure(plan_of(root, "sh -c x"), root, ENV, root / "missing"))
    assert said(found) == ("unobserved", "infrastructure")
    assert "no private directory" in found.notices[0]


def test_a_private_directory_that_stays_behind_is_told(root: Path, tmp_path: Path) -> None:
    program(
        root / "keep.sh",
        '#!/bin/sh\nrmdir "$PYTHONPYCACHEPREFIX"\n: > "$PYTHONPYCACHEPREFIX"\n',
    )
    found = asyncio.run(measure(plan_of(root, "./keep.sh"), root, ENV, tmp_path))
    assert said(found) == ("passed", "exit-zero")
    (notice,) = found.notices
    assert notice.startswith(f"{tmp_path}/pycache-")
    assert "could not be removed" in notice


def test_a_plan_that_removes_its_cache_itself_is_no_news(root: Path) -> None:
    program(root / "thorough.sh", '#!/bin/sh\nrmdir "$PYTHONPYCACHEPREFIX"\n')
    assert measured(root, "./thorough.sh").notices == ()


@pytest.mark.behaviour("G-13")
def test_a_run_that_is_cancelled_leaves_nothing(root: Path, tmp_path: Path) -> None:
    mark = new_mark()
    started = tmp_path / "started"
    program(root / "slow.sh", f"#!/bin/sh\n: > {started}\nsleep 600\n")
    private = tmp_path / "private"
    private.mkdir()

    async def cancelled() -> None:
        plan = plan_of(root, "./slow.sh")
        run = asyncio.create_task(measure(plan, root, {**ENV, "MARK": mark}, private))
        await asyncio.to_thread(eventually, started.exists)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(cancelled())
    none_left(mark)
    assert list(private.iterdir()) == []


# ── after the baseline ────────────────────────────────────────────────────────────────


def test_a_baseline_that_touched_nothing_stands(root: Path) -> None:
    """[G-30]"""
    watch = pin(root, plan_of(root, f"{PYTEST} test_calc.py"))
    found = measured(root, f"{PYTEST} test_calc.py")
    assert after_baseline(found, watch) == (found, watch, watch.compare())


@pytest.mark.behaviour("G-34", "K-100")
def test_a_baseline_that_rewrote_its_own_test_is_unobserved_and_pinned_again(root: Path) -> None:
    """[G-34, K-100]"""
    program(root / "check.sh", "#!/bin/sh\necho '#' >> check.sh\n: > conftest.py\nexit 1\n")
    watch = pin(root, plan_of(root, "./check.sh"))
    found = measured(root, "./check.sh")
    assert said(found) == ("failed", "exit-nonzero")
    judged_again, again, report = after_baseline(found, watch)
    assert said(judged_again) == ("unobserved", "artifact-changed")
    assert judged_again.exit_code == 1
    assert judged_again.notices[-1].endswith("while it ran before round 0: check.sh")
    assert [artifact.path for artifact in report.artifacts] == ["check.sh"]
    assert again.compare().finding is TamperState.CLEAN


@pytest.mark.behaviour("G-21")
def test_a_baseline_that_could_not_be_observed_keeps_its_reason(root: Path) -> None:
    """The first row that matches wins [G-21]; the set is pinned again all the same [G-34]."""
    program(root / "slow.sh", "#!/bin/sh\necho '#' >> slow.sh\nsleep 600\n")
    watch = pin(root, plan_of(root, "./slow.sh"))
    found = measured(root, "./slow.sh", timeout=1)
    judged_again, again, _ = after_baseline(found, watch)
    assert said(judged_again) == ("unobserved", "timed-out")
    assert again.compare().finding is TamperState.CLEAN


def test_the_reasons_of_a_run_are_told_apart_from_those_of_a_status() -> None:
    assert NO_PLAN.reason is BaselineReason.NO_PLAN
    assert NO_PLAN.baseline is TestBaseline.NOT_RUN


@pytest.mark.behaviour("G-13")
def test_the_plan_runs_as_every_child_of_the_host_does(root: Path) -> None:
    """[G-13, T-6, T-7] A session of its own, the host's umask, three descriptors, no terminal."""
    (root / "show.py").write_text(
        "import os\n"
        "own = os.getsid(0) != int(os.environ['SESSION'])\n"
        "mask = os.umask(0)\n"
        "held = [fd for fd in range(64) if os.path.exists(f'/proc/self/fd/{fd}')]\n"
        "try:\n"
        "    terminal = os.open('/dev/tty', os.O_RDWR)\n"
        "except OSError:\n"
        "    terminal = None\n"
        "print(own, oct(mask), held, terminal, os.read(0, 1))\n"
    )
    env = {"SESSION": str(os.getsid(0))}
    found = measured(root, f"{shlex.quote(sys.executable)} -S show.py", env=env)
    assert found.tail == "True 0o77 [0, 1, 2] None b''\n"
