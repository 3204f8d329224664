"""Bounds on TOML text that hold before a TOML reader sees it [M-1, B46, B47].

A reader's time grows with the square of a dotted key's parts and of a number's digits, and
how deep it can nest hangs on the caller's stack. Each is bounded here in one pass, so that
reading stays cheap and depends on the bytes alone [M-3].
"""

import re
from typing import Final

from stella import limits
from stella.escape import visible
from stella.manifest.fault import ManifestFault
from stella.manifest.fault import Reason

# Possessive throughout, and an unclosed string runs to its end: no character is read twice.
# `|(?!)` ends a possessive group where its last try began, on every Python.
_BASIC: Final = r'"(?:[^"\\\n]|\\[^\n]|(?!))*+"?'
_LITERAL: Final = r"'[^'\n]*+'?"
_PART: Final = rf"(?:{_BASIC}|{_LITERAL}|[A-Za-z0-9_+-]++)"
_KEY: Final = rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART}|(?!))*+"
_TOKEN: Final = re.compile(
    r"#[^\n]*+"
    r'|"""(?:[^"\\]|\\.|"(?!"")|(?!))*+(?:"{3,5}|\\?\Z)'
    r"|'''(?:[^']|'(?!'')|(?!))*+(?:'{3,5}|\Z)"
    rf"|(?P<header>^[ \t]*+\[{{1,2}}[ \t]*+)(?P<named>{_KEY})"
    rf"|(?P<key>{_KEY})"
    r"|(?P<open>[\[{])"
    r"|(?P<close>[\]}])",
    re.DOTALL | re.MULTILINE,
)
_PARTS: Final = re.compile(_PART)
_INTEGER: Final = re.compile(r"[+-]?(?:0x[0-9A-Fa-f_]+|0o[0-7_]+|0b[01_]+|[0-9_]+)", re.ASCII)
_ASSIGNED: Final = re.compile(r"[ \t]*+=")

_HALTED: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)\Z")


def overreach(text: str) -> ManifestFault | None:
    """Return the first place where TOML text exceeds a bound, or None.

    The bounds are `limits.TOML_DEPTH` parts of a dotted key and nested lists or tables, and
    `limits.TOML_INTEGER_CHARS` characters of an integer.
    """
    depth = 0
    for token in _TOKEN.finditer(text):
        found: ManifestFault | None = None
        match token.lastgroup:
            case "open":
                depth += 1
            case "close":
                depth = max(depth - 1, 0)
            case "named":
                is_header = depth == 0
                depth += token["header"].count("[")
                found = _long(text, token, "named", is_key=is_header)
            case "key":
                found = _long(text, token, "key", is_key=False)
            case _:
                continue
        if found is not None:
            return found
        if depth > limits.TOML_DEPTH:
            return _at(
                text,
                token.start(),
                Reason.WRONG_TYPE,
                f"more than {limits.TOML_DEPTH} lists and tables are nested here; "
                "no value of a manifest is that deep.",
            )
    return None


def _long(text: str, token: re.Match[str], group: str, *, is_key: bool) -> ManifestFault | None:
    """Return the fault of a key with too many parts or an integer that is too long."""
    words = token[group]
    if len(words) <= 2 * limits.TOML_DEPTH:
        return None
    parts = len(_PARTS.findall(words))
    if parts > limits.TOML_DEPTH:
        return _at(
            text,
            token.start(group),
            Reason.UNKNOWN_KEY,
            f"a dotted key of {parts} parts; no key of a manifest has more than "
            f"{limits.TOML_DEPTH}.",
        )
    is_key = is_key or _ASSIGNED.match(text, token.end(group)) is not None
    if len(words) > limits.TOML_INTEGER_CHARS and not is_key and _INTEGER.fullmatch(words):
        return _at(
            text,
            token.start(group),
            Reason.OUT_OF_RANGE,
            f"an integer of {len(words)} characters; none of a manifest is above {limits.U64_MAX}.",
        )
    return None


def _at(text: str, offset: int, reason: Reason, message: str) -> ManifestFault:
    line, column = position(text, offset)
    return ManifestFault(
        rule="R-1", path=(), message=message, reason=reason, line=line, column=column
    )


def halted(detail: str) -> tuple[str, tuple[int, int] | None]:
    """Return what the TOML reader says without its place, made visible, and the place [K-81].

    The place is a line and a column; None when the reader came to the end of the text.
    """
    found = _HALTED.search(detail)
    if found is None:
        return visible(detail), None
    place = (int(found[1]), int(found[2])) if found[1] else None
    return visible(detail[: found.start()]), place


def position(text: str, offset: int) -> tuple[int, int]:
    """Return the line and the column of an offset, both from 1 [M-6]."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
