"""Numbered lines of a text of any size, fed in pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stella import limits
from stella.tools.window import Window


def window(text: str, first: int = 1, most: int = limits.READ_LINES, piece: int = 7) -> Window:
    made = Window(first, most)
    for start in range(0, len(text), piece):
        made.feed(text[start : start + piece])
    made.close()
    return made


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("a\nb", ["a", "b"]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\rb\n", ["a\rb"]),
        ("a\r\r\n", ["a\r"]),
        ("\r\n", [""]),
        ("a\u2028b\x0bc\n", ["a\u2028b\x0bc"]),
    ],
)
def test_lines_end_at_newlines_and_nowhere_else(text: str, lines: list[str]) -> None:
    made = window(text, piece=1)
    assert made.lines == lines
    assert made.total == len(lines)


def test_only_the_lines_asked_for_are_kept_and_all_are_counted() -> None:
    text = "".join(f"{number}\n" for number in range(1, 101))
    made = window(text, 40, 3)
    assert (made.lines, made.first, made.last, made.total) == (["40", "41", "42"], 40, 42, 100)
    made = window(text, 99, 5)
    assert (made.lines, made.last) == (["99", "100"], 100)
    made = window(text, 101, 5)
    assert (made.lines, made.last, made.total) == ([], 100, 100)


def test_a_line_at_the_limit_is_whole_and_a_longer_one_is_cut_with_a_marker() -> None:
    """T2-12: what is cut is counted, and a carriage return is no character of the line."""
    most = limits.READ_LINE_CHARS
    whole, over = "x" * most, "x" * most + "yz"
    for end in ("", "\n", "\r\n"):
        for piece in (1, 1000, 10_000):
            assert window(whole + end, piece=piece).lines == [whole]
            assert window(over + end, piece=piece).lines == [f"{whole} [2 more characters]"]


@given(st.text(alphabet="ab\r\n", max_size=60), st.integers(1, 6), st.integers(1, 9))
def test_pieces_make_no_difference(text: str, first: int, piece: int) -> None:
    whole, pieces = window(text, first, 3, 1000), window(text, first, 3, piece)
    assert (whole.lines, whole.total) == (pieces.lines, pieces.total)
    assert whole.total == len(text.split("\n")) - (text.endswith("\n") or not text)
