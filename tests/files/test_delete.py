"""A directory goes with all that is in it, and nothing else does."""

import os
from pathlib import Path

import pytest

from stella.files import tree
from stella.files.delete import delete
from stella.files.delete import is_directory
from tests.making.child import open_folder
from tests.making.child import said
from tests.making.child import said_by_nobody
from tests.making.faults import on_opening
from tests.making.packages import notes
from tests.making.packages import seen


def gone(above: Path, name: str) -> str:
    with tree.opened(above) as directory:
        delete(directory, name)
    return "" if (above / name).exists() else "gone"


def test_everything_in_a_directory_goes_and_nothing_beside_it(tmp_path: Path) -> None:
    notes(tmp_path / "kept")
    root = notes(tmp_path / "going")
    (root / "empty").mkdir()
    (root / "a" / "b" / "c").mkdir(parents=True)
    (root / "a" / "b" / "c" / "file").touch()
    os.mkfifo(root / "a" / "fifo")
    kept = seen(tmp_path / "kept")
    assert gone(tmp_path, "going") == "gone"
    assert seen(tmp_path / "kept") == kept


def test_links_are_taken_away_and_not_followed(tmp_path: Path) -> None:
    """A34: to a file, to a directory, to nothing, to above."""
    notes(tmp_path / "kept")
    root = notes(tmp_path / "going")
    (root / "deep").mkdir()
    for place in (root, root / "deep"):
        (place / "file").symlink_to(tmp_path / "kept" / "main.py")
        (place / "directory").symlink_to(tmp_path / "kept")
        (place / "nothing").symlink_to("/nowhere")
        (place / "above").symlink_to("..")
    kept = seen(tmp_path / "kept")
    assert gone(tmp_path, "going") == "gone"
    assert seen(tmp_path / "kept") == kept


def test_a_link_to_a_directory_is_no_directory(tmp_path: Path) -> None:
    notes(tmp_path / "kept")
    (tmp_path / "link").symlink_to("kept")
    with pytest.raises(NotADirectoryError):
        gone(tmp_path, "link")
    assert (tmp_path / "kept" / "main.py").exists()
    with tree.opened(tmp_path) as above:
        assert [is_directory(above, name) for name in ("kept", "link")] == [True, False]


def test_a_tree_deeper_than_a_process_may_hold_open_goes_too(tmp_path: Path) -> None:
    """A plugin must not be able to make itself impossible to remove, nor to exhaust the stack."""
    (tmp_path / "going").mkdir()
    with tree.held(os.open(tmp_path / "going", tree.DIRECTORY)) as top:
        here = os.dup(top)
        for _ in range(1100):
            os.mkdir("d", dir_fd=here)
            os.close(os.open("f", os.O_CREAT | os.O_WRONLY, dir_fd=here))
            below = os.open("d", tree.DIRECTORY, dir_fd=here)
            os.close(here)
            here = below
        os.close(here)
    assert gone(tmp_path, "going") == "gone"


def test_a_directory_that_is_moved_away_meanwhile_ends_the_deletion(tmp_path: Path) -> None:
    """Going up must not lead into another directory than the one it came from."""
    notes(tmp_path / "kept" / "going")
    (tmp_path / "going" / "inner").mkdir(parents=True)

    def work() -> str:
        def move() -> None:
            (tmp_path / "going" / "inner").rename(tmp_path / "kept" / "inner")

        on_opening("..", move)
        return gone(tmp_path, "going")

    assert "stale" in said(work).casefold()
    assert (tmp_path / "kept" / "going" / "main.py").exists()


def test_directories_closed_to_their_owner_go_too() -> None:
    """A plugin may have closed what is its own."""
    with open_folder() as folder:

        def work() -> str:
            root = folder / "tier" / "going"
            (root / "a" / "b" / "c").mkdir(parents=True)
            (root / "a" / "f").touch()
            for path in (root / "a" / "b" / "c", root / "a" / "b", root / "a", root):
                path.chmod(0o000)
            return gone(folder / "tier", "going")

        assert said_by_nobody(work) == "gone"
        assert work() == "gone"


def test_what_cannot_be_deleted_is_the_systems_error() -> None:
    """I-66: the deletion stops there."""
    with open_folder() as folder:
        notes(folder / "going")
        folder.chmod(0o755)
        (folder / "going").chmod(0o755)
        assert said_by_nobody(lambda: gone(folder, "going")).startswith("PermissionError")
        assert (folder / "going" / "main.py").exists()
