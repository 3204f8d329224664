"""Changes of several files: all or none, and when neither is possible, each state is named."""

import errno
import itertools
import os
import stat
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from stella.files.write import TEMPORARY
from stella.message import ErrorClass
from stella.message import Failure
from stella.tools.batch import KEPT
from stella.tools.batch import Change
from stella.tools.batch import Drop
from stella.tools.batch import Put
from stella.tools.batch import commit
from stella.tools.paths import Purpose
from stella.tools.paths import Root
from stella.tools.paths import Spot
from stella.tools.paths import held_root
from stella.tools.paths import walk
from tests.making.hands import picture

MINE = "ses-x-abc"


class Workspace:
    """A root, and spots in it that stay held until the test ends."""

    def __init__(self, root: Root, held: ExitStack) -> None:
        self.root = root
        self.path = Path(root.path)
        self._held = held

    def put(self, path: str, data: bytes, mode: int = 0o644) -> Put:
        return Put(spot=self.spot(path, Purpose.WRITE), data=data, mode=mode)

    def drop(self, path: str) -> Drop:
        return Drop(spot=self.spot(path, Purpose.CHANGE))

    def spot(self, path: str, purpose: Purpose) -> Spot:
        found = walk(self.root, path, purpose, self._held)
        assert isinstance(found, Spot)
        return found

    def commit(self, *changes: Change) -> Failure | None:
        return commit(changes, MINE)


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Workspace]:
    with ExitStack() as held:
        yield Workspace(held.enter_context(held_root(str(tmp_path))), held)


