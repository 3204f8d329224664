"""A conversation with a running child: what it may do, and when it is over."""

import asyncio
from pathlib import Path

import pytest

from stella import limits
from stella.process.ending import Ending
from stella.process.talk import Child
from tests.making.processes import new_mark
from tests.making.processes import none_left
from tests.making.processes import ran_py
from tests.making.processes import ran_sh

ECHO = 'while read -r line; do echo "got $line"; done; echo over'


async def line(child: Child) -> bytes:
    """The next line, however it comes."""
    found = b""
    while not found.endswith(b"\n") and (block := await child.receive()):
        found += block
    return found


def test_questions_and_answers_go_back_and_forth() -> None:
    """T-19: stdin stays open until the talk is over."""
    heard: list[bytes] = []

    async def talk(child: Child) -> None:
        for word in (b"one", b"two", b"three"):
            await child.send(word + b"\n")
            heard.append(await line(child))

    done = ran_sh(ECHO, talk=talk)
    assert heard == [b"got one\n", b"got two\n", b"got three\n"]
    assert (done.ending, done.code) == (Ending.EXITED, 0)
    assert done.stdout == b"".join(heard) + b"over\n"


def test_a_child_that_reads_to_the_end_gets_one() -> None:
    """K-39, T-18: what was sent before arrives first."""
    heard: list[bytes] = []

    async def talk(child: Child) -> None:
        await child.send(b"x" * 500_000)
        child.close_stdin()
        heard.append(await line(child))

    ran_sh("wc -c", talk=talk)
    assert heard == [b"500000\n"]


@pytest.mark.behaviour("T-20")
def test_the_end_of_the_talk_closes_stdin_and_the_rest_is_drained() -> None:
    """K-37, T-20: 200 KiB more after the answer are counted and kept."""

    async def talk(child: Child) -> None:
        assert await line(child) == b"answer\n"

    script = "echo answer; cat; head -c 204800 /dev/zero; exit 0"
    done = ran_sh(script, talk=talk)
    assert (done.ending, done.code, done.stdout_bytes) == (Ending.EXITED, 0, 204_807)


@pytest.mark.behaviour("T-17")
def test_blocks_are_at_most_eight_kibibytes_and_nothing_is_lost() -> None:
    """T-17."""
    blocks: list[bytes] = []

    async def talk(child: Child) -> None:
        while block := await child.receive():
            blocks.append(block)
        assert await child.receive() == b""

    done = ran_sh("head -c 100000 /dev/urandom", talk=talk)
    assert max(map(len, blocks)) <= limits.READ_BLOCK_BYTES
    assert b"".join(blocks) == done.stdout
    assert len(done.stdout) == 100_000


@pytest.mark.behaviour("T-16")
def test_both_sides_may_write_before_they_read() -> None:
    """T-16."""

    async def talk(child: Child) -> None:
        await child.send(b"x" * 1_000_000)

    script = "head -c 1000000 /dev/zero; wc -c"
    done = ran_sh(script, talk=talk)
    assert done.stdout.endswith(b"\x001000000\n")


def test_sending_to_a_child_that_is_gone_fails_nothing() -> None:
    """T-21."""

    async def talk(child: Child) -> None:
        while await child.receive():
            pass
        await child.send(b"x" * 100_000)
        child.close_stdin()
        await child.send(b"more")
        child.close_stdin()

    done = ran_sh("exec <&-; echo bye", talk=talk)
    assert (done.ending, done.code, done.stdin_broken) == (Ending.EXITED, 0, None)


@pytest.mark.parametrize("polite", [False, True])
def test_a_talk_may_stop_the_child(polite: bool) -> None:
    """K-40, T-14: at once."""
    mark = new_mark()

    async def talk(child: Child) -> None:
        await child.receive()
        child.stop()

    script = "trap 'exit 9' TERM; echo nonsense; while :; do sleep 0.01; done"
    done = ran_sh(script, talk=talk, polite=polite, mark=mark)
    assert done.ending is Ending.STOPPED
    assert (done.code, done.signal) == ((9, None) if polite else (None, 9))
    none_left(mark)


def test_stopping_a_child_that_is_gone_changes_nothing() -> None:
    async def talk(child: Child) -> None:
        await asyncio.sleep(0.3)
        child.stop()

    done = ran_sh("exit 4", talk=talk)
    assert (done.ending, done.code) == (Ending.EXITED, 4)


@pytest.mark.behaviour("K-42", "T-22")
@pytest.mark.parametrize("script", ["sleep 600", "echo call; exec sleep 600"])
def test_a_talk_that_is_busy_at_the_deadline_is_cancelled(script: str) -> None:
    """K-42, T-22, T-23: what the host does meanwhile counts against the deadline."""
    fates: list[str] = []

    async def talk(child: Child) -> None:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            await asyncio.sleep(0.01)  # discards what it made
            fates.append("cancelled")
            raise

    done = ran_sh(script, talk=talk, timeout=1.0)
    assert (done.ending, fates) == (Ending.TIMED_OUT, ["cancelled"])


def test_a_talk_that_outlives_the_child_is_cut_after_a_second() -> None:
    """T-26: a host call of a child that is gone is for nobody."""
    fates: list[str] = []

    async def talk(child: Child) -> None:
        try:
            await asyncio.sleep(600)
        finally:
            fates.append("cut")

    done = ran_sh("echo call", talk=talk)
    assert (done.ending, done.stdout, fates) == (Ending.EXITED, b"call\n", ["cut"])


def test_a_talk_hears_the_child_out_after_its_exit() -> None:
    """What the child had written before it went is still read."""
    heard: list[bytes] = []

    async def talk(child: Child) -> None:
        await asyncio.sleep(0.2)  # the child is long gone
        while block := await child.receive():
            heard.append(block)
            await asyncio.sleep(0)

    ran_sh("head -c 60000 /dev/zero", talk=talk)
    assert len(b"".join(heard)) == 60_000


def test_a_talk_of_a_run_that_keeps_a_tail_cannot_receive() -> None:
    async def talk(child: Child) -> None:
        await child.receive()

    with pytest.raises(RuntimeError, match="only a tail"):
        ran_sh("echo", talk=talk, keep=10)


@pytest.mark.behaviour("K-41", "T-22")
def test_a_child_that_asks_for_ever_ends_at_the_one_deadline(tmp_path: Path) -> None:
    """K-41."""
    mark = new_mark()

    async def talk(child: Child) -> None:
        while block := await child.receive():
            await child.send(block)

    script = "import sys\nwhile True:\n  print('?', flush=True)\n  sys.stdin.readline()"
    done = ran_py(script, talk=talk, timeout=1.0, mark=mark, cap=10**9)
    assert done.ending is Ending.TIMED_OUT
    none_left(mark)


def test_a_line_is_put_without_waiting_for_the_child() -> None:
    """D-72: what the pipe has not taken yet follows, and the talk can wait for it."""
    seen: list[tuple[bool, bool]] = []

    async def talk(child: Child) -> None:
        seen.append((child.listening, child.room))
        assert child.put(b"one\n")
        child.put(b"x" * 500_000)
        await child.sent()
        child.close_stdin()
        seen.append((child.listening, child.room))
        assert not child.put(b"two\n")

    done = ran_sh("wc -c", talk=talk)
    assert done.stdout.strip() == b"500004"
    assert seen == [(True, True), (False, False)]
