import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stella import limits
from stella.escape import counted
from stella.escape import cut
from stella.escape import excerpt
from stella.escape import visible
from stella.escape import visible_flagged


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


@pytest.mark.parametrize(("number", "text"), [(0, "0 files"), (1, "1 file"), (2, "2 files")])
def test_nouns_agree_with_their_count(number: int, text: str) -> None:
    """[C-6]"""
    assert counted(number, "file") == text
