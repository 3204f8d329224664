"""Replacing text in bytes: exactly what was meant, with every other byte and ending as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stella import limits
from stella.tools.replace import NotFound
from stella.tools.replace import NotReplaced
from stella.tools.replace import contents_of
from stella.tools.replace import replaced


def done(data: bytes, old: str, new: str, *, every: bool = False) -> bytes:
    return replaced(contents_of(data), old, new, every=every)[0].data


def fault(data: bytes, old: str, new: str, *, every: bool = False) -> str:
    with pytest.raises(NotReplaced) as raised:
        replaced(contents_of(data), old, new, every=every)
    return str(raised.value)


@given(st.binary(max_size=60) | st.text(alphabet="a\r\n", max_size=30).map(str.encode))
def test_taking_a_file_apart_loses_nothing(data: bytes) -> None:
    assert contents_of(data).data == data


def test_one_occurrence_is_replaced() -> None:
    assert done(b"one two three", "two", "2") == b"one 2 three"
    assert done(b"one two three", "two ", "") == b"one three"
    assert done(b"a\nb\nc\n", "a\nb", "x\ny\nz") == b"x\ny\nz\nc\n"


def test_every_occurrence_is_replaced_when_asked_and_counted() -> None:
    """T2-14."""
    contents, count = replaced(contents_of(b"aXaXa"), "X", "YY", every=True)
    assert (contents.data, count) == (b"aYYaYYa", 2)
    assert done(b"aaa", "aa", "b", every=True) == b"ba"


def test_more_than_one_occurrence_is_refused_with_number_and_lines() -> None:
    """T2-14."""
    message = fault(b"x\ny\nx x\n", "x", "z")
    assert "occurs 3 times (lines 1, 3, 3)" in message
    assert "replace_all" in message
    many = fault(b"x\n" * (limits.VOCABULARY_SHOWN + 1), "x", "z")
    assert "occurs 21 times" in many
    assert "20, …)" in many


def test_an_occurrence_that_overlaps_itself_is_more_than_one() -> None:
    """T2-14: which of the two places is meant is not said."""
    assert "more than once, overlapping" in fault(b"-aaa-", "aa", "b")


def test_no_occurrence_is_refused_with_the_nearest_line() -> None:
    """T2-14."""
    data = b"def one():\n    return 1\n\ndef two():\n    return 2\n"
    with pytest.raises(NotFound):
        replaced(contents_of(data), "x", "y", every=False)
    message = fault(data, "\n   def twoo():\n", "x", every=True)
    assert message == 'the text does not occur; the nearest line is 4: "def two():"'
    assert fault(data, "zzzzzzzz", "x") == "the text does not occur, and no line is near it"
    assert fault(b"", "a", "b") == "the text does not occur, and no line is near it"
    assert fault(b"abc\n", " \n", "b") == "the text does not occur, and no line is near it"


def test_the_nearest_line_is_shown_safely() -> None:
    """C76."""
    assert '"caf\\u{1B}e"' in fault(b"caf\x1be\n", "cafe", "x")


def test_only_so_many_lines_are_compared() -> None:
    filler = b"\n" * (limits.LINES_COMPARED - 1)
    assert "nearest line is 2000" in fault(filler + b"needle\n", "needlf", "x")
    assert "no line is near" in fault(filler + b"\nneedle\n", "needlf", "x")


def test_nothing_to_change_is_refused() -> None:
    """T2-14."""
    assert fault(b"a", "a", "a") == "the two texts are equal"
    assert "line endings only" in fault(b"a\n", "a\n", "a\r\n")


def test_text_that_is_no_text_is_refused() -> None:
    assert "character 1" in fault(b"a", "a\ud800", "b")
    assert "character 0" in fault(b"a", "a", "\udfff")


# ── line endings ──────────────────────────────────────────────────────────────────────


def test_plain_newlines_match_a_file_of_the_other_kind_and_its_kind_is_kept() -> None:
    """T2-14, G8."""
    data = b"a\r\nb\r\nc\r\n"
    assert done(data, "a\nb\n", "x\ny\nz\n") == b"x\r\ny\r\nz\r\nc\r\n"
    assert done(data, "a\r\nb", "x\r\ny\r\nz") == b"x\r\ny\r\nz\r\nc\r\n"
    assert done(data, "b", "1\n2") == b"a\r\n1\r\n2\r\nc\r\n"
    assert done(data, "a\nb\n", "") == b"c\r\n"


def test_returns_are_not_brought_into_a_file_without() -> None:
    """T2-14."""
    assert done(b"a\nb\nc\n", "a\r\nb", "x\r\ny") == b"x\ny\nc\n"
    assert done(b"a\nb\n", "b", "1\r\n2") == b"a\n1\n2\n"


def test_in_a_mixed_file_untouched_lines_keep_their_own_ending() -> None:
    """T2-14: and new lines take those of the lines they stand for."""
    data = b"a\r\nb\nc\r\nd\n"
    assert done(data, "b", "x") == b"a\r\nx\nc\r\nd\n"
    assert done(data, "a\nb\nc", "1\n2\n3") == b"1\r\n2\n3\r\nd\n"
    assert done(data, "a\nb\nc", "1\n2\n3\n4") == b"1\r\n2\n3\n4\r\nd\n"
    assert done(data, "a\nb\nc\nd", "z") == b"z\n"
    assert done(data, "d", "1\n2") == b"a\r\nb\nc\r\n1\n2\n"
    assert done(b"a\r\nb\r\nc", "c", "1\n2") == b"a\r\nb\r\n1\r\n2"


def test_the_last_newline_is_there_or_not_as_it_was() -> None:
    """T2-14."""
    assert done(b"a\nb", "a", "x") == b"x\nb"
    assert done(b"a\nb\n", "b", "x") == b"a\nx\n"


def test_bytes_that_are_no_text_stay() -> None:
    assert done(b"\xff\r\na\0\xfe", "a", "é") == b"\xff\r\n\xc3\xa9\0\xfe"


def test_a_lone_return_is_a_character() -> None:
    assert done(b"a\rb\r\n", "a\rb", "x\ry") == b"x\ry\r\n"


PIECES = st.text(alphabet="ab\n", max_size=12)


@given(
    st.lists(st.tuples(st.text(alphabet="ab\xff", max_size=3), st.sampled_from(["\n", "\r\n"]))),
    st.text(alphabet="ab\n", min_size=1, max_size=4),
    PIECES,
)
def test_a_replacement_is_that_of_the_plain_text_and_ends_stay(
    lines: list[tuple[str, str]], old: str, new: str
) -> None:
    """T2-14: for every file, as if all endings were plain, and a pure file stays pure."""
    data = "".join(line + end for line, end in lines).encode()
    plain = data.replace(b"\r\n", b"\n")
    if old == new or old.encode() not in plain:
        return
    after = done(data, old, new, every=True)
    assert after.replace(b"\r\n", b"\n") == plain.replace(old.encode(), new.encode())
    if {end for _, end in lines} == {"\r\n"}:
        assert after.count(b"\n") == after.count(b"\r\n")
    if {end for _, end in lines} == {"\n"}:
        assert b"\r" not in after
