"""A goal in free words as a question the full-text index can be asked [D-51].

Whatever stands in the goal is a word to look for and never syntax: only letters, marks and
numbers survive, and each word is quoted.
"""

import unicodedata
from collections.abc import Iterator

from stella import limits

_WORDS = frozenset("LMN")


def question(goal: str) -> str | None:
    """Return the FTS5 expression that finds any word of `goal`, None when it holds no word.

    The first `limits.RECALL_GOAL_CHARS` characters and `limits.RECALL_TERMS` different words
    count.
    """
    words = list(_words(goal[: limits.RECALL_GOAL_CHARS]))[: limits.RECALL_TERMS]
    return " OR ".join(f'"{word}"' for word in words) or None


def _words(goal: str) -> Iterator[str]:
    """Yield each word once, in the order of the goal."""
    kept = (char if unicodedata.category(char)[0] in _WORDS else " " for char in goal)
    yield from dict.fromkeys("".join(kept).split())
