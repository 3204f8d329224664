"""The program that guards children: what it does when everything else goes wrong."""

import asyncio
import errno
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextlib import suppress
from pathlib import Path

import pytest

from stella.process import warden
from stella.process.door import DOOR
from stella.process.ending import Ending
from stella.process.line import request
from tests.making.processes import PATIENCE
from tests.making.processes import children
from tests.making.processes import descriptors
from tests.making.processes import eventually
from tests.making.processes import hosted
from tests.making.processes import marked
from tests.making.processes import new_mark
from tests.making.processes import none_left
from tests.making.processes import ran_py
from tests.making.processes import ran_sh
from tests.making.processes import read
from tests.making.processes import sh
from tests.making.processes import wardens

# What every murderer below begins with: leftovers in sessions of their own, and whom to kill.
MURDERER = """
import os, signal, subprocess, time
for script in ("sleep 600", "setsid sleep 600 & setsid sh -c 'sleep 600 & sleep 600'"):
    subprocess.Popen(["/bin/sh", "-c", script], start_new_session=True)
guard = os.getppid()
stat = open(f"/proc/{guard}/stat").read().rpartition(")")[2].split()
warden = int(stat[1])
print("on", flush=True)
"""


# ── murder ────────────────────────────────────────────────────────────────────────────


def test_a_child_that_kills_its_guard_dies_with_all_it_started() -> None:
    """T-32: what comes to the warden is swept before the host hears of the end."""
    mark = new_mark()
    done = ran_py(f"{MURDERER}\nos.kill(guard, signal.SIGKILL)\ntime.sleep(600)", mark=mark)
    assert (done.ending, done.code, done.stdout) == (Ending.LOST, None, b"on\n")
    assert "the guard of the process was killed" in done.reason
    none_left(mark)
    assert ran_sh("echo next").stdout == b"next\n"


def test_a_child_that_kills_its_guard_and_exits_is_lost_too() -> None:
    mark = new_mark()
    done = ran_py(f"{MURDERER}\nos.kill(guard, signal.SIGKILL)", mark=mark)
    assert done.ending is Ending.LOST
    none_left(mark)


@pytest.mark.parametrize("order", ["guard, warden", "warden, guard"])
def test_a_child_that_kills_both_dies_all_the_same(order: str) -> None:
    """T-30: the host ends its group itself. What left the group is out of reach [T-32]."""
    mark = new_mark()
    script = f"""
import os, signal, subprocess, time
guard = os.getppid()
stat = open(f"/proc/{{guard}}/stat").read().rpartition(")")[2].split()
warden = int(stat[1])
subprocess.Popen(["/bin/sleep", "600"])
for pid in ({order}):
    os.kill(pid, signal.SIGKILL)
time.sleep(600)
"""
    done = ran_py(script, mark=mark)
    assert done.ending is Ending.LOST
    eventually(lambda: not marked(mark))
    assert ran_sh("echo next").stdout == b"next\n"


def test_a_child_that_kills_the_warden_alone_ends_as_it_would_have() -> None:
    mark = new_mark()
    done = ran_py(f"{MURDERER}\nos.kill(warden, signal.SIGKILL)\nraise SystemExit(3)", mark=mark)
    assert (done.ending, done.code) == (Ending.EXITED, 3)
    assert done.survivors >= 4
    none_left(mark)
    assert ran_sh("echo next").stdout == b"next\n"


def test_a_child_that_stops_its_guard_gains_a_little_time_and_no_more() -> None:
    """T-22: a guard that does not answer at the deadline is woken."""
    mark = new_mark()
    done = ran_py(
        f"{MURDERER}\nos.kill(guard, signal.SIGSTOP)\ntime.sleep(600)", mark=mark, timeout=1.0
    )
    assert (done.ending, done.signal, done.stdout) == (Ending.TIMED_OUT, signal.SIGKILL, b"on\n")
    none_left(mark)


# ── the words on the wire ─────────────────────────────────────────────────────────────


@contextmanager
def working(program: str = "", patience: float = 0.2) -> Iterator[tuple[socket.socket, int]]:
    """A warden of the test's own: the socket that it takes requests from, its number."""
    ours, theirs = socket.socketpair()
    start = ["-c", program, warden.__file__] if program else [warden.__file__]
    with (
        ours,
        subprocess.Popen(
            [sys.executable, "-I", "-S", *start, str(os.getpid()), str(patience)],
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            env={},
            start_new_session=True,
        ) as process,
    ):
        theirs.close()
        try:
            yield ours, process.pid
        finally:
            ours.close()
            assert process.wait(timeout=2 * PATIENCE) == 0


