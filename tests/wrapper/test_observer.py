"""A subscriber as a real process: what it gets, what is lost, how it ends [D-70 to D-76]."""

import asyncio
import os
import re
import signal
from collections.abc import Awaitable
from collections.abc import Callable
from pathlib import Path

import pytest

from stella import limits
from stella.process.program import Program
from stella.wrapper.observer import DROPPED
from stella.wrapper.observer import ENDED
from stella.wrapper.observer import Observer
from stella.wrapper.observer import ended
from stella.wrapper.plugin import PluginProcess
from tests.making.processes import PATIENCE
from tests.making.processes import SH
from tests.making.processes import marked
from tests.making.processes import new_mark
from tests.making.processes import none_left
from tests.making.processes import wardens
from tests.making.processes import watchers

TRAPPED = "trap 'echo asked >>log' TERM; touch ready; "
# Ready is who got the first line: from then on the host knows that the process runs.
READY = "trap '' TERM; read -r first; touch ready; "
COPY = READY + "cat >>log"
MUTE = READY + "until [ -e read ]; do sleep 0.01; done; cat >>log; touch copied"
PLAIN = "trap '' TERM; cat >>log"


class Scene:
    """One observer in a folder of its own, and what it had to say."""

    def __init__(self, folder: Path, script: str) -> None:
        self.folder = folder
        self.mark = new_mark()
        self.told: list[tuple[str, str]] = []
        self.ends = 0
        process = PluginProcess(
            name="watch",
            arguments=("-c", script),
            directory=folder,
            env={"PATH": os.environ["PATH"], "MARK": self.mark},
            timeout_secs=1,
            cleared=lambda: Program(path=SH),
            clean=lambda text: text.replace(self.secret, "[redacted]"),
        )
        self.secret = "nothing of the kind"
        self.also = b""
        self.observer = Observer(process, self.report, self.gone)

    def report(self, code: str, text: str) -> None:
        self.told.append((code, text))
        if self.also:
            self.observer.offer(self.also)

    def gone(self) -> None:
        self.ends += 1

    def start(self, program: str = SH) -> None:
        self.observer.start(Program(path=program))

    async def begin(self) -> None:
        """Start, and wait until the first line has come."""
        self.observer.offer(b"first\n")
        self.start()
        await self.has("ready")

    async def has(self, name: str) -> None:
        """Wait until the process has made a file."""
        await until((self.folder / name).exists)

    @property
    def log(self) -> bytes:
        return (self.folder / "log").read_bytes() if (self.folder / "log").exists() else b""

    @property
    def lost(self) -> list[int]:
        return [int(text.split()[-2]) for code, text in self.told if code == DROPPED]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - it is another process that is waited for
            await asyncio.sleep(0.005)


def played(scene: Scene, story: Callable[[], Awaitable[None]]) -> None:
    async def play() -> None:
        try:
            await story()
        finally:
            await ended((scene.observer,))

    asyncio.run(play())
    none_left(scene.mark)


def line(number: int) -> bytes:
    return b"%08d\n" % number


def test_what_is_offered_before_the_start_arrives_first(tmp_path: Path) -> None:
    """[D-70]"""
    scene = Scene(tmp_path, PLAIN)

    async def story() -> None:
        scene.observer.offer(line(1))
        scene.start()
        scene.observer.offer(line(2))
        await until(lambda: scene.log == line(1) + line(2))
        scene.observer.offer(line(3))
        await until(lambda: scene.log == line(1) + line(2) + line(3))

    played(scene, story)
    assert scene.told == []


@pytest.mark.behaviour("D-71")
@pytest.mark.parametrize("more", [0, 1])
def test_the_queue_holds_what_it_holds_and_not_one_more(tmp_path: Path, more: int) -> None:
    """[D-71] `limits.EVENT_QUEUE` events wait before the start; the newest is lost."""
    scene = Scene(tmp_path, PLAIN)
    held = b"".join(map(line, range(limits.EVENT_QUEUE)))
    marker = b'{"dropped":1}\n' * more

    async def story() -> None:
        for number in range(limits.EVENT_QUEUE + more):
            scene.observer.offer(line(number))
        scene.start()
        await until(lambda: scene.log == marker + held)

    played(scene, story)
    assert scene.told == [(DROPPED, "watch did not get 1 event")] * more


