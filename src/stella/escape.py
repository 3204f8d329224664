"""Text somebody else wrote, made safe to show.

One rule serves consent, faults, notices, headings and guidance: nothing an author wrote
can forge a line, move the cursor or hide [C-3, Q-19]. Nothing is dropped, because what is
dropped was granted without being seen.
"""

import unicodedata

from stella import limits

# U+2028 and U+2029 are shown, never merged: their category is tested first [C-3].
_SHOWN = frozenset({"Cc", "Cf", "Zl", "Zp", "Cs"})
_MERGED = frozenset("\t\n\r")

HIDDEN = " [hidden characters]"


def visible(text: str) -> str:
    r"""Return `text` on one line with every hidden character shown as `\u{HEX}` [C-3]."""
    return visible_flagged(text)[0]


def visible_flagged(text: str) -> tuple[str, bool]:
    """Return `visible(text)` and whether anything in it had to be escaped [C-3, C-4]."""
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
        if unicodedata.category(char) in _SHOWN:
            escaped = True
            shown.append(f"\\u{{{ord(char):X}}}")
        else:
            shown.append(char)
    return "".join(shown), escaped


def excerpt(text: str, chars: int = limits.EXCERPT_CHARS) -> str:
    """Return the last `chars` characters of `text`, made visible [W-9, T-29]."""
    return visible(text[-chars:])


def cut(text: str, chars: int) -> str:
    """Return `text`, or its head with a marker that names the characters removed."""
    if len(text) <= chars:
        return text
    return f"{text[:chars]} [{len(text) - chars} more characters]"


def counted(number: int, noun: str) -> str:
    """Return `1 file` or `2 files` [C-6]."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
