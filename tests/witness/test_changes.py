"""What changed between two trees, in words, lines and one digest [T2-50 to T2-55, D-26, D-43]."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stella import codec
from stella import limits
from stella.clock import SystemClock
from stella.turn.questions import Change
from stella.witness.changes import changes
from stella.witness.changes import digest
from stella.witness.tree import Tree
from stella.witness.tree import Unmeasured
from stella.witness.tree import glance
from tests.making.workspaces import fill
from tests.making.workspaces import relink
from tests.making.workspaces import workspace

NAMES = ("a", "b", "new", "sub/c", "link", "é\n")


def tree(root: Path, *names: str) -> Tree:
    return glance(root, names or NAMES, clock=SystemClock())


def changed(root: Path, work: Callable[[], object], *names: str) -> tuple[Change, ...]:
    before = tree(root, *names)
    work()
    return changes(before, tree(root, *names))


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    return workspace(tmp_path / "r", "b", "sub/c", a="1\n2\n3\n")


def test_an_untouched_tree_has_no_changes(root: Path) -> None:
    assert changed(root, lambda: None) == ()


def test_a_created_file(root: Path) -> None:
    """[T2-50, T2-54]"""
    (change,) = changed(root, lambda: fill(root, new="x\ny\n"))
    assert change == Change(
        path="new",
        kind="created",
        before=None,
        after=hashlib.sha256(b"x\ny\n").hexdigest(),
        added=2,
        removed=0,
        bytes=4,
        diff="--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+x\n+y\n",
    )


def test_a_modified_file(root: Path) -> None:
    (change,) = changed(root, lambda: fill(root, a="1\ntwo\n3\n4\n"))
    assert (change.kind, change.added, change.removed, change.bytes) == ("modified", 2, 1, 10)
    assert change.before == hashlib.sha256(b"1\n2\n3\n").hexdigest()
    assert change.after == hashlib.sha256(b"1\ntwo\n3\n4\n").hexdigest()
    assert change.diff == "--- a/a\n+++ b/a\n@@ -1,3 +1,4 @@\n 1\n-2\n+two\n 3\n+4\n"


def test_a_deleted_file(root: Path) -> None:
    (change,) = changed(root, (root / "a").unlink)
    assert (change.kind, change.added, change.removed, change.bytes) == ("deleted", 0, 3, 0)
    assert change.after is None
    assert change.diff == "--- a/a\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-1\n-2\n-3\n"


def test_changes_stand_in_path_order(root: Path) -> None:
    found = changed(root, lambda: fill(root, "sub/c", "new", b="x", a="y", sub__c="z"))
    assert [change.path for change in found] == ["a", "b", "new", "sub/c"]


def test_a_file_that_is_back_to_its_first_content_is_no_change(root: Path) -> None:
    """[T2-55]"""
    first = tree(root)
    fill(root, a="other")
    middle = tree(root)
    fill(root, a="1\n2\n3\n")
    (root / "b").chmod(0o777)
    os.utime(root / "b", (0, 0))
    assert len(changes(first, middle)) == 1
    assert changes(first, tree(root)) == ()


def test_a_file_that_becomes_a_link_with_equal_text_is_a_change(root: Path) -> None:
    fill(root, link="b")
    path = root / "link"
    (change,) = changed(root, lambda: relink(path, "b"))
    assert (change.path, change.kind) == ("link", "modified")
    assert change.diff is None


def test_a_retargeted_link_shows_its_texts(root: Path) -> None:
    path = root / "link"
    path.symlink_to("a")
    (change,) = changed(root, lambda: relink(path, "b"))
    assert (change.added, change.removed) == (1, 1)
    assert change.diff is not None
    assert "-a\n" in change.diff
    assert "+b\n" in change.diff


@pytest.mark.parametrize(("old", "new"), [(b"\0", b"text\n"), (b"text\n", b"\0"), (b"\0", b"\0\0")])
def test_a_binary_file_has_no_lines_and_no_diff(root: Path, old: bytes, new: bytes) -> None:
    """[T2-54]"""
    (root / "a").write_bytes(old)
    (change,) = changed(root, lambda: (root / "a").write_bytes(new))
    assert (change.added, change.removed, change.diff) == (0, 0, None)
    assert change.bytes == len(new)


def test_a_new_empty_file_has_no_diff(root: Path) -> None:
    (change,) = changed(root, (root / "new").touch)
    assert (change.kind, change.added, change.removed, change.diff) == ("created", 0, 0, None)


LARGE = "x\n" * limits.TREE_KEPT_FILE_BYTES


@pytest.mark.parametrize(("old", "new"), [(LARGE, "x\n"), ("x\n", LARGE)], ids=["old", "new"])
def test_lines_of_a_text_that_was_not_kept_are_unknown(root: Path, old: str, new: str) -> None:
    """[T2-54]: too large to compare is not the same as unchanged."""
    fill(root, a=old)
    (change,) = changed(root, lambda: fill(root, a=new))
    assert (change.added, change.removed, change.diff) == (None, None, None)
    assert change.bytes == len(new)


@pytest.mark.parametrize("extra", [0, 1])
def test_a_diff_above_the_bound_is_cut_with_a_marker(root: Path, extra: int) -> None:
    """[T2-54]"""
    head = "--- /dev/null\n+++ b/new\n@@ -0,0 +1,1 @@\n+\n"
    text = "é" * ((limits.DIFF_BYTES - len(head)) // 2)
    text += "x" * (limits.DIFF_BYTES - len(head) - len(text.encode()) + extra)
    (change,) = changed(root, lambda: fill(root, new=f"{text}\n"))
    assert change.diff is not None
    size = len(change.diff.encode())
    if not extra:
        assert (size, change.diff.endswith("\n")) == (limits.DIFF_BYTES, True)
        return
    assert limits.DIFF_BYTES - 4 <= size <= limits.DIFF_BYTES
    kept, _, marker = change.diff.rpartition("\n[")
    removed = limits.DIFF_BYTES + 1 - len(kept.encode())
    assert marker == f"{removed} more bytes of the diff were cut]\n"


def test_a_path_cannot_forge_a_line_of_the_diff(root: Path) -> None:
    (change,) = changed(root, lambda: (root / "é\n").write_text("x\n"))
    assert change.path == "é\n"
    assert change.diff is not None
    assert change.diff.splitlines()[:2] == ["--- /dev/null", "+++ b/é"]


def test_a_path_that_is_no_text_can_be_written_down(root: Path) -> None:
    name = os.fsdecode(b"\xff")
    (change,) = changed(root, lambda: fill(root, name), name)
    assert change.path == "\ufffd"
    assert codec.encode(change.path)
    assert change.diff is not None
    assert change.diff.splitlines()[1] == "+++ b/\ufffd"


# ── the digest of a round ─────────────────────────────────────────────────────────────


@pytest.mark.behaviour("D-43")
def test_the_digest_tells_every_difference_from_the_origin(root: Path) -> None:
    """[D-43]"""
    origin = tree(root)
    seen = [digest(origin, origin)]
    for text in ("x", "y"):
        fill(root, a=text)
        seen.append(digest(origin, tree(root)))
    fill(root, new="y")
    seen.append(digest(origin, tree(root)))
    (root / "b").unlink()
    seen.append(digest(origin, tree(root)))
    assert len(set(seen)) == len(seen)
    assert all(found is not None and found.startswith("sha256:") for found in seen)


@pytest.mark.behaviour("D-43")
def test_the_digest_is_of_the_state_and_not_of_the_way(root: Path) -> None:
    """[D-43, D-44]"""
    origin = tree(root)
    untouched = digest(origin, origin)
    fill(root, a="x", b="y")
    both = digest(origin, tree(root))
    fill(root, "b", a="1\n2\n3\n")
    assert digest(origin, tree(root)) == untouched
    fill(root, b="y", a="x")
    assert digest(origin, tree(root)) == both


@pytest.mark.behaviour("D-43")
def test_kind_and_path_are_part_of_the_digest(tmp_path: Path) -> None:
    """[D-43]"""
    empty = tree(workspace(tmp_path / "e"))
    one = tree(workspace(tmp_path / "1", a="x"))
    other = tree(workspace(tmp_path / "2", b="x"))
    both = tree(workspace(tmp_path / "3", a="x", b="x"))
    seen = [digest(a, b) for a, b in ((empty, one), (empty, other), (one, empty), (one, both))]
    assert seen[1] == seen[3]
    assert len(set(seen)) == 3


@pytest.mark.behaviour("D-43")
def test_an_unmeasured_tree_has_no_digest(root: Path) -> None:
    """[D-43]"""
    there, none = tree(root), Unmeasured(reason="too many")
    assert [digest(none, there), digest(there, none), digest(none, none)] == [None] * 3
