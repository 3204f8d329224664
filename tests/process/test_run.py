"""The contract of one child: what it gets, what comes back, what is no child at all."""

import asyncio
import errno
import os
import signal
import stat
import tracemalloc
from pathlib import Path

import pytest

from stella import limits
from stella.process.ending import Ending
from stella.process.run import run
from tests.making.processes import PYTHON
from tests.making.processes import SH
from tests.making.processes import hosted
from tests.making.processes import ran_py
from tests.making.processes import ran_sh
from tests.making.processes import sh

# ── what the child gets ───────────────────────────────────────────────────────────────


@pytest.mark.behaviour("T-10")
def test_a_child_has_exactly_the_environment_it_is_given() -> None:
    """T-10, K-44: nothing is added, nothing is inherited."""
    done = asyncio.run(run(["/usr/bin/env"], env={"A": "1", "B": ""}, cwd="/", timeout=60))
    assert done.stdout == b"A=1\nB=\n"
    done = asyncio.run(run(["/usr/bin/env"], env={}, cwd="/", timeout=60))
    assert (done.ending, done.code, done.stdout) == (Ending.EXITED, 0, b"")


@pytest.mark.behaviour("T-3")
def test_arguments_arrive_byte_for_byte() -> None:
    """B20, T-3: no shell takes part, whatever they look like, and bytes need not be UTF-8."""
    words = ["", " ", "a b", "$HOME `id` $(id)", "\"'", "new\nline", "*", "é", "\udcff\udcfe"]
    done = ran_sh('printf "%s|" "$@"', *words)
    assert done.stdout == b"|".join(map(os.fsencode, words)) + b"|"


def test_environment_and_directory_need_not_be_utf8(tmp_path: Path) -> None:
    place = tmp_path / "\udcfe dir"
    place.mkdir()
    done = ran_sh('printf %s "$X"; printf %s "$(pwd -P)"', cwd=place, env={"X": "\udcff="})
    assert done.stdout == b"\xff=" + os.fsencode(place)


@pytest.mark.behaviour("K-147", "T-5", "T-6", "T-7")
@pytest.mark.behaviour("B14", "C74")
def test_a_child_reports_directory_session_terminal_umask_and_descriptors(tmp_path: Path) -> None:
    """K-147, B14, E125, T-5 to T-7."""
    script = """
import os, sys
print(os.getcwd())
print(len({os.getpid(), os.getsid(0), os.getpgrp()}))
try:
    os.open("/dev/tty", os.O_RDWR)
except OSError as error:
    print("no terminal", error.errno)
print(oct(os.umask(0)))
print(sorted(set(os.listdir("/proc/self/fd")) - {"3"}), len(os.listdir("/proc/self/fd")))
print(*(os.readlink(f"/proc/self/fd/{n}").partition(":")[0] for n in range(3)))
"""
    inherited = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(inherited, True)
    try:
        done = ran_py(script, cwd=tmp_path)
    finally:
        os.close(inherited)
    # The fourth descriptor is the listing of descriptors itself.
    expected = f"{tmp_path.resolve()}\n1\nno terminal {errno.ENXIO}\n0o77\n"
    expected += "['0', '1', '2'] 4\npipe pipe pipe\n"
    assert done.stdout.decode() == expected


@pytest.mark.behaviour("E125", "T-7")
def test_descriptors_a_host_leaks_on_purpose_do_not_reach_the_child() -> None:
    """E125, T-7: also those that were inheritable when the warden started."""
    script = """
import asyncio, os
from stella.process.run import run
kept = os.open("/dev/null", os.O_RDONLY)
os.set_inheritable(kept, True)
done = asyncio.run(run(["/bin/ls", "/proc/self/fd"], env={}, cwd="/", timeout=60))
print(done.stdout.split())
"""
    assert hosted(script) == b"[b'0', b'1', b'2', b'3']\n"


