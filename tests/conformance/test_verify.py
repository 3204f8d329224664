"""Each shipped plugin: what it reports, refuses, leaves behind and needs."""

import json
import os
import py_compile
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.making.shipped import PATH
from tests.making.shipped import PYTHON
from tests.making.shipped import SHIPPED
from tests.making.shipped import TESTDATA
from tests.making.shipped import VERIFY_PY
from tests.making.shipped import Shipped
from tests.making.shipped import alive
from tests.making.shipped import asked
from tests.making.shipped import conformance
from tests.making.shipped import each_plugin
from tests.making.shipped import marked
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
HOST = """
import json, subprocess, sys, time
plugin = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE)
plugin.stdin.write(open(sys.argv[1], "rb").read())
plugin.stdin.close()
print(plugin.pid, flush=True)
time.sleep(600)
"""

BOUNDED = [marked(plugin) for plugin in SHIPPED if plugin.bound is not None]


def contents(directory: Path) -> dict[Path, bytes | None]:
    """Return what lies in a directory, with the bytes of each file."""
    return {path: None if path.is_dir() else path.read_bytes() for path in directory.rglob("*")}


def pids(root: Path) -> list[int]:
    """Return the process numbers that `LINGER` wrote, once it has."""
    assert until((root / "pids").exists)
    return [int(word) for word in (root / "pids").read_text().split()]


@pytest.mark.behaviour("W-13")
@each_plugin
def test_every_shipped_plugin_passes_every_vector(plugin: Shipped) -> None:
    # [K-76, K-200 to K-202]
    names = {path.name for path in TESTDATA.glob("*.request.json")}
    refusals = set(TESTDATA.glob("*.refusal.txt"))
    assert len(names) - len(refusals) >= 25
    assert len(refusals) >= 10
    result = conformance("--plugin", plugin.directory)
    assert result.stdout.splitlines()[-1] == f"{len(names)} passed, 0 failed", result.stdout
    assert (result.returncode, result.stderr) == (0, "")


