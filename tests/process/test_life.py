"""Every way a child can come to its end, and that nothing of it is left after any of them."""

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stella import limits
from stella.process.door import DOOR
from stella.process.door import Warden
from stella.process.ending import Completed
from stella.process.ending import Ending
from stella.process.life import Life
from stella.process.life import Terms
from stella.process.line import request
from stella.process.pipes import Ends
from stella.process.pipes import Kept
from stella.process.pipes import Meter
from stella.process.pipes import Outlet
from stella.process.pipes import connect
from stella.process.talk import Child
from stella.process.warden import ACCEPTED
from stella.process.warden import ENDED
from stella.process.warden import EXITED
from stella.process.warden import REPORT
from stella.process.warden import STARTED
from tests.making.processes import DAEMON
from tests.making.processes import PATIENCE
from tests.making.processes import SH
from tests.making.processes import children
from tests.making.processes import descriptors
from tests.making.processes import eventually
from tests.making.processes import marked
from tests.making.processes import new_mark
from tests.making.processes import none_left
from tests.making.processes import py
from tests.making.processes import ran_py
from tests.making.processes import ran_sh
from tests.making.processes import sh
from tests.making.processes import wardens

# Hung for good: no polite signal ends it.
STUBBORN = "trap '' TERM INT HUP ALRM; touch \"$1\"; while :; do sleep 600; done"


async def begun(task: asyncio.Task[Any], trace: Path) -> None:
    """Wait until the child of `task` has made the file `trace`."""
    async with asyncio.timeout(PATIENCE):
        while not await asyncio.to_thread(trace.exists):
            assert not task.done()


