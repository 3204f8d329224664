"""A way leads through real directories only."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from stella.files.tree import DIRECTORY
from stella.files.way import Way
from tests.making.candidates import put
from tests.making.child import open_folder
from tests.making.child import said_by_nobody


@pytest.fixture
def top(tmp_path: Path) -> Iterator[int]:
    opened = os.open(tmp_path, DIRECTORY)
    yield opened
    os.close(opened)


def test_a_way_goes_on_from_where_the_last_one_ended(tmp_path: Path, top: int) -> None:
    put(tmp_path / "a/b/c/file")
    put(tmp_path / "a/d/file")
    before = len(list(Path("/proc/self/fd").iterdir()))
    way = Way(top)
    for path in ("a/b/c/file", "a/b/c/other", "a/d/file", "file", "a/b/x"):
        here = way.parent(path)
        assert here is not None
        assert os.fstat(here).st_ino == (tmp_path / path).parent.stat().st_ino
    way.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_nothing_leads_through_a_link_a_file_or_nothing(tmp_path: Path, top: int) -> None:
    put(tmp_path / "real/file")
    (tmp_path / "link").symlink_to("real")
    way = Way(top)
    assert [way.parent(f"{name}/file") for name in ("link", "real/file", "none")] == [None] * 3
    with pytest.raises(OSError, match="Not a directory"):
        way.enter(["link"])
    way.close()


def test_a_directory_that_may_not_be_entered_is_no_missing_one() -> None:
    with open_folder() as folder:

        def work() -> str:
            put(folder / "closed/file").parent.chmod(0)
            way = Way(os.open(folder, DIRECTORY))
            try:
                way.parent("closed/file")
            except PermissionError:
                return "refused"
            finally:
                (folder / "closed").chmod(0o700)
            return "entered"

        assert said_by_nobody(work) == "refused"


def test_what_is_missing_is_made_like_what_is_copied(tmp_path: Path, top: int) -> None:
    put(tmp_path / "old/a/b/file")
    (tmp_path / "old/a").chmod(0o550)
    (tmp_path / "old/a/b").chmod(0o770)
    (tmp_path / "new").mkdir()
    with_old = os.open(tmp_path / "old", DIRECTORY)
    with_new = os.open(tmp_path / "new", DIRECTORY)
    old, new = Way(with_old), Way(with_new)
    for _ in range(2):
        old.enter(["a", "b"])
        new.enter(["a", "b"], like=old)
    assert [oct((tmp_path / "new" / at).stat().st_mode & 0o777) for at in ("a", "a/b")] == [
        "0o750",
        "0o770",
    ]
    old.close()
    new.close()
    os.close(with_old)
    os.close(with_new)
