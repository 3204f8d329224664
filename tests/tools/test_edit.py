"""`edit_file`: one text for another, in files that were read."""

import hashlib
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from stella import limits
from stella.authority.risk import Risk
from stella.message import ErrorClass
from stella.tools.toolbox import Prepared
from tests.making.hands import hands
from tests.making.hands import picture


def edit(path: str, old: str, new: str, **more: bool) -> dict[str, Any]:
    return {"path": path, "old_string": old, "new_string": new, **more}


def test_a_text_is_replaced_and_facts_are_beside_it(tmp_path: Path) -> None:
    """T2-14."""
    (tmp_path / "a").write_bytes(b"one\r\ntwo\r\n")
    (tmp_path / "a").chmod(0o755)
    with hands(tmp_path) as own:
        own.read("a")
        output = own.do("edit_file", **edit("./a", "two", "2"))
    data = b"one\r\n2\r\n"
    assert (tmp_path / "a").read_bytes() == data
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o755
    assert output.ok is not None
    assert output.ok.content == "a: 1 replacement; now 8 bytes, 2 lines"
    digest = hashlib.sha256(data).hexdigest()
    facts = {"path": "a", "replacements": 1, "bytes": 8, "lines": 2, "sha256": digest}
    assert output.ok.data == {"files": [facts]}


def test_edits_of_one_file_apply_in_order_each_to_the_result_before(tmp_path: Path) -> None:
    """T2-14."""
    (tmp_path / "a").write_text("1")
    (tmp_path / "b").write_text("x x")
    with hands(tmp_path) as own:
        own.read("a", "b")
        edits = [
            edit("a", "1", "2"),
            edit("b", "x", "y", replace_all=True),
            edit("./a", "2", "3"),
            edit(f"{tmp_path}/a", "3", "4"),
        ]
        [first, second] = own.data("edit_file", edits=edits)["files"]
    assert (first["path"], first["replacements"]) == ("a", 3)
    assert (second["path"], second["replacements"]) == ("b", 2)
    assert (tmp_path / "a").read_text() == "4"
    assert (tmp_path / "b").read_text() == "y y"


def test_all_faults_are_told_and_no_file_is_touched(tmp_path: Path) -> None:
    """T2-34."""
    (tmp_path / "a").write_text("a a")
    (tmp_path / "b").write_text("b")
    (tmp_path / "unread").write_text("c")
    before = picture(tmp_path)
    with hands(tmp_path) as own:
        own.read("a", "b")
        edits = [
            edit("b", "b", "z"),
            edit("a", "a", "z"),
            edit("a", "nowhere", "z"),
            edit("unread", "c", "z"),
            edit("gone", "c", "z"),
            edit("../x", "c", "z"),
        ]
        error = own.fault("edit_file", edits=edits)
    lines = error.message.splitlines()[1:]
    assert [line.partition(":")[0] for line in lines] == ["../x", "a", "a", "unread", "gone"]
    assert "occurs 2 times" in lines[1]
    assert "does not occur" in lines[2]
    assert picture(tmp_path) == before


def test_a_text_that_does_not_occur_is_not_found(tmp_path: Path) -> None:
    """T2-2, T2-14."""
    (tmp_path / "a").write_text("alpha\nbeta\n")
    with hands(tmp_path) as own:
        own.read("a")
        error = own.fault("edit_file", **edit("a", "betta", "x"))
        assert error.kind is ErrorClass.NOT_FOUND
        assert error.message == 'a: the text does not occur; the nearest line is 2: "beta"'
        assert own.fault("edit_file", **edit("a", "a", "x")).kind is ErrorClass.INVALID_INPUT
        assert own.fault("edit_file", **edit("gone", "a", "x")).kind is ErrorClass.NOT_FOUND


def test_any_read_of_the_current_bytes_is_enough(tmp_path: Path) -> None:
    """T2-33: a part of it, but not none and not of other bytes."""
    (tmp_path / "a").write_text("1\n2\n3\n")
    with hands(tmp_path) as own:
        assert own.refused("edit_file", **edit("a", "1", "x")) == "not_read"
        own.text("read_file", path="a", limit=1)
        own.text("edit_file", **edit("a", "3", "x"))
        own.text("edit_file", **edit("a", "x", "y"))
        assert own.refused("write_file", path="a", content="") == "not_read"
        (tmp_path / "a").write_text("9\n2\ny\n")
        assert own.refused("edit_file", **edit("a", "2", "x")) == "changed_since_read"
    assert (tmp_path / "a").read_text() == "9\n2\ny\n"


