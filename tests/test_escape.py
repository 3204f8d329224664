import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stella import limits
from stella.escape import brief
from stella.escape import counted
from stella.escape import cut
from stella.escape import excerpt
from stella.escape import listed
from stella.escape import visible
from stella.escape import visible_flagged
from stella.escape import visible_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("  a \t\r\n b  ", "a b"),
        ("a\u00a0\u3000b", "a b"),
        ("\x1b[31mred", "\\u{1B}[31mred"),
        ("a\u202eb", "a\\u{202E}b"),
        ("a\u200bb", "a\\u{200B}b"),
        ("a\u2028b\u2029c", "a\\u{2028}b\\u{2029}c"),
        ("\x00\x7f\x9b", "\\u{0}\\u{7F}\\u{9B}"),
        ("a\x0bb\x0cc\x85d\x1ce\x1ff", "a\\u{B}b\\u{C}c\\u{85}d\\u{1C}e\\u{1F}f"),
        ("\ud800", "\\u{D800}"),
        ("日本 😀 é", "日本 😀 é"),
        ("", ""),
    ],
)
@pytest.mark.behaviour("K-167", "C64", "C65")
def test_hidden_characters_are_shown_and_spaces_merge(text: str, shown: str) -> None:
    """[C-3, Q-19]"""
    assert visible(text) == shown


def test_whether_anything_was_escaped_is_said() -> None:
    """[C-4]"""
    assert visible_flagged("a\tb") == ("a b", False)
    assert visible_flagged("a\x07b") == ("a\\u{7}b", True)


@pytest.mark.parametrize(
    "char",
    [
        *("\u2800", "\u3164", "\u115f", "\u1160", "\uffa0", "\u034f", "\u2065", "\ufff0"),
        *("\u17b4", "\u17b5", "\u180b", "\u180c", "\u180d", "\u180e", "\u180f", "\ufe00"),
        *("\ufe0f", "\U000e0100", "\U000e01ef", "\U000e0fff"),
    ],
)
def test_what_is_drawn_as_nothing_or_as_a_blank_is_shown(char: str) -> None:
    """[C-3, C-4]"""
    assert visible_flagged(f"a{char}b") == (f"a\\u{{{ord(char):X}}}b", True)


@pytest.mark.parametrize("char", ["\u2801", "\u0350", "\u3165", "\ufe10", "\ufffd", "\u17b6"])
def test_their_neighbours_stay(char: str) -> None:
    assert visible_flagged(f"a{char}b") == (f"a{char}b", False)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("one\n\n\ttwo  three\r\n\u3000four\n", "one\n\n\ttwo  three\r\n\u3000four\n"),
        ("over\rwritten", "over\\u{D}written"),
        ("x\r\r\ny\r", "x\\u{D}\r\ny\\u{D}"),
        ("\x1b[2J\x1b]0;t\x07", "\\u{1B}[2J\\u{1B}]0;t\\u{7}"),
        ("a\u202eb\u200b\x9b\u2028\ud800", "a\\u{202E}b\\u{200B}\\u{9B}\\u{2028}\\u{D800}"),
    ],
)
def test_lines_stay_lines_and_do_nothing_else_to_a_screen(text: str, shown: str) -> None:
    """[S-42, S-21]"""
    assert visible_lines(text) == shown


@given(st.text())
def test_no_text_forges_a_line_or_hides_a_character(text: str) -> None:
    shown = visible(text)
    assert shown == shown.strip(" ")
    for char in shown:
        assert unicodedata.category(char) not in {"Cc", "Cf", "Zl", "Zp", "Cs"}
        assert char == " " or unicodedata.category(char) != "Zs"


@given(st.text())
def test_showing_twice_changes_nothing_more(text: str) -> None:
    assert visible(visible(text)) == visible(text)


def test_an_excerpt_is_the_end() -> None:
    """[T-29] limits.EXCERPT_CHARS, at the limit and one past it."""
    assert excerpt("x" * limits.EXCERPT_CHARS) == "x" * limits.EXCERPT_CHARS
    assert excerpt("a" + "x" * limits.EXCERPT_CHARS) == "x" * limits.EXCERPT_CHARS


def test_a_cut_says_what_is_missing() -> None:
    assert cut("abc", 3) == "abc"
    assert cut("abcde", 3) == "abc [2 more characters]"


def test_author_text_in_a_message_is_visible_and_cut() -> None:
    """[M-7] limits.FAULT_VALUE_CHARS, at the limit and one past it."""
    assert brief("a\n\x1bb") == r"a \u{1B}b"
    assert brief("a" * limits.FAULT_VALUE_CHARS) == "a" * limits.FAULT_VALUE_CHARS
    assert brief("a" * (limits.FAULT_VALUE_CHARS + 1)).endswith(" [1 more characters]")


def test_a_long_list_says_how_many_are_missing() -> None:
    assert listed([], 2) == ""
    assert listed(["a", "b"], 2) == "a, b"
    assert listed(["a", "b\n\x1b", "c", "d"], 2) == r"a, b \u{1B} and 2 more"


@pytest.mark.parametrize(("number", "text"), [(0, "0 files"), (1, "1 file"), (2, "2 files")])
def test_nouns_agree_with_their_count(number: int, text: str) -> None:
    """[C-6]"""
    assert counted(number, "file") == text
