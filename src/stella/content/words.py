"""A prompt as words: what skills are chosen by and what records are matched with [P-34, P-51]."""

import re
from collections.abc import Iterator
from typing import Final

from stella import limits

_CJK: Final = (
    "\u3005\u3041-\u309f\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0002fa1f"
)
_TERM: Final = re.compile(f"([{_CJK}]+)|((?:(?![{_CJK}])[^\\W_])+)")
_WORD: Final = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_PATHS: Final = re.compile(r"[\s'\"`()\[\]{}<>,;|]+")
_SHORT: Final = 2

_STOP: Final = """\
about after all also and any are back because been being both but can come could did does each
even few first for from get give had has have her here him his how into its just know let like
look make many may more most much must new nor not now off old one only other our out over own
per please put same say see she should some such take than that the their them then there these
they this time too two use very via want was way well were what when where which who why will
with work would yet you your"""
_CODING: Final = """\
add added adding bug bugs change changed changes changing class classes code codes coding
create created creates developer error errors file files fix fixed fixes fixing function
functions help helps implement implementation implemented implements issue issues line lines
method methods need needs program programs project projects read reads repo repository run
running runs script scripts software task tasks update updated updates used using write writes
writing written"""

STOP_WORDS: Final = frozenset(_STOP.split())
"""Words that say nothing of what a prompt is about [P-34]."""

CODING_WORDS: Final = frozenset(_CODING.split())
"""Words that stand in most prompts of a coding agent, and in most skills [P-34]."""


def terms(text: str) -> frozenset[str]:
    """Return the terms of a text: lower-cased words of more than two characters [P-34].

    Without stop words and generic coding words; a run of CJK characters counts as its pairs. The
    first `limits.MATCHED_CHARS` characters count.
    """
    return frozenset(_terms(text[: limits.MATCHED_CHARS].lower()))


def _terms(text: str) -> Iterator[str]:
    for cjk, word in _TERM.findall(text):
        if cjk:
            yield from (cjk[at : at + 2] for at in range(len(cjk) - 1))
        elif len(word) > _SHORT and word not in STOP_WORDS and word not in CODING_WORDS:
            yield word


def words(text: str) -> frozenset[str]:
    """Return the lower-cased whole words of a text, a compound one and its parts [P-51]."""
    found: set[str] = set()
    for word in _WORD.findall(text[: limits.MATCHED_CHARS].lower()):
        found |= {word, *word.split("-")}
    return frozenset(found)


def paths(text: str) -> tuple[str, ...]:
    """Return what may be a path in a text, each once in its order, in one plain spelling [P-51]."""
    found: dict[str, None] = {}
    for piece in _PATHS.split(text[: limits.MATCHED_CHARS]):
        path = piece.rstrip(".:!?").removeprefix("./")
        if path:
            found[path] = None
    return tuple(found)
