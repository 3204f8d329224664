"""The host's ends of the pipes: counting, keeping, writing, and what can go wrong."""

import asyncio
import os
from collections.abc import Awaitable
from collections.abc import Callable
from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies

from stella import limits
from stella.process.pipes import Inlet
from stella.process.pipes import Kept
from stella.process.pipes import Meter
from stella.process.pipes import Outlet
from stella.process.pipes import connect
from tests.making.processes import descriptors

BLOCKS = strategies.lists(strategies.binary(max_size=30), max_size=30)


@given(sizes=strategies.lists(strategies.integers(0, 50)), cap=strategies.integers(0, 200))
def test_a_meter_admits_the_cap_and_not_a_byte_more(sizes: list[int], cap: int) -> None:
    """T-24, for all: the stream that was refused first is the one named."""
    meter = Meter(cap)
    admitted = [meter.admit(str(number), size) for number, size in enumerate(sizes)]
    assert sum(admitted) == min(sum(sizes), cap)
    short = [
        str(n) for n, (size, fits) in enumerate(zip(sizes, admitted, strict=True)) if fits < size
    ]
    assert meter.crossed == (short[0] if short else None)


def test_a_meter_without_a_cap_admits_everything() -> None:
    meter = Meter(None)
    assert meter.admit("stdout", 10**12) == 10**12
    assert meter.crossed is None


@given(blocks=BLOCKS, tail=strategies.one_of(strategies.none(), strategies.integers(0, 100)))
def test_what_is_kept_is_the_end_of_what_came(blocks: list[bytes], tail: int | None) -> None:
    """G-13, for all."""
    kept, everything = Kept(tail), b"".join(blocks)
    for block in blocks:
        kept.add(block)
    start = 0 if tail is None else max(0, len(everything) - tail)
    assert kept.value() == everything[start:]
    assert kept.total == len(everything)


def test_a_tail_stays_small_however_much_comes() -> None:
    kept = Kept(10)
    for _ in range(100):
        kept.add(b"x" * limits.READ_BLOCK_BYTES)
        assert len(kept._last) <= 20 + limits.READ_BLOCK_BYTES  # noqa: SLF001 - memory is the point
    assert kept.value() == b"x" * 10


def in_a_loop(scene: Callable[[], Awaitable[None]]) -> None:
    """Run a scene and see that it leaves no descriptor."""

    async def watched() -> None:
        before = descriptors(os.getpid())
        await scene()
        assert descriptors(os.getpid()) == before

    asyncio.run(watched())


def test_an_outlet_takes_what_is_in_the_pipe_at_its_end() -> None:
    """Q-14: at most what a pipe can hold, so that a writer cannot hold it open."""

    async def scene() -> None:
        reader, writer = os.pipe()
        outlet = Outlet("stdout", reader, meter=Meter(None), kept=Kept(None))
        outlet.watch(lambda: None)
        os.write(writer, b"x" * 20_000)
        outlet.finish()
        outlet.finish()
        os.close(writer)
        assert (outlet.over, outlet.kept.total, outlet.fault) == (True, 20_000, "")
        assert len(await outlet.receive()) == limits.READ_BLOCK_BYTES

    in_a_loop(scene)


def test_an_outlet_does_not_finish_a_writer_that_never_stops() -> None:
    """At most `limits.PIPE_BYTES` of an endless stream."""

    async def scene() -> None:
        # Not watched: no loop watches a device.
        endless = os.open("/dev/zero", os.O_RDONLY)
        outlet = Outlet("stdout", endless, meter=Meter(None), kept=Kept(None))
        outlet.finish()
        assert outlet.kept.total == limits.PIPE_BYTES

    in_a_loop(scene)


def test_an_outlet_that_cannot_be_read_is_over_and_says_why() -> None:
    """B16."""

    async def scene() -> None:
        broken, other = os.openpty()
        os.close(other)
        changes: list[str] = []
        outlet = Outlet("stdout", broken, meter=Meter(None), kept=Kept(None))
        outlet.watch(lambda: changes.append(outlet.fault))
        assert await outlet.receive() == b""
        assert outlet.over
        assert changes == [outlet.fault]
        assert "Input/output error" in outlet.fault

    in_a_loop(scene)


