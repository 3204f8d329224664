"""Where in the text of a manifest each key, entry and table stands [M-6].

Values come from the codec alone. This reads a text that the TOML reader has accepted and maps
paths to places, so it refuses nothing and decides nothing. It takes time in proportion to the
text, whatever the text is.
"""

import re
from bisect import bisect_right
from typing import Final
from typing import cast

from stella import codec
from stella.manifest.fault import Path

# Possessive throughout: no character is read twice.
# `|(?!)` ends a possessive group where its last try began, on every Python.
_BASIC: Final = r'"(?:[^"\\\n]|\\[^\n]|(?!))*+"'
_LITERAL: Final = r"'[^'\n]*+'"
_PART: Final = rf"(?:{_BASIC}|{_LITERAL}|[A-Za-z0-9_-]++)"
_KEY: Final = rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART}|(?!))*+"
_PARTS: Final = re.compile(_PART)
_BLANK: Final = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+|(?!))*+")
_HEADER: Final = re.compile(rf"\[(?P<list>\[)?[ \t]*+(?P<key>{_KEY})[ \t]*+\]{{1,2}}")
_ASSIGNED: Final = re.compile(rf"(?P<key>{_KEY})[ \t]*+=[ \t]*+")
_SCALAR: Final = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!"")|(?!))*+"{3,5}'
    r"|'''(?:[^']|'(?!'')|(?!))*+'{3,5}"
    rf"|{_BASIC}|{_LITERAL}"
    r"|[^,\]}#\n]*+",
    re.DOTALL,
)


class _Spot:
    """A key, an entry or a table: the offset it stands at, and what is in it.

    `last` is the newest table of an array of tables, which is the one that headers go into.
    """

    __slots__ = ("inner", "last", "offset")

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.inner: dict[str | int, _Spot] = {}
        self.last: _Spot | None = None

    def at(self, step: str | int, offset: int) -> "_Spot":
        """Return what stands under a step, new when nothing does."""
        if step not in self.inner:
            self.inner[step] = _Spot(offset)
        return self.inner[step]


class Positions:
    """The places of a text that is TOML."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = [0, *(found.end() for found in re.finditer(r"\n", text))]
        self._root = _Spot(0)
        table, at = self._root, self._blank(0)
        while at < len(text):
            if text[at] == "[":
                table, at = self._header(at)
            else:
                spot, at = self._key(table, at)
                at = self._value(spot, at)
            at = self._blank(at)

    def of(self, path: Path) -> tuple[int, int] | None:
        """Return the line and the column of a path, both from 1, or None without a place.

        A key stands where it is written, the part itself of a dotted one; a table at its
        header, and one that has none where it is first named; an entry at its value. What is
        not in the text stands where the innermost table around it does, and what is missing
        at the top level stands nowhere.
        """
        spot = self._root
        for step in path:
            if step not in spot.inner:
                break
            spot = spot.inner[step]
        if spot is self._root:
            return None
        line = bisect_right(self._lines, spot.offset)
        return line, spot.offset - self._lines[line - 1] + 1

    def _header(self, at: int) -> tuple[_Spot, int]:
        """Read `[a.b]` or `[[a.b]]`; return the table that follows and where the header ends."""
        found = cast("re.Match[str]", _HEADER.match(self._text, at))
        *above, (name, _) = self._parts(found)
        table = self._root
        for step, _ in above:
            table = table.at(step, at)
            table = table.last or table
        table = table.at(name, at)
        if found["list"]:
            table.last = table = table.at(len(table.inner), at)
        # A table may be named by the header of an inner one before it has its own.
        table.offset = at
        return table, found.end()

    def _key(self, table: _Spot, at: int) -> tuple[_Spot, int]:
        """Read `a.b =`; return the innermost key and where its value begins."""
        found = cast("re.Match[str]", _ASSIGNED.match(self._text, at))
        for step, offset in self._parts(found):
            table = table.at(step, offset)
        return table, found.end()

    def _value(self, spot: _Spot, at: int) -> int:
        """Read a value with all that is in it; return where it ends."""
        open_now: list[tuple[_Spot, bool]] = []
        while True:
            opening = self._text[at]
            if opening in "[{":
                open_now.append((spot, opening == "["))
                at += 1
            else:
                at = cast("re.Match[str]", _SCALAR.match(self._text, at)).end()
            at = self._closed(open_now, at)
            if not open_now:
                return at
            around, is_list = open_now[-1]
            if is_list:
                spot = around.at(len(around.inner), at)
            else:
                spot, at = self._key(around, at)

    def _closed(self, open_now: list[tuple[_Spot, bool]], at: int) -> int:
        """Leave the lists and tables that end here; return where the next entry begins."""
        while open_now:
            at = self._blank(at)
            if self._text[at] in "]}":
                open_now.pop()
            elif self._text[at] != ",":
                return at
            at += 1
        return at

    def _blank(self, at: int) -> int:
        return cast("re.Match[str]", _BLANK.match(self._text, at)).end()

    def _parts(self, found: re.Match[str]) -> list[tuple[str, int]]:
        """Return the parts of a key, each with its offset."""
        parts = _PARTS.finditer(self._text, *found.span("key"))
        return [(_named(part.group()), part.start()) for part in parts]


def _named(part: str) -> str:
    """Return the key that a part spells."""
    if part[0] == '"' and "\\" in part:
        return cast("str", codec.parse_toml(f"key = {part}")["key"])
    return part[1:-1] if part[0] in "\"'" else part
