"""The lines in which two consent texts differ, for a person who knows the first [I-31, I-36]."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from stella.escape import visible_flagged

_COMPARED: Final = 300
"""Lines that are matched one against another; of more, all are told as gone and as new."""


def difference(before: str, after: str) -> tuple[str, ...]:
    """Return the lines that are gone with `- ` and the new ones with `+ `, in their order.

    Together with the lines that stay they make up either text: nothing that moved is left out.
    An empty text has no lines.
    """
    old = before.split("\n") if before else []
    new = after.split("\n") if after else []
    shared = _shared(old, new)
    end = _shared(old[shared:][::-1], new[shared:][::-1])
    old, new = old[shared : len(old) - end], new[shared : len(new) - end]
    return tuple(_told(old, new))


def _told(old: list[str], new: list[str]) -> Iterator[str]:
    few = max(len(old), len(new)) <= _COMPARED
    matcher = SequenceMatcher(None, old if few else (), new if few else (), autojunk=False)
    steps = [each[1:] for each in matcher.get_opcodes() if each[0] != "equal"]
    for start, end, first, last in steps if few else [(0, len(old), 0, len(new))]:
        yield from (f"- {_safe(line)}" for line in old[start:end])
        yield from (f"+ {_safe(line)}" for line in new[first:last])


def _shared(one: list[str], other: list[str]) -> int:
    """Return how many lines two lists begin with alike."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _safe(line: str) -> str:
    # A text is safe as it was made; where it was kept it could have been edited since.
    shown, escaped = visible_flagged(line)
    return shown if escaped else line
