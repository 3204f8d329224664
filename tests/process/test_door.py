"""One warden per host: started late, replaced when dead, gone with the host however it goes."""

import asyncio
import errno
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stella import limits
from stella.process.door import DOOR
from stella.process.door import Door
from stella.process.door import Warden
from stella.process.ending import Ending
from tests.making.processes import DAEMON
from tests.making.processes import children
from tests.making.processes import descriptors
from tests.making.processes import eventually
from tests.making.processes import hosted
from tests.making.processes import hosting
from tests.making.processes import marked
from tests.making.processes import new_mark
from tests.making.processes import none_left
from tests.making.processes import ran_sh
from tests.making.processes import read
from tests.making.processes import sh
from tests.making.processes import wardens
from tests.making.processes import watchers

# A host that has a tree of the worst kind run, and says so.
TREE = f"""
import asyncio, os, sys
from stella.process.run import run
from stella.process.talk import Child
script = '''
{DAEMON}
import subprocess
subprocess.Popen(["/bin/sh", "-c", "setsid sleep 600 & trap '' TERM HUP; sleep 600"])
print("on", flush=True)
time.sleep(600)
'''
async def told(child: Child) -> None:
    await child.receive()
    print("on", flush=True)
    await child.receive()
async def main() -> None:
    argv = [sys.executable, "-I", "-S", "-c", script]
    env = {{"PATH": "/usr/bin:/bin", "MARK": sys.argv[1]}}
    await run(argv, env=env, cwd="/", timeout=600, talk=told)
"""


def gone(host: int, mark: str) -> None:
    """Within five seconds nothing of the tree is left, nor of what watched it."""
    eventually(lambda: not marked(mark))
    eventually(lambda: not watchers(host))


# ── a host that goes ──────────────────────────────────────────────────────────────────


def test_nothing_outlives_a_host_that_is_killed() -> None:
    """B17, T-30, T-33: a daemon that forked twice, sessions of their own, deaf grandchildren."""
    mark = new_mark()
    with hosting(f"{TREE}\nasyncio.run(main())", mark) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == b"on\n"
        eventually(lambda: len(marked(mark)) >= 5)
        host.kill()
        host.wait()
    gone(host.pid, mark)


def test_nothing_outlives_a_host_killed_at_any_moment_of_a_start() -> None:
    """T-30: twenty times, each a little later."""
    script = """
import asyncio, sys
from stella.process.run import run
async def tree(number):
    argv = ["/bin/sh", "-c", "setsid sleep 600 & sleep 600"]
    await run(argv, env={"PATH": "/usr/bin:/bin", "MARK": sys.argv[1]}, cwd="/", timeout=0.02)
async def main():
    print("on", flush=True)
    while True:
        await asyncio.gather(*map(tree, range(4)))
asyncio.run(main())
"""
    mark = new_mark()
    for moment in range(20):
        command = (sys.executable, "-c", script, mark)
        with subprocess.Popen(command, stdout=subprocess.PIPE) as host:
            assert host.stdout is not None
            assert host.stdout.readline() == b"on\n"
            time.sleep(moment * 0.004)
            host.kill()
        gone(host.pid, mark)


def test_a_copy_of_the_host_does_not_keep_its_children_alive() -> None:
    """A host may fork, as multiprocessing does: the copy holds every socket open."""
    mark = new_mark()
    script = f"""{TREE}
async def forking():
    task = asyncio.create_task(main())
    await asyncio.sleep(0.3)
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        import time
        time.sleep(600)
        os._exit(0)
    await task
asyncio.run(forking())
"""
    with hosting(script, mark) as host:
        assert host.stdout is not None
        said = host.stdout.readline() + host.stdout.readline()
        copy = int(said.replace(b"on", b""))
        try:
            eventually(lambda: len(marked(mark)) >= 5)
            host.kill()
            os.waitid(os.P_PID, host.pid, os.WEXITED | os.WNOWAIT)
            # The copy bears the mark among its arguments, as the host did.
            eventually(lambda: marked(mark) == [copy])
            eventually(lambda: not watchers(host.pid))
        finally:
            os.kill(copy, signal.SIGKILL)


