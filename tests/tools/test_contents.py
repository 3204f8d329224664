"""Regular files are read a block at a time; nothing else is opened."""

import asyncio
import hashlib
import os
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from stella import limits
from stella.message import ErrorClass
from stella.message import Failure
from stella.tools.contents import blocks
from stella.tools.contents import digest_of
from stella.tools.contents import line_count
from stella.tools.contents import measure
from stella.tools.contents import opened
from stella.tools.paths import Purpose
from stella.tools.paths import Spot
from stella.tools.paths import held_root
from stella.tools.paths import walk


def spot(place: Path, name: str, held: ExitStack) -> Spot:
    root = held.enter_context(held_root(str(place)))
    found = walk(root, name, Purpose.CHANGE, held)
    assert isinstance(found, Spot)
    return found


def test_a_file_is_opened_and_closed(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    with ExitStack() as held:
        place = spot(tmp_path, "a", held)
        with opened(place) as file:
            assert isinstance(file, int)
            assert os.read(file, 9) == b"abc"
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(file)


def test_what_is_no_file_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    """T2-31: opening a pipe that nobody writes to would wait for ever."""
    (tmp_path / "dir").mkdir()
    (tmp_path / "link").symlink_to("dir")
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(tmp_path / "socket"))
    kinds = {
        "dir": (ErrorClass.INVALID_INPUT, "list_files"),
        "link": (ErrorClass.REFUSED_BY_POLICY, "symbolic link"),
        "pipe": (ErrorClass.REFUSED_BY_POLICY, "a pipe"),
        "socket": (ErrorClass.REFUSED_BY_POLICY, "socket"),
    }
    for name, (kind, words) in kinds.items():
        with ExitStack() as held, opened(spot(tmp_path, name, held)) as failure:
            assert isinstance(failure, Failure)
            assert failure.kind is kind
            assert words in failure.message


def test_a_device_is_refused() -> None:
    """T2-31."""
    with ExitStack() as held, opened(spot(Path("/dev"), "null", held)) as failure:
        assert isinstance(failure, Failure)
        assert "device" in failure.message


def test_a_pipe_that_takes_the_files_place_is_refused(tmp_path: Path) -> None:
    """A23: between the look and the opening; without waiting for a writer."""
    (tmp_path / "a").touch()
    with ExitStack() as held:
        place = spot(tmp_path, "a", held)
        (tmp_path / "a").unlink()
        os.mkfifo(tmp_path / "a")
        with opened(place) as failure:
            assert isinstance(failure, Failure)


def test_a_link_that_takes_the_files_place_is_not_followed(tmp_path: Path) -> None:
    """A23."""
    (tmp_path / "a").touch()
    with ExitStack() as held:
        place = spot(tmp_path, "a", held)
        (tmp_path / "a").unlink()
        (tmp_path / "a").symlink_to("/etc/passwd")
        with pytest.raises(OSError, match="symbolic link"), opened(place):
            pass


def test_a_large_file_is_read_in_blocks_that_leave_room_for_others(tmp_path: Path) -> None:
    data = os.urandom(3 * limits.MIB + 1)
    (tmp_path / "a").write_bytes(data)
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def read(file: int) -> list[bytes]:
        beside = asyncio.create_task(others())
        found = [block async for block in blocks(file)]
        beside.cancel()
        return found

    with ExitStack() as held, opened(spot(tmp_path, "a", held)) as file:
        assert isinstance(file, int)
        found = asyncio.run(read(file))
    assert b"".join(found) == data
    assert max(map(len, found)) <= limits.MIB
    assert turns >= 3


def test_the_digest_is_that_of_all_bytes(tmp_path: Path) -> None:
    data = os.urandom(limits.MIB + 1)
    (tmp_path / "a").write_bytes(data)
    with ExitStack() as held, opened(spot(tmp_path, "a", held)) as file:
        assert isinstance(file, int)
        assert asyncio.run(digest_of(file)) == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(("data", "lines"), [(b"", 0), (b"a", 1), (b"a\n", 1), (b"\n\nb", 3)])
def test_lines_are_counted_with_a_last_one_that_has_no_end(data: bytes, lines: int) -> None:
    assert line_count(data) == lines


def test_a_measure_says_size_lines_and_digest() -> None:
    """[T2-13]"""
    found = measure(b"a\nb")
    assert (found.bytes, found.lines, found.shown) == (3, 2, "3 bytes, 2 lines")
    assert found.sha256 == hashlib.sha256(b"a\nb").hexdigest()
