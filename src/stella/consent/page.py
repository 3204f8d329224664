"""Lines of a consent text, and author words made fit to stand in them [C-3, C-4].

Two ways to show what an author wrote. `shown` is for sentences: it merges white space as
everywhere else. `exact` is for what grants something (names, arguments, variables): two
different texts never look the same, and none can pass for two [C79].
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