@pytest.mark.parametrize(
    "ending",
    [
        "asyncio.run(asyncio.wait_for(main(), 0.5))",
        "asyncio.run(asyncio.wait_for(main(), 0.5), debug=True)",
        "raise SystemExit(1)",
        "1 / 0",
    ],
)
def test_a_host_that_ends_by_itself_has_ended_its_children_by_then(ending: str) -> None:
    """T-30: the run is in a thread that nobody waits for, or is cancelled by its loop."""
    mark = new_mark()
    script = f"""{TREE}
import threading
threading.Thread(target=lambda: asyncio.run(main()), daemon=True).start()
sys.stdin.readline()
{ending}
"""
    command = (sys.executable, "-c", script, mark)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == b"on\n"
        assert marked(mark)
        host.communicate(b"\n", timeout=60)
        assert host.returncode == 1
    none_left(mark)
    assert not watchers(host.pid)


def test_an_interrupted_host_ends_its_children_and_itself() -> None:
    """T-25: the signal of the terminal reaches the host, and neither warden nor guard."""
    mark = new_mark()
    command = (sys.executable, "-c", f"{TREE}\nasyncio.run(main())", mark)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, start_new_session=True) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == b"on\n"
        os.killpg(host.pid, signal.SIGINT)
        _, said = host.communicate(timeout=60)
    assert host.returncode == -signal.SIGINT
    assert said.rstrip().endswith(b"KeyboardInterrupt")
    none_left(mark)


def test_a_host_that_runs_children_ends_in_silence() -> None:
    """No unclosed resource, no thread, no callback that fails: every warning is an error."""
    script = """
import asyncio
from stella.process.run import run
for _ in range(3):
    done = asyncio.run(run(["/bin/echo", "hi"], env={}, cwd="/", timeout=60))
    print(done.stdout)
"""
    assert hosted(script) == b"b'hi\\n'\n" * 3


def test_a_host_that_runs_no_child_starts_nothing() -> None:
    """Nothing happens at import."""
    script = """
import pathlib, threading
import stella.process.run
print(pathlib.Path("/proc/thread-self/children").read_text().split(), threading.active_count())
"""
    assert hosted(script) == b"[] 1\n"


# ── a host that forks ─────────────────────────────────────────────────────────────────


def test_a_forked_host_has_a_warden_of_its_own_and_leaves_the_first_alone() -> None:
    script = """
import asyncio, os, pathlib, sys
from stella.process.run import run
def word():
    done = asyncio.run(run(["/bin/echo", "hi"], env={}, cwd="/", timeout=60))
    return done.stdout.decode().strip()
def wardens():
    return pathlib.Path("/proc/thread-self/children").read_text().split()
first = word()
before = wardens()
if (copy := os.fork()) == 0:
    assert wardens() == []
    print(word(), len(wardens()), flush=True)
    sys.exit(0)
assert os.waitpid(copy, 0)[1] == 0
print(first, word(), wardens() == before, flush=True)
if (copy := os.fork()) == 0:
    sys.exit(0)
assert os.waitpid(copy, 0)[1] == 0
print(word(), wardens() == before)
"""
    assert hosted(script) == b"hi 1\nhi hi True\nhi True\n"


# ── a warden that goes ────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("patient", [True, False])
def test_a_warden_killed_between_two_runs_is_replaced(patient: bool) -> None:
    """The second run need not know."""
    assert ran_sh("echo 1").stdout == b"1\n"
    (warden,) = wardens(os.getpid())
    os.kill(warden, signal.SIGKILL)
    if patient:
        os.waitid(os.P_PID, warden, os.WEXITED | os.WNOWAIT)
    done = ran_sh("echo 2")
    assert (done.ending, done.stdout) == (Ending.EXITED, b"2\n")
    (other,) = wardens(os.getpid())
    assert other != warden
    assert not children(os.getpid(), "Z")


def test_a_run_outlasts_the_death_of_the_warden(tmp_path: Path) -> None:
    """Its guard goes on."""

    async def scene() -> None:
        go = tmp_path / "go"
        script = 'while [ ! -e "$1" ]; do sleep 0.01; done; setsid sleep 600 & echo fine'
        mark = new_mark()
        task = asyncio.create_task(sh(script, str(go), mark=mark))
        await asyncio.to_thread(eventually, lambda: marked(mark))
        (warden,) = wardens(os.getpid())
        os.kill(warden, signal.SIGKILL)
        assert (await sh("echo 2")).stdout == b"2\n"
        await asyncio.to_thread(go.touch)
        done = await task
        assert (done.ending, done.stdout, done.survivors) == (Ending.EXITED, b"fine\n", 1)
        none_left(mark)

    asyncio.run(scene())