def hand_over(requests: socket.socket) -> tuple[socket.socket, list[int]]:
    """Ask for a child; the control socket and our ends of stdin, stdout and stderr."""
    control, theirs = socket.socketpair()
    control.settimeout(PATIENCE)
    (stdin, into), (out, stdout), (err, stderr) = os.pipe(), os.pipe(), os.pipe()
    socket.send_fds(requests, [b"+"], [theirs.fileno(), stdin, stdout, stderr])
    theirs.close()
    for number in (stdin, stdout, stderr):
        os.close(number)
    return control, [into, out, err]


def shut(control: socket.socket, pipes: list[int]) -> None:
    control.close()
    for number in pipes:
        os.close(number)


def reports(control: socket.socket) -> Iterator[tuple[bytes, int, int, int]]:
    """Every report up to the end of the stream, however that comes."""
    with suppress(ConnectionResetError):
        while frame := control.recv(warden.REPORT.size, socket.MSG_WAITALL):
            yield warden.REPORT.unpack(frame)


def wanted(script: str, mark: str) -> bytes:
    pairs = {"MARK": mark, "PATH": "/usr/bin:/bin"}
    return request("/", ["/bin/sh", "-c", script], pairs.items())


def test_a_child_is_told_of_step_by_step() -> None:
    with working() as (requests, _):
        control, pipes = hand_over(requests)
        control.sendall(wanted("setsid sleep 600 & exit 3", "none"))
        told = reports(control)
        assert next(told)[0] == warden.ACCEPTED
        assert next(told)[0] == warden.STARTED
        assert next(told)[0] == warden.EXITED
        control.shutdown(socket.SHUT_WR)
        assert next(told) == (warden.ENDED, 3 << 8, 1, 0)
        assert list(told) == []
        shut(control, pipes)


def test_a_child_that_leaves_nothing_is_over_at_its_exit() -> None:
    with working() as (requests, _):
        control, pipes = hand_over(requests)
        control.sendall(wanted("exit 3", "none"))
        *steps, last = reports(control)
        assert [step[0] for step in steps] == [warden.ACCEPTED, warden.STARTED, warden.EXITED]
        assert last == (warden.ENDED, 3 << 8, 0, 0)
        shut(control, pipes)


@pytest.mark.behaviour("T-31")
def test_a_dead_child_is_not_reaped_before_its_group_is_ended() -> None:
    """T-31: its number stays its own."""
    with working() as (requests, _):
        control, pipes = hand_over(requests)
        control.sendall(wanted("sleep 600 & exit 0", "none"))
        told = reports(control)
        next(told)
        _, child, _, _ = next(told)
        assert next(told)[0] == warden.EXITED
        stat = Path(f"/proc/{child}/stat").read_text()
        assert stat.rpartition(")")[2].split()[0] == "Z"
        control.shutdown(socket.SHUT_WR)
        assert next(told)[0] == warden.ENDED
        shut(control, pipes)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.999])
def test_a_request_that_is_not_all_there_starts_nothing(share: float) -> None:
    """T-30: a host that dies while it asks."""
    mark = new_mark()
    with working() as (requests, _):
        control, pipes = hand_over(requests)
        whole = wanted("sleep 600", mark)
        control.sendall(whole[: int(len(whole) * share)])
        control.shutdown(socket.SHUT_WR)
        assert list(reports(control)) == []
        assert not marked(mark)
        shut(control, pipes)


@pytest.mark.parametrize("change", [b"", warden.TERMINATE])
def test_a_host_that_changes_its_mind_before_the_start_gets_none(change: bytes) -> None:
    mark = new_mark()
    with working() as (requests, _):
        control, pipes = hand_over(requests)
        control.sendall(wanted("sleep 600", mark) + change)
        control.shutdown(socket.SHUT_WR)
        assert list(reports(control)) == []
        assert not marked(mark)
        shut(control, pipes)


def test_a_guard_and_its_warden_hold_nothing_of_another_child() -> None:
    """T-7: an end of a pipe in a stranger's hand would keep it open."""
    with working() as (requests, pid):
        first = hand_over(requests)
        second = hand_over(requests)
        third = hand_over(requests)
        for control, _ in (first, second, third):
            control.sendall(wanted("exec sleep 600", "none"))
            told = reports(control)
            assert [next(told)[0], next(told)[0]] == [warden.ACCEPTED, warden.STARTED]
        # 0, 1, 2, requests, two wake-ups, the host; and of each child its control socket.
        assert descriptors(pid) == 7 + 3
        # 0, 1, 2, two wake-ups, the host, its poller's none; and its own control socket.
        assert {descriptors(guard) for guard in children(pid)} == {7}
        for control, pipes in (first, second, third):
            os.close(pipes.pop(0))
            shut(control, pipes)


