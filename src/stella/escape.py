"""Text somebody else wrote, made safe to show.

One rule serves consent, faults, notices, headings and guidance: nothing an author wrote
can forge a line, move the cursor or hide [C-3, Q-19]. Nothing is dropped, because what is
dropped was granted without being seen.
"""

import re
import unicodedata
from collections.abc import Sequence

from stella import limits

# U+2028 and U+2029 are shown, never merged: their category is tested first [C-3].
_SHOWN = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs"})
_MERGED = frozenset("\t\n\r")
# Drawn as nothing or as a blank, though their category does not say so: what Unicode lets a
# terminal ignore, fillers, variation selectors, the empty Braille cell.
_BLANK = frozenset(
    chr(point)
    for first, last in (
        (0x34F, 0x34F),
        (0x115F, 0x1160),
        (0x17B4, 0x17B5),
        (0x180B, 0x180F),
        (0x2065, 0x2065),
        (0x2800, 0x2800),
        (0x3164, 0x3164),
        (0xFE00, 0xFE0F),
        (0xFFA0, 0xFFA0),
        (0xFFF0, 0xFFF8),
        (0xE0000, 0xE0FFF),
    )
    for point in range(first, last + 1)
)
_BREAK = re.compile(r"(\r?\n)")

HIDDEN = " [hidden characters]"


def visible(text: str) -> str:
    r"""Return `text` on one line with every hidden character shown as `\u{HEX}` [C-3]."""
    return visible_flagged(text)[0]


def visible_flagged(text: str) -> tuple[str, bool]:
    """Return `visible(text)` and whether anything in it had to be escaped [C-3, C-4]."""
    if text.isascii() and text.isprintable() and "  " not in text and text == text.strip(" "):
        return text, False  # what nearly every text is, told without a look at each character
    shown: list[str] = []
    escaped = False
    gap = False
    for char in text:
        if char in _MERGED or unicodedata.category(char) == "Zs":
            gap = True
            continue
        if gap and shown:
            shown.append(" ")
        gap = False
        told = _told(char)
        escaped = escaped or told != char
        shown.append(told)
    return "".join(shown), escaped


def visible_lines(text: str) -> str:
    r"""Return `text` with its line breaks, tabs and blanks, and the rest as C-3 shows it [S-42].

    For text of many lines that goes to a terminal: it can print lines, and do nothing else to
    the screen. A carriage return that breaks no line is shown.
    """
    pieces = _BREAK.split(text)
    return "".join(
        piece if at % 2 else "".join(char if char == "\t" else _told(char) for char in piece)
        for at, piece in enumerate(pieces)
    )


def _told(char: str) -> str:
    hidden = char in _BLANK or unicodedata.category(char) in _SHOWN
    return f"\\u{{{ord(char):X}}}" if hidden else char


def excerpt(text: str, chars: int = limits.EXCERPT_CHARS) -> str:
    """Return the last `chars` characters of `text`, made visible [W-9, T-29]."""
    return visible(text[-chars:])


def cut(text: str, chars: int) -> str:
    """Return `text`, or its head with a marker that names the characters removed."""
    if len(text) <= chars:
        return text
    return f"{text[:chars]} [{len(text) - chars} more characters]"


def brief(text: str) -> str:
    """Return author text for the middle of a message: visible, and not too long [M-7]."""
    return visible(cut(text, limits.FAULT_VALUE_CHARS))


def listed(words: Sequence[str], most: int) -> str:
    """Return the first `most` words, visible, with commas, and how many more there are."""
    first = ", ".join(map(visible, words[:most]))
    more = len(words) - most
    return f"{first} and {more} more" if more > 0 else first


def counted(number: int, noun: str) -> str:
    """Return `1 file` or `2 files` [C-6]."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
