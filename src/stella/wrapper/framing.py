"""Where one document ends and the next begins on a plugin's stdout [T-13 to T-17].

A scanner of bytes, linear in the output whatever it holds. It does not read JSON: it tracks
strings and depth, and the codec judges each complete document.
"""

import re
from codecs import BOM_UTF8
from dataclasses import dataclass
from dataclasses import field
from typing import Final

from stella import limits

_WORTH_READING: Final = re.compile(rb"[^ \t\r\n]")
_OUTSIDE: Final = re.compile(rb'["\[\]{}]')
_INSIDE: Final = re.compile(rb'["\\]')


@dataclass(frozen=True, slots=True, kw_only=True)
class NotJson:
    """The stream cannot become a document: `raw` is what stands there [T-14, T-17]."""

    reason: str
    raw: bytes


@dataclass(slots=True)
class Scanner:
    """Cuts a stream into documents; feed it chunks as they come.

    The one tolerated byte-order mark at the very start is left on the first document [W-1].
    White space before a document is dropped as it comes, so a flood of it is neither kept nor
    read twice.
    """

    _open: bytearray = field(default_factory=bytearray)
    _at: int = 0
    _depth: int = 0
    _in_string: bool = False
    _begun: bool = False
    _first: bool = True

    @property
    def rest(self) -> bytes:
        """What has come of a document that is not complete."""
        return bytes(self._open)

    @property
    def inside(self) -> bool:
        """Whether a document has begun and not ended; a mark alone begins none [W-1]."""
        return self._depth > 0

    def feed(self, chunk: bytes) -> tuple[tuple[bytes, ...], NotJson | None]:
        """Return the documents completed by `chunk`, and what broke the stream, if anything."""
        self._open += chunk
        documents: list[bytes] = []
        while True:
            if self._depth == 0 and not self._in_string:
                if (broken := self._enter()) is not None:
                    return tuple(documents), broken
                if self._depth == 0:
                    return tuple(documents), None
            document = self._advance()
            if isinstance(document, NotJson):
                return tuple(documents), document
            if document is None:
                return tuple(documents), None
            documents.append(document)

    def _enter(self) -> NotJson | None:
        """Skip white space and look at the first byte of a document; depth 1 means entered."""
        mark = b"" if self._begun else BOM_UTF8
        if mark and self._open and mark.startswith(bytes(self._open[:3])):
            if len(self._open) <= len(mark):
                return None
            lead = len(mark)
        else:
            lead = 0
        found = _WORTH_READING.search(self._open, lead)
        start = len(self._open) if found is None else found.start()
        self._begun = self._begun or (lead == 0 and start > 0)  # no mark can come after this
        del self._open[lead:start]
        if found is None:
            return None
        if self._open[lead] not in b"{[":
            return NotJson(reason=self._unlike(), raw=bytes(self._open))
        self._begun = True
        self._at = lead + 1
        self._depth = 1
        return None

    def _unlike(self) -> str:
        """Return why what stands here cannot begin a document [T-14, W-1]."""
        if self._open.startswith(BOM_UTF8):
            return "misplaced-bom: a byte-order mark stands where only white space may"
        if not self._first:
            return "what follows a document does not begin with a JSON object"
        return (
            "the output does not begin with a JSON object; stdout is for messages, "
            "anything else belongs on stderr"
        )

    def _advance(self) -> bytes | NotJson | None:
        """Move on to the end of the open document; None when it has not come yet."""
        while True:
            pattern = _INSIDE if self._in_string else _OUTSIDE
            found = pattern.search(self._open, self._at)
            if found is None:
                self._at = len(self._open)
                return None
            self._at = found.end()
            sign = found.group()
            if sign == b"\\":
                if self._at == len(self._open):
                    self._at -= 1  # the escaped byte has not come yet
                    return None
                self._at += 1
            elif sign == b'"':
                self._in_string = not self._in_string
            elif sign in b"[{":
                self._depth += 1
                if self._depth > limits.JSON_DEPTH:
                    return NotJson(
                        reason=f"too-deep: more than {limits.JSON_DEPTH} nested containers",
                        raw=bytes(self._open),
                    )
            else:
                self._depth -= 1
                if self._depth == 0:
                    return self._cut()

    def _cut(self) -> bytes:
        self._first = False
        document = bytes(self._open[: self._at])
        del self._open[: self._at]
        self._at = 0
        return document
