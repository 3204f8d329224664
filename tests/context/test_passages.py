"""[D-51] Passages: whole lines, short enough, under their heading."""

import pytest

from stella import limits
from stella.context.passages import Passage
from stella.context.passages import passages

MOST = limits.RECALL_PASSAGE_CHARS


def cut(text: str, *, headed: bool = False) -> list[Passage]:
    return list(passages(text, headed=headed))


def test_a_short_text_is_one_passage_without_the_blank_lines_around_it() -> None:
    assert cut("\n \nfirst\n\nlast\n\n") == [
        Passage(first=3, last=5, heading=None, text="first\n\nlast")
    ]


@pytest.mark.parametrize("text", ["", "\n", " \n\t\n", "\ufeff"])
def test_a_blank_text_has_none(text: str) -> None:
    assert cut(text) == []


def test_line_ends_of_other_systems_and_a_mark_are_left_out() -> None:
    (found,) = cut("\ufeffone\r\ntwo\r\n")
    assert (found.text, found.last) == ("one\ntwo", 2)


def test_a_passage_is_as_long_as_the_limit_and_no_longer() -> None:
    line = "x" * (MOST // 2)
    assert [each.text for each in cut(f"{line[1:]}\n{line}")] == [f"{line[1:]}\n{line}"]
    assert [(each.first, each.last, each.text) for each in cut(f"{line}\n{line}")] == [
        (1, 1, line),
        (2, 2, line),
    ]


def test_passages_hold_every_line_once_and_in_order() -> None:
    text = "\n".join(f"line {number} {'y' * (number % 70)}" for number in range(1, 1000))
    found = cut(text)
    assert len(found) > 10
    assert all(len(each.text) <= MOST for each in found)
    assert "\n".join(each.text for each in found) == text
    assert [each.first for each in found[1:]] == [each.last + 1 for each in found[:-1]]


def test_a_line_that_is_longer_than_a_passage_is_cut() -> None:
    found = cut("a\n" + "b" * (MOST + 1) + "\nc")
    assert [(each.first, each.last, len(each.text)) for each in found] == [
        (1, 1, 1),
        (2, 2, MOST),
        (2, 3, 3),
    ]


def test_a_heading_begins_a_passage_and_names_it() -> None:
    found = cut("intro\n# One\na\n## Two ##\nb\n#not one\n####### nor this\n", headed=True)
    assert [(each.heading, each.first, each.last) for each in found] == [
        (None, 1, 1),
        ("One", 2, 3),
        ("Two", 4, 7),
    ]


def test_a_comment_in_a_fence_is_no_heading() -> None:
    found = cut("# One\n```sh\n# comment\n```\n~~~\n# more\n~~~\n# Two\n", headed=True)
    assert [each.heading for each in found] == ["One", "Two"]


def test_a_heading_without_text_keeps_the_one_before() -> None:
    found = cut("# One\na\n# #\nb\n", headed=True)
    assert [each.heading for each in found] == ["One", "One"]


def test_only_markdown_has_headings() -> None:
    (found,) = cut("# one\nx\n# two\n")
    assert found.heading is None


def test_a_long_section_keeps_its_heading() -> None:
    found = cut("# One\n" + "word\n" * MOST, headed=True)
    assert len(found) > 2
    assert {each.heading for each in found} == {"One"}


def test_as_many_headings_begin_a_passage_as_the_limit_says() -> None:
    found = cut("".join(f"# {number}\n" for number in range(limits.RECALL_HEADINGS)), headed=True)
    assert len(found) == limits.RECALL_HEADINGS
    more = cut("".join(f"# {number}\n" for number in range(5000)), headed=True)
    assert limits.RECALL_HEADINGS < len(more) < limits.RECALL_HEADINGS + 30
    assert more[limits.RECALL_HEADINGS - 1].heading == str(limits.RECALL_HEADINGS - 1)
    assert more[-1].heading not in (None, str(limits.RECALL_HEADINGS - 1))


def test_a_heading_is_as_long_as_a_label_may_be() -> None:
    most = limits.RECALL_LABEL_CHARS
    (fits,) = cut(f"# {'h' * most}", headed=True)
    assert fits.heading == "h" * most
    (longer,) = cut(f"# {'h' * (most + 1)}", headed=True)
    assert longer.heading == f"{'h' * most} [1 more characters]"