def test_the_manifest_is_the_complete_arbiter_of_the_specification() -> None:
    # [M-64]
    assert tomllib.loads((VERIFY_PY.directory / "plugin.toml").read_text("utf-8")) == {
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
@each_plugin
def test_its_bound_leaves_time_for_an_answer_within_its_own_manifest(plugin: Shipped) -> None:
    #
    manifest = tomllib.loads((plugin.directory / "plugin.toml").read_text("utf-8"))
    assert manifest["runtime"]["timeout_secs"] == 300
    if plugin.bound is not None:
        file, line, _ = plugin.bound
        assert (plugin.directory / file).read_text("utf-8").count(line) == 1


@each_plugin
def test_running_it_writes_nothing_into_its_own_directory(plugin: Shipped, tmp_path: Path) -> None:
    # [T-9]
    home = plugin.elsewhere(tmp_path / "verify").directory
    before = contents(home)
    vectors = some_vectors(tmp_path / "vectors", "01", "13", "36", "62")
    assert conformance("--plugin", home, "--testdata", vectors).returncode == 0
    assert contents(home) == before


@each_plugin
def test_the_private_cache_is_private_and_gone_afterwards(plugin: Shipped, tmp_path: Path) -> None:
    # [G-15]
    look = 'ls -ld "$PYTHONPYCACHEPREFIX" >seen; echo "$PYTHONPYCACHEPREFIX" >>seen'
    asked(plugin, request(tmp_path, "sh", "-c", look))
    listing, place = (tmp_path / "seen").read_text().splitlines()
    assert listing.startswith("drwx------")
    assert Path(place).is_absolute()
    assert not Path(place).exists()


@each_plugin
def test_compiled_code_of_an_older_source_decides_nothing(plugin: Shipped, tmp_path: Path) -> None:
    # [G-15, I23]: the new source has the size and the time of the compiled one
    week = tmp_path / "week.py"
    week.write_text("DAYS = 6\n")
    py_compile.compile(str(week), doraise=True)
    then = week.stat()
    week.write_text("DAYS = 7\n")
    os.utime(week, ns=(then.st_atime_ns, then.st_mtime_ns))
    words = (sys.executable, "-c", "import sys, week; sys.exit(week.DAYS != 7)")
    assert subprocess.run(words, cwd=tmp_path, check=False).returncode == 1
    assert asked(plugin, request(tmp_path, *words))["flip"] == "achieved"


@each_plugin
def test_a_bare_name_is_not_found_through_relative_entries_of_path(
    plugin: Shipped, tmp_path: Path
) -> None:
    # [T-3]: they would lead into the directory of the plugin
    tool = tmp_path / "check-week"
    tool.write_text("#!/bin/sh\nexit 0\n")
    tool.chmod(0o755)
    data = request(tmp_path, "check-week")
    assert asked(plugin, data, cwd=tmp_path, path=f".::{PATH}") == {"flip": "unobservable"}
    assert asked(plugin, data, cwd=tmp_path, path=f"{tmp_path}:{PATH}")["flip"] == "achieved"


@pytest.mark.parametrize("program", ["", "no\0thing", "/", "..", "./no-exec"])
@each_plugin
def test_a_program_that_cannot_start_is_unobservable_and_measures_nothing(
    plugin: Shipped, program: str, tmp_path: Path
) -> None:
    (tmp_path / "no-exec").write_text("exit 0\n")
    assert asked(plugin, request(tmp_path, program)) == {"flip": "unobservable"}


@each_plugin
def test_an_argument_that_no_program_can_be_given_is_unobservable(
    plugin: Shipped, tmp_path: Path
) -> None:
    assert asked(plugin, request(tmp_path, "true", "a\0b")) == {"flip": "unobservable"}


@each_plugin
def test_a_request_with_an_emoji_across_every_block_boundary_is_read_whole(
    plugin: Shipped, tmp_path: Path
) -> None:
    # [C8]: four bytes each, shifted so that blocks of 4096 and 65536 cut one in two
    data = request(tmp_path, "true", goal="." + "🙂" * 50_000)
    assert asked(plugin, data)["flip"] == "achieved"


@each_plugin
def test_endless_output_is_read_to_the_end_and_kept_only_at_its_tail(
    plugin: Shipped, tmp_path: Path
) -> None:
    megabytes = 240
    # A small process starts the plugin: the peak of a child counts what it was forked from.
    measure = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], input=sys.stdin.buffer.read(), capture_output=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
        "print(done.stdout.decode(), end='')\n"
    )
    done = subprocess.run(
        (sys.executable, "-I", "-S", "-c", measure, *plugin.command),
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


@each_plugin
def test_a_test_that_closes_its_output_is_waited_for(plugin: Shipped, tmp_path: Path) -> None:
    words = "exec >&- 2>&-; sleep 0.2; exit 3"
    evidence = asked(plugin, request(tmp_path, "sh", "-c", words))
    assert evidence["measurements"]["test-command-exit-code"] == 3
    assert evidence["measurements"]["test-duration-ms"] >= 200


@each_plugin
def test_what_the_test_leaves_behind_ends_with_it(plugin: Shipped, tmp_path: Path) -> None:
    # the child keeps stdout open, so waiting for the end of output would take 600 s
    evidence = asked(plugin, request(tmp_path, "sh", "-c", LINGER.replace("wait", "exit 0")))
    assert evidence["flip"] == "achieved"
    shell, child = pids(tmp_path)
    assert not alive(shell)
    assert until(lambda: not alive(child))


@each_plugin
def test_a_process_that_left_the_group_and_holds_stdout_does_not_hold_the_answer(
    plugin: Shipped,
    tmp_path: Path,
) -> None:
    evidence = asked(plugin, request(tmp_path, sys.executable, "-c", ESCAPE))
    (escaped,) = pids(tmp_path)
    os.kill(escaped, signal.SIGKILL)
    assert evidence["flip"] == "achieved"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@each_plugin
def test_a_signal_to_stop_ends_the_test_and_gives_no_answer(
    plugin: Shipped, number: signal.Signals, tmp_path: Path
) -> None:
    look = f'echo "$PYTHONPYCACHEPREFIX" >cache; {LINGER}'
    with started(*plugin.command) as process:
        assert process.stdin is not None
        process.stdin.write(request(tmp_path, "sh", "-c", f"trap '' TERM INT HUP; {look}"))
        process.stdin.close()
        process.stdin = None
        group = pids(tmp_path)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=30)
    assert (process.returncode, stdout) == (1, b"")
    assert stderr == b"verify: the test: ended with this plugin, which was told to stop\n"
    assert until(lambda: not any(map(alive, group)))
    assert not Path((tmp_path / "cache").read_text().strip()).exists()


@each_plugin
def test_a_signal_before_the_request_is_complete_ends_it_at_once(plugin: Shipped) -> None:
    with started(*plugin.command) as process:
        assert process.stdin is not None
        process.stdin.write(b"{")
        process.stdin.flush()
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)
        assert process.returncode != 0


@pytest.mark.parametrize("plugin", BOUNDED)
def test_the_bound_ends_the_test_and_is_reported_as_unobservable(
    plugin: Shipped, tmp_path: Path
) -> None:
    # [Q-25, K-96]
    assert plugin.bound is not None
    file, long, short = plugin.bound
    quick = plugin.elsewhere(tmp_path / "verify")
    source = (quick.directory / file).read_text("utf-8")
    (quick.directory / file).write_text(source.replace(long, short))
    said = "verify: the test outlived 0.3 s\n"
    evidence = asked(quick, request(tmp_path, "sh", "-c", LINGER), said=said)
    assert evidence["flip"] == "unobservable"
    assert list(evidence["measurements"]) == ["test-duration-ms"]
    assert 300 <= evidence["measurements"]["test-duration-ms"] < 30_000
    assert until(lambda: not any(map(alive, pids(tmp_path))))


@each_plugin
def test_the_death_of_the_host_ends_the_plugin_and_its_test(
    plugin: Shipped, tmp_path: Path
) -> None:
    # [T-33, B17]
    (tmp_path / "request").write_bytes(request(tmp_path, "sh", "-c", LINGER))
    words = (*PYTHON, "-c", HOST, str(tmp_path / "request"), *plugin.command)
    with started(*words) as host:
        assert host.stdout is not None
        number = int(host.stdout.readline())
        group = pids(tmp_path)
        assert all(map(alive, [number, *group]))
        host.kill()
        assert until(lambda: not any(map(alive, [number, *group])))
