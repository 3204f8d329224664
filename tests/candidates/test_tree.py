"""What is copied and read again: what is there, bounded, through no link."""

import os
from pathlib import Path

from stella.candidates.candidate import Bounds
from stella.candidates.candidate import Failed
from stella.candidates.candidate import Item
from stella.candidates.tree import Copied
from stella.candidates.tree import copied
from stella.candidates.tree import read
from stella.files.kind import Kind
from stella.files.tree import DIRECTORY
from tests.making.candidates import put
from tests.making.candidates import snapshot
from tests.making.candidates import terms
from tests.making.child import open_folder
from tests.making.child import said_by_nobody


def copy(place: Path, *names: bytes, bounds: Bounds | None = None) -> Copied | Failed:
    """Copy `names` from one directory of `place` into the other."""
    (place / "new").mkdir(exist_ok=True)
    old, new = (os.open(place / name, DIRECTORY) for name in ("old", "new"))
    try:
        return copied(names, old, new, terms(bounds=bounds))
    finally:
        os.close(old)
        os.close(new)


def looked(place: Path, names: tuple[bytes, ...], *start: str, prefix: str = "") -> object:
    top = os.open(place, DIRECTORY)
    try:
        return read(names, start, top, terms(prefix))
    finally:
        os.close(top)


def test_only_what_is_named_and_there_is_copied(tmp_path: Path) -> None:
    put(tmp_path / "old/a")
    put(tmp_path / "old/sub/b")
    put(tmp_path / "old/not named")
    put(tmp_path / "old/real/c")
    (tmp_path / "old/link").symlink_to("real")
    done = copy(tmp_path, b"a", b"sub/b", b"gone", b"no/where", b"link/c", b"link")
    assert isinstance(done, Copied)
    assert sorted(done.items) == ["a", "link", "sub/b"]
    assert done.skipped == ()
    expected = snapshot(tmp_path / "old")
    for name in ("not named", "real", "real/c"):
        expected.pop(name)
    assert snapshot(tmp_path / "new") == expected


def test_a_copy_that_cannot_be_written_says_where(tmp_path: Path) -> None:
    put(tmp_path / "old/sub/a")
    put(tmp_path / "new/sub", "in the way\n")
    assert copy(tmp_path, b"sub/a") == Failed(reason="sub/a: Not a directory")


def test_what_may_not_be_read_is_told_and_left_out() -> None:
    with open_folder() as folder:

        def work() -> str:
            put(folder / "old/a")
            put(folder / "old/closed").chmod(0)
            done = copy(folder, b"a", b"closed")
            left = sorted(path.name for path in (folder / "new").iterdir())
            assert isinstance(done, Copied), done
            # And what an attempt closes is not taken for unchanged.
            closed = looked(folder / "old", (b"a", b"closed"))
            return f"{done.skipped} {sorted(done.items)} {left} {closed}"

        assert said_by_nobody(work) == (
            "('closed: may not be read',) ['a'] ['a'] "
            "Failed(reason='closed: Permission denied', denial=None)"
        )


def test_bounds_hold_at_the_bound_and_one_past_it(tmp_path: Path) -> None:
    """limits.CANDIDATE_BYTES, limits.CANDIDATE_SECS: the bounds that stand for them."""
    put(tmp_path / "old/a", "12345")
    put(tmp_path / "old/in/b", "67890")
    names = (b"a", b"in/")
    assert isinstance(copy(tmp_path, *names, bounds=Bounds(files=2, bytes=10, entries=1)), Copied)
    told = {
        "there are more than 1 files": Bounds(files=1),
        "there are more than 9 bytes": Bounds(bytes=9),
        "there are more than 0 entries": Bounds(entries=0),
    }
    for number, (reason, bounds) in enumerate(told.items()):
        (tmp_path / "new").rename(tmp_path / f"new-{number}")
        assert copy(tmp_path, *names, bounds=bounds) == Failed(reason=reason)


def test_a_copy_that_is_given_up_ends(tmp_path: Path) -> None:
    put(tmp_path / "old/a")
    here = terms()
    here.stop.set()
    top = os.open(tmp_path / "old", DIRECTORY)
    assert read((b"a",), (), top, here) == Failed(reason="it was given up")
    os.close(top)


def test_what_was_there_at_the_start_is_looked_at_though_git_does_not_name_it(
    tmp_path: Path,
) -> None:
    """An attempt cannot hide a change by ignoring it."""
    put(tmp_path / "a")
    put(tmp_path / "b")
    found = looked(tmp_path, (b"a",), "b", "gone")
    assert isinstance(found, dict)
    assert sorted(found) == ["a", "b"]


def test_reading_is_beneath_the_workspace_root_and_relative_to_it(tmp_path: Path) -> None:
    put(tmp_path / "in/a")
    put(tmp_path / "out")
    put(tmp_path / "in/.stella/private/x")
    put(tmp_path / "in/nested/.git/config")
    put(tmp_path / "in/nested/c")
    names = (b"in/a", b"out", b"in/.stella/private/x", b"in/nested/")
    found = looked(tmp_path, names, prefix="in/")
    assert isinstance(found, dict)
    assert sorted(found) == ["a", "nested/.git", "nested/c"]
    assert found["nested/.git"] == Item(kind=Kind.DIRECTORY)