def served(requests: socket.socket, script: str = "exit 3") -> list[tuple[bytes, int, int, int]]:
    """Have one child run to its end and return what was reported of it."""
    control, pipes = hand_over(requests)
    control.sendall(wanted(script, "none"))
    told = list(reports(control))
    shut(control, pipes)
    return told


def sockets(pid: int) -> set[str]:
    """The sockets that a process has open, by what they are; none of one that is gone."""
    found = set()
    with suppress(FileNotFoundError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            found.add(str(link.readlink()))
    return {name for name in found if name.startswith("socket:")}


def waiting(pid: int) -> int:
    """The guard that a warden has forked ahead, once there is no other.

    It shares no socket with the warden any more; a guard that has a child shares its control.
    """
    found: list[int] = []

    def alone() -> bool:
        found[:] = children(pid)
        own = sockets(found[0]) if len(found) == 1 else set()
        return bool(own) and not own & sockets(pid)

    eventually(alone)
    return found[0]


def settled(ahead: int) -> None:
    """Wait until a guard forked ahead has let go of all but what it needs."""
    # 0, 1, 2, its line to the warden, two wake-ups, the host.
    eventually(lambda: descriptors(ahead) == 7)


def test_a_guard_is_forked_ahead_and_takes_the_next_child() -> None:
    """T-30: it is a process of its own for every child, and holds nothing while it waits."""
    with working() as (requests, pid):
        guards = [served(requests)[0][1]]
        for _ in range(3):
            ahead = waiting(pid)
            settled(ahead)
            assert descriptors(pid) == 7 + 1
            first, *_, last = served(requests)
            assert first == (warden.ACCEPTED, ahead, 0, 0)
            assert last == (warden.ENDED, 3 << 8, 0, 0)
            guards.append(ahead)
        assert len(set(guards)) == 4


def test_a_guard_that_was_stopped_while_it_waited_serves_all_the_same() -> None:
    with working() as (requests, pid):
        served(requests)
        ahead = waiting(pid)
        os.kill(ahead, signal.SIGSTOP)
        eventually(lambda: children(pid, "T") == [ahead])
        assert served(requests)[0] == (warden.ACCEPTED, ahead, 0, 0)


def test_a_guard_that_was_killed_while_it_waited_is_missed_by_nobody() -> None:
    with working() as (requests, pid):
        served(requests)
        ahead = waiting(pid)
        os.kill(ahead, signal.SIGKILL)
        eventually(lambda: not children(pid))
        assert descriptors(pid) == 7
        first, *_, last = served(requests)
        assert (first[0], last[0]) == (warden.ACCEPTED, warden.ENDED)
        assert first[1] != ahead


def test_a_guard_forked_ahead_holds_nothing_of_a_child_that_runs() -> None:
    """T-7, T-33: nor does it keep one alive whose own guard is gone."""
    mark = new_mark()
    with working() as (requests, pid):
        control, pipes = hand_over(requests)
        control.sendall(wanted("setsid sleep 600 & exec sleep 600", mark))
        told = reports(control)
        (_, guard, _, _), _ = next(told), next(told)
        served(requests)
        eventually(lambda: len(children(pid)) == 2 and not children(pid, "Z"))
        (ahead,) = set(children(pid)) - {guard}
        settled(ahead)
        eventually(lambda: len(marked(mark)) == 2)
        os.kill(guard, signal.SIGKILL)
        assert list(told) == []
        none_left(mark)
        assert children(pid) == [ahead]
        shut(control, pipes)


def test_a_guard_that_waits_goes_with_its_warden() -> None:
    with working() as (requests, pid):
        served(requests)
        ahead = waiting(pid)
    assert not Path(f"/proc/{ahead}").exists()


def test_a_guard_that_waits_goes_when_its_warden_is_killed() -> None:
    """T-33: as it does with a whole host."""
    ran_sh("exit 0")
    doomed = DOOR.warden().handle.pid
    ahead = waiting(doomed)
    os.kill(doomed, signal.SIGKILL)
    eventually(lambda: not read(f"/proc/{ahead}/cmdline"))
    assert ran_sh("echo next").stdout == b"next\n"


def test_a_guard_that_was_stopped_while_it_waited_goes_with_its_warden_all_the_same() -> None:
    """T-33: nobody else knows of it, so nobody else could wake it."""
    ran_sh("exit 0")
    doomed = DOOR.warden().handle.pid
    ahead = waiting(doomed)
    settled(ahead)
    os.kill(ahead, signal.SIGSTOP)
    eventually(lambda: children(doomed, "T") == [ahead])
    os.kill(doomed, signal.SIGKILL)
    eventually(lambda: not read(f"/proc/{ahead}/cmdline"))
    assert ran_sh("echo next").stdout == b"next\n"


def test_a_guard_that_was_given_its_child_goes_on_without_its_warden() -> None:
    """T-33: the host holds it from then on."""
    mark = new_mark()
    for _ in range(2):  # one guard forked for its child, and one that waited for it
        done = ran_py(
            f"{MURDERER}\nos.kill(warden, signal.SIGKILL)\nraise SystemExit(3)", mark=mark
        )
        assert (done.ending, done.code) == (Ending.EXITED, 3)
        none_left(mark)
        ran_sh("exit 0")
        waiting(DOOR.warden().handle.pid)


def test_a_warden_that_dies_before_a_guard_has_said_so_takes_the_request_with_it() -> None:
    """T-30: the host hears nothing but the end, and may ask another warden."""
    ours, theirs = socket.socketpair()
    start = [sys.executable, "-I", "-S", warden.__file__, str(os.getpid()), "0.2"]
    with (
        ours,
        subprocess.Popen(start, stdin=theirs.fileno(), env={}, start_new_session=True) as process,
    ):
        theirs.close()
        control, pipes = hand_over(ours)
        control.sendall(wanted("exit 3", "none")[:-1])
        eventually(lambda: children(process.pid))
        (guard,) = children(process.pid)
        process.kill()
        assert list(reports(control)) == []
        eventually(lambda: not read(f"/proc/{guard}/cmdline"))
        shut(control, pipes)


def test_a_warden_that_cannot_fork_says_why() -> None:
    """E136."""
    program = """
import errno, os, runpy, sys
def refuse():
    raise BlockingIOError(errno.EAGAIN, "no more processes")
os.fork = refuse
sys.argv[:1] = []
runpy.run_path(sys.argv[0], run_name="__main__")
"""
    with working(program) as (requests, pid):
        control, pipes = hand_over(requests)
        assert list(reports(control)) == [(warden.FAILED, errno.EAGAIN, 0, 0)]
        shut(control, pipes)
        control, pipes = hand_over(requests)
        shut(control, pipes)
        eventually(lambda: descriptors(pid) == 7)


def test_a_request_without_its_descriptors_is_dropped() -> None:
    """A warden that has no room for them receives fewer."""
    with working() as (requests, pid):
        control, theirs = socket.socketpair()
        socket.send_fds(requests, [b"+"], [theirs.fileno()])
        theirs.close()
        control.settimeout(PATIENCE)
        assert control.recv(1) == b""
        control.close()
        assert descriptors(pid) == 7


def test_a_host_that_goes_takes_a_stopped_guard_and_its_child_with_it() -> None:
    """T-33: the warden's patience with its guards ends."""
    mark = new_mark()
    with working(patience=0.2) as (requests, pid):
        control, pipes = hand_over(requests)
        control.sendall(wanted("setsid sleep 600 & sleep 600", mark))
        told = reports(control)
        assert [next(told)[0], next(told)[0]] == [warden.ACCEPTED, warden.STARTED]
        eventually(lambda: len(marked(mark)) == 3)
        (guard,) = children(pid)
        os.kill(guard, signal.SIGSTOP)
        shut(control, pipes)
    none_left(mark)


# ── what the system refuses ───────────────────────────────────────────────────────────

# Each script is a process of its own: the functions wait for any child there is.
TOOLS = """
import os, signal, subprocess, sys
from stella.process import warden
from stella.process.door import DOOR
warden.shield()
warden.demand(warden.ADOPT, 1)
def child(*words):
    process = subprocess.Popen(words, start_new_session=True)
    process.returncode = 0
    return process.pid
"""


def test_a_process_with_other_rights_is_counted_and_not_waited_for() -> None:
    """`left`: a program that runs as somebody else cannot be killed."""
    script = f"""{TOOLS}
leader, protected = child("/bin/sleep", "600"), child("/bin/sleep", "600")
def kill(pid, number):
    if abs(pid) == protected:
        raise PermissionError
    os.kill(pid, number)
print(warden.end(leader, kill))
print(warden.end(protected, kill))
print(warden.end(protected))
"""
    expected = f"(9, 0, 1)\n({warden.UNKNOWN}, 0, 1)\n(9, 0, 0)\n"
    assert hosted(script).decode() == expected


def test_children_are_found_with_and_without_the_systems_list() -> None:
    script = f"""{TOOLS}
ours = sorted([child("/bin/sleep", "600"), child("/bin/true"), child("/bin/sleep", "600")])
print(sorted(warden.children()) == sorted(warden.children_by_scan()) == ours)
print(warden.ours(os.getppid()), warden.ours(ours[0]))
warden.end(ours[0])
print(warden.children(), warden.children_by_scan())
"""
    assert hosted(script) == b"True\nFalse True\n[] []\n"


def test_a_group_that_is_gone_is_no_trouble() -> None:
    script = f"""{TOOLS}
dead = child("/bin/true")
os.waitid(os.P_PID, dead, os.WEXITED | os.WNOWAIT)
print(warden.strike(dead), warden.reap(wait=True) == [(dead, 0)])
print(warden.descriptor_of(1) if os.getppid() != 1 else None)
"""
    assert hosted(script) == b"True True\nNone\n"


def test_the_warden_imports_nothing_but_the_standard_library() -> None:
    """It runs isolated, without site packages, and starts fast."""
    script = "import runpy, sys; runpy.run_path(sys.argv[1]); print(*sorted(sys.modules))"
    command = [sys.executable, "-I", "-S", "-c", script, warden.__file__]
    loaded = subprocess.run(command, env={}, stdout=subprocess.PIPE, check=True).stdout.decode()
    roots = {name.split(".")[0] for name in loaded.split()}
    assert roots - {"__main__"} <= sys.stdlib_module_names


def test_the_host_is_known_to_its_wardens_alone() -> None:
    ran_sh("exit 0")
    assert len(wardens(os.getpid())) == 1


# ── the guard that waits, when all around it goes wrong ───────────────────────────────


def test_a_group_that_was_stopped_serves_when_it_is_woken() -> None:
    """T-22: warden and waiting guard alike; the host wakes the one and that the other."""
    ran_sh("exit 0")
    stopped = DOOR.warden().handle.pid
    ahead = waiting(stopped)
    os.killpg(stopped, signal.SIGSTOP)
    eventually(lambda: children(stopped, "T") == [ahead])
    assert (ran_sh("exit 6").code, DOOR.warden().handle.pid) == (6, stopped)


def test_a_waiting_guard_is_the_parents_when_the_host_forks() -> None:
    """The fork has a warden of its own, and ends it; ours and its guard stay as they are."""
    ran_sh("exit 0")
    ours = DOOR.warden().handle.pid
    ahead = waiting(ours)
    if (fork := os.fork()) == 0:
        code = 1
        try:
            done = ran_sh("exit 4")
            code = int((done.code, DOOR.warden().handle.pid == ours) != (4, False))
            DOOR.close()
        finally:
            os._exit(code)
    assert os.waitpid(fork, 0)[1] == 0
    assert waiting(ours) == ahead
    assert (ran_sh("exit 5").code, DOOR.warden().handle.pid) == (5, ours)


def test_a_warden_without_descriptors_for_a_guard_loses_no_child() -> None:
    """E136: what it cannot take is asked of another one; what runs goes on."""
    ran_sh("exit 0")
    poor = DOOR.warden().handle.pid
    waiting(poor)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.prlimit(poor, resource.RLIMIT_NOFILE, (descriptors(poor) + 2, hard))

    async def many() -> list[int | None]:
        done = await asyncio.gather(*(sh(f"sleep 0.1; exit {n}") for n in range(6)))
        return [each.code for each in done]

    assert asyncio.run(many()) == list(range(6))
    assert ran_sh("exit 7").code == 7


def test_many_loops_in_threads_share_the_warden_and_leave_one_guard_waiting() -> None:
    """T-7: nothing that was forked ahead keeps a descriptor of anybody's child."""
    found: list[list[int | None]] = []

    async def several() -> None:
        done = await asyncio.gather(*(sh(f"exit {n}") for n in range(5)))
        found.append([each.code for each in done])

    threads = [threading.Thread(target=lambda: asyncio.run(several())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [list(range(5))] * 4
    pid = DOOR.warden().handle.pid
    settled(waiting(pid))
    assert descriptors(pid) == 7 + 1