@pytest.mark.behaviour("K-147", "T-7")
def test_signals_are_at_their_defaults_whatever_the_host_ignores_or_blocks() -> None:
    """T-7: as under nohup, with more.

    Signals 32 and 33 are the C library's own: no program can set them, and some are born with
    one ignored.
    """
    script = """
import asyncio, signal
from stella.process.run import run
for name in ("HUP", "INT", "QUIT", "TERM", "PIPE", "CHLD", "USR1", "RTMIN"):
    signal.signal(getattr(signal, "SIG" + name), signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR2})
done = asyncio.run(
    run(["/bin/grep", "^Sig[BI]", "/proc/self/status"], env={}, cwd="/", timeout=60)
)
print(done.stdout.decode(), done.code)
"""
    said = hosted(script).decode().split()
    assert (said[0], said[2], said[4]) == ("SigBlk:", "SigIgn:", "0")
    reserved = 1 << 31 | 1 << 32
    assert int(said[1], 16) & ~reserved == 0
    assert int(said[3], 16) & ~reserved == 0


def test_a_child_has_the_limits_of_its_host() -> None:
    """The guards change nothing else on the way."""
    done = ran_sh("ulimit -n")
    soft = hosted("import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])")
    assert done.stdout == soft


# ── what comes back ───────────────────────────────────────────────────────────────────


def test_a_child_is_fed_and_its_output_and_exit_code_come_back() -> None:
    done = ran_sh("cat; echo oops >&2; exit 3", stdin=b"x" * 300_000)
    assert (done.ending, done.code, done.signal) == (Ending.EXITED, 3, None)
    assert (done.stdout, done.stderr) == (b"x" * 300_000, b"oops\n")
    assert (done.stdout_bytes, done.stderr_bytes) == (300_000, 5)
    assert (done.survivors, done.left, done.reason, done.errno) == (0, 0, "", None)
    assert 0 <= done.duration_ms < 60_000


def test_a_valid_answer_with_exit_code_three_is_both() -> None:
    """K-36, E121, T-28: what to make of it is the caller's."""
    done = ran_sh("echo answer; exit 3")
    assert (done.ending, done.code, done.stdout) == (Ending.EXITED, 3, b"answer\n")


@pytest.mark.parametrize("name", ["SEGV", "KILL", "PIPE", "XCPU", "ABRT", "TERM"])
def test_a_child_ended_by_a_signal_says_which(name: str) -> None:
    """E122, T-28."""
    done = ran_sh(f"ulimit -c 0; echo answer; kill -{name} $$")
    expected = getattr(signal, f"SIG{name}")
    assert (done.ending, done.code, done.signal) == (Ending.SIGNALLED, None, expected)
    assert done.stdout == b"answer\n"


def test_a_child_that_never_reads_its_stdin_is_no_failure() -> None:
    """B8, K-38, E107, T-16, T-21."""
    done = ran_sh("echo answer", stdin=b"x" * limits.CONVERSATION_BYTES)
    assert (done.ending, done.code, done.stdout) == (Ending.EXITED, 0, b"answer\n")
    assert done.stdin_broken is None


def test_a_child_that_writes_much_before_it_reads_does_not_block() -> None:
    """T-16: both pipes are served at once."""
    done = ran_sh(
        "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2; wc -c >&2",
        stdin=b"x" * 1_000_000,
    )
    assert (done.ending, done.stdout_bytes) == (Ending.EXITED, 1_000_000)
    assert done.stderr.endswith(b"1000000\n")


@pytest.mark.behaviour("T-24")
def test_output_up_to_the_cap_is_kept_and_the_byte_past_it_ends_the_child() -> None:
    """K-43, T-24: stdout and stderr count together, the stream of the byte too many is named."""
    full = ran_sh("head -c 600 /dev/zero; head -c 400 /dev/zero >&2", cap=1000)
    assert (full.ending, full.stdout_bytes, full.stderr_bytes) == (Ending.EXITED, 600, 400)
    over = ran_sh("head -c 600 /dev/zero; head -c 401 /dev/zero >&2; sleep 600", cap=1000)
    assert (over.ending, over.overflowed, over.signal) == (Ending.OVERFLOWED, "stderr", 9)
    assert (len(over.stdout), len(over.stderr)) == (600, 400)
    over = ran_sh("head -c 401 /dev/zero >&2; head -c 600 /dev/zero; sleep 600", cap=1000)
    assert (over.ending, over.overflowed) == (Ending.OVERFLOWED, "stdout")