async def cancelled(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


# ── the deadline ──────────────────────────────────────────────────────────────────────


@pytest.mark.behaviour("T-22")
def test_the_deadline_kills_at_once() -> None:
    """T-22: a plugin's child is not asked."""
    mark = new_mark()
    script = "trap 'echo asked; exit 0' TERM; echo begun; while :; do sleep 0.01; done"
    done = ran_sh(script, timeout=1.0, mark=mark)
    assert (done.ending, done.code, done.signal) == (Ending.TIMED_OUT, None, signal.SIGKILL)
    assert done.stdout == b"begun\n"
    none_left(mark)


def test_a_polite_deadline_asks_first() -> None:
    """T2-44: what the child says then is kept, and how it went.

    It has `limits.KILL_GRACE_SECS`, which it does not need.
    """
    mark = new_mark()
    script = "trap 'echo asked; exit 7' TERM; while :; do sleep 0.01; done"
    done = ran_sh(script, timeout=1.0, polite=True, mark=mark)
    assert (done.ending, done.code, done.stdout) == (Ending.TIMED_OUT, 7, b"asked\n")
    none_left(mark)


def test_a_polite_deadline_kills_what_does_not_obey(tmp_path: Path) -> None:
    """E103, T2-44."""
    mark = new_mark()
    done = ran_sh(STUBBORN, str(tmp_path / "on"), timeout=1.0, polite=True, mark=mark)
    assert (done.ending, done.signal) == (Ending.TIMED_OUT, signal.SIGKILL)
    none_left(mark)


@pytest.mark.parametrize("polite", [False, True])
def test_a_stopped_child_ends_at_the_deadline_too(polite: bool) -> None:
    """B4: the deadline is the parent's."""
    mark = new_mark()
    done = ran_sh("echo on; kill -STOP $$; echo never", timeout=1.0, polite=polite, mark=mark)
    assert (done.ending, done.signal) == (Ending.TIMED_OUT, signal.SIGKILL)
    assert done.stdout == b"on\n"
    none_left(mark)


def test_without_a_deadline_the_child_ends_by_itself() -> None:
    """D-73."""
    done = ran_sh("sleep 0.1; echo over", timeout=None)
    assert (done.ending, done.code, done.stdout) == (Ending.EXITED, 0, b"over\n")


def test_a_cancelled_child_has_the_grace_it_was_given(tmp_path: Path) -> None:
    """D-74, T-25: what takes longer than `limits.KILL_GRACE_SECS` may be given more."""
    mark = new_mark()
    said = tmp_path / "said"
    script = (
        f"trap 'sleep {limits.KILL_GRACE_SECS + 0.3}; touch \"$2\"; exit 0' TERM; "
        'touch "$1"; while :; do sleep 0.01; done'
    )

    async def scene() -> None:
        on = tmp_path / "on"
        words = (script, str(on), str(said))
        task = asyncio.create_task(sh(*words, timeout=None, grace=PATIENCE, mark=mark))
        await begun(task, on)
        await cancelled(task)

    asyncio.run(scene())
    assert said.exists()
    none_left(mark)


def test_a_grandchild_that_holds_the_pipes_of_a_hung_child_dies_with_it() -> None:
    """B1, K-41."""
    mark = new_mark()
    done = ran_sh("sleep 600 & sleep 600", timeout=0.3, mark=mark)
    assert (done.ending, done.survivors) == (Ending.TIMED_OUT, 0)
    none_left(mark)


@pytest.mark.behaviour("E106", "T-32")
def test_a_session_of_its_own_does_not_save_a_grandchild_from_the_deadline() -> None:
    """E106, T-32."""
    mark = new_mark()
    done = ran_sh("setsid sleep 600 & setsid sh -c 'sleep 600 & sleep 600'", timeout=0.3, mark=mark)
    assert done.ending is Ending.TIMED_OUT
    none_left(mark)


def test_a_child_that_answers_and_stays_is_timed_out() -> None:
    """K-150, T-27."""
    done = ran_sh("echo answer; exec sleep 600", timeout=1.0)
    assert (done.ending, done.stdout) == (Ending.TIMED_OUT, b"answer\n")


@pytest.mark.parametrize("timeout", [0.0, -1.0, 0.001])
def test_a_deadline_before_the_start_leaves_nothing(timeout: float) -> None:
    mark = new_mark()
    done = ran_sh("sleep 600", timeout=timeout, mark=mark)
    assert done.ending is Ending.TIMED_OUT
    none_left(mark)


# ── the child's own exit ──────────────────────────────────────────────────────────────


def test_a_daemon_that_holds_the_output_does_not_hold_the_result() -> None:
    """B2, K-148, T-26: at most a second after the exit."""
    mark = new_mark()
    done = ran_sh("sleep 600 & echo answer", mark=mark)
    assert (done.ending, done.code, done.stdout) == (Ending.EXITED, 0, b"answer\n")
    assert done.survivors == 1
    none_left(mark)


def test_a_thorough_daemon_is_found_and_the_answer_stands() -> None:
    """E104, T-32: two forks and a session of its own."""
    mark = new_mark()
    done = ran_py(f"{DAEMON}\nprint('answer')", mark=mark)
    assert (done.ending, done.stdout, done.survivors) == (Ending.EXITED, b"answer\n", 1)
    none_left(mark)


def test_a_daemon_that_closed_the_pipes_is_found_at_once() -> None:
    """T-30: nobody holds the output, so nothing is waited for."""
    mark = new_mark()
    done = ran_sh("setsid sleep 600 <&- >&- 2>&- & exit 5", mark=mark)
    assert (done.ending, done.code, done.survivors) == (Ending.EXITED, 5, 1)
    none_left(mark)


@pytest.mark.behaviour("T-32")
def test_a_tree_of_sessions_is_ended_to_the_last() -> None:
    """T-32."""
    mark = new_mark()
    script = 'if [ "$1" -gt 0 ]; then setsid sh -c "$2" sh $(($1 - 1)) "$2" & fi; sleep 600 & '
    done = ran_sh(f"{script} exit 0", "5", script + "wait", mark=mark)
    assert done.ending is Ending.EXITED
    assert done.survivors >= 6
    none_left(mark)


def test_a_child_that_forks_away_from_its_killer_is_caught() -> None:
    """E100: every generation has a session of its own and outlives its parent."""
    mark = new_mark()
    script = """
import os, time
while True:
    if os.fork() == 0:
        os.setsid()
        time.sleep(0.001)
    else:
        os._exit(0)
"""
    done = ran_py(script, mark=mark)
    assert done.ending is Ending.EXITED
    none_left(mark)


def test_orphans_that_die_during_the_run_do_not_pile_up() -> None:
    """T-30: the guard reaps what it adopted."""
    script = """
import os, time
for _ in range(20):
    if (child := os.fork()) == 0:
        os.fork()
        os._exit(0)
    os.waitpid(child, 0)
guard = os.getppid()
def dead():
    found = open(f"/proc/{guard}/task/{guard}/children").read().split()
    return [p for p in found if int(p) != os.getpid()]
until = time.monotonic() + 5
while dead() and time.monotonic() < until:
    time.sleep(0.005)
print(dead())
"""
    done = ran_py(script)
    assert (done.stdout, done.survivors) == (b"[]\n", 0)


@pytest.mark.behaviour("T-26")
def test_what_arrives_within_the_second_after_the_exit_counts() -> None:
    """Q-14."""
    done = ran_sh("(sleep 0.1; echo late) & echo early")
    assert (done.ending, done.stdout, done.survivors) == (Ending.EXITED, b"early\nlate\n", 0)


def test_what_arrives_within_that_second_counts_to_the_cap() -> None:
    """Q-14, T-24."""
    mark = new_mark()
    script = "(sleep 0.1; head -c 100 /dev/zero; sleep 600) & echo early"
    done = ran_sh(script, cap=50, mark=mark)
    assert (done.ending, done.overflowed) == (Ending.OVERFLOWED, "stdout")
    assert done.stdout == b"early\n" + b"\0" * 44
    none_left(mark)


def test_a_deadline_in_the_second_after_the_exit_is_none() -> None:
    """T-22: it runs to the exit."""
    done = ran_sh("sleep 600 & echo answer", timeout=0.9 * limits.DRAIN_SECS)
    assert done.ending is Ending.EXITED


# ── cancelling ────────────────────────────────────────────────────────────────────────


@pytest.mark.behaviour("T-25")
def test_a_cancel_asks_and_then_kills_what_does_not_obey(tmp_path: Path) -> None:
    """K-149, T-25."""
    mark, trace = new_mark(), tmp_path / "on"

    async def scene() -> None:
        task = asyncio.create_task(sh(STUBBORN, str(trace), mark=mark))
        await begun(task, trace)
        await cancelled(task)
        none_left(mark)

    asyncio.run(scene())


def test_a_cancelled_child_may_say_goodbye_and_its_daemons_still_die(tmp_path: Path) -> None:
    """T-25, T-30: SIGTERM comes first."""
    mark, trace = new_mark(), tmp_path / "on"
    script = """
trap 'echo bye > "$1.bye"; exit 0' TERM
setsid sleep 600 &
touch "$1"
while :; do sleep 0.01; done
"""

    async def scene() -> None:
        task = asyncio.create_task(sh(script, str(trace), mark=mark))
        await begun(task, trace)
        await cancelled(task)
        none_left(mark)

    asyncio.run(scene())
    assert Path(f"{trace}.bye").read_text() == "bye\n"


def test_a_second_cancel_ends_the_waiting_and_leaves_nothing(tmp_path: Path) -> None:
    mark, trace = new_mark(), tmp_path / "on"

    async def scene() -> None:
        task = asyncio.create_task(sh(STUBBORN, str(trace), mark=mark))
        await begun(task, trace)
        for _ in range(10):
            task.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await task
        none_left(mark)

    asyncio.run(scene())


@pytest.mark.behaviour("T-25", "T-30", "T-34")
@pytest.mark.parametrize("turns", range(12))
def test_a_cancel_at_any_moment_of_a_start_leaves_nothing(turns: int) -> None:
    """T-30, T-34: the loop is turned `turns` times before the cancel."""
    mark = new_mark()

    async def scene() -> None:
        task = asyncio.create_task(sh("sleep 600", mark=mark))
        for _ in range(turns):
            await asyncio.sleep(0.0005 * turns)
        await cancelled(task)
        none_left(mark)

    asyncio.run(scene())


def test_a_cancel_while_leftovers_are_waited_for_leaves_nothing(tmp_path: Path) -> None:
    mark, trace = new_mark(), tmp_path / "on"

    async def scene() -> None:
        script = 'sleep 600 & touch "$1"'
        task = asyncio.create_task(sh(script, str(trace), mark=mark))
        await begun(task, trace)
        await cancelled(task)
        none_left(mark)

    asyncio.run(scene())


def test_a_timeout_of_the_callers_own_is_a_cancel() -> None:
    mark = new_mark()

    async def scene() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await sh("sleep 600", mark=mark)
        none_left(mark)

    asyncio.run(scene())


def test_a_loop_that_ends_takes_its_children_with_it() -> None:
    """T-30: failure of the host's task."""
    mark = new_mark()

    async def scene() -> None:
        left = asyncio.create_task(sh("sleep 600", mark=mark))
        await asyncio.to_thread(eventually, lambda: marked(mark))
        assert not left.done()

    asyncio.run(scene())
    none_left(mark)


def test_a_run_that_is_dropped_halfway_ends_its_child() -> None:
    """T-30: also when nobody turns the loop any more."""
    mark = new_mark()
    loop = asyncio.new_event_loop()
    ours = sh("sleep 600", mark=mark)
    task = loop.create_task(ours)
    loop.run_until_complete(asyncio.to_thread(eventually, lambda: marked(mark)))
    loop.run_until_complete(loop.shutdown_default_executor())
    before = descriptors(os.getpid())
    loop.close()
    ours.close()
    assert descriptors(os.getpid()) < before - 4
    eventually(lambda: not marked(mark))
    task._log_destroy_pending = False  # type: ignore[attr-defined]  # noqa: SLF001 - dropped on purpose


# ── the talk ──────────────────────────────────────────────────────────────────────────


def test_an_error_of_the_talk_ends_the_child_and_is_raised() -> None:
    mark = new_mark()

    async def broken(child: Child) -> None:
        await child.receive()
        raise LookupError("ours")

    with pytest.raises(LookupError, match="ours"):
        ran_sh("echo on; sleep 600", talk=broken, mark=mark)
    none_left(mark)


# ── many lives ────────────────────────────────────────────────────────────────────────


@pytest.mark.behaviour("B7")
def test_three_hundred_children_leave_no_zombie_and_no_descriptor() -> None:
    """B7, E124."""

    async def scene() -> None:
        for _ in range(5):
            await sh("exit 0")
        before = descriptors(os.getpid())
        for number in range(300):
            done = await sh("cat", stdin=b"%d" % number)
            assert done.stdout == b"%d" % number
        assert descriptors(os.getpid()) == before

    asyncio.run(scene())
    (warden,) = wardens(os.getpid())
    eventually(lambda: len(children(warden)) <= 1)  # the guard of the next child, forked ahead
    assert not children(os.getpid(), "Z")
    assert descriptors(warden) <= 8


def test_loops_one_after_the_other_and_in_threads_share_the_warden() -> None:
    """An embedding program may do either."""
    done = [ran_sh("echo $$") for _ in range(3)]
    threads = [threading.Thread(target=lambda: done.append(ran_sh("echo $$"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.ending for one in done] == [Ending.EXITED] * 7
    assert len({one.stdout for one in done}) == 7
    assert len(wardens(os.getpid())) == 1


# ── broken connections ────────────────────────────────────────────────────────────────


async def silent(child: Child) -> None:
    await child.receive()


@contextmanager
def attempt(mark: str, stdout: int | None = None) -> Iterator[tuple[Life, Ends, ExitStack]]:
    """A life, its ends and what closes the child's; reads `stdout` for the child's."""
    loop = asyncio.get_running_loop()
    environment = {"MARK": mark, "PATH": "/bin"}
    terms = Terms(
        program=SH,
        cwd="/",
        request=request("/", (SH, "-c", "sleep 600"), environment.items()),
        talk=silent,
        began=loop.time(),
        deadline=loop.time() + 60,
        polite=False,
    )
    meter = Meter(limits.CONVERSATION_BYTES)
    with ExitStack() as ours, ExitStack() as theirs:
        ends = connect(ours, theirs, meter=meter, keep=None, merge=False)
        if stdout is not None:
            other = Outlet("stdout", stdout, meter=meter, kept=Kept(None))
            ours.callback(other.close)
            ends = replace(ends, outlets=(other, ends.outlets[1]))
        life = Life(terms, ends, meter)
        ours.callback(life.close)
        yield life, ends, theirs


def test_a_pipe_that_cannot_be_read_loses_the_child_and_ends_it() -> None:
    """B16: the next call works."""
    mark = new_mark()

    async def scene() -> Completed | None:
        # A terminal whose other side is closed is a pipe that fails.
        broken, other = os.openpty()
        os.close(other)
        warden = DOOR.warden()
        with attempt(mark, broken) as (life, ends, theirs):
            await warden.hand_over(*ends.theirs)
            theirs.close()
            return await life.live(warden)

    done = asyncio.run(scene())
    assert done is not None
    assert done.ending is Ending.LOST
    assert done.reason.startswith("/bin/sh: stdout: ")
    assert "Input/output error" in done.reason
    none_left(mark)
    assert ran_sh("echo next").stdout == b"next\n"


def test_a_child_that_cannot_be_ended_is_reported_as_that() -> None:
    """Nothing waits for ever, also not for a process that the system does not let die."""

    async def scene() -> Completed | None:
        warden = Warden(patience=0.05)
        with attempt("none") as (life, ends, _), socket.socket(fileno=ends.theirs[0]) as far:
            # The guard is played: it says that the child is dead, and then nothing more.
            for kind in (ACCEPTED, STARTED, EXITED):
                far.sendall(REPORT.pack(kind, 2**22 + 1, 0, 0))
            done = await life.live(warden)
            far.detach()
        warden.drop()
        return done

    done = asyncio.run(scene())
    assert done is not None
    assert (done.ending, done.code, done.signal) == (Ending.LOST, None, None)
    assert done.reason == "/bin/sh: does not end and cannot be killed"


def test_what_is_in_the_pipe_when_all_is_over_is_kept() -> None:
    """Q-14: a block is read at a time, and there may be several when the end comes."""

    async def scene() -> Completed | None:
        warden = DOOR.warden()
        with attempt("none") as (life, ends, _), socket.socket(fileno=ends.theirs[0]) as far:
            os.write(ends.theirs[2], b"x" * 60_000)
            for kind in (ACCEPTED, STARTED, ENDED):
                far.sendall(REPORT.pack(kind, 0, 0, 0))
            done = await life.live(warden)
            far.detach()
        return done

    done = asyncio.run(scene())
    assert done is not None
    assert (done.ending, done.code, done.stdout) == (Ending.LOST, 0, b"x" * 60_000)


def test_a_run_beside_a_lost_one_goes_on(tmp_path: Path) -> None:
    """A child that kills its guard hurts nobody else."""

    async def scene() -> tuple[Completed, Completed]:
        quiet = asyncio.create_task(
            sh('while [ ! -e "$1" ]; do sleep 0.01; done; echo fine', str(tmp_path / "go"))
        )
        killed = await py(
            "import os, signal, time; os.kill(os.getppid(), signal.SIGKILL); time.sleep(600)"
        )
        (tmp_path / "go").touch()
        return killed, await quiet

    killed, quiet = asyncio.run(scene())
    assert killed.ending is Ending.LOST
    assert (quiet.ending, quiet.stdout) == (Ending.EXITED, b"fine\n")
