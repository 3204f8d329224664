"""A bounded walk in the order of paths that follows no link [G-33]."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from stella import limits
from stella.files.kind import Kind
from stella.witness.walk import Walk
from stella.witness.walk import beneath
from stella.witness.walk import left_out
from stella.witness.walk import outermost
from stella.witness.walk import parent
from stella.witness.walk import place
from tests.making.child import open_folder
from tests.making.child import said_by_nobody
from tests.making.workspaces import workspace


def paths(root: Path, *starts: str, most: int = limits.WATCHED_ENTRIES) -> list[str]:
    return [entry.path for entry in Walk(root, starts or ("",), most=most).entries()]


def test_parents_come_before_children_and_names_in_order(tmp_path: Path) -> None:
    root = workspace(tmp_path, "b/z", "b/a/x", "b.py", "a", "c")
    assert paths(root) == ["a", "b", "b/a", "b/a/x", "b/z", "b.py", "c"]
    assert paths(root) == sorted(paths(root), key=place)


def test_every_entry_has_its_kind_and_no_link_is_entered(tmp_path: Path) -> None:
    root = workspace(tmp_path, "d/f")
    (root / "link").symlink_to("d")
    (root / "nowhere").symlink_to("missing")
    os.mkfifo(root / "pipe")
    kinds = {entry.path: entry.kind for entry in Walk(root, [""]).entries()}
    assert kinds == {
        "d": Kind.DIRECTORY,
        "d/f": Kind.FILE,
        "link": Kind.LINK,
        "nowhere": Kind.LINK,
        "pipe": Kind.OTHER,
    }
    assert {entry.name for entry in Walk(root, ["d"]).entries()} == {"f"}


def test_version_control_and_what_the_host_writes_are_left_out(tmp_path: Path) -> None:
    """[Q-1]"""
    root = workspace(
        tmp_path,
        ".git/config",
        "sub/.git/config",
        ".stella/private/journal",
        ".stella/candidates/c1/conftest.py",
        ".stella/settings.toml",
        ".gitignore",
        "sub/.stella/private/x",
    )
    assert [path for path in paths(root) if (root / path).is_file()] == [
        ".gitignore",
        ".stella/settings.toml",
        "sub/.stella/private/x",
    ]
    assert left_out("a/.git/b")
    assert not left_out(".stella/privateer")


def test_a_file_named_like_version_control_is_left_out_too(tmp_path: Path) -> None:
    """A worktree and a submodule have a file there."""
    root = workspace(tmp_path, "sub/.git", "sub/a")
    assert paths(root) == ["sub", "sub/a"]


def test_several_starts_are_walked_once_each(tmp_path: Path) -> None:
    root = workspace(tmp_path, "a/b/x", "a/y", "c/z", "d")
    assert paths(root, "c", "a/b", "a", "a") == ["a/b", "a/b/x", "a/y", "c/z"]
    assert paths(root, "a", "") == paths(root)


def test_a_start_that_is_no_directory_gives_nothing(tmp_path: Path) -> None:
    walk = Walk(workspace(tmp_path, "f"), ["f", "missing"])
    assert list(walk.entries()) == []
    assert walk.unreadable == []


def test_the_walk_is_whole_at_the_bound_and_stops_past_it(tmp_path: Path) -> None:
    """[G-33]"""
    root = workspace(tmp_path, "a/1", "a/2", "b/1", "c")
    whole = Walk(root, [""], most=6)
    assert len(list(whole.entries())) == 6
    assert whole.horizon is None
    short = Walk(root, [""], most=5)
    assert [entry.path for entry in short.entries()] == ["a", "a/1", "a/2", "b"]
    assert short.horizon == ("b",)


def test_a_directory_with_too_many_entries_is_not_half_seen(tmp_path: Path) -> None:
    """Which half it would be is chance."""
    root = workspace(tmp_path, *(f"d/{n}" for n in range(9)))
    walk = Walk(root, [""], most=5)
    assert [entry.path for entry in walk.entries()] == ["d"]
    assert walk.horizon == ("d",)


def test_a_directory_that_may_not_be_listed_is_named() -> None:
    with open_folder() as folder:
        root = workspace(folder / "r", "a/x", "closed/y")
        (root / "closed").chmod(0o300)

        def look() -> str:
            walk = Walk(root, [""])
            found = [entry.path for entry in walk.entries()]
            return f"{found} {walk.unreadable}"

        said = said_by_nobody(look)
        (root / "closed").chmod(0o700)
    assert said == "['a', 'a/x', 'closed'] ['closed']"


@pytest.mark.parametrize(
    ("path", "directory", "lies"),
    [
        ("a/b", "a", True),
        ("a", "a", True),
        ("ab", "a", False),
        ("a", "a/b", False),
        ("a", "", True),
        ("", "", True),
    ],
)
def test_whether_a_path_lies_beneath_a_directory(path: str, directory: str, *, lies: bool) -> None:
    assert beneath(path, directory) is lies


def test_the_parent_of_a_path() -> None:
    assert [parent(path) for path in ("a/b/c", "a", "")] == ["a/b", "", ""]


@given(starts=st.lists(st.lists(st.sampled_from("ab"), max_size=3).map("/".join)))
@settings(deadline=None)
def test_the_outermost_starts_cover_all_and_none_covers_another(starts: list[str]) -> None:
    kept = outermost(starts)
    assert all(any(beneath(start, other) for other in kept) for start in starts)
    assert not [(a, b) for a in kept for b in kept if a != b and beneath(a, b)]