def refusing(*numbers: int, then: Callable[[], object] = lambda: None) -> Callable[..., None]:
    """A file system that refuses the renames with these numbers, counted from 1."""
    count = itertools.count(1)

    def rename(src: str, dst: str, /, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        if next(count) in numbers:
            then()
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        os.rename(src, dst, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    return rename


def test_one_change_is_made(space: Workspace) -> None:
    """T2-35."""
    (space.path / "old").write_text("old")
    assert space.commit(space.put("new", b"1", 0o600)) is None
    assert space.commit(space.put("old", b"2")) is None
    assert picture(space.path) == {
        "new": ("file", stat.S_IFREG | 0o600, b"1"),
        "old": ("file", stat.S_IFREG | 0o644, b"2"),
    }
    assert space.commit(space.drop("old")) is None
    assert sorted(picture(space.path)) == ["new"]


def test_several_changes_are_made_and_nothing_is_left_between(space: Workspace) -> None:
    """T2-34: over an old file, a new one in new directories, and the end of one."""
    (space.path / "a").write_text("old a")
    (space.path / "b").write_text("old b")
    (space.path / "link").symlink_to("nowhere")
    changes = (
        space.put("a", b"new a", 0o755),
        space.put("x/y/c", b"new c"),
        space.put("x/y/d", b"new d"),
        space.drop("b"),
        space.drop("link"),
    )
    assert space.commit(*changes) is None
    found = picture(space.path)
    assert sorted(found) == ["a", "x", "x/y", "x/y/c", "x/y/d"]
    assert found["a"] == ("file", stat.S_IFREG | 0o755, b"new a")
    assert found["x/y/c"][2] == b"new c"


def test_a_target_that_cannot_be_renamed_to_puts_the_earlier_ones_back(space: Workspace) -> None:
    """T2-34: a real refusal, by a directory made where the second file belongs."""
    (space.path / "a").write_text("old a")
    (space.path / "a").chmod(0o751)
    (space.path / "gone").write_text("here")
    before = picture(space.path)
    changes = (
        space.put("a", b"new a"),
        space.put("n/e/w", b"new"),
        space.drop("gone"),
        space.put("n/e", b"a file where a directory is by then"),
    )
    failure = space.commit(*changes)
    assert failure is not None
    assert failure.message.endswith("nothing was changed")
    assert picture(space.path) == before


@pytest.mark.parametrize("number", range(1, 5))
def test_a_rename_that_fails_anywhere_leaves_everything_as_it_was(
    space: Workspace, number: int
) -> None:
    """T2-34: bytes and modes on disk, and no temporary file."""
    (space.path / "a").write_text("old a")
    (space.path / "a").chmod(0o751)
    (space.path / "b").write_text("old b")
    (space.path / "link").symlink_to("a")
    before = picture(space.path)
    changes = (
        space.put("a", b"new a"),
        space.put("n/e/w", b"new"),
        space.drop("b"),
        space.drop("link"),
    )
    failure = commit(changes, MINE, rename=refusing(number))
    assert failure is not None
    assert failure.kind is ErrorClass.ENVIRONMENT
    assert failure.message == (
        f"{('a', 'n/e/w', 'b', 'link')[number - 1]}: input/output error; nothing was changed"
    )
    assert picture(space.path) == before


def test_what_cannot_be_put_back_is_named_with_its_state(space: Workspace) -> None:
    """T2-34: every path, and where the old contents are."""
    (space.path / "a").write_text("old a")
    (space.path / "b").write_text("old b")
    (space.path / "c").write_text("old c")
    changes = (space.put("a", b"new a"), space.drop("b"), space.put("c", b"new c"))
    # The third fails; then putting back `b` works and `a` does not.
    failure = commit(changes, MINE, rename=refusing(3, 5))
    assert failure is not None
    first, a, b, c = failure.message.splitlines()
    assert first == "c: input/output error; undoing the others failed too:"
    assert (b, c) == ("b: as it was", "c: as it was")
    assert a.startswith(f"a: changed; what it held is in {KEPT}")
    kept = a.removeprefix("a: changed; what it held is in ").removesuffix(" beside it")
    assert (space.path / kept).read_text() == "old a"
    assert {name: entry[2] for name, entry in picture(space.path).items()} == {
        "a": b"new a",
        "b": b"old b",
        "c": b"old c",
        kept: b"old a",
    }


def test_what_is_kept_stays_even_when_it_cannot_get_its_safe_name(space: Workspace) -> None:
    (space.path / "a").write_text("old a")
    changes = (space.put("a", b"new a"), space.put("c", b"new c"))
    failure = commit(changes, MINE, rename=refusing(2, 3, 4))
    assert failure is not None
    [kept] = [name for name in picture(space.path) if name.startswith(TEMPORARY)]
    assert (space.path / kept).read_text() == "old a"
    assert f"what it held is in {kept} beside it" in failure.message


def test_a_new_file_that_cannot_be_taken_away_again_is_named(space: Workspace) -> None:
    def mischief() -> None:
        (space.path / "new").unlink()
        (space.path / "new").mkdir()

    changes = (space.put("new", b"x"), space.put("c", b"y"))
    failure = commit(changes, MINE, rename=refusing(2, then=mischief))
    assert failure is not None
    assert "new: changed; it did not exist before" in failure.message
    assert "c: as it was" in failure.message


def test_a_file_that_changes_between_check_and_change_is_left_alone(space: Workspace) -> None:
    """T2-33: by another program, at the last moment."""
    (space.path / "a").write_text("old a")
    (space.path / "b").write_text("old b")
    changes = (space.put("a", b"new a"), space.put("b", b"new b"))
    (space.path / "b").write_text("theirs, longer")
    failure = space.commit(*changes)
    assert failure is not None
    assert failure.kind is ErrorClass.REFUSED_BY_POLICY
    assert failure.cause == "changed_since_read"
    assert (space.path / "a").read_text() == "old a"
    assert (space.path / "b").read_text() == "theirs, longer"


@pytest.mark.parametrize("number", [1, 2])
def test_a_file_that_appears_between_is_not_written_over(space: Workspace, number: int) -> None:
    changes = (space.put("new", b"ours"), space.put("other", b"ours"))[:number]
    (space.path / "new").write_text("theirs")
    failure = space.commit(*changes)
    assert failure is not None
    assert failure.cause == "changed_since_read"
    assert {name: entry[2] for name, entry in picture(space.path).items()} == {"new": b"theirs"}


def test_a_file_that_goes_away_between_is_not_made_again(space: Workspace) -> None:
    (space.path / "a").write_text("old")
    change = space.put("a", b"new")
    (space.path / "a").unlink()
    failure = space.commit(change)
    assert failure is not None
    assert picture(space.path) == {}


def test_a_link_that_takes_the_files_place_is_not_written_through(space: Workspace) -> None:
    """A23, G175: nor replaced."""
    (space.path / "a").write_text("old")
    (space.path / "victim").write_text("victim")
    change = space.put("a", b"new")
    (space.path / "a").unlink()
    (space.path / "a").symlink_to("victim")
    assert space.commit(change) is not None
    assert (space.path / "a").is_symlink()
    assert (space.path / "victim").read_text() == "victim"


def test_a_link_that_takes_a_missing_directorys_place_is_not_entered(
    space: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    change = space.put("d/a", b"new")
    (space.path / "d").symlink_to(elsewhere)
    assert space.commit(change) is not None
    assert picture(elsewhere) == {}


def test_directories_made_for_nothing_are_taken_away_unless_used(space: Workspace) -> None:
    def theirs() -> None:
        (space.path / "n" / "theirs").touch()

    changes = (space.put("n/m/a", b"x"), space.put("b", b"y"))
    assert commit(changes, MINE, rename=refusing(2, then=theirs)) is not None
    assert sorted(picture(space.path)) == ["n", "n/theirs"]


def test_nothing_stays_open(space: Workspace) -> None:
    changes = (space.put("n/m/a", b"x"), space.put("n/m/b", b"y"))
    before = len(list(Path("/proc/self/fd").iterdir()))
    assert commit(changes, MINE, rename=refusing(2)) is not None
    assert space.commit(*changes) is None
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_directory_that_cannot_be_synced_is_said_and_not_undone(space: Workspace) -> None:
    """T2-35: the change stands; whether it survives a crash is not known."""
    change = space.put("a", b"new")
    there = os.open(space.path, os.O_RDONLY | os.O_DIRECTORY)
    kept = os.dup(change.spot.parent)

    def close_after(src: str, dst: str, /, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        os.rename(src, dst, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
        os.close(change.spot.parent)

    try:
        failure = commit([change], MINE, rename=close_after)
    finally:
        os.dup2(kept, change.spot.parent)
        os.close(kept)
        os.close(there)
    assert failure is not None
    assert failure.message.endswith("the changes were made but may not survive a crash")
    assert (space.path / "a").read_bytes() == b"new"