def test_an_outlet_tells_once_that_the_cap_is_crossed_and_stops_reading() -> None:
    async def scene() -> None:
        reader, writer = os.pipe()
        meter, told = Meter(5), asyncio.Event()
        outlet = Outlet("stderr", reader, meter=meter, kept=Kept(None))
        outlet.watch(told.set)
        os.write(writer, b"123456")
        await told.wait()
        assert (meter.crossed, outlet.over, outlet.kept.value()) == ("stderr", True, b"12345")
        with pytest.raises(BrokenPipeError):
            os.write(writer, b"7")
        os.close(writer)

    in_a_loop(scene)


def test_an_inlet_writes_in_order_and_waits_for_room() -> None:
    async def scene() -> None:
        reader, writer = os.pipe()
        inlet = Inlet(writer)
        sending = [asyncio.create_task(inlet.send(bytes([n]) * 100_000)) for n in (1, 2)]
        await asyncio.sleep(0)
        assert not any(task.done() for task in sending)
        found = b""
        while len(found) < 200_000:
            found += await asyncio.to_thread(os.read, reader, 65_536)
        await asyncio.gather(*sending)
        inlet.close()
        inlet.close()
        assert found == b"\1" * 100_000 + b"\2" * 100_000
        assert os.read(reader, 1) == b""
        os.close(reader)
        await asyncio.get_running_loop().shutdown_default_executor()

    in_a_loop(scene)


def test_an_inlet_that_nobody_reads_any_more_is_no_fault() -> None:
    """T-21, while it waits for room too."""

    async def scene() -> None:
        reader, writer = os.pipe()
        inlet = Inlet(writer)
        sending = asyncio.create_task(inlet.send(b"x" * 1_000_000))
        await asyncio.sleep(0)
        os.close(reader)
        await sending
        await inlet.send(b"more")
        assert inlet.fault is None

    in_a_loop(scene)


def test_an_inlet_that_is_closed_lets_its_senders_go() -> None:
    async def scene() -> None:
        reader, writer = os.pipe()
        inlet = Inlet(writer)
        sending = asyncio.create_task(inlet.send(b"x" * 1_000_000))
        await asyncio.sleep(0)
        inlet.close()
        await sending
        os.close(reader)

    in_a_loop(scene)


def test_an_inlet_takes_what_fits_without_waiting_and_the_rest_follows() -> None:
    """[D-72]"""

    async def scene() -> None:
        reader, writer = os.pipe()
        inlet = Inlet(writer)
        rooms = [inlet.room]
        assert inlet.put(b"a line\n")
        assert not inlet.put(b"x" * 1_000_000)
        rooms.append(inlet.room)
        assert not inlet.put(b"the end")
        waiting = asyncio.create_task(inlet.sent())
        await asyncio.sleep(0)
        assert not waiting.done()
        found = b""
        while not found.endswith(b"the end"):
            found += await asyncio.to_thread(os.read, reader, 65_536)
        await waiting
        assert found == b"a line\n" + b"x" * 1_000_000 + b"the end"
        assert [*rooms, inlet.room] == [True, False, True]
        inlet.close()
        assert (inlet.open, inlet.room, inlet.put(b"more")) == (False, False, False)
        os.close(reader)
        await asyncio.get_running_loop().shutdown_default_executor()

    in_a_loop(scene)


def test_an_inlet_that_nobody_reads_takes_nothing() -> None:
    """[T-21]"""

    async def scene() -> None:
        reader, writer = os.pipe()
        inlet = Inlet(writer)
        os.close(reader)
        seen = [inlet.open, inlet.room, inlet.put(b"x"), inlet.open]
        assert seen == [True, False, False, False]
        await inlet.sent()

    in_a_loop(scene)


@pytest.mark.behaviour("T-21")
def test_any_other_write_error_is_a_fault() -> None:
    """T-21, W-52: a full device stands for it."""

    async def scene() -> None:
        inlet = Inlet(os.open("/dev/full", os.O_WRONLY))
        await inlet.send(b"x")
        await inlet.send(b"y")
        assert inlet.fault == "[Errno 28] No space left on device"

    in_a_loop(scene)


@pytest.mark.parametrize("merge", [False, True])
def test_connections_are_closed_by_whoever_holds_them(merge: bool) -> None:
    async def scene() -> None:
        with ExitStack() as ours, ExitStack() as theirs:
            ends = connect(ours, theirs, meter=Meter(1), keep=None, merge=merge)
            assert len(ends.theirs) == 4
            assert (ends.theirs[2] == ends.theirs[3]) is merge
            assert [outlet.name for outlet in ends.outlets] == ["stdout", "stderr"][: 2 - merge]

    in_a_loop(scene)
