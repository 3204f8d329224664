"""What is below a directory: no link followed, nothing ignored, nothing of the host's own."""

import asyncio
import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from stella import limits
from stella.files.kind import Kind
from stella.tools.paths import Purpose
from stella.tools.paths import Spot
from stella.tools.paths import opened_directory
from stella.tools.paths import walk
from stella.tools.tree import Offer
from stella.tools.tree import Tree
from stella.tools.tree import View
from stella.tools.tree import names_in
from stella.tools.tree import offered
from stella.tools.tree import surveyed
from tests.making.hands import hands
from tests.making.repositories import repository


def seen(
    root: Path,
    below: str = ".",
    *,
    depth: int | None = None,
    ignored: bool = False,
    most: int = limits.TREE_ENTRIES,
) -> Tree:
    with hands(root) as own, ExitStack() as held:
        spot = walk(own.context.root, below, Purpose.READ, held)
        assert isinstance(spot, Spot)
        top = opened_directory(spot, held)
        assert isinstance(top, int)
        offer = None if ignored else asyncio.run(offered(own.context))
        view = View(base=spot.parts, offer=offer, git=ignored, depth=depth, most=most)
        return asyncio.run(surveyed(top, view))


def shown(
    root: Path, below: str = ".", *, depth: int | None = None, ignored: bool = False
) -> list[str]:
    return [entry.shown for entry in seen(root, below, depth=depth, ignored=ignored).entries]


def furnish(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def test_entries_are_sorted_by_code_point_and_directories_end_with_a_slash(
    tmp_path: Path,
) -> None:
    """T2-16, E-141."""
    furnish(tmp_path, "b", "a/x", "a.txt", "a-b", "B", "é", "a/y/z")
    found = shown(tmp_path)
    assert found == ["B", "a-b", "a.txt", "a/", "a/x", "a/y/", "a/y/z", "b", "é"]
    assert found == sorted(found)


def test_the_depth_is_that_of_the_entries(tmp_path: Path) -> None:
    furnish(tmp_path, "a/b/c/d")
    assert shown(tmp_path, depth=1) == ["a/"]
    assert shown(tmp_path, depth=3) == ["a/", "a/b/", "a/b/c/"]
    assert shown(tmp_path, "a/b") == ["c/", "c/d"]


def test_links_are_entries_and_not_followed(tmp_path: Path) -> None:
    """T2-31."""
    root = furnish(tmp_path / "ws", "d/f")
    furnish(tmp_path, "outside/secret")
    (root / "loop").symlink_to(".")
    (root / "out").symlink_to("../outside")
    os.mkfifo(root / "pipe")
    tree = seen(root)
    assert [entry.shown for entry in tree.entries] == ["d/", "d/f", "loop", "out", "pipe"]
    kinds = {entry.path: entry.kind for entry in tree.entries}
    assert kinds == {
        "d": Kind.DIRECTORY,
        "d/f": Kind.FILE,
        "loop": Kind.LINK,
        "out": Kind.LINK,
        "pipe": Kind.FIFO,
    }


def test_without_version_control_all_but_its_own_and_the_hosts_records_is_shown(
    tmp_path: Path,
) -> None:
    """T2-16, T2-32."""
    furnish(
        tmp_path,
        *(".git/config", "sub/.git/config", ".stella/private/x", ".stella/rules/a"),
        *(".gitignore", "x.log", ".stella-tmp-ses-1", "sub/.stella/private/kept"),
    )
    expected = [
        *(".gitignore", ".stella/", ".stella/rules/", ".stella/rules/a", "sub/", "sub/.stella/"),
        *("sub/.stella/private/", "sub/.stella/private/kept", "x.log"),
    ]
    assert shown(tmp_path) == expected
    with_git = shown(tmp_path, ignored=True)
    assert set(with_git) - set(expected) == {
        *(".git/", ".git/config", "sub/.git/", "sub/.git/config"),
    }
    assert shown(tmp_path, ".stella") == ["rules/", "rules/a"]


def test_what_version_control_ignores_is_left_out(tmp_path: Path) -> None:
    """T2-16: at any depth, and from a directory below too."""
    root = repository(tmp_path / "r", {"a": "", "src/b": ""}, ignored="*.log\nbuild/\n")
    furnish(root, "new", "x.log", "src/y.log", "build/z", "src/build/z", "build/log/deep")
    assert shown(root) == [".gitignore", "a", "new", "src/", "src/b"]
    assert shown(root, "src") == ["b"]
    assert shown(root, "build") == []
    assert "build/z" in shown(root, ignored=True)


def test_an_empty_directory_is_shown_although_version_control_does_not_know_it(
    tmp_path: Path,
) -> None:
    root = repository(tmp_path / "r", {"a": ""}, ignored="*.log\n")
    (root / "empty" / "nested" / "deeper").mkdir(parents=True)
    furnish(root, "logs/deep/x.log")
    assert shown(root) == [".gitignore", "a", "empty/", "empty/nested/", "empty/nested/deeper/"]


def test_what_is_hollow_is_looked_for_to_a_depth(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a": ""})
    deep = Path(*("d" for _ in range(limits.LIST_DEPTH + 1)))
    (root / deep.parent).mkdir(parents=True)
    assert len(shown(root)) == 1 + limits.LIST_DEPTH
    (root / deep).mkdir()
    assert shown(root) == ["a"]


def test_a_repository_inside_is_shown_in_full(tmp_path: Path) -> None:
    """Version control tells its place only; whether it is tracked or not."""
    root = repository(tmp_path / "r", {"a": ""})
    repository(root / "in" / "ner", {"b": "", "d/c": ""})
    expected = ["a", "in/", "in/ner/", "in/ner/b", "in/ner/d/", "in/ner/d/c"]
    assert shown(root) == expected
    offer = Offer(files=frozenset({"sub"}), folders=frozenset())
    assert offer.leads("sub")
    assert offer.shows("sub/x")
    assert offer.leads("sub/d")
    assert not offer.leads("subs")


def test_a_tracked_file_that_is_gone_is_not_shown(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a": "", "d/b": ""})
    (root / "d" / "b").unlink()
    (root / "d").rmdir()
    assert shown(root) == ["a"]


def test_a_name_that_is_not_utf8_is_an_entry(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a": ""})
    furnish(root, os.fsdecode(b"\xff/\xfe"))
    assert shown(root) == ["a", "\udcff/", "\udcff/\udcfe"]


def test_a_directory_that_cannot_be_looked_into_is_shown_empty(tmp_path: Path) -> None:
    """It went away, or is a link by now: nothing below it is there."""
    furnish(tmp_path, "d/f")
    (tmp_path / "link").symlink_to("d")
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        assert list(names_in(descriptor, ("gone",))) == []
        assert list(names_in(descriptor, ("link",))) == []
        assert [name for name, _ in names_in(descriptor, ("d",))] == ["f"]
        before = len(list(Path("/proc/self/fd").iterdir()))
        list(names_in(descriptor, ("d", "gone")))
        assert len(list(Path("/proc/self/fd").iterdir())) == before
    finally:
        os.close(descriptor)


@pytest.mark.parametrize(("count", "stopped"), [(9, False), (10, True)])
def test_only_so_many_entries_are_looked_at(tmp_path: Path, count: int, *, stopped: bool) -> None:
    """A tree without end does not fill the memory."""
    furnish(tmp_path, *(f"d/{number}" for number in range(count - 1)))
    tree = seen(tmp_path, most=9)
    assert (len(tree.entries), tree.stopped) == (9, stopped)
    assert View(base=(), offer=None).most == limits.TREE_ENTRIES