def test_losses_are_told_before_the_next_event_and_then_again(tmp_path: Path) -> None:
    """[W-45, D-71] Each number counts since the one before."""
    scene = Scene(tmp_path, MUTE)
    text = b"x" * 4000

    async def story() -> None:
        await scene.begin()
        total = limits.EVENT_QUEUE + 500
        for number in range(total):
            scene.observer.offer(line(number).rstrip() + text + b"\n")
        (tmp_path / "read").touch()
        await until(lambda: scene.lost)
        await until(lambda: scene.log.count(b"\n") == total - scene.lost[0] + 1)
        got = scene.log.splitlines()
        at = got.index(b'{"dropped":%d}' % scene.lost[0])
        assert int(got[at - 1][:8]) + 1 == int(got[at + 1][:8])
        scene.observer.offer(line(99_999_999))
        await until(lambda: scene.log.endswith(line(99_999_999)))

    played(scene, story)
    assert len(scene.lost) == 1


def test_the_last_call_counts_what_never_came(tmp_path: Path) -> None:
    """[D-74] Also what is still to come; nothing is told after it."""
    scene = Scene(tmp_path, MUTE)

    async def story() -> None:
        await scene.begin()
        for number in range(20_000):
            scene.observer.offer(line(number))
        scene.observer.last_call(1)
        scene.observer.offer(line(20_000))
        (tmp_path / "read").touch()
        await scene.has("copied")

    played(scene, story)
    assert len(scene.lost) == 1
    assert scene.log.count(b"\n") + scene.lost[0] == 20_001


@pytest.mark.parametrize(("closing", "told"), [(0, []), (2, [2])])
def test_a_subscriber_that_did_not_start_yet_has_lost_it_all(
    tmp_path: Path, closing: int, told: list[int]
) -> None:
    scene = Scene(tmp_path, COPY)

    async def story() -> None:
        scene.start()
        scene.observer.last_call(closing)

    played(scene, story)
    assert scene.lost == told


def test_a_subscriber_that_keeps_up_loses_nothing(tmp_path: Path) -> None:
    """[D-74] What was written and what closes the session is there before the signal."""
    scene = Scene(tmp_path, COPY)

    async def story() -> None:
        await scene.begin()
        for number in range(500):
            scene.observer.offer(line(number))
        scene.observer.last_call(1)
        scene.observer.offer(line(500))

    played(scene, story)
    assert scene.told == []
    assert scene.log == b"".join(map(line, range(501)))


def test_a_subscriber_that_closes_its_input_is_deaf(tmp_path: Path) -> None:
    """[T-21] It may go on; the rest is lost to it."""
    scene = Scene(tmp_path, READY.replace("touch", "exec <&-; touch") + "exec sleep 600")

    async def story() -> None:
        await scene.begin()
        for number in range(3):
            scene.observer.offer(line(number))
            await asyncio.sleep(0)
        scene.observer.last_call(0)

    played(scene, story)
    assert scene.lost == [3]


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("exit 3", "ended early with code 3"),
        ("kill -KILL $$", f"was ended by signal {signal.SIGKILL.value}"),
        ("echo why >&2; exit 0", "ended early with code 0; it gets no more events; stderr: why"),
    ],
)
def test_an_early_end_is_one_notice(tmp_path: Path, script: str, text: str) -> None:
    """[D-73]"""
    scene = Scene(tmp_path, script)

    async def story() -> None:
        scene.start()
        await until(lambda: scene.ends)

    played(scene, story)
    ((code, told),) = scene.told
    assert code == ENDED
    assert told.startswith(f"the observer watch {text}")
    assert scene.ends == 1


def test_an_early_end_says_how_much_was_not_delivered(tmp_path: Path) -> None:
    """[D-71, D-73] The losses of before are in the number; there is one notice."""
    scene = Scene(tmp_path, READY + "until [ -e go ]; do sleep 0.01; done")

    async def story() -> None:
        await scene.begin()
        for number in range(20_000):
            scene.observer.offer(line(number))
        (tmp_path / "go").touch()
        await until(lambda: scene.ends)

    played(scene, story)
    ((code, told),) = scene.told
    assert code == ENDED
    missed = re.search(r"it did not get (\d+) events", told)
    assert missed is not None
    assert limits.EVENT_QUEUE < int(missed.group(1)) < 20_000


