"""[D-51] Files are reached step by step from an open directory, and never through a link."""

import os
from collections.abc import Iterator
from contextlib import closing
from contextlib import contextmanager
from pathlib import Path

import pytest

from stella import limits
from stella.context.folders import Contents
from stella.context.folders import Folders
from stella.files.tree import DIRECTORY
from tests.making.child import running
from tests.making.workspaces import fill


@contextmanager
def folders(root: Path) -> Iterator[Folders]:
    top = os.open(root, DIRECTORY)
    try:
        with closing(Folders(top=top)) as made:
            yield made
    finally:
        os.close(top)


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_file_is_looked_at_and_read(tmp_path: Path) -> None:
    fill(tmp_path, "a/b/c.txt", "d.txt")
    with folders(tmp_path) as made:
        look = made.look(("a", "b", "c.txt"))
        read = made.read(("a", "b", "c.txt"))
        assert look is not None
        assert read is not None
        assert (look.size, read.data, read.mark) == (10, b"a/b/c.txt\n", look.mark)
        beside = made.read(("d.txt",))
        assert beside is not None
        assert beside.data == b"d.txt\n"


def test_a_change_shows_in_the_mark(tmp_path: Path) -> None:
    fill(tmp_path, "a.txt", "b.txt")
    with folders(tmp_path) as made:
        before = made.look(("a.txt",))
        times = (tmp_path / "a.txt").stat()
        (tmp_path / "b.txt").write_text("b.txt\n")
        os.utime(tmp_path / "b.txt", ns=(times.st_atime_ns, times.st_mtime_ns))
        (tmp_path / "b.txt").rename(tmp_path / "a.txt")
        after = made.look(("a.txt",))
    assert before is not None
    assert after is not None
    assert before.mark != after.mark, "another inode, of the same size and time"


def test_what_is_no_regular_file_is_absent(tmp_path: Path) -> None:
    fill(tmp_path, "real/a.txt")
    (tmp_path / "link").symlink_to("real/a.txt")
    (tmp_path / "through").symlink_to("real")
    (tmp_path / "out").symlink_to("/etc")
    os.mkfifo(tmp_path / "pipe")
    with folders(tmp_path) as made:
        for parts in (("link",), ("through", "a.txt"), ("out", "passwd"), ("pipe",), ("none",)):
            assert made.look(parts) is None
            assert made.read(parts) is None or parts == ("pipe",)
        assert made.read(("pipe",)) is None
        assert made.look(("real",)) is None
        assert made.is_directory(("real",))
        assert not made.is_directory(("through",))
        assert not made.is_directory(("none", "x"))
        assert sorted(name for name, _ in made.names(())) == [
            "link",
            "out",
            "pipe",
            "real",
            "through",
        ]
        assert list(made.names(("through",))) == []


def test_a_file_is_read_up_to_the_limit(tmp_path: Path) -> None:
    (tmp_path / "fits").write_bytes(b"x" * limits.RECALL_FILE_BYTES)
    (tmp_path / "more").write_bytes(b"x" * (limits.RECALL_FILE_BYTES + 1))
    with folders(tmp_path) as made:
        fits = made.read(("fits",))
        assert fits is not None
        assert len(fits.data) == limits.RECALL_FILE_BYTES
        assert made.read(("more",)) is None


def test_the_mark_is_that_of_the_bytes_read_not_of_an_earlier_look(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("x")
    with folders(tmp_path) as made:
        look = made.look(("a",))
        path.write_text("xy")
        read = made.read(("a",))
    assert look is not None
    assert read is not None
    assert read.mark != look.mark


def test_a_file_that_changes_while_it_is_read_has_no_mark(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * limits.RECALL_FILE_BYTES)

    def write() -> None:
        with path.open("r+b", buffering=0) as file:
            while True:
                file.write(b"y")
                file.seek(0)

    with folders(tmp_path) as made, running(write):
        marks = iter(lambda: (made.read(("a",)) or Contents(data=b"", mark="x")).mark, "")
        assert all(marks), "it ends with the first read during which the file changed"


def test_nothing_stays_open(tmp_path: Path) -> None:
    fill(tmp_path, "a/b/c/d.txt", "a/x/y.txt")
    before = open_files()
    with folders(tmp_path) as made:
        for parts in (("a", "b", "c", "d.txt"), ("a", "x", "y.txt"), ("a", "none", "z"), ("q",)):
            made.look(parts)
        assert open_files() > before
    assert open_files() == before


@pytest.mark.parametrize("parts", [("a", "b", "c", "d.txt"), ("e", "f.txt")])
def test_neighbours_are_reached_in_any_order(tmp_path: Path, parts: tuple[str, ...]) -> None:
    fill(tmp_path, "a/b/c/d.txt", "e/f.txt", "g.txt")
    with folders(tmp_path) as made:
        for other in (("e", "f.txt"), ("a", "b", "c", "d.txt"), ("g.txt",)):
            assert made.look(other)
            assert made.look(parts)
