"""What is said between host and guard, and that no silence lasts for ever."""

import asyncio
import errno
import os
import signal
import socket
import subprocess
from collections.abc import Awaitable
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies

from stella import limits
from stella.process import warden as guard
from stella.process.door import Warden
from stella.process.line import Ended
from stella.process.line import Exited
from stella.process.line import Failed
from stella.process.line import Line
from stella.process.line import Lost
from stella.process.line import Report
from stella.process.line import Started
from stella.process.line import request
from tests.making.processes import PATIENCE
from tests.making.processes import children
from tests.making.processes import descriptors
from tests.making.processes import eventually

WORDS = strategies.text(strategies.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@given(
    cwd=WORDS,
    argv=strategies.lists(WORDS),
    env=strategies.dictionaries(WORDS.filter(lambda word: word and "=" not in word), WORDS),
)
def test_a_request_holds_every_byte(cwd: str, argv: list[str], env: dict[str, str]) -> None:
    """T-3, for all."""
    packed = request(cwd, argv, env.items())
    (size,) = guard.LENGTH.unpack_from(packed)
    where, umask, count, *rest = packed[guard.LENGTH.size :].split(b"\0")
    assert len(packed) == size + guard.LENGTH.size
    assert where == os.fsencode(cwd)
    assert int(umask) == limits.UMASK
    assert rest[: int(count)] == list(map(os.fsencode, argv))
    pairs = [pair.partition(b"=") for pair in rest[int(count) :]]
    assert {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs} == env


@pytest.mark.parametrize(
    ("cwd", "argv", "env"),
    [
        ("/\0", ["x"], {}),
        ("/", ["x\0"], {}),
        ("/", ["x"], {"A": "\0"}),
        ("/", ["x"], {"A\0": ""}),
        ("/", ["x"], {"": "x"}),
        ("/", ["x"], {"A=": "x"}),
        ("/", ["\ud800"], {}),
    ],
)
def test_what_cannot_be_passed_on_is_refused(
    cwd: str, argv: list[str], env: dict[str, str]
) -> None:
    with pytest.raises(ValueError, match=r"NUL|named|encode"):
        request(cwd, argv, env.items())


class Scene:
    """A line whose guard is the test, and a warden that nobody asked for anything."""

    def __init__(self) -> None:
        self.warden = Warden(patience=0.1)
        near, self.far = socket.socketpair()
        self.heard: list[Report] = []
        self.ended = asyncio.Event()
        self.line = Line(asyncio.get_running_loop(), near, self.warden, self.hear)

    def hear(self, report: Report) -> None:
        assert not self.ended.is_set()
        self.heard.append(report)
        if not isinstance(report, Started | Exited):
            self.ended.set()

    def tell(self, kind: bytes, *numbers: int) -> None:
        self.far.sendall(guard.REPORT.pack(kind, *(*numbers, 0, 0, 0)[:3]))

    async def last(self) -> Report:
        """The report that ends it."""
        async with asyncio.timeout(PATIENCE):
            await self.ended.wait()
        return self.heard[-1]

    def close(self) -> None:
        self.line.close()
        self.line.close()
        self.far.close()
        self.warden.drop()


def played(play: Callable[[Scene], Awaitable[None]]) -> None:
    async def whole() -> None:
        before = descriptors(os.getpid())
        scene = Scene()
        try:
            await play(scene)
        finally:
            scene.close()
        assert not scene.warden.held
        assert descriptors(os.getpid()) == before

    asyncio.run(whole())


def test_reports_arrive_in_order_however_they_are_cut() -> None:
    async def play(scene: Scene) -> None:
        frames = [(guard.ACCEPTED, os.getpid(), 0, 0), (guard.STARTED, os.getpid(), 0, 0)]
        frames += [(guard.EXITED, 0, 0, 0), (guard.ENDED, 3 << 8, 2, 1)]
        for byte in b"".join(guard.REPORT.pack(*frame) for frame in frames):
            scene.far.send(bytes([byte]))
            await asyncio.sleep(0)
        assert await scene.last() == Ended(code=3, killed=2, left=1)
        assert scene.heard[:-1] == [Started(), Exited()]
        assert scene.line.accepted

    played(play)


@pytest.mark.parametrize(
    ("status", "code"), [(0, 0), (9, -9), (0x8B, -11), (guard.UNKNOWN, None), (255 << 8, 255)]
)
def test_a_raw_status_is_read_as_the_system_means_it(status: int, code: int | None) -> None:
    async def play(scene: Scene) -> None:
        scene.tell(guard.ENDED, status)
        assert await scene.last() == Ended(code=code, killed=0, left=0)

    played(play)


def test_nothing_follows_the_last_report_however_long_the_line_is_held() -> None:
    async def play(scene: Scene) -> None:
        scene.line.ask(b"")
        scene.tell(guard.ENDED, 0)
        await scene.last()
        scene.line.end()
        await asyncio.sleep(0.4)
        assert len(scene.heard) == 1
        assert scene.warden.handle.send(0)

    played(play)


@pytest.mark.parametrize("at_cwd", [False, True])
def test_a_failure_to_start_ends_it(at_cwd: bool) -> None:
    """E136: EAGAIN too, which the warden itself tells when it cannot fork."""

    async def play(scene: Scene) -> None:
        scene.tell(guard.FAILED, errno.EAGAIN, int(at_cwd))
        assert await scene.last() == Failed(errno=errno.EAGAIN, at_cwd=at_cwd)

    played(play)


def test_the_end_of_the_stream_is_a_loss() -> None:
    async def play(scene: Scene) -> None:
        scene.far.close()
        assert await scene.last() == Lost(given_up=False)

    played(play)


def test_a_stream_that_breaks_is_a_loss() -> None:
    async def play(scene: Scene) -> None:
        scene.line.ask(b"never read")
        scene.far.close()
        assert await scene.last() == Lost(given_up=False)
        scene.line.terminate()
        scene.line.end()

    played(play)


def test_a_long_request_is_sent_as_the_guard_reads_it() -> None:
    async def play(scene: Scene) -> None:
        wanted = os.urandom(2_000_000)
        scene.line.ask(wanted)
        scene.tell(guard.ACCEPTED, os.getpid())  # it takes its time from here on
        scene.line.terminate()
        found = b""
        while len(found) <= len(wanted):
            found += await asyncio.to_thread(scene.far.recv, 65_536)
        assert found == wanted + guard.TERMINATE
        scene.line.end()
        assert await asyncio.to_thread(scene.far.recv, 1) == b""
        await asyncio.get_running_loop().shutdown_default_executor()

    played(play)


def test_the_end_comes_at_once_even_when_the_request_was_not_all_sent() -> None:
    async def play(scene: Scene) -> None:
        scene.line.ask(b"x" * 2_000_000)
        scene.line.end()
        found = 0
        while block := await asyncio.to_thread(scene.far.recv, 65_536):
            found += len(block)
        assert found < 2_000_000
        await asyncio.get_running_loop().shutdown_default_executor()

    played(play)


def test_a_warden_that_never_gives_a_guard_is_woken_then_killed_then_given_up() -> None:
    async def play(scene: Scene) -> None:
        scene.warden.handle.send(signal.SIGSTOP)
        scene.line.ask(b"")
        assert await scene.last() == Lost(given_up=True)
        assert not scene.line.accepted
        killed = scene.warden.handle.pid
        await asyncio.to_thread(eventually, lambda: killed in children(os.getpid(), "Z"))
        await asyncio.get_running_loop().shutdown_default_executor()

    played(play)


def test_a_guard_that_accepts_may_take_its_time_until_the_end_is_asked_for() -> None:
    async def play(scene: Scene) -> None:
        scene.line.ask(b"")
        scene.tell(guard.ACCEPTED, os.getpid())
        await asyncio.sleep(0.35)
        assert scene.heard == []
        scene.tell(guard.ENDED, 0)
        assert await scene.last() == Ended(code=0, killed=0, left=0)

    played(play)


@pytest.mark.parametrize("late", [False, True])
def test_a_guard_that_does_not_end_is_woken_then_killed_then_given_up(late: bool) -> None:
    """Also one that accepts only after the end was asked for."""
    with subprocess.Popen(["/bin/sleep", "600"]) as stand_in:

        async def play(scene: Scene) -> None:
            os.kill(stand_in.pid, signal.SIGSTOP)
            if late:
                scene.line.end()
                scene.tell(guard.ACCEPTED, stand_in.pid)
            else:
                scene.tell(guard.ACCEPTED, stand_in.pid)
                await asyncio.sleep(0.01)
                scene.line.end()
            assert await scene.last() == Lost(given_up=True)
            assert scene.line.accepted

        played(play)
        assert stand_in.wait() == -signal.SIGKILL


def test_a_child_whose_guard_and_warden_are_gone_is_killed_by_the_host() -> None:
    """T-31: with its whole group, as long as its number is its own."""
    command = ["/bin/sh", "-c", "sleep 600 & sleep 600"]
    with subprocess.Popen(command, start_new_session=True) as stand_in:

        async def play(scene: Scene) -> None:
            scene.tell(guard.STARTED, stand_in.pid)
            await asyncio.sleep(0.05)
            scene.far.close()
            assert await scene.last() == Lost(given_up=False)

        played(play)
        assert stand_in.wait() == -signal.SIGKILL


def test_a_child_that_is_reaped_is_left_alone() -> None:
    """T-31: its number may be somebody else's."""
    with subprocess.Popen(["/bin/true"], start_new_session=True) as stand_in:

        async def play(scene: Scene) -> None:
            scene.tell(guard.STARTED, stand_in.pid)
            await asyncio.sleep(0.05)
            stand_in.wait()
            scene.far.close()
            assert await scene.last() == Lost(given_up=False)

        played(play)


def test_hanging_up_ends_the_stream_from_any_thread() -> None:
    async def play(scene: Scene) -> None:
        await asyncio.to_thread(scene.line.hang_up)
        assert scene.far.recv(1) == b""
        scene.line.close()
        scene.line.hang_up()
        await asyncio.get_running_loop().shutdown_default_executor()

    played(play)
