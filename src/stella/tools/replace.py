"""Replacing text in a file's bytes, with its line endings kept [T2-14].

A file is looked at with every line ending as one newline, and beside it stands which of its
newlines had a carriage return; so a text with plain newlines matches a file of either kind,
bytes that are not UTF-8 stay what they are, and untouched lines keep their ending.
"""

import difflib
from dataclasses import dataclass
from typing import Final

from stella import limits
from stella.escape import cut
from stella.escape import visible

CRLF: Final = b"\r\n"
_NEAR: Final = 0.6


class NotReplaced(ValueError):
    """The text cannot be replaced; the message says why and what is near."""


class NotFound(NotReplaced):
    """The text does not occur."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """A file's bytes with plain newlines, and for each newline 1 when it had a return, else 0."""

    text: bytes
    returns: bytes

    @property
    def data(self) -> bytes:
        """The bytes as they stand in the file."""
        if 1 not in self.returns:
            return self.text
        if 0 not in self.returns:
            return self.text.replace(b"\n", CRLF)
        lines = self.text.split(b"\n")
        ends = [CRLF if returned else b"\n" for returned in self.returns]
        return b"".join(line + end for line, end in zip(lines, [*ends, b""], strict=True))


def contents_of(data: bytes) -> Contents:
    """Return a file's bytes taken apart."""
    newlines, returns = data.count(b"\n"), data.count(CRLF)
    if returns in (0, newlines):
        kinds = (b"\1" if returns else b"\0") * newlines
    else:
        kinds = bytes(line.endswith(b"\r") for line in data.split(b"\n")[:-1])
    return Contents(text=data.replace(CRLF, b"\n"), returns=kinds)


def replaced(contents: Contents, old: str, new: str, *, every: bool) -> tuple[Contents, int]:
    """Return the contents with `old` replaced, and how many times it stood there.

    With `every` it is replaced wherever it stands, else it must stand there exactly once.

    Raises `NotFound` when it does not occur, `NotReplaced` when it occurs more than once and
    `every` is not set, or when nothing would change.
    """
    try:
        gone, put = old.encode().replace(CRLF, b"\n"), new.encode().replace(CRLF, b"\n")
    except UnicodeEncodeError as error:
        message = f"character {error.start} of the text is no character"
        raise NotReplaced(message) from error
    if gone == put and old == new:
        message = "the two texts are equal"
        raise NotReplaced(message)
    if gone == put:
        message = "the two texts differ in their line endings only, and those are kept"
        raise NotReplaced(message)
    starts = _starts(contents.text, gone)
    if not starts:
        message = f"the text does not occur{_nearest(contents.text, gone)}"
        raise NotFound(message)
    if not every:
        _once(contents.text, gone, starts)
    text = contents.text.replace(gone, put)
    returns = _returns(contents, starts, gone, put)
    return Contents(text=text, returns=returns), len(starts)


def _starts(text: bytes, gone: bytes) -> list[int]:
    starts: list[int] = []
    at = text.find(gone)
    while at >= 0:
        starts.append(at)
        at = text.find(gone, at + len(gone))
    return starts


def _once(text: bytes, gone: bytes, starts: list[int]) -> None:
    """Refuse a text that occurs again, be it overlapping: which one is meant is not said."""
    if len(starts) == 1 and text.find(gone, starts[0] + 1) < 0:
        return
    if len(starts) == 1:
        message = "the text occurs more than once, overlapping itself"
    else:
        lines = [text.count(b"\n", 0, start) + 1 for start in starts[: limits.VOCABULARY_SHOWN]]
        more = ", …" if len(starts) > len(lines) else ""
        places = ", ".join(map(str, lines))
        message = f"the text occurs {len(starts)} times (lines {places}{more})"
    message += "; give more of what stands around the one that is meant, or set replace_all"
    raise NotReplaced(message)


def _returns(contents: Contents, starts: list[int], gone: bytes, put: bytes) -> bytes:
    """Return the carriage returns after replacing: each new line ends as the old ones there did."""
    usual = b"\1" if 2 * contents.returns.count(1) > len(contents.returns) else b"\0"
    kept = bytearray()
    lost, gained = gone.count(b"\n"), put.count(b"\n")
    done = at = 0
    for start in starts:
        before = done + contents.text.count(b"\n", at, start)
        kept += contents.returns[done:before]
        there = contents.returns[before : before + lost]
        kept += there[:gained]
        kept += (there[-1:] or usual) * (gained - lost)
        done, at = before + lost, start + len(gone)
    return bytes(kept + contents.returns[done:])


def _nearest(text: bytes, gone: bytes) -> str:
    """Return the clause that names the line most like the first line that was looked for."""
    wanted = next((line.strip() for line in gone.decode().split("\n") if line.strip()), "")
    lines = text.split(b"\n", limits.LINES_COMPARED)[: limits.LINES_COMPARED]
    matcher = difflib.SequenceMatcher(b=wanted[: limits.SEARCH_LINE_CHARS], autojunk=False)
    best, found = (_NEAR if wanted else 1.0), None
    for number, line in enumerate(lines, 1):
        text_of = line.decode("utf-8", "replace").strip()[: limits.SEARCH_LINE_CHARS]
        matcher.set_seq1(text_of)
        if matcher.real_quick_ratio() <= best or matcher.quick_ratio() <= best:
            continue
        if (ratio := matcher.ratio()) > best:
            best, found = ratio, (number, text_of)
    if found is None:
        return ", and no line is near it"
    shown = cut(visible(found[1]), limits.SEARCH_LINE_CHARS)
    return f'; the nearest line is {found[0]}: "{shown}"'