def test_a_stopped_warden_is_woken() -> None:
    """`limits.GUARD_SECS` of patience, then the child starts all the same."""
    ran_sh("exit 0")
    (warden,) = wardens(os.getpid())
    os.kill(warden, signal.SIGSTOP)
    done = ran_sh("echo on")
    assert (done.ending, done.stdout) == (Ending.EXITED, b"on\n")
    assert done.duration_ms >= limits.GUARD_SECS * 1000
    assert wardens(os.getpid()) == [warden]


def test_wardens_and_guards_survive_every_signal_that_can_be() -> None:
    script = """
import os, signal
guard = os.getppid()
stat = open(f"/proc/{guard}/stat").read().rpartition(")")[2].split()
warden = int(stat[1])
fatal = {signal.SIGKILL, signal.SIGSTOP, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE}
for number in signal.valid_signals() - fatal - {signal.SIGILL, signal.SIGTRAP}:
    os.kill(guard, number)
    os.kill(warden, number)
print("fine")
"""
    ran_sh("exit 0")
    before = wardens(os.getpid())
    done = ran_sh('exec "$1" -I -S -c "$2"', sys.executable, script)
    assert (done.ending, done.code, done.stdout) == (Ending.EXITED, 0, b"fine\n")
    assert wardens(os.getpid()) == before


def test_a_warden_sees_nothing_of_the_hosts_environment_or_descriptors() -> None:
    ran_sh("exit 0")
    (warden,) = wardens(os.getpid())
    assert read(f"/proc/{warden}/environ") == b""
    assert os.getsid(warden) == warden
    assert Path(f"/proc/{warden}/cwd").resolve() == Path("/")


@pytest.mark.parametrize(
    ("interpreter", "number", "words"),
    [
        ("", errno.ENOENT, "there is no Python interpreter"),
        ("/no/such/python", errno.ENOENT, "'/no/such/python'"),
        ("/bin/false", None, "no guard took it"),
    ],
)
def test_a_door_that_cannot_start_its_warden_says_so(
    interpreter: str, number: int | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An embedding program may have no interpreter, or one that is none."""
    DOOR.close()
    monkeypatch.setattr(sys, "executable", interpreter)
    before = descriptors(os.getpid())
    done = ran_sh("exit 0")
    assert (done.ending, done.errno) == (Ending.NOT_STARTED, number)
    assert done.reason.startswith("/bin/sh: could not be started: ")
    assert words in done.reason
    assert descriptors(os.getpid()) == before
    assert not children(os.getpid(), "Z")


# ── many requests at once ─────────────────────────────────────────────────────────────


def test_more_requests_than_fit_wait_for_room() -> None:
    async def scene() -> None:
        warden = Warden()
        before = descriptors(os.getpid())
        # Stopped, it takes none; too few descriptors, it drops what it takes.
        warden.handle.send(signal.SIGSTOP)
        with socket.socket() as passed:
            many = [asyncio.create_task(warden.hand_over(passed.fileno())) for _ in range(600)]
            await asyncio.sleep(0.05)
            assert not all(task.done() for task in many)
            warden.handle.send(signal.SIGCONT)
            await asyncio.gather(*many)
        assert descriptors(os.getpid()) == before
        warden.drop()

    asyncio.run(scene())


def test_a_warden_that_never_takes_a_request_is_killed() -> None:
    async def scene() -> None:
        warden = Warden(patience=0.1)
        warden.handle.send(signal.SIGSTOP)

        async def many(passed: int) -> None:
            for _ in range(5000):
                await warden.hand_over(passed)

        with socket.socket() as passed, pytest.raises(ConnectionError):
            await many(passed.fileno())
        warden.drop()
        warden.drop()
        with pytest.raises(ConnectionError):
            await warden.hand_over(0)

    asyncio.run(scene())


# ── the door ──────────────────────────────────────────────────────────────────────────


def test_a_door_gives_the_same_warden_until_it_is_replaced() -> None:
    door = Door()
    first = door.warden()
    assert door.warden() is first
    door.replace(first)
    second = door.warden()
    assert second is not first
    door.replace(first)
    assert door.warden() is second
    door.close()
    door.close()
    assert second.handle.pid not in watchers(os.getpid())


def test_a_host_that_reaps_every_child_it_finds_is_no_trouble() -> None:
    """Some hosts wait for any child, and so for the warden too."""
    door = Door()
    warden = door.warden()
    warden.handle.send(signal.SIGKILL)
    os.waitpid(warden.handle.pid, 0)
    door.close()
