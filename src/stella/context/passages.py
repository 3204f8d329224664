"""A text cut into passages: whole lines, few enough characters to be shown as one frame [D-51]."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from typing import Final

from stella import limits
from stella.escape import cut

_HEADING: Final = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*")
_FENCE: Final = ("```", "~~~")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Lines `first` to `last` of a text, counted from 1, and the heading they stand under."""

    first: int
    last: int
    heading: str | None
    text: str


def passages(text: str, *, headed: bool) -> Iterator[Passage]:
    """Yield the passages of a text in order, none longer than `limits.RECALL_PASSAGE_CHARS`.

    With `headed` the text is Markdown: a heading begins a new passage, and the first
    `limits.RECALL_HEADINGS` of them do, so that a file of headings is not a passage each. A
    line that is longer than a passage is cut; blank lines at the ends are left out.
    """
    cutter = _Cutter()
    fenced = False
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if headed and line.lstrip().startswith(_FENCE):
            fenced = not fenced
        elif headed and not fenced and (found := _HEADING.fullmatch(line.rstrip("\r"))):
            yield from cutter.headed(found[1])
        yield from cutter.line(number, line.rstrip("\r"))
    yield from cutter.done()


@dataclass(slots=True, kw_only=True)
class _Cutter:
    """Lines gathered until no more fit."""

    heading: str | None = None
    above: str | None = None
    left: int = limits.RECALL_HEADINGS
    chars: int = 0
    lines: list[tuple[int, str]] = field(default_factory=list)

    def headed(self, heading: str) -> Iterator[Passage]:
        """Note a heading, and begin a new passage at it."""
        if self.left:
            self.left -= 1
            yield from self.done()
        self.heading = cut(heading, limits.RECALL_LABEL_CHARS) or self.heading

    def line(self, number: int, line: str) -> Iterator[Passage]:
        """Take one line, or the pieces of one that is too long."""
        for start in range(0, len(line) or 1, limits.RECALL_PASSAGE_CHARS):
            piece = line[start : start + limits.RECALL_PASSAGE_CHARS]
            if self.chars + len(piece) > limits.RECALL_PASSAGE_CHARS:
                yield from self.done()
            if piece.strip() or self.lines:
                self.above = self.above if self.lines else self.heading
                self.lines.append((number, piece))
                self.chars += len(piece) + 1

    def done(self) -> Iterator[Passage]:
        """End the passage, if there is one."""
        while self.lines and not self.lines[-1][1].strip():
            self.lines.pop()
        if self.lines:
            yield Passage(
                first=self.lines[0][0],
                last=self.lines[-1][0],
                heading=self.above,
                text="\n".join(line for _, line in self.lines),
            )
        self.lines.clear()
        self.chars = 0
