"""`delete_file`: files and links that were read, never directories."""

import os
from pathlib import Path
from typing import Any

import pytest

from stella import limits
from stella.authority.risk import Risk
from stella.message import ErrorClass
from stella.tools.toolbox import Prepared
from tests.making.hands import hands
from tests.making.hands import picture


def test_a_file_that_was_read_is_deleted(tmp_path: Path) -> None:
    """T2-15, T2-33: any part of it."""
    (tmp_path / "a").write_text("1\n2\n")
    with hands(tmp_path) as own:
        assert own.refused("delete_file", path="a") == "not_read"
        assert (tmp_path / "a").exists()
        own.text("read_file", path="a", limit=1)
        output = own.do("delete_file", path="./a")
        assert output.ok is not None
        assert output.ok.content == "a: deleted"
        assert output.ok.data == {"files": [{"path": "a"}]}
        assert picture(tmp_path) == {}
        (tmp_path / "a").write_text("1\n2\n")
        assert own.refused("delete_file", path="a") == "not_read"


def test_a_file_that_changed_since_is_not_deleted(tmp_path: Path) -> None:
    """T2-33."""
    (tmp_path / "a").write_text("1")
    with hands(tmp_path) as own:
        own.read("a")
        (tmp_path / "a").write_text("2")
        assert own.refused("delete_file", path="a") == "changed_since_read"
    assert (tmp_path / "a").read_text() == "2"


def test_a_link_is_deleted_and_not_what_it_leads_to(tmp_path: Path) -> None:
    """T2-15: what it leads to must have been read, where there is something to read."""
    root = tmp_path / "ws"
    root.mkdir()
    (tmp_path / "outside").write_text("outside")
    (root / "a").write_text("a")
    (root / "dir").mkdir()
    links = {"link": "a", "gone": "nowhere", "out": "../outside", "into": "dir", "loop": "loop"}
    for name, target in links.items():
        (root / name).symlink_to(target)
    with hands(root) as own:
        assert own.refused("delete_file", path="link") == "not_read"
        own.read("a")
        for name in links:
            assert own.text("delete_file", path=name) == f"{name}: deleted"
    assert sorted(picture(root)) == ["a", "dir"]
    assert (tmp_path / "outside").read_text() == "outside"


def test_directories_special_files_and_protected_places_are_not_deleted(tmp_path: Path) -> None:
    """T2-15, T2-31, T2-32."""
    for name in ("dir", ".git", ".stella/private"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / ".git/config").write_text("x")
    (tmp_path / ".stella/private/x").write_text("x")
    (tmp_path / "into").symlink_to("dir")
    (tmp_path / "dir/a").write_text("a")
    os.mkfifo(tmp_path / "pipe")
    before = picture(tmp_path)
    with hands(tmp_path) as own:
        own.read("dir/a", ".git/config")
        for path in ("dir", ".", "dir/"):
            error = own.fault("delete_file", path=path)
            assert error.kind is ErrorClass.INVALID_INPUT
            assert "directory" in error.message
        for path in ("pipe", "into/a", ".git/config", ".git", ".stella/private/x"):
            assert own.refused("delete_file", path=path) == "protected_path"
        assert own.fault("delete_file", path="nowhere").kind is ErrorClass.NOT_FOUND
        assert own.fault("delete_file", path="../x").kind is ErrorClass.INVALID_INPUT
    assert picture(tmp_path) == before


def test_one_of_several_names_of_a_file_is_deleted(tmp_path: Path) -> None:
    """T2-31 forbids writing such a file; its contents stay under the other name."""
    (tmp_path / "a").write_text("x")
    os.link(tmp_path / "a", tmp_path / "b")
    with hands(tmp_path) as own:
        own.read("a")
        own.text("delete_file", path="a")
    assert (tmp_path / "b").read_text() == "x"


def test_a_batch_is_deleted_in_full_or_not_at_all(tmp_path: Path) -> None:
    """T2-34."""
    for name in ("a", "b", "unread"):
        (tmp_path / name).write_text(name)
    (tmp_path / "link").symlink_to("a")
    before = picture(tmp_path)
    with hands(tmp_path) as own:
        own.read("a", "b")
        error = own.fault("delete_file", files=["a", "unread", "gone", "b"])
        lines = error.message.splitlines()[1:]
        assert [line.partition(":")[0] for line in lines] == ["unread", "gone"]
        assert picture(tmp_path) == before
        assert own.fault("delete_file", files=["a", "./a"]).kind is ErrorClass.INVALID_INPUT
        assert picture(tmp_path) == before
        assert own.text("delete_file", files=["a", "link", "b"]).count("deleted") == 3
    assert sorted(picture(tmp_path)) == ["unread"]


@pytest.mark.parametrize("count", [limits.BATCH_ITEMS, limits.BATCH_ITEMS + 1, 0])
def test_a_batch_has_one_to_thirty_two_paths(tmp_path: Path, count: int) -> None:
    """T2-10."""
    names = [str(number) for number in range(count)]
    with hands(tmp_path) as own:
        for name in names:
            (tmp_path / name).write_text(name)
            own.read(name)
        output = own.do("delete_file", files=names)
    assert (output.ok is not None) == (count == limits.BATCH_ITEMS)
    assert len(picture(tmp_path)) == (0 if output.ok else count)


@pytest.mark.parametrize(
    "arguments", [{}, {"path": "a", "files": ["a"]}, {"files": [1]}, {"files": "a"}, {"path": 1}]
)
def test_other_arguments_are_refused(tmp_path: Path, arguments: dict[str, Any]) -> None:
    """T2-11."""
    with hands(tmp_path) as own:
        assert own.fault("delete_file", **arguments).kind is ErrorClass.INVALID_INPUT


def test_a_deletion_is_destructive_and_names_its_paths(tmp_path: Path) -> None:
    """T2-10, A-14."""
    with hands(tmp_path) as own:
        prepared = own.prepare("delete_file", files=["a", "./b"])
    assert isinstance(prepared, Prepared)
    assert (prepared.risk, prepared.paths) == (Risk.DESTRUCTIVE, ("a", "./b"))
