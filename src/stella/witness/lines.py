"""Which lines differ between two texts, as counts and as a unified diff [T2-54].

No I/O. The shortest edit is looked for within a bounded number of steps; beyond it the part
between the common head and tail counts as replaced, so no text can make this slow.
"""

from array import array
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from stella import limits

_NO_NEWLINE: Final = "\n\\ No newline at end of file\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Lines `old_from` to `old_to` became lines `new_from` to `new_to`; ends are excluded."""

    old_from: int
    old_to: int
    new_from: int
    new_to: int


class Steps:
    """How many comparisons are left, shared by all texts of one comparison of trees."""

    def __init__(self, left: int = limits.DIFF_STEPS) -> None:
        self.left = left


def split(text: bytes) -> tuple[bytes, ...]:
    """Return the lines of a text with their newlines; only a line feed ends a line."""
    lines = [line + b"\n" for line in text.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return tuple(lines if lines[-1] else lines[:-1])


def spans(old: Sequence[bytes], new: Sequence[bytes], steps: Steps) -> tuple[Span, ...]:
    """Return what changed from `old` to `new`, in order; empty when they are equal.

    The result is the shortest edit when it can be found in the `steps` that are left.
    """
    head = _common(zip(old, new, strict=False))
    rest = min(len(old), len(new)) - head
    tail = min(rest, _common(zip(reversed(old), reversed(new), strict=False)))
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    if not left and not right:
        return ()
    found = _shortest(left, right, steps) if left and right else None
    if found is None:
        found = [(0, len(left), 0, len(right))]
    return tuple(
        Span(old_from=head + a, old_to=head + b, new_from=head + c, new_to=head + d)
        for a, b, c, d in found
    )


def unified(
    names: tuple[str, str], old: Sequence[bytes], new: Sequence[bytes], found: Sequence[Span]
) -> str:
    """Return the unified diff of two texts for their spans, 3 lines of context [T2-54].

    `names` stand in the two header lines as they are.
    """
    parts = [f"--- {names[0]}\n+++ {names[1]}\n"]
    for group in _hunks(found):
        first, last = group[0], group[-1]
        above = min(limits.DIFF_CONTEXT, first.old_from)
        below = min(limits.DIFF_CONTEXT, len(old) - last.old_to)
        was = _range(first.old_from - above, last.old_to + below)
        now = _range(first.new_from - above, last.new_to + below)
        parts.append(f"@@ -{was} +{now} @@\n")
        at = first.old_from - above
        for span in group:
            parts += _marked(" ", old[at : span.old_from])
            parts += _marked("-", old[span.old_from : span.old_to])
            parts += _marked("+", new[span.new_from : span.new_to])
            at = span.old_to
        parts += _marked(" ", old[at : last.old_to + below])
    return "".join(parts)


def _common(pairs: Iterable[tuple[bytes, bytes]]) -> int:
    count = 0
    for left, right in pairs:
        if left != right:
            break
        count += 1
    return count


def _shortest(
    old: Sequence[bytes], new: Sequence[bytes], steps: Steps
) -> list[tuple[int, int, int, int]] | None:
    """Return the changed ranges of the shortest edit, or None when the steps are used up.

    The greedy search: with ever more edits, `best` holds for each diagonal (old line minus
    new line) the furthest old line that can be reached on it.
    """
    most = len(old) + len(new)
    best = array("q", [0] * (2 * most + 3))
    middle = most + 1
    trail: list[array[int]] = []
    while True:
        edits = len(trail)
        for k in range(-edits, edits + 1, 2):
            here = middle + k
            x = best[here + 1] if _down(best, here, k, edits) else best[here - 1] + 1
            start = x = x if edits else 0
            while x < len(old) and x - k < len(new) and old[x] == new[x - k]:
                x += 1
            best[here] = x
            steps.left -= 1 + x - start
            if x >= len(old) and x - k >= len(new):
                return _ranges(trail, k)
            if steps.left < 0:
                return None
        trail.append(best[middle - edits - 1 : middle + edits + 2])


def _down(row: Sequence[int], here: int, k: int, edits: int) -> bool:
    """Return whether the furthest way onto a diagonal adds a line rather than drops one."""
    return k == -edits or (k != edits and row[here - 1] < row[here + 1])


def _ranges(trail: Sequence[Sequence[int]], k: int) -> list[tuple[int, int, int, int]]:
    """Walk the trail back from the end on diagonal `k` and join neighbouring edits."""
    single: list[tuple[int, int, bool]] = []
    for edits in range(len(trail), 0, -1):
        row = trail[edits - 1]  # its middle stands at index `edits`
        down = _down(row, edits + k, k, edits)
        k += 1 if down else -1
        x = row[edits + k]
        single.append((x, x - k, down))
    found: list[tuple[int, int, int, int]] = []
    for x, y, down in reversed(single):
        after = (x, y + 1) if down else (x + 1, y)
        if found and found[-1][1::2] == (x, y):
            found[-1] = (found[-1][0], after[0], found[-1][2], after[1])
        else:
            found.append((x, after[0], y, after[1]))
    return found


def _hunks(found: Sequence[Span]) -> Iterator[list[Span]]:
    """Yield the spans in groups whose context would touch."""
    group: list[Span] = []
    for span in found:
        if group and span.old_from - group[-1].old_to > 2 * limits.DIFF_CONTEXT:
            yield group
            group = []
        group.append(span)
    if group:
        yield group


def _range(start: int, end: int) -> str:
    # An empty range is named by the line before it.
    return f"{start + 1},{end - start}" if end > start else f"{start},0"


def _marked(mark: str, lines: Sequence[bytes]) -> Iterator[str]:
    for line in lines:
        text = line.decode("utf-8", "replace")
        yield mark + text if text.endswith("\n") else mark + text + _NO_NEWLINE
