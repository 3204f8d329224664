"""`list_files`: what the model is shown of a directory."""

import os
from pathlib import Path
from typing import Any

import pytest

from stella import limits
from stella.files.kind import Kind
from stella.message import ErrorClass
from stella.tools.list import ListFiles
from stella.tools.list import shown
from stella.tools.tree import Entry
from stella.tools.tree import Tree
from tests.making.hands import hands
from tests.making.repositories import repository


def furnish(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


def test_paths_are_relative_to_the_directory_and_sorted(tmp_path: Path) -> None:
    """T2-16."""
    furnish(tmp_path, "src/b", "src/a/c", "top")
    with hands(tmp_path) as own:
        assert own.text("list_files") == "src/\nsrc/a/\nsrc/a/c\nsrc/b\ntop"
        assert own.text("list_files", path="src") == "a/\na/c\nb"
        assert own.text("list_files", path=f"{tmp_path}/src/", depth=1) == "a/\nb"
        assert own.data("list_files", path="src") == {"entries": 3, "left_out": 0}


def test_a_glob_shows_what_fits(tmp_path: Path) -> None:
    """A-10: over the path from the directory, a directory without its slash."""
    furnish(tmp_path, "src/a.py", "src/deep/b.py", "src/c.txt", "src/pkg.py/d")
    with hands(tmp_path) as own:
        assert own.text("list_files", glob="*.py") == "src/a.py\nsrc/deep/b.py\nsrc/pkg.py/"
        assert own.text("list_files", path="src", glob="deep/*") == "deep/b.py"
        assert own.text("list_files", glob="nothing*") == "[nothing here fits the glob]"


def test_what_the_limit_leaves_out_is_counted(tmp_path: Path) -> None:
    """T2-16."""
    furnish(tmp_path, *"abcd")
    with hands(tmp_path) as own:
        text = own.text("list_files", limit=2)
        assert text == "a\nb\n[2 more paths left out by the limit of 2]"
        assert own.data("list_files", limit=2) == {"entries": 2, "left_out": 2}
        assert own.text("list_files", limit=4) == "a\nb\nc\nd"
        assert own.text("list_files", limit=3).endswith(
            "\n[1 more path left out by the limit of 3]"
        )


@pytest.mark.parametrize("count", [limits.LIST_ENTRIES, limits.LIST_ENTRIES + 1])
def test_two_thousand_paths_are_shown(tmp_path: Path, count: int) -> None:
    """T2-10."""
    furnish(tmp_path, *(f"{number:04}" for number in range(count)))
    with hands(tmp_path) as own:
        data = own.data("list_files")
    assert data == {"entries": limits.LIST_ENTRIES, "left_out": count - limits.LIST_ENTRIES}


def test_ignored_files_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    """T2-16."""
    root = furnish(repository(tmp_path / "r", {"a": ""}, ignored="*.log\n"), "x.log")
    with hands(root) as own:
        assert own.text("list_files") == ".gitignore\na"
        every = own.text("list_files", include_ignored=True).splitlines()
        assert {"x.log", ".git/", ".git/config"} <= set(every)


def test_an_empty_directory_has_nothing(tmp_path: Path) -> None:
    with hands(tmp_path) as own:
        assert own.text("list_files") == "[nothing here]"


def test_a_name_cannot_forge_a_line(tmp_path: Path) -> None:
    """C76, T2-3."""
    furnish(tmp_path, "a\nb\x1b[2J", os.fsdecode(b"\xff"))
    with hands(tmp_path) as own:
        assert own.text("list_files") == "a\\u{A}b\\u{1B}[2J\n\ufffd"
        assert own.data("list_files")["invalid_bytes"] == 1


def test_a_directory_behind_a_link_inside_is_listed(tmp_path: Path) -> None:
    """T2-31: and one outside, or what is no directory, is not."""
    root = furnish(tmp_path / "ws", "d/f", ".stella/private/x", ".git/config")
    (root / "in").symlink_to("d")
    (root / "out").symlink_to("..")
    with hands(root) as own:
        assert own.text("list_files", path="in") == "f"
        assert own.text("list_files", path=".git") == "config"
        assert own.refused("list_files", path="out") == "protected_path"
        assert own.refused("list_files", path=".stella/private") == "protected_path"
        assert own.fault("list_files", path="d/f").kind is ErrorClass.INVALID_INPUT
        assert own.fault("list_files", path="gone").kind is ErrorClass.NOT_FOUND


def test_a_survey_that_stopped_says_so() -> None:
    entries = (Entry(path="a", kind=Kind.FILE),)
    output = shown(ListFiles(), Tree(entries=entries, stopped=True))
    assert output.text == f"a\n[stopped after {limits.TREE_ENTRIES} paths; name a directory below]"


@pytest.mark.parametrize(
    "arguments",
    [
        {"depth": 0},
        {"depth": limits.LIST_DEPTH + 1},
        {"limit": 0},
        {"limit": limits.LIST_ENTRIES + 1},
        {"include_ignored": 1},
        {"recursive": True},
        {"path": ""},
    ],
)
def test_other_arguments_are_refused(tmp_path: Path, arguments: dict[str, Any]) -> None:
    """T2-10, T2-11."""
    with hands(tmp_path) as own:
        assert own.fault("list_files", **arguments).kind is ErrorClass.INVALID_INPUT


def test_listing_is_low_and_read_only(tmp_path: Path) -> None:
    """T2-10, A-5."""
    with hands(tmp_path) as own:
        [contract] = [c for c in own.toolbox.contracts if c.name == "list_files"]
        assert contract.trusted_read_only
        assert getattr(own.prepare("list_files", path="./x"), "paths", None) == ("./x",)