def test_the_cap_of_a_conversation_is_eight_mebibytes() -> None:
    """T-24, K-43 at the limit and one past it."""
    cap = limits.CONVERSATION_BYTES
    assert ran_sh(f"head -c {cap} /dev/zero").ending is Ending.EXITED
    over = ran_sh(f"head -c {cap + 1} /dev/zero; sleep 600")
    assert (over.ending, over.stdout_bytes) == (Ending.OVERFLOWED, cap)


def test_ten_megabytes_on_both_streams_end_in_a_named_overflow() -> None:
    """B10: no deadlock."""
    script = "head -c 10000000 /dev/zero & head -c 10000000 /dev/zero >&2; wait"
    done = ran_sh(script)
    assert done.ending is Ending.OVERFLOWED
    assert done.overflowed in {"stdout", "stderr"}
    assert done.stdout_bytes + done.stderr_bytes == limits.CONVERSATION_BYTES


@pytest.mark.parametrize("redirect", ["", ">&2"])
def test_endless_output_costs_the_host_no_more_than_twice_the_cap(redirect: str) -> None:
    """E115, E116."""
    tracemalloc.start()
    try:
        done = ran_sh(f"exec yes {redirect}")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert done.ending is Ending.OVERFLOWED
    assert peak <= 2 * limits.CONVERSATION_BYTES


def test_a_kept_tail_is_counted_in_full_and_knows_no_cap() -> None:
    """G-13: a long test run must not hit a cap, and memory stays flat."""
    tracemalloc.start()
    try:
        script = "head -c 20000000 /dev/zero; printf end; printf worse >&2"
        done = ran_sh(script, keep=1000, cap=10)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (done.ending, done.stdout_bytes, done.stderr_bytes) == (Ending.EXITED, 20_000_003, 5)
    assert done.stdout == b"\0" * 997 + b"end"
    assert done.stderr == b"worse"
    assert peak < limits.MIB


def test_a_merged_run_has_both_streams_in_order_of_arrival() -> None:
    """W-34."""
    script = "echo 1; echo 2 >&2; echo 3; echo 4 >&2"
    done = ran_sh(script, merge=True)
    assert (done.stdout, done.stderr) == (b"1\n2\n3\n4\n", b"")
    over = ran_sh("head -c 11 /dev/zero >&2; sleep 600", merge=True, cap=10)
    assert (over.ending, over.overflowed, over.stdout_bytes) == (Ending.OVERFLOWED, "stdout", 10)


# ── what does not start ───────────────────────────────────────────────────────────────


def refused(program: Path | str, *, cwd: Path | str = "/") -> tuple[int | None, str]:
    done = asyncio.run(run([str(program)], env={}, cwd=cwd, timeout=60))
    assert (done.ending, done.code, done.signal) == (Ending.NOT_STARTED, None, None)
    assert (done.stdout, done.stderr, done.survivors) == (b"", b"", 0)
    return done.errno, done.reason


def script_file(place: Path, text: str, mode: int = 0o755) -> Path:
    path = place / "program"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    """E136, T-8."""
    number, reason = refused(tmp_path / "gone")
    assert number == errno.ENOENT
    assert reason.startswith(f"{tmp_path}/gone: no such file")


def test_a_script_without_execute_permission_says_so(tmp_path: Path) -> None:
    number, reason = refused(script_file(tmp_path, "#!/bin/sh\n", 0o644))
    assert number == errno.EACCES
    assert "is not executable; give it execute permission" in reason


def test_a_script_with_a_missing_interpreter_says_so(tmp_path: Path) -> None:
    number, reason = refused(script_file(tmp_path, "#!/no/such/interpreter -x\n"))
    assert number == errno.ENOENT
    assert "its first line names the interpreter /no/such/interpreter, which is missing" in reason


