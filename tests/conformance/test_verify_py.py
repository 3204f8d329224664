"""The shipped plugin in Python: what it reports, refuses, leaves behind and needs."""

import ast
import json
import os
import py_compile
import shutil
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.making.shipped import MAIN
from tests.making.shipped import PATH
from tests.making.shipped import PLUGIN
from tests.making.shipped import PYTHON
from tests.making.shipped import TESTDATA
from tests.making.shipped import alive
from tests.making.shipped import asked
from tests.making.shipped import conformance
from tests.making.shipped import request
from tests.making.shipped import some_vectors
from tests.making.shipped import started
from tests.making.shipped import until

# Writes its own number and that of a child that outlives it, then waits for both.
LINGER = "sleep 600 & echo $$ $! >pids.tmp; mv pids.tmp pids; wait"
ESCAPE = """
import pathlib, subprocess
child = subprocess.Popen(["sleep", "600"], start_new_session=True)
pathlib.Path("pids").write_text(str(child.pid))
"""
OVERRIDE = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("verify", sys.argv[1])
verify = importlib.util.module_from_spec(spec)
spec.loader.exec_module(verify)
verify.TEST_LIMIT_SECS = 0.3
sys.exit(verify.main())
"""
HOST = """
import json, subprocess, sys, time
plugin = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE)
plugin.stdin.write(open(sys.argv[1], "rb").read())
plugin.stdin.close()
print(plugin.pid, flush=True)
time.sleep(600)
"""


def pids(root: Path) -> list[int]:
    """Return the process numbers that `LINGER` wrote, once it has."""
    assert until((root / "pids").exists)
    return [int(word) for word in (root / "pids").read_text().split()]


@pytest.mark.behaviour("W-13")
def test_the_shipped_plugin_passes_every_vector() -> None:
    # [K-76, K-200 to K-202]
    names = {path.name for path in TESTDATA.glob("*.request.json")}
    refusals = set(TESTDATA.glob("*.refusal.txt"))
    assert len(names) - len(refusals) >= 25
    assert len(refusals) >= 10
    result = conformance("--plugin", PLUGIN)
    assert result.stdout.splitlines()[-1] == f"{len(names)} passed, 0 failed", result.stdout
    assert (result.returncode, result.stderr) == (0, "")


def test_it_needs_no_site_packages_and_no_installed_stella(tmp_path: Path) -> None:
    vectors = some_vectors(tmp_path / "vectors", "01", "35", "62")
    result = conformance("--testdata", vectors, "--", *PYTHON, MAIN)
    assert result.stdout.endswith("3 passed, 0 failed\n"), result.stdout


def test_it_imports_the_standard_library_only_and_parses_as_python_3_8() -> None:
    tree = ast.parse(MAIN.read_text("utf-8"), feature_version=(3, 8))
    plain = [a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names]
    named = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    rooms = {name.partition(".")[0] for name in [*plain, *named] if name is not None}
    assert {"json", "subprocess"} < rooms <= sys.stdlib_module_names


def test_the_manifest_is_the_complete_arbiter_of_the_specification() -> None:
    # [M-64]
    assert tomllib.loads((PLUGIN / "plugin.toml").read_text("utf-8")) == {
        "name": "verify",
        "description": "Runs the granted test and reports whether it went from failing to passing.",
        "loop": {
            "participation": "arbiter",
            "hooks": ["Stop"],
            "points": ["after_turn"],
            "max_holds": 2,
        },
        "requirements": {
            "tests-flip": "the granted test failed before the run and passes now",
            "tests-pass": "the granted test exits with zero",
        },
        "oracle": {
            "flip": "required",
            "measurements": ["test-command-exit-code", "test-duration-ms"],
            "checks": [{"requirement": "tests-pass", "check": "test-command-exit-code <= 0"}],
        },
        "runtime": {
            "argv": ["python3", "${plugin_dir}/main.py"],
            "timeout_secs": 300,
            "env": ["PATH"],
        },
        "capabilities": [
            {
                "tool": "process_spawn",
                "risk": "high",
                "purpose": "start the test named in the grant",
                "scope": ["only candidate.test, only inside candidate.root"],
            }
        ],
    }


@pytest.mark.behaviour("Q-25")
def test_its_bound_leaves_time_for_an_answer_within_its_own_manifest() -> None:
    #
    manifest = tomllib.loads((PLUGIN / "plugin.toml").read_text("utf-8"))
    bounds = [line for line in MAIN.read_text("utf-8").splitlines() if "TEST_LIMIT_SECS = " in line]
    assert [line.split()[2] for line in bounds] == ["240.0"]
    assert manifest["runtime"]["timeout_secs"] == 300


def test_running_it_writes_nothing_into_its_own_directory(tmp_path: Path) -> None:
    # [T-9]
    home = shutil.copytree(
        PLUGIN, tmp_path / "verify", ignore=shutil.ignore_patterns("__pycache__")
    )
    before = {path: path.read_bytes() for path in home.rglob("*")}
    vectors = some_vectors(tmp_path / "vectors", "01", "13", "36", "62")
    assert conformance("--plugin", home, "--testdata", vectors).returncode == 0
    assert {path: path.read_bytes() for path in home.rglob("*")} == before


def test_the_private_cache_is_private_and_gone_afterwards(tmp_path: Path) -> None:
    # [G-15]
    look = 'ls -ld "$PYTHONPYCACHEPREFIX" >seen; echo "$PYTHONPYCACHEPREFIX" >>seen'
    asked(request(tmp_path, "sh", "-c", look))
    listing, place = (tmp_path / "seen").read_text().splitlines()
    assert listing.startswith("drwx------")
    assert Path(place).is_absolute()
    assert not Path(place).exists()


def test_compiled_code_of_an_older_source_decides_nothing(tmp_path: Path) -> None:
    # [G-15, I23]: the new source has the size and the time of the compiled one
    week = tmp_path / "week.py"
    week.write_text("DAYS = 6\n")
    py_compile.compile(str(week), doraise=True)
    then = week.stat()
    week.write_text("DAYS = 7\n")
    os.utime(week, ns=(then.st_atime_ns, then.st_mtime_ns))
    words = (sys.executable, "-c", "import sys, week; sys.exit(week.DAYS != 7)")
    assert subprocess.run(words, cwd=tmp_path, check=False).returncode == 1
    assert asked(request(tmp_path, *words))["flip"] == "achieved"


def test_a_bare_name_is_not_found_through_relative_entries_of_path(tmp_path: Path) -> None:
    # [T-3]: they would lead into the directory of the plugin
    tool = tmp_path / "check-week"
    tool.write_text("#!/bin/sh\nexit 0\n")
    tool.chmod(0o755)
    data = request(tmp_path, "check-week")
    assert asked(data, cwd=tmp_path, path=f".::{PATH}") == {"flip": "unobservable"}
    assert asked(data, cwd=tmp_path, path=f"{tmp_path}:{PATH}")["flip"] == "achieved"


@pytest.mark.parametrize("program", ["", "no\0thing", "/", "..", "./no-exec"])
def test_a_program_that_cannot_start_is_unobservable_and_measures_nothing(
    program: str, tmp_path: Path
) -> None:
    (tmp_path / "no-exec").write_text("exit 0\n")
    assert asked(request(tmp_path, program)) == {"flip": "unobservable"}


def test_an_argument_that_no_program_can_be_given_is_unobservable(tmp_path: Path) -> None:
    assert asked(request(tmp_path, "true", "a\0b")) == {"flip": "unobservable"}


def test_a_request_with_an_emoji_across_every_block_boundary_is_read_whole(tmp_path: Path) -> None:
    # [C8]: four bytes each, shifted so that blocks of 4096 and 65536 cut one in two
    data = request(tmp_path, "true", goal="." + "🙂" * 50_000)
    assert asked(data)["flip"] == "achieved"


def test_endless_output_is_read_to_the_end_and_kept_only_at_its_tail(tmp_path: Path) -> None:
    megabytes = 120
    # A small process starts the plugin: the peak of a child counts what it was forked from.
    measure = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], input=sys.stdin.buffer.read(), capture_output=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
        "print(done.stdout.decode(), end='')\n"
    )
    done = subprocess.run(
        (sys.executable, "-I", "-S", "-c", measure, *PYTHON, MAIN),
        input=request(tmp_path, "head", "-c", f"{megabytes}000000", "/dev/zero"),
        env={"PATH": PATH},
        capture_output=True,
        timeout=60,
        check=True,
    )
    peak, answer = done.stdout.decode().splitlines()
    assert json.loads(answer)["body"]["evidence"]["flip"] == "achieved"
    unit = 1 if sys.platform == "darwin" else 1024
    assert int(peak) * unit < megabytes * 1_000_000 / 2


def test_what_the_test_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    # the child keeps stdout open, so waiting for the end of output would take 600 s
    evidence = asked(request(tmp_path, "sh", "-c", LINGER.replace("wait", "exit 0")))
    assert evidence["flip"] == "achieved"
    shell, child = pids(tmp_path)
    assert not alive(shell)
    assert until(lambda: not alive(child))


def test_a_process_that_left_the_group_and_holds_stdout_does_not_hold_the_answer(
    tmp_path: Path,
) -> None:
    evidence = asked(request(tmp_path, sys.executable, "-c", ESCAPE))
    (escaped,) = pids(tmp_path)
    os.kill(escaped, signal.SIGKILL)
    assert evidence["flip"] == "achieved"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_stop_ends_the_test_and_gives_no_answer(
    number: signal.Signals, tmp_path: Path
) -> None:
    look = f'echo "$PYTHONPYCACHEPREFIX" >cache; {LINGER}'
    with started(*PYTHON, MAIN) as plugin:
        assert plugin.stdin is not None
        plugin.stdin.write(request(tmp_path, "sh", "-c", f"trap '' TERM INT HUP; {look}"))
        plugin.stdin.close()
        plugin.stdin = None
        group = pids(tmp_path)
        plugin.send_signal(number)
        stdout, stderr = plugin.communicate(timeout=30)
    assert (plugin.returncode, stdout) == (1, b"")
    assert stderr == b"verify: the test: ended with this plugin, which was told to stop\n"
    assert until(lambda: not any(map(alive, group)))
    assert not Path((tmp_path / "cache").read_text().strip()).exists()


def test_a_signal_before_the_request_is_complete_ends_it_at_once() -> None:
    with started(*PYTHON, MAIN) as plugin:
        assert plugin.stdin is not None
        plugin.stdin.write(b"{")
        plugin.stdin.flush()
        plugin.send_signal(signal.SIGTERM)
        plugin.wait(timeout=30)
        assert plugin.returncode != 0


def test_the_bound_ends_the_test_and_is_reported_as_unobservable(tmp_path: Path) -> None:
    # [Q-25, K-96]
    with started(*PYTHON, "-B", "-c", OVERRIDE, MAIN) as plugin:
        stdout, _ = plugin.communicate(request(tmp_path, "sh", "-c", LINGER), timeout=30)
    evidence = json.loads(stdout)["body"]["evidence"]
    assert evidence["flip"] == "unobservable"
    assert list(evidence["measurements"]) == ["test-duration-ms"]
    assert 300 <= evidence["measurements"]["test-duration-ms"] < 30_000
    assert until(lambda: not any(map(alive, pids(tmp_path))))


def test_the_death_of_the_host_ends_the_plugin_and_its_test(tmp_path: Path) -> None:
    # [T-33, B17]
    (tmp_path / "request").write_bytes(request(tmp_path, "sh", "-c", LINGER))
    words = (*PYTHON, "-c", HOST, tmp_path / "request", *PYTHON, MAIN)
    with started(*words) as host:
        assert host.stdout is not None
        plugin = int(host.stdout.readline())
        group = pids(tmp_path)
        assert all(map(alive, [plugin, *group]))
        host.kill()
        assert until(lambda: not any(map(alive, [plugin, *group])))
