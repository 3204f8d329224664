"""`search`: what the model is shown, and that no expression holds the host up."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stella import limits
from stella.message import ErrorClass
from tests.making.clocks import HandClock
from tests.making.hands import hands
from tests.making.repositories import repository


def furnish(root: Path, **files: str) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_matches_are_sorted_by_path_and_line(tmp_path: Path) -> None:
    """T2-17: paths from the workspace root."""
    furnish(tmp_path, **{"b": "x\n", "a.txt": "1\nx 2\nx 3", "a/c": "\tx  y\n", "B": "x"})
    with hands(tmp_path) as own:
        text = own.text("search", pattern="x")
        assert text == "B:1:x\na.txt:2:x 2\na.txt:3:x 3\na/c:1:\tx  y\nb:1:x"
        assert own.data("search", pattern="x") == {"matches": 5, "complete": True}
        assert own.text("search", pattern="nowhere") == "[no match]"


def test_where_is_looked_can_be_said(tmp_path: Path) -> None:
    """T2-17: a directory, a file, a glob over the path from there [A-10]."""
    furnish(
        tmp_path, **{"top.py": "x\n", "src/a.py": "x\n", "src/b.txt": "x\n", "src/d/c.py": "x\n"}
    )
    with hands(tmp_path) as own:
        assert own.text("search", pattern="x", path="src/d") == "src/d/c.py:1:x"
        assert own.text("search", pattern="x", path="./src/b.txt") == "src/b.txt:1:x"
        assert own.text("search", pattern="x", path="src", glob="*.py") == (
            "src/a.py:1:x\nsrc/d/c.py:1:x"
        )
        assert own.text("search", pattern="x", path="src", glob="src/*") == "[no match]"
        assert own.text("search", pattern="x", path="src/b.txt", glob="*.py") == "[no match]"
        assert own.text("search", pattern="x", path="src/b.txt", glob="b*") == "src/b.txt:1:x"


def test_expressions_and_literal_text(tmp_path: Path) -> None:
    furnish(tmp_path, a="f(1)\nF[2]\n")
    with hands(tmp_path) as own:
        assert own.text("search", pattern=r"^f\(\d\)$") == "a:1:f(1)"
        assert own.text("search", pattern="f(1)", literal=True) == "a:1:f(1)"
        assert own.text("search", pattern="f[", literal=True, ignore_case=True) == "a:2:F[2]"


def test_lines_around_are_marked_and_groups_are_apart(tmp_path: Path) -> None:
    furnish(tmp_path, a="1\n2\nx\n4\n5\n6\nx\n", b="x\n")
    with hands(tmp_path) as own:
        text = own.text("search", pattern="x", context=1)
        assert text == "a-2-2\na:3:x\na-4-4\n--\na-6-6\na:7:x\n--\nb:1:x"
        assert own.data("search", pattern="x", context=1)["matches"] == 3
        assert "--" not in own.text("search", pattern="x")
        assert len(own.text("search", pattern="4", context=5).splitlines()) == 7


def test_the_limit_of_matches_is_said(tmp_path: Path) -> None:
    """T2-17."""
    furnish(tmp_path, a="x\n" * (limits.SEARCH_MATCHES + 1))
    with hands(tmp_path) as own:
        assert own.text("search", pattern="x", limit=2) == (
            "a:1:x\na:2:x\n[ended at the limit of 2 matches]"
        )
        text = own.text("search", pattern="x")
        assert text.endswith(f"[ended at the limit of {limits.SEARCH_MATCHES} matches]")
        data = own.data("search", pattern="x")
        assert data == {"matches": limits.SEARCH_MATCHES, "complete": False}


@pytest.mark.parametrize("over", [0, 1])
def test_lines_are_cut_to_three_hundred_characters(tmp_path: Path, over: int) -> None:
    """T2-17."""
    furnish(tmp_path, a="é" * (limits.SEARCH_LINE_CHARS + over) + "\n")
    with hands(tmp_path) as own:
        text = own.text("search", pattern="é")
    cut = " [1 more characters]" if over else ""
    assert text == f"a:1:{'é' * limits.SEARCH_LINE_CHARS}{cut}"


@pytest.mark.parametrize("over", [0, 1])
def test_of_a_long_line_each_part_is_looked_at(tmp_path: Path, over: int) -> None:
    furnish(tmp_path, a="a" * (limits.SEARCH_LINE_BYTES - 1 + over) + "x\n")
    with hands(tmp_path) as own:
        assert own.data("search", pattern="ax" if not over else "^x")["matches"] == 1


@pytest.mark.parametrize("over", [0, 1])
def test_a_nul_among_the_first_bytes_makes_a_file_binary(tmp_path: Path, over: int) -> None:
    (tmp_path / "a").write_bytes(b"x\n".ljust(limits.BINARY_PROBE_BYTES - 1 + over) + b"\0")
    with hands(tmp_path) as own:
        assert own.data("search", pattern="x")["matches"] == over


def test_a_pattern_that_does_not_compile_is_the_arguments_fault(tmp_path: Path) -> None:
    """T2-17: with the position."""
    furnish(tmp_path, a="x\n")
    with hands(tmp_path) as own:
        for pattern, position in {"ab(": 2, "*": 0, "(?P<n": 4}.items():
            error = own.fault("search", pattern=pattern)
            assert error.kind is ErrorClass.INVALID_INPUT
            assert error.message.endswith(f"at position {position}")


@dataclass(kw_only=True)
class LateClock(HandClock):
    """A clock by which the walk through the tree took long."""

    asked: int = 0

    def ticks(self) -> int:
        self.asked += 1
        return (limits.SEARCH_SECS - 1) * 1000 if self.asked > 1 else 0


def test_an_expression_that_does_not_end_is_ended_at_the_limit(tmp_path: Path) -> None:
    """T2-17: what was found by then is shown, and that it is not all is said."""
    furnish(tmp_path, a="xaa\n", b="a" * 64 + "!\n", c="xaa\n")
    with hands(tmp_path, clock=LateClock()) as own:
        output = own.do("search", pattern="x|^(a+)+$")
    assert output.ok is not None
    seconds = f"[ended after {limits.SEARCH_SECS} seconds; narrow the path or the pattern]"
    assert output.ok.content == f"a:1:xaa\n{seconds}"
    assert output.ok.data == {"matches": 1, "complete": False}


@dataclass(kw_only=True)
class SpentClock(HandClock):
    """A clock by which all the time is gone at every look."""

    asked: int = 0

    def ticks(self) -> int:
        self.asked += 1
        return self.asked * limits.SEARCH_SECS * 1000


def test_a_search_without_time_left_says_so(tmp_path: Path) -> None:
    furnish(tmp_path, a="x\n")
    with hands(tmp_path, clock=SpentClock()) as own:
        assert own.text("search", pattern="x").startswith("[ended after 20 seconds")


def test_ignored_files_records_links_and_special_files_are_left_out(tmp_path: Path) -> None:
    """T2-17, T2-31, T2-32."""
    root = repository(tmp_path / "r", {"a": "secret\n"}, ignored="*.log\n")
    furnish(root, **{"x.log": "secret\n", ".stella/private/x": "secret\n", ".git/x": "secret\n"})
    furnish(tmp_path, outside="secret\n")
    (root / "link").symlink_to("../outside")
    (root / "in").symlink_to("a")
    os.mkfifo(root / "pipe")
    with hands(root) as own:
        assert own.text("search", pattern="secret") == "a:1:secret"
        assert own.text("search", pattern="secret", path="in") == "a:1:secret"
        for path in ("link", "pipe", ".stella/private", ".stella/private/x", "/etc"):
            assert own.refused("search", pattern="secret", path=path) == "protected_path"
        assert own.fault("search", pattern="x", path="gone").kind is ErrorClass.NOT_FOUND
        assert own.fault("search", pattern="x", path="../x").kind is ErrorClass.INVALID_INPUT


def test_what_is_not_utf8_is_shown_and_counted(tmp_path: Path) -> None:
    """T2-3."""
    (tmp_path / os.fsdecode(b"\xff\n")).write_bytes(b"x\xff\n")
    with hands(tmp_path) as own:
        assert own.text("search", pattern="x") == "\ufffd\\u{A}:1:x\ufffd"
        assert own.data("search", pattern="x")["invalid_bytes"] == 1


def test_a_workspace_that_was_replaced_is_not_searched(tmp_path: Path) -> None:
    """G175: another directory in the place of the one that is held open."""
    root = tmp_path / "ws"
    furnish(root, a="x\n")
    with hands(root) as own:
        root.rename(tmp_path / "moved")
        furnish(root, a="x of a stranger\n")
        error = own.fault("search", pattern="x")
    assert error.kind is ErrorClass.ENVIRONMENT


def test_a_workspace_that_is_gone_is_an_answer(tmp_path: Path) -> None:
    """B13."""
    root = tmp_path / "ws"
    furnish(root, a="x\n")
    with hands(root) as own:
        root.rename(tmp_path / "moved")
        error = own.fault("search", pattern="x")
    assert error.kind is ErrorClass.ENVIRONMENT


def test_more_output_than_a_child_may_have_ends_the_search(tmp_path: Path) -> None:
    """T2-42: what came by then is shown."""
    deep = "/".join(["d" * 200] * 15)
    furnish(tmp_path, **{f"{deep}/a": "x\n" * 8000})
    with hands(tmp_path) as own:
        data = own.data("search", pattern="^$|x", context=5, limit=limits.SEARCH_MATCHES)
        assert data["matches"] == limits.SEARCH_MATCHES
        furnish(tmp_path, **{f"{deep}/a": ("x\n" + "y" * 299 + "\n" * 10) * 500})
        text = own.text("search", pattern="x", context=5, limit=limits.SEARCH_MATCHES)
    assert len(text.encode()) <= limits.RESULT_BYTES_FILE
    assert "bytes removed here]" in text
    assert text.endswith("[ended at the limit of output; narrow the path or the pattern]")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"pattern": ""},
        {"pattern": "a\0b"},
        {"pattern": "\ud800"},
        {"pattern": "x", "context": limits.SEARCH_CONTEXT + 1},
        {"pattern": "x", "context": -1},
        {"pattern": "x", "limit": 0},
        {"pattern": "x", "limit": limits.SEARCH_MATCHES + 1},
        {"pattern": "x", "regex": True},
        {"pattern": "x", "literal": "yes"},
    ],
)
def test_other_arguments_are_refused(tmp_path: Path, arguments: dict[str, Any]) -> None:
    """T2-10, T2-11."""
    with hands(tmp_path) as own:
        assert own.fault("search", **arguments).kind is ErrorClass.INVALID_INPUT


def test_searching_is_low_and_read_only(tmp_path: Path) -> None:
    """T2-10, A-5."""
    with hands(tmp_path) as own:
        [contract] = [c for c in own.toolbox.contracts if c.name == "search"]
        assert contract.trusted_read_only
        assert getattr(own.prepare("search", pattern="x", path="./a"), "paths", None) == ("./a",)
