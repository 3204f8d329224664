"""Lines of a consent text, and author words made fit to stand in them [C-3, C-4].

Two ways to show what an author wrote. `shown` is for sentences: it merges white space as
everywhere else. `exact` is for what grants something (names, arguments, variables): two
different texts never look the same, and none can pass for two [C79]. Where a line begins with
author words, `leading` and `opening` see to it that it begins like none of the host's [K-68].
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from stella.escape import HIDDEN
from stella.escape import visible_flagged

BULLET: Final = "  - "
DETAIL: Final = " " * 6
DEEPER: Final = " " * 10

_QUOTE: Final = '"'
_ESCAPE: Final = "\\"


@dataclass(frozen=True, slots=True)
class Shown:
    """Author words ready to be shown, and whether anything hidden in them was made visible."""

    text: str
    hidden: bool = False


Piece = str | Shown

OPENINGS: Final = (
    "Install the plugin",
    "Grade:",
    "It drives work",
    "No verification happens",
    "The host applies",
    "It declares no reach",
    "Widest reach:",
    "It says it will use:",
    "Limits are the author's",
    "It ships content:",
    "Nothing is copied",
    "It changes",
    "Previous values",
    "Each tool call",
    "Some text above",
    "Nothing above",
)
"""What a line of the host's begins with that stands at the margin, where a description stands."""

TITLES: Final = frozenset({"program", "environment", "checked by", "claimed limit", "why"})
"""What the host writes before a colon, as an author's name could stand."""

PHRASES: Final = (
    "holds a turn until",
    "may start",
    "may apply one attempt",
    "may write events",
    "at most",
    "as many requests",
    "asks the host for nothing",
    "the host performs",
    "It runs with your own rights",
)
"""What an indented line of the host's begins with that has no title."""

_OPENINGS: Final = tuple(each.lower() for each in OPENINGS)
_PHRASES: Final = tuple(each.lower() for each in PHRASES)


def shown(text: str) -> Shown:
    """Return a sentence of the author's on one line [C-3]."""
    return Shown(*visible_flagged(text))


def exact(text: str, apart: str = "") -> Shown:
    """Return author words so that the eye can tell them from any others.

    Plain when nothing in them can be misread, else in quotation marks. `apart` holds the
    characters that separate words in the line and so cannot stand in a plain one.
    """
    plain, _ = visible_flagged(text)
    if plain == text and text and not set(text) & {_QUOTE, _ESCAPE, *apart}:
        return Shown(text)
    return quoted(text)


def opening(text: str) -> Shown:
    """Return a sentence that stands at the margin, in quotation marks where it mimics the host."""
    piece = shown(text)
    if piece.text.lower().startswith((_QUOTE, *_OPENINGS)):
        return Shown(f"{_QUOTE}{piece.text}{_QUOTE}", piece.hidden)
    return piece


def leading(text: str, apart: str) -> Shown:
    """Return author words as `exact` does, for the beginning of an indented line."""
    mimics = text.lower() in TITLES or text.lower().startswith(_PHRASES)
    return quoted(text) if mimics else exact(text, apart)


def quoted(text: str) -> Shown:
    """Return author words in quotation marks, in a form that tells them from any others.

    Quotation marks and backslashes get a backslash; a space shows as itself only alone
    between two other characters, and all that is not visible shows as C-3 shows it.
    """
    pieces: list[str] = []
    hidden = False
    before = " "
    for char, after in zip(text, (*text, " ")[1:], strict=True):
        if char in {_QUOTE, _ESCAPE}:
            pieces.append(_ESCAPE + char)
        elif (char == " " and " " not in {before, after}) or visible_flagged(char) == (char, False):
            pieces.append(char)
        else:
            hidden = True
            pieces.append(f"\\u{{{ord(char):X}}}")
        before = char
    return Shown(f"{_QUOTE}{''.join(pieces)}{_QUOTE}", hidden)


def joined(pieces: Iterable[Shown], between: str = ", ") -> Shown:
    """Return several author words in a row."""
    found = tuple(pieces)
    return Shown(between.join(piece.text for piece in found), any(piece.hidden for piece in found))


class Page:
    """A text in the making: lines in order, and whether any of them held hidden characters."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self.hidden = False

    def line(self, *pieces: Piece) -> None:
        """Add one line of the host's words and the author's; flag it where C-4 says so."""
        words = [piece if isinstance(piece, Shown) else Shown(piece) for piece in pieces]
        flagged = any(piece.hidden for piece in words)
        self.hidden = self.hidden or flagged
        text = "".join(piece.text for piece in words)
        self._lines.append(text + HIDDEN if flagged else text)

    def gap(self) -> None:
        """Add a blank line."""
        self._lines.append("")

    def text(self) -> str:
        """Return the lines joined, without a newline at the end [C-1]."""
        return "\n".join(self._lines)
