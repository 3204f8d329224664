"""Lines for a person: folded at words on a terminal, untouched elsewhere [S-42].

The text is safe by the time it comes here; nothing is coloured and nothing moves the cursor.
What is folded goes on behind a mark and further in, so that no author can pad a text until a
part of it stands where a line of the host's would begin [C-5].
"""

import os
import re
import sys
import unicodedata
from collections.abc import Iterable
from typing import Final
from typing import TextIO

from stella.cli.streams import put
from stella.cli.streams import say
from stella.escape import counted
from stella.escape import visible_lines

MARK: Final = "| "
"""Begins every row that goes on with the line above, behind two more blanks than that has."""

_DEEPER: Final = 2
_LEAST: Final = 8
_WIDTH: Final = 80
_ESCAPE: Final = re.compile(r"\\u\{[0-9A-F]{1,6}\}")
_HEIGHT: Final = 24
_BROAD: Final = frozenset({"W", "F", "A"})


def tell(*lines: str) -> None:
    """Write lines to standard error; what cannot be written is lost [S-12]."""
    for row in _rows(sys.stderr, lines):
        say(sys.stderr, row)


def result(*lines: str) -> None:
    """Write lines that are a command's result; raises `OutputError` when they are refused."""
    for row in _rows(sys.stdout, lines):
        put(sys.stdout, row)


def document(text: str) -> None:
    """Write a JSON document of one line; on a terminal the same one, in printable ASCII [C76]."""
    put(sys.stdout, for_screen(text, json=True))


def for_screen(text: str, *, json: bool = False) -> str:
    """Return what a program or a model wrote, as standard output is to have it [S-21, S-42].

    Only a terminal gets another text than a pipe: one that prints lines and does nothing else.
    """
    if not sys.stdout.isatty():
        return text
    if not json:
        return visible_lines(text)
    from stella.roster.listing import printable  # noqa: PLC0415  # most commands print no JSON

    return printable(text)


def tell_consent(text: str) -> None:
    """Write a consent text; on a terminal the description does not begin a line [C-8].

    Raises `OutputError` when it cannot be written: what nobody was shown, nobody accepted [I-9].
    """
    lines = text.split("\n")
    # The second line is the only one that may be the author's from its beginning.
    if sys.stderr.isatty() and lines[1:2] not in ([], [""]):
        lines[1] = f"{' ' * _DEEPER}{MARK}{lines[1]}"
    for row in _rows(sys.stderr, tuple(lines)):
        put(sys.stderr, row)


def reminder(shown: Iterable[str], reach: str, again: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return what is said once more before a question, when it has left the screen [C68].

    That is `reach`, and with it `again`, when the lines `shown` so far are more than the terminal
    is high: nobody says yes to what they cannot see. What would fill more than half of the screen
    is told by its length. Nothing where there is no terminal.
    """
    if not sys.stderr.isatty():
        return ()
    size = _size(sys.stderr)
    columns, height = size.columns or _WIDTH, size.lines or _HEIGHT
    if _height(shown, columns) < height:
        return ()
    if _height(again, columns) > height // 2:
        again = (f"What differs is {counted(len(again), 'line')}; they stand above the text.",)
    return ("", *again, reach)


def _height(lines: Iterable[str], columns: int) -> int:
    return sum(len(folded(line, columns)) for line in lines)


def _rows(stream: TextIO, lines: tuple[str, ...]) -> tuple[str, ...]:
    if not stream.isatty():
        return lines
    return tuple(row for line in lines for row in folded(line, _width(stream)))


def _width(stream: TextIO) -> int:
    """Return the columns of the terminal itself: another width would leave folding to it."""
    return _size(stream).columns or _WIDTH


def _size(stream: TextIO) -> os.terminal_size:
    try:
        return os.get_terminal_size(stream.fileno())
    except OSError:
        return os.terminal_size((_WIDTH, _HEIGHT))


def folded(line: str, width: int) -> tuple[str, ...]:
    """Return the rows of a line on a terminal of `width` columns, one at least.

    The first keeps the line's indentation, as far as `width` leaves room for words. All others
    begin with blanks and `MARK`.
    """
    text = line.lstrip(" ")
    most = max(0, width - _LEAST - len(MARK))
    own = min(len(line) - len(text), most)
    lead, further = " " * own, f"{' ' * max(1, min(own + _DEEPER, most))}{MARK}"
    if own and text.startswith(MARK):
        lead = further = f"{lead}{MARK}"
        text = text.removeprefix(MARK)
    rows: list[str] = []
    while True:
        head, text = _split(text, width - len(lead))
        rows.append(f"{lead}{head}".rstrip(" "))
        if not text:
            return tuple(rows)
        lead = further


def _split(text: str, room: int) -> tuple[str, str]:
    """Return what of a text fits into `room` cells, a character at least, and what is left."""
    used = 0
    blank = 0
    for at, char in enumerate(text):
        used += _cells(char)
        if used > room and char != " ":
            end = blank or _whole(text, at) or at or 1
            return text[:end].rstrip(" "), text[end:].lstrip(" ")
        if char == " ":
            blank = at
    return text, ""


def _whole(text: str, end: int) -> int:
    """Return where to break a word that has no room, so that no escape is broken [C-3].

    A path is parted where a name of it begins, if that leaves no more than half of a row empty.
    """
    for match in _ESCAPE.finditer(text):
        if match.start() < end < match.end():
            return match.start()
    name = text.rfind("/", 0, end) + 1
    return name if name * 2 > end else end


def _cells(char: str) -> int:
    """Return the most cells that a terminal may draw a character in.

    Too early a fold harms nobody; too late a one would leave the fold to the terminal.
    """
    if char.isascii():
        return 1
    from rich.cells import cell_len  # noqa: PLC0415  # only where something is drawn

    wide = unicodedata.east_asian_width(char) in _BROAD or unicodedata.category(char) == "So"
    return max(cell_len(char), 2 if wide else 1)