def test_a_file_read_in_full_is_known_in_full_after_an_edit(tmp_path: Path) -> None:
    """T2-33."""
    (tmp_path / "a").write_text("1\n")
    with hands(tmp_path) as own:
        own.read("a")
        own.text("edit_file", **edit("a", "1", "2\n3"))
        own.text("write_file", path="a", content="")


def test_links_hard_links_directories_and_protected_files_are_not_edited(tmp_path: Path) -> None:
    """T2-31, T2-32."""
    (tmp_path / "a").write_text("text")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "dir").mkdir()
    (tmp_path / "into").symlink_to("dir")
    (tmp_path / "dir" / "b").write_text("text")
    os.link(tmp_path / "dir" / "b", tmp_path / "hard")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("text")
    before = picture(tmp_path)
    with hands(tmp_path) as own:
        own.read("a", "link", "hard", "dir/b", "into/b", ".git/config")
        for path in ("link", "hard", "dir/b", "into/b", "pipe", ".git/config"):
            assert own.refused("edit_file", **edit(path, "text", "x")) == "protected_path"
        for path in ("dir", "."):
            error = own.fault("edit_file", **edit(path, "text", "x"))
            assert error.kind is ErrorClass.INVALID_INPUT
    assert picture(tmp_path) == before


@pytest.mark.parametrize("over", [0, 1])
def test_a_file_of_four_mebibytes_is_edited_and_a_larger_one_is_not(
    tmp_path: Path, over: int
) -> None:
    """T2-13: the file before, and the file that would be."""
    lines = b"!" + (b"x" * 1023 + b"\n") * (limits.WRITE_BYTES // 1024 - 1)
    (tmp_path / "a").write_bytes(lines + b"y" * (1023 + over))
    (tmp_path / "b").write_bytes(lines + b"z" * 1022)
    before = picture(tmp_path)
    with hands(tmp_path) as own:
        own.read("a", "b")
        outputs = [
            own.do("edit_file", **edit("a", "!", "?")),
            own.do("edit_file", **edit("b", "!", "??" + "?" * over)),
        ]
    for output in outputs:
        assert (output.ok is not None) == (over == 0)
        assert output.error is None or output.error.kind is ErrorClass.INVALID_INPUT
    assert (picture(tmp_path) == before) == (over == 1)


def test_an_edit_is_medium_or_worse_and_names_its_paths(tmp_path: Path) -> None:
    """T2-10, T2-32, A-14."""
    with hands(tmp_path) as own:
        plain = own.prepare("edit_file", **edit("a", "x", "y"))
        steering = own.prepare(
            "edit_file", edits=[edit("a", "x", "y"), edit("./stella.toml", "x", "y")]
        )
    assert isinstance(plain, Prepared)
    assert isinstance(steering, Prepared)
    assert (plain.risk, plain.paths) == (Risk.MEDIUM, ("a",))
    assert (steering.risk, steering.paths) == (Risk.DESTRUCTIVE, ("a", "./stella.toml"))


@pytest.mark.parametrize("count", [limits.BATCH_ITEMS, limits.BATCH_ITEMS + 1])
def test_a_batch_has_at_most_thirty_two_edits(tmp_path: Path, count: int) -> None:
    """T2-10."""
    (tmp_path / "a").write_text("0,")
    with hands(tmp_path) as own:
        own.read("a")
        edits = [edit("a", f"{number},", f"{number + 1},") for number in range(count)]
        output = own.do("edit_file", edits=edits)
    assert (output.ok is not None) == (count == limits.BATCH_ITEMS)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        edit("a", "", "x"),
        edit("a", "x", "x"),
        {"path": "a", "old_string": "x"},
        {"edits": []},
        {"edits": [edit("a", "", "x")]},
        {"edits": [edit("a", "x", "y")], "path": "a"},
        {"edits": [edit("a", "x", "y")], "replace_all": True},
        edit("a", "x", "y") | {"count": 1},
    ],
)
def test_other_arguments_are_refused(tmp_path: Path, arguments: dict[str, Any]) -> None:
    """T2-11, T2-14."""
    (tmp_path / "a").write_text("x")
    with hands(tmp_path) as own:
        own.read("a")
        assert own.fault("edit_file", **arguments).kind is ErrorClass.INVALID_INPUT
    assert (tmp_path / "a").read_text() == "x"
