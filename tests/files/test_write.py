"""One file written so that a crash leaves the old contents or the new."""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from stella import limits
from stella.files.write import TEMPORARY
from stella.files.write import keep
from stella.files.write import stage
from stella.files.write import sync_directory
from stella.files.write import write_atomic
from tests.making.processes import eventually
from tests.making.processes import hosted
from tests.making.processes import hosting

WORD = "anything"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[int]:
    descriptor = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield descriptor
    os.close(descriptor)


def names(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("data", [b"", b"x", b"\0\xff\r\n", b"y" * (3 * limits.MIB)])
def test_exactly_the_bytes_are_written(tmp_path: Path, place: int, data: bytes) -> None:
    write_atomic(place, "a", data, 0o644, token=WORD)
    assert (tmp_path / "a").read_bytes() == data
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("bits", [0o644, 0o600, 0o755, 0o666])
def test_the_mode_is_exactly_the_one_asked_for(tmp_path: Path, place: int, bits: int) -> None:
    """L304: whatever the umask."""
    old = os.umask(0o077)
    try:
        write_atomic(place, "a", b"x", bits, token=WORD)
    finally:
        os.umask(old)
    assert mode(tmp_path / "a") == bits


def test_what_stood_there_is_replaced_and_never_written_into(tmp_path: Path, place: int) -> None:
    (tmp_path / "a").write_text("old")
    os.link(tmp_path / "a", tmp_path / "other")
    write_atomic(place, "a", b"new", 0o644, token=WORD)
    assert (tmp_path / "a").read_text() == "new"
    assert (tmp_path / "other").read_text() == "old"


def test_a_link_is_replaced_and_not_followed(tmp_path: Path, place: int) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "a").symlink_to("target")
    write_atomic(place, "a", b"new", 0o644, token=WORD)
    assert not (tmp_path / "a").is_symlink()
    assert (tmp_path / "target").read_text() == "old"


def test_a_rename_that_fails_leaves_everything_as_it_was(tmp_path: Path, place: int) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(IsADirectoryError):
        write_atomic(place, "a", b"new", 0o644, token=WORD)
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").is_dir()


def test_a_temporary_name_that_is_taken_is_not_touched(tmp_path: Path, place: int) -> None:
    """A25: whoever made it, it is not opened; chance gives the next try another name."""
    (tmp_path / f"{TEMPORARY}{WORD}").write_text("somebody's")
    with pytest.raises(FileExistsError):
        write_atomic(place, "a", b"new", 0o644, token=WORD)
    assert (tmp_path / f"{TEMPORARY}{WORD}").read_text() == "somebody's"
    assert not (tmp_path / "a").exists()


def test_a_temporary_name_that_is_a_link_is_not_followed(tmp_path: Path, place: int) -> None:
    (tmp_path / f"{TEMPORARY}{WORD}").symlink_to(tmp_path / "victim")
    with pytest.raises(FileExistsError):
        stage(place, b"new", 0o644, token=WORD)
    assert not (tmp_path / "victim").exists()


def test_a_staged_file_is_complete_and_beside_its_target(tmp_path: Path, place: int) -> None:
    """T2-35: a crash before the rename leaves the old file and one temporary."""
    (tmp_path / "a").write_text("old")
    name = stage(place, b"new", 0o640, token=WORD)
    assert name == ".stella-tmp-anything"
    assert (tmp_path / name).read_bytes() == b"new"
    assert mode(tmp_path / name) == 0o640
    assert (tmp_path / "a").read_text() == "old"


def test_a_disk_that_is_full_leaves_no_temporary_file(tmp_path: Path) -> None:
    """A28: the smallest file system there is, a limit on file size, stands for a full disk."""
    script = f"""
import os, resource, signal
from stella.files.write import write_atomic, keep
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
place = os.open({str(tmp_path)!r}, os.O_RDONLY)
for attempt in (
    lambda: write_atomic(place, "a", b"x" * 1001, 0o644, token="t"),
    lambda: keep(place, "large", token="t"),
):
    try:
        attempt()
    except OSError as error:
        print(error.errno)
"""
    (tmp_path / "large").write_bytes(b"x" * 1001)
    assert hosted(script).split() == [str(errno.EFBIG).encode()] * 2
    assert names(tmp_path) == ["large"]


def test_a_copy_has_the_bytes_and_the_mode_of_its_original(tmp_path: Path, place: int) -> None:
    data = os.urandom(2 * limits.MIB + 7)
    (tmp_path / "a").write_bytes(data)
    (tmp_path / "a").chmod(0o751)
    name = keep(place, "a", token=WORD)
    assert (tmp_path / name).read_bytes() == data
    assert mode(tmp_path / name) == 0o751
    assert (tmp_path / "a").read_bytes() == data


def test_a_copy_of_a_link_is_refused(tmp_path: Path, place: int) -> None:
    (tmp_path / "target").write_text("x")
    (tmp_path / "a").symlink_to("target")
    with pytest.raises(OSError, match="symbolic link"):
        keep(place, "a", token=WORD)


def test_a_directory_is_synced_where_that_can_be_done(place: int) -> None:
    sync_directory(place)
    near, far = os.pipe()
    try:
        sync_directory(near)  # a pipe answers as the file systems do that need no sync
    finally:
        os.close(near)
        os.close(far)
    with pytest.raises(OSError, match="Bad file descriptor"):
        sync_directory(near)


def test_a_crash_at_any_moment_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    """T2-35: the process is killed while it writes, again and again."""
    script = f"""
import os
from stella.files.write import write_atomic
place = os.open({str(tmp_path)!r}, os.O_RDONLY)
print("ready", flush=True)
number = 0
while True:
    number += 1
    write_atomic(place, "a", bytes([65 + number % 2]) * 300_000, 0o644, token=str(number))
"""
    target = tmp_path / "a"
    for _ in range(5):
        with hosting(script) as host:
            assert host.stdout is not None
            assert host.stdout.readline() == b"ready\n"
            target.unlink(missing_ok=True)
            eventually(target.exists)
            host.kill()
        data = target.read_bytes()
        assert data in (b"A" * 300_000, b"B" * 300_000)
