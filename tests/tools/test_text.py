"""Text fit for a result: nothing is dropped without a line that says how much."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stella import limits
from stella.message import ErrorClass
from stella.message import failed
from stella.message import succeeded
from stella.tools.text import cut_middle
from stella.tools.text import decoded
from stella.tools.text import kept_lines
from stella.tools.text import path_shown
from stella.tools.text import within


@pytest.mark.parametrize(
    ("data", "text", "invalid"),
    [
        (b"", "", 0),
        (b"plain", "plain", 0),
        ("é€😀".encode(), "é€😀", 0),
        (b"a\xffb", "a\ufffdb", 1),
        (b"\xe2\x82", "\ufffd", 2),
        (b"\xff\xfe\xe2\x82\xacx", "\ufffd\ufffd€x", 2),
        ("\ufffd".encode(), "\ufffd", 0),
    ],
)
def test_bytes_that_are_not_utf8_are_shown_and_counted(
    data: bytes, text: str, invalid: int
) -> None:
    """T2-3: a replacement character that stands in the data is none of them."""
    assert decoded(data) == (text, invalid)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("a/b c", "a/b c"),
        ("two  spaces", "two  spaces"),
        ("é/日本", "é/日本"),
        ("a\nb", "a\\u{A}b"),
        ("a\x1b[31m", "a\\u{1B}[31m"),
        ("a\u202eb", "a\\u{202E}b"),
        ("nul\0", "nul\\u{0}"),
    ],
)
def test_a_path_stays_on_its_line(path: str, shown: str) -> None:
    """C76: and is otherwise written as it is."""
    assert path_shown(path) == (shown, 0)


def test_a_path_that_is_not_utf8_is_shown_and_counted() -> None:
    assert path_shown("a\udcff\udcfe") == ("a\ufffd\ufffd", 2)
    assert path_shown("a\ud800") == ("a?", 0)


def test_text_at_the_limit_is_whole_and_one_byte_past_it_is_cut() -> None:
    """T2-3: for a tool of each kind."""
    for most in (limits.RESULT_BYTES_SHELL, limits.RESULT_BYTES_FILE):
        text = "x" * most
        assert cut_middle(text, most) == text
        cut = cut_middle(text + "y", most)
        assert len(cut.encode()) <= most
        assert cut.endswith("y")


def test_the_middle_is_cut_and_two_fifths_of_what_is_kept_is_head() -> None:
    """T2-3: the line between names the bytes removed, exactly."""
    text = "".join(f"{number:09}\n" for number in range(20_000))
    cut = cut_middle(text, limits.RESULT_BYTES_SHELL)
    head, removed, tail = re.fullmatch(
        r"(.*)\n\[(\d+) bytes removed here\]\n(.*)", cut, re.DOTALL
    ).groups()  # type: ignore[union-attr]  # a cut text has this form, or the test fails here
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + int(removed) + len(tail) == len(text)
    assert len(head) / (len(head) + len(tail)) == pytest.approx(0.4, abs=0.001)
    assert len(cut) > limits.RESULT_BYTES_SHELL - 100


@given(st.text(max_size=400), st.integers(min_value=128, max_value=600))
def test_a_cut_text_fits_and_says_how_much_is_gone(text: str, most: int) -> None:
    """T2-3: characters of several bytes are never cut in two."""
    cut = cut_middle(text, most)
    size = len(text.encode())
    if size <= most:
        assert cut == text
        return
    assert len(cut.encode()) <= most
    match = re.search(r"\n\[(\d+) bytes removed here\]\n", cut)
    assert match is not None
    assert size - int(match[1]) == len(cut.encode()) - len(match[0].encode())


def test_lines_that_fit_are_all_kept() -> None:
    assert kept_lines([10] * 100, 1000) == (100, 0)
    assert kept_lines([], 0) == (0, 0)


def test_lines_that_do_not_fit_are_kept_whole_at_both_ends() -> None:
    head, tail = kept_lines([10] * 200, 1128)
    assert (head, tail) == (40, 60)
    assert kept_lines([5000, 10, 10], 1000) == (0, 2)
    assert kept_lines([10, 10, 5000], 1000) == (2, 0)
    assert kept_lines([5000], 1000) == (0, 0)


@given(st.lists(st.integers(min_value=1, max_value=300), max_size=60), st.integers(128, 3000))
def test_kept_lines_fit_and_never_overlap(sizes: list[int], most: int) -> None:
    head, tail = kept_lines(sizes, most)
    assert head + tail <= len(sizes)
    assert sum(sizes[:head]) + sum(sizes[len(sizes) - tail :]) <= most


def test_a_result_of_either_kind_is_cut_and_keeps_the_rest() -> None:
    good = succeeded("x" * 1000, {"a": 1})
    bad = failed(ErrorClass.TIMEOUT, "x" * 1000, "cause", {"b": 2})
    assert within(good, 1000) is good
    assert within(bad, 1000) is bad
    short = within(good, 500)
    assert short.ok is not None
    assert (len(short.ok.content) <= 500, short.ok.data) == (True, {"a": 1})
    short = within(bad, 500)
    assert short.error is not None
    assert len(short.error.message) <= 500
    assert (short.error.kind, short.error.cause) == (ErrorClass.TIMEOUT, "cause")
    assert short.error.data == {"b": 2}
