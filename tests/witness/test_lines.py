"""Line differences: exact while they are small, bounded always [T2-54]."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from stella import limits
from stella.witness.lines import Span
from stella.witness.lines import Steps
from stella.witness.lines import spans
from stella.witness.lines import split
from stella.witness.lines import unified

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d", "\n"]), max_size=12).map("".join)


def between(old: str, new: str, steps: int = limits.DIFF_STEPS) -> tuple[Span, ...]:
    return spans(split(old.encode()), split(new.encode()), Steps(steps))


def diff(old: str, new: str) -> str:
    left, right = split(old.encode()), split(new.encode())
    return unified(("a/x", "b/x"), left, right, spans(left, right, Steps()))


def applied(old: Sequence[bytes], new: Sequence[bytes], found: Sequence[Span]) -> list[bytes]:
    """The old text with the spans put in."""
    out: list[bytes] = []
    at = 0
    for span in found:
        out += old[at : span.old_from]
        out += new[span.new_from : span.new_to]
        at = span.old_to
    return out + list(old[at:])


def patched(old: str, patch: str) -> str:
    """The old text after a unified diff, read as a person would."""
    lines = [line.decode() for line in split(old.encode())]
    out: list[str] = []
    at = 0
    rows = [row + "\n" for row in patch.split("\n")][2:-1]
    for number, row in enumerate(rows):
        bare = number + 1 < len(rows) and rows[number + 1].startswith("\\")
        text = row[1:].rstrip("\n") if bare else row[1:]
        if row.startswith("@@"):
            start, _, count = row.split()[1][1:].partition(",")
            first = int(start) - (count != "0")
            out += lines[at:first]
            at = first
        elif row.startswith("+"):
            out.append(text)
        elif row.startswith(("-", " ")):
            assert lines[at] == text
            out += [text] * (row[0] == " ")
            at += 1
    return "".join(out + lines[at:])


def shortest(old: Sequence[bytes], new: Sequence[bytes]) -> int:
    """The length of the shortest edit, by the table everybody knows."""
    row = list(range(len(new) + 1))
    for i, left in enumerate(old, 1):
        before, row = row, [i]
        for j, right in enumerate(new, 1):
            row.append(before[j - 1] if left == right else 1 + min(before[j], row[j - 1]))
    return row[-1]


@given(text=st.binary())
@settings(deadline=None)
def test_lines_joined_are_the_text(text: bytes) -> None:
    lines = split(text)
    assert b"".join(lines) == text
    assert all(line.endswith(b"\n") for line in lines[:-1])
    assert b"" not in lines


def test_only_a_line_feed_ends_a_line() -> None:
    assert split(b"a\rb\x0bc\r\nd") == (b"a\rb\x0bc\r\n", b"d")
    assert split(b"") == ()


@given(old=TEXTS, new=TEXTS)
@settings(deadline=None)
def test_the_spans_turn_one_text_into_the_other_by_the_shortest_edit(old: str, new: str) -> None:
    left, right = split(old.encode()), split(new.encode())
    found = between(old, new)
    assert applied(left, right, found) == list(right)
    edits = sum(s.old_to - s.old_from + s.new_to - s.new_from for s in found)
    assert edits == shortest(left, right)


@given(old=TEXTS, new=TEXTS, steps=st.integers(0, 30))
@settings(deadline=None)
def test_with_too_few_steps_the_edit_is_right_all_the_same(old: str, new: str, steps: int) -> None:
    left, right = split(old.encode()), split(new.encode())
    assert applied(left, right, between(old, new, steps)) == list(right)


@given(old=TEXTS, new=TEXTS)
@settings(deadline=None)
def test_the_unified_diff_turns_one_text_into_the_other(old: str, new: str) -> None:
    """[T2-54]"""
    assert patched(old, diff(old, new)) == new


def test_a_diff_has_three_lines_of_context() -> None:
    """[T2-54]"""
    assert limits.DIFF_CONTEXT == 3
    old = "".join(f"{n}\n" for n in range(1, 20))
    assert diff(old, old.replace("10\n", "ten\n")) == (
        "--- a/x\n+++ b/x\n@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n"
    )


@pytest.mark.parametrize(("gap", "hunks"), [(6, 1), (7, 2)])
def test_hunks_whose_context_would_touch_are_one(gap: int, hunks: int) -> None:
    middle = "".join(f"{n}\n" for n in range(gap))
    assert diff(f"x\n{middle}y\n", f"X\n{middle}Y\n").count("@@ -") == hunks


def test_a_missing_newline_is_shown() -> None:
    assert diff("a", "a\n") == (
        "--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"
    )


def test_bytes_that_are_no_text_are_shown_as_such() -> None:
    found = unified(("a", "b"), (), (b"\xff\n",), spans((), (b"\xff\n",), Steps()))
    assert found.endswith("+\ufffd\n")


def test_the_steps_are_shared_and_used_up_at_the_bound() -> None:
    """The last comparison that is allowed still finds the shortest edit."""
    old, new = "x\na\nb\ny\n", "X\na\nb\nY\n"
    steps = Steps(1000)
    exact = spans(split(old.encode()), split(new.encode()), steps)
    needed = 1000 - steps.left
    assert len(exact) == 2
    assert between(old, new, needed) == exact
    assert between(old, new, needed - 2) == (Span(old_from=0, old_to=4, new_from=0, new_to=4),)


def test_a_text_made_to_be_slow_counts_as_replaced_in_good_time() -> None:
    """[T2-54]: every diagonal of it matches for long."""
    old = "A\n" + "\n" * 200_000 + "B\n"
    new = "C\n" + "\n" * 197_000 + "D\n"
    found = between(old, new, 100_000)
    assert found == (Span(old_from=0, old_to=200_002, new_from=0, new_to=197_002),)


def test_a_small_edit_in_a_long_text_is_exact() -> None:
    old = [f"{n}\n" for n in range(50_000)]
    new = [*old[:7], "x\n", *old[8:40_000], *old[40_003:]]
    found = between("".join(old), "".join(new))
    assert [(s.old_to - s.old_from, s.new_to - s.new_from) for s in found] == [(1, 1), (3, 0)]
