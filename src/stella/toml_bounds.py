"""Bounds on TOML text that hold before a TOML reader sees it [M-1, B46, B47].

A reader's time and memory grow with the square of a dotted key's parts, its time with that of a
number's digits, and how deep it can nest hangs on the caller's stack. Each is bounded here in one
pass, so that reading stays cheap and depends on the bytes alone [M-3].
"""

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from stella import limits

# Possessive throughout, and an unclosed string runs to its end: no character is read twice.
# `|(?!)` ends a possessive group where its last try began, on every Python.
_BASIC: Final = r'"(?:[^"\\\n]|\\[^\n]|(?!))*+"?+'
_LITERAL: Final = r"'[^'\n]*+'?+"
_PART: Final = rf"(?:{_BASIC}|{_LITERAL}|[A-Za-z0-9_+-]++)"
_KEY: Final = rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART}|(?!))*+"
_COMMENT: Final = r"#[^\n]*+"
_LONG_BASIC: Final = r'"""(?:[^"\\]|\\.|"(?!"")|(?!))*+(?:"{3,5}|\\?\Z)'
_LONG_LITERAL: Final = r"'''(?:[^']|'(?!'')|(?!))*+(?:'{3,5}|\Z)"
# What no bound is about, as much of it as follows: few looks at a text that holds nothing else.
_WORD: Final = rf"(?:{_BASIC}|{_LITERAL}|[A-Za-z0-9_+-]{{1,32}}+(?![A-Za-z0-9_+-]))(?![ \t]*+\.)"
_PLAIN: Final = rf"[=,\n]|[ \t]++(?!\[)|{_COMMENT}|{_LONG_BASIC}|{_LONG_LITERAL}|{_WORD}"
_TOKEN: Final = re.compile(
    rf"(?:{_PLAIN}|(?!))++"
    rf"|(?P<header>^[ \t]*+\[{{1,2}}[ \t]*+)(?P<named>{_KEY})"
    rf"|(?P<key>{_KEY})"
    r"|(?P<open>[\[{])"
    r"|(?P<close>[\]}])",
    re.DOTALL | re.MULTILINE,
)
_PARTS: Final = re.compile(_PART)
_INTEGER: Final = re.compile(r"[+-]?(?:0x[0-9A-Fa-f_]+|0o[0-7_]+|0b[01_]+|[0-9_]+)", re.ASCII)
_ASSIGNED: Final = re.compile(r"[ \t]*+=")


class Bound(Enum):
    """What a text has too much of."""

    NESTED = "nested"
    PARTS = "parts"
    DIGITS = "digits"


@dataclass(frozen=True, slots=True, kw_only=True)
class Beyond:
    """One place beyond a bound: its offset, the bound, and how many there are."""

    at: int
    bound: Bound
    number: int


def beyond(text: str, depth: int) -> Beyond | None:
    """Return the first place where TOML text exceeds a bound, or None.

    The bounds are `depth` parts of a dotted key and nested lists or tables, and
    `limits.TOML_INTEGER_CHARS` characters of an integer.
    """
    nested = 0
    for token in _TOKEN.finditer(text):
        found: Beyond | None = None
        match token.lastgroup:
            case "open":
                nested += 1
            case "close":
                nested = max(nested - 1, 0)
            case "named":
                is_header = nested == 0
                nested += token["header"].count("[")
                found = _long(text, token, "named", depth, is_key=is_header)
            case "key":
                found = _long(text, token, "key", depth, is_key=False)
            case _:
                continue
        if found is not None:
            return found
        if nested > depth:
            return Beyond(at=token.start(), bound=Bound.NESTED, number=nested)
    return None


def _long(
    text: str, token: re.Match[str], group: str, depth: int, *, is_key: bool
) -> Beyond | None:
    """Return a key with too many parts or an integer that is too long."""
    words = token[group]
    if len(words) <= 2 * limits.TOML_DEPTH:
        return None
    at = token.start(group)
    parts = len(_PARTS.findall(words))
    if parts > depth:
        return Beyond(at=at, bound=Bound.PARTS, number=parts)
    is_key = is_key or _ASSIGNED.match(text, token.end(group)) is not None
    if len(words) > limits.TOML_INTEGER_CHARS and not is_key and _INTEGER.fullmatch(words):
        return Beyond(at=at, bound=Bound.DIGITS, number=len(words))
    return None