def test_a_text_without_an_interpreter_line_is_never_given_to_a_shell(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    number, reason = refused(script_file(tmp_path, f"touch {trace}\n"))
    assert number == errno.ENOEXEC
    assert "neither a program nor a script" in reason
    assert not trace.exists()


def test_a_directory_is_no_program(tmp_path: Path) -> None:
    number, reason = refused(tmp_path)
    assert number == errno.EACCES
    assert "is a directory" in reason


def test_a_program_that_is_being_written_is_busy(tmp_path: Path) -> None:
    copy = tmp_path / "true"
    copy.write_bytes(Path("/bin/true").read_bytes())
    copy.chmod(0o755)
    with copy.open("r+b"):
        number, reason = refused(copy)
    assert number == errno.ETXTBSY
    assert "is open for writing" in reason


def test_a_missing_working_directory_is_blamed_and_not_the_program(tmp_path: Path) -> None:
    number, reason = refused("/bin/true", cwd=tmp_path / "gone")
    assert number == errno.ENOENT
    assert reason.startswith(f"{tmp_path}/gone: cannot be the working directory")


def test_arguments_too_large_for_the_system_are_a_value() -> None:
    done = ran_sh("true", "x" * 3_000_000)
    assert (done.ending, done.errno) == (Ending.NOT_STARTED, errno.E2BIG)
    assert "larger than the system takes" in done.reason


@pytest.mark.parametrize(
    ("argument", "env"),
    [("a\0b", {}), ("", {"A": "b\0c"}), ("", {"": "x"}), ("", {"A=B": "x"})],
)
def test_what_no_system_can_pass_on_is_a_value(argument: str, env: dict[str, str]) -> None:
    """A model may well put a NUL into a command."""
    done = ran_sh("true", argument, env=env)
    assert (done.ending, done.errno) == (Ending.NOT_STARTED, errno.EINVAL)
    assert done.reason.startswith(f"{SH}: could not be started: ")


def test_a_host_without_descriptors_gets_a_value_and_recovers() -> None:
    """E136: EMFILE at any of the descriptors a run needs, no retry storm."""
    script = """
import asyncio, os, resource
from stella.process.run import run
async def main():
    await run(["/bin/true"], env={}, cwd="/", timeout=60)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
    used = []
    try:
        while True:
            used.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    endings = []
    for free in range(12):
        done = await run(["/bin/true"], env={}, cwd="/", timeout=60)
        endings.append((done.ending.name, done.errno))
        os.close(used.pop())
    print(*sorted(set(endings)), endings[0] != endings[-1])
asyncio.run(main())
"""
    assert hosted(script) == b"('EXITED', None) ('NOT_STARTED', 24) True\n"


@pytest.mark.parametrize("argv", [[], ["sh"], ["./sh"], [""]])
def test_a_program_that_was_not_resolved_is_the_callers_mistake(argv: list[str]) -> None:
    """T-3: nothing is looked up here."""
    with pytest.raises(ValueError, match="absolute path"):
        asyncio.run(run(argv, env={}, cwd="/", timeout=1))


# ── many of them ──────────────────────────────────────────────────────────────────────


def test_many_children_run_at_once_in_one_loop() -> None:
    async def all_of_them() -> list[bytes]:
        done = await asyncio.gather(*(sh('echo "$1"', str(n)) for n in range(40)))
        return [one.stdout for one in done]

    assert asyncio.run(all_of_them()) == [f"{n}\n".encode() for n in range(40)]


def test_files_a_child_makes_are_its_owners_alone(tmp_path: Path) -> None:
    """T-7: umask 077."""
    ran_sh("mkdir d; echo x > f", cwd=tmp_path)
    assert stat.S_IMODE((tmp_path / "d").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o600


def test_a_python_child_works_as_any_other() -> None:
    done = asyncio.run(run([*PYTHON, "print(6 * 7)"], env={}, cwd="/", timeout=60))
    assert done.stdout == b"42\n"
