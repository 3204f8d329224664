"""An adoption is undone from what lies on disk; what is somebody else's by now is left alone."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stella import codec
from stella import limits
from stella.candidates import plan
from stella.candidates.look import item_at
from stella.candidates.plan import Deed
from stella.candidates.plan import Plan
from stella.candidates.plan import Row
from stella.files.tree import DIRECTORY
from stella.files.way import Way
from tests.making.candidates import put
from tests.making.candidates import snapshot


class Half:
    """A tree in the middle of an adoption: each of three files done, in a staging directory."""

    def __init__(self, place: Path) -> None:
        self.root, self.stage = place / "r", place / "stage"
        put(self.root / "new", "theirs?\n")
        put(self.root / "text", "new\n")
        put(self.stage / "old-1", "old\n")
        put(self.stage / "old-2", "deleted\n")
        rows = (
            self.row("new", Deed.CREATE),
            self.row("text", Deed.MODIFY),
            plan.row_of("gone", Deed.DELETE, None),
        )
        with self.opened(self.stage) as stage:
            assert plan.write(stage.fd, Plan(rows=rows), "t")

    def row(self, path: str, deed: Deed) -> Row:
        with self.opened(self.root) as root:
            return plan.row_of(path, deed, item_at(root.fd, path))

    def undo(self) -> str | None:
        with self.opened(self.root) as root, self.opened(self.stage) as stage:
            return plan.undo(root.fd, stage.fd)

    class opened:  # noqa: N801 - it is used as a function
        def __init__(self, path: Path) -> None:
            self.fd = os.open(path, DIRECTORY)

        def __enter__(self) -> "Half.opened":
            return self

        def __exit__(self, *_: object) -> None:
            os.close(self.fd)


def test_every_deed_is_undone_once(tmp_path: Path) -> None:
    half = Half(tmp_path)
    assert half.undo() is None
    assert {name: what[1] for name, what in snapshot(half.root).items()} == {  # type: ignore[index]
        "text": b"old\n",
        "gone": b"deleted\n",
    }
    assert list(half.stage.iterdir()) == []
    assert half.undo() is None, "without a plan there is nothing to undo"


def _edited(root: Path) -> None:
    put(root / "text", "the person's\n")


def _deleted(root: Path) -> None:
    (root / "text").unlink()


def _made_again(root: Path) -> None:
    put(root / "gone", "the person's\n")


@pytest.mark.parametrize(
    ("since", "path"),
    [(_edited, "text"), (_deleted, "text"), (_made_again, "gone")],
)
def test_what_somebody_changed_since_is_theirs(
    tmp_path: Path, since: Callable[[Path], None], path: str
) -> None:
    """[D-57, N346] it is named, the rest is undone, and what it replaced is kept."""
    half = Half(tmp_path)
    since(half.root)
    mine = (half.root / path).read_text() if (half.root / path).exists() else None
    for _ in range(2):
        told = half.undo()
        assert told == f"changed by somebody since an adoption that was not finished: {path}"
    assert ((half.root / path).read_text() if (half.root / path).exists() else None) == mine
    kept = {"text": "old-1", "gone": "old-2"}
    left = {each.name for each in half.stage.iterdir()}
    assert left == {"plan.json", kept[path]}


def test_a_new_file_that_somebody_has_used_since_stays(tmp_path: Path) -> None:
    half = Half(tmp_path)
    put(half.root / "new", "the person's\n")
    assert half.undo() is None
    assert (half.root / "new").read_text() == "the person's\n"
    assert (half.root / "text").read_text() == "old\n"


def test_a_folder_that_is_gone_by_now_is_no_reason_to_stop(tmp_path: Path) -> None:
    half = Half(tmp_path)
    rows = (
        Row(path=plan.hexed("no/new"), deed=Deed.CREATE, digest="x", program=False),
        Row(path=plan.hexed("no/old"), deed=Deed.MODIFY, digest="x", program=False),
    )
    whole = Plan(rows=rows, made=(plan.hexed("no/way"),), taken=())
    put(half.stage / "new-0")
    with half.opened(half.stage) as stage:
        assert plan.write(stage.fd, whole, "t")
    told = half.undo()
    assert told == "changed by somebody since an adoption that was not finished: no/old"


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b"garbage",
        b'{"rows":[{"path":"zz","deed":"create","digest":"","program":false}]}',
    ],
)
def test_a_plan_that_cannot_be_read_touches_nothing(tmp_path: Path, text: bytes) -> None:
    half = Half(tmp_path)
    (half.stage / plan.PLAN).write_bytes(text)
    before = snapshot(half.root)
    assert half.undo() == "what an adoption noted cannot be read"
    assert snapshot(half.root) == before
    assert (half.stage / "old-1").exists()


def test_a_plan_may_be_so_large_and_no_larger(tmp_path: Path) -> None:
    """limits.ADOPTION_PLAN_BYTES, at the limit and one past it."""
    bare = len(codec.encode(Plan(rows=(plan.row_of("", Deed.DELETE, None),))))
    room = limits.ADOPTION_PLAN_BYTES - bare
    row = Row(path="a" * room, deed=Deed.DELETE, digest="", program=False)
    with Half.opened(tmp_path) as stage:
        assert plan.write(stage.fd, Plan(rows=(row,)), "t")
        assert (tmp_path / plan.PLAN).stat().st_size == limits.ADOPTION_PLAN_BYTES
        longer = Row(path="a" * room, deed=Deed.DELETE, digest="b", program=False)
        assert not plan.write(stage.fd, Plan(rows=(longer,)), "t")


def test_a_path_of_any_bytes_comes_back() -> None:
    for name in (b"a", b"\xff\xfe", b"new\nline", "é".encode()):
        assert plan.plain(plan.hexed(os.fsdecode(name))) == os.fsdecode(name)


def test_a_new_file_that_has_its_place_and_its_staged_name_is_taken_away(tmp_path: Path) -> None:
    """Killed between the two: both names are one file."""
    half = Half(tmp_path)
    os.link(half.root / "new", half.stage / "new-0")
    assert half.undo() is None
    assert not (half.root / "new").exists()


def test_a_new_file_that_never_had_its_place_is_not_what_stands_there(tmp_path: Path) -> None:
    half = Half(tmp_path)
    put(half.stage / "new-0", "theirs?\n")
    assert half.undo() is None
    assert (half.root / "new").read_text() == "theirs?\n"


def test_ways_are_closed_after_all_that(tmp_path: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    half = Half(tmp_path)
    assert half.undo() is None
    with half.opened(half.root) as root:
        way = Way(root.fd)
        assert way.parent("no/where") is None
        way.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
