"""The difference of two consent texts leaves out nothing that moved, came or went."""

from hypothesis import given
from hypothesis import strategies

from stella.consent.difference import difference

LINES = strategies.lists(strategies.sampled_from(["a", "b", "c", "", "  - d"]), max_size=12)


@given(LINES, LINES)
def test_texts_that_differ_have_a_difference_and_equal_ones_none(
    old: list[str], new: list[str]
) -> None:
    """I-31, I-36: what is gone and what stays make up the old text, and so for the new."""
    before, after = "\n".join(old), "\n".join(new)
    found = difference(before, after)
    assert bool(found) == (before != after)
    gone = sorted(line[2:] for line in found if line.startswith("- "))
    come = sorted(line[2:] for line in found if line.startswith("+ "))
    lines = before.split("\n") if before else []
    news = after.split("\n") if after else []
    assert sorted([*lines, *come]) == sorted([*news, *gone])


def test_the_order_is_that_of_the_texts() -> None:
    assert difference("head\none\ntwo\nend", "head\nONE\ntwo\nmore\nend") == (
        "- one",
        "+ ONE",
        "+ more",
    )
    assert difference("a\nb", "b\na")


def test_without_a_text_before_all_is_new() -> None:
    """I-38."""
    assert difference("", "a\n\nb") == ("+ a", "+ ", "+ b")


def test_long_texts_are_told_whole_between_what_they_share() -> None:
    many = [f"line {n}" for n in range(400)]
    found = difference("\n".join(["x", *many, "y"]), "\n".join(["x", *reversed(many), "y"]))
    assert found == (*(f"- {line}" for line in many), *(f"+ {line}" for line in reversed(many)))


def test_a_record_that_was_edited_cannot_move_the_cursor() -> None:
    """C-3."""
    assert difference("a\x1b[2J", "a") == (r"- a\u{1B}[2J", "+ a")