def test_a_subscriber_whose_guard_was_killed_is_lost_sight_of(tmp_path: Path) -> None:
    """[T-32] And nothing of it runs on."""
    scene = Scene(tmp_path, COPY)
    host = os.getpid()

    async def story() -> None:
        await scene.begin()
        for guard in set(watchers(host)) - set(wardens(host)):
            os.kill(guard, signal.SIGKILL)
        await until(lambda: scene.ends)

    played(scene, story)
    ((code, told),) = scene.told
    assert code == ENDED
    assert "was lost sight of: /bin/sh: the guard of the process was killed" in told


def test_a_program_that_cannot_be_started_is_one_notice(tmp_path: Path) -> None:
    """[T-8]"""
    scene = Scene(tmp_path, "")

    async def story() -> None:
        scene.start("/nowhere/sh")
        await until(lambda: scene.ends)

    played(scene, story)
    ((code, told),) = scene.told
    assert code == ENDED
    assert "was not started: /nowhere/sh: no such file" in told


def test_a_subscriber_nobody_started_ends_too(tmp_path: Path) -> None:
    scene = Scene(tmp_path, "")
    scene.observer.hurry()
    asyncio.run(ended((scene.observer,)))
    asyncio.run(ended(()))
    assert scene.told == []


@pytest.mark.behaviour("D-75")
def test_the_process_makes_no_host_calls(tmp_path: Path) -> None:
    """[D-75] What it asks for is not read."""
    call = '{"call":"emit","id":1,"args":{"name":"x","payload":{}}}'
    scene = Scene(tmp_path, f"echo '{call}'; {COPY}")

    async def story() -> None:
        await scene.begin()
        scene.observer.offer(line(1))
        await until(lambda: scene.log == line(1))

    played(scene, story)
    assert scene.told == []


def test_a_stubborn_subscriber_is_asked_and_then_killed(tmp_path: Path) -> None:
    """[D-74] `limits.EVENT_GRACE_SECS` lie between."""
    scene = Scene(tmp_path, f"{TRAPPED} cat >/dev/null; while :; do sleep 0.05; done")

    async def story() -> None:
        await scene.begin()

    played(scene, story)
    assert scene.log == b"asked\n"


def test_haste_kills_what_is_given_time(tmp_path: Path) -> None:
    """[S-12] Before it was asked to stop, there is nothing to hasten."""
    scene = Scene(tmp_path, f"{TRAPPED} while :; do sleep 0.05; done")

    async def story() -> None:
        await scene.begin()
        scene.observer.hurry()
        await asyncio.sleep(0)
        assert marked(scene.mark)
        closing = asyncio.create_task(ended((scene.observer,)))
        await until(lambda: scene.log == b"asked\n")
        scene.observer.hurry()
        await closing

    played(scene, story)


def test_a_cancel_while_they_end_makes_haste_and_goes_on_up(tmp_path: Path) -> None:
    """[T-30]"""
    scene = Scene(tmp_path, f"{TRAPPED} while :; do sleep 0.05; done")

    async def story() -> None:
        await scene.begin()
        closing = asyncio.create_task(ended((scene.observer,)))
        await until(lambda: scene.log == b"asked\n")
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        assert not marked(scene.mark)

    played(scene, story)


def test_a_secret_that_the_cut_would_halve_is_gone_before_the_cut(tmp_path: Path) -> None:
    """[D-72, H-41] limits.STDERR_CHARS"""
    secret = "sk-0123456789abcdefghij"
    dots = limits.STDERR_CHARS - 9
    scene = Scene(tmp_path, f"printf '%s' {secret} >&2; printf '%0{dots}d' 0 >&2")
    scene.secret = secret

    async def story() -> None:
        scene.start()
        await until(lambda: scene.ends)

    played(scene, story)
    ((_, told),) = scene.told
    assert told.count("0") >= dots
    assert "bcdefghij" not in told


def test_a_loss_that_makes_another_event_is_told_once_and_in_order(tmp_path: Path) -> None:
    """[D-71, W-45] What is offered while a loss is reported comes after what waited already."""
    scene = Scene(tmp_path, PLAIN)
    scene.also = b"again\n"

    async def story() -> None:
        for number in range(limits.EVENT_QUEUE + 3):
            scene.observer.offer(line(number))
        scene.start()
        await until(lambda: scene.log.endswith(scene.also))

    played(scene, story)
    assert scene.lost == [3]
    expected = b"".join(map(line, range(limits.EVENT_QUEUE)))
    assert scene.log == b'{"dropped":3}\n' + expected + scene.also
