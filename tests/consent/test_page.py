import pytest

from stella.consent.page import Page
from stella.consent.page import Shown
from stella.consent.page import exact
from stella.consent.page import joined
from stella.consent.page import quoted
from stella.consent.page import shown


def test_a_sentence_is_on_one_line_and_says_when_it_hid_something() -> None:
    """[C-3, C-4]"""
    assert shown(" a \n b ") == Shown("a b")
    assert shown("a\u202eb") == Shown(r"a\u{202E}b", hidden=True)


@pytest.mark.parametrize("text", ["a", "a b", "a,b", "${plugin_dir}/main.py", "\u00e9\u4e16"])
def test_words_that_cannot_be_misread_stand_plain(text: str) -> None:
    """[C-11]"""
    assert exact(text) == Shown(text)


@pytest.mark.parametrize(
    ("text", "apart", "form"),
    [
        ("", "", '""'),
        ("a b", " ", '"a b"'),
        ("a,b", ",", '"a,b"'),
        ('a"b', "", r'"a\"b"'),
        ("a\\b", "", r'"a\\b"'),
        (r"\u{20}", "", r'"\\u{20}"'),
    ],
)
def test_words_that_could_be_misread_stand_in_quotation_marks(
    text: str, apart: str, form: str
) -> None:
    """[C79]"""
    assert exact(text, apart) == Shown(form)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (" a", r'"\u{20}a"'),
        ("a ", r'"a\u{20}"'),
        ("a  b", r'"a\u{20}\u{20}b"'),
        ("a\tb", r'"a\u{9}b"'),
        ("a\nb", r'"a\u{A}b"'),
        ("a\u00a0b", r'"a\u{A0}b"'),
        ("a\u200bb", r'"a\u{200B}b"'),
        ("a\x1bb", r'"a\u{1B}b"'),
        ("a\u2028b", r'"a\u{2028}b"'),
    ],
)
def test_unusual_spaces_and_hidden_characters_are_shown_each(text: str, form: str) -> None:
    """[C-3, C79, C64, C65]"""
    assert exact(text) == quoted(text) == Shown(form, hidden=True)


def test_words_in_a_row_are_hidden_when_one_of_them_is() -> None:
    assert joined([Shown("a"), Shown("b")]) == Shown("a, b")
    assert joined([Shown("a"), Shown("b", hidden=True)], " ") == Shown("a b", hidden=True)
    assert joined([]) == Shown("")


def test_a_line_that_hid_something_is_flagged_and_the_page_remembers() -> None:
    """[C-4, C-22]"""
    page = Page()
    page.line("a", shown("b"))
    before = page.hidden
    page.gap()
    page.line("c", Shown("d", hidden=True), "e")
    page.line("f")
    assert (before, page.hidden) == (False, True)
    assert page.text() == "ab\n\ncde [hidden characters]\nf"
