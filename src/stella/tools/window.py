"""A window of numbered lines over a text that may be larger than memory [T2-12].

Text comes in pieces; only the lines asked for are kept, and of a long one only its head.
"""

from stella import limits


class Window:
    """The lines from `first` on, at most `most` of them, of a text fed in pieces."""

    def __init__(self, first: int, most: int) -> None:
        self.first = first
        self.lines: list[str] = []
        self.total = 0  # lines ended so far
        self._beyond = first + most
        self._head = ""
        self._length = 0
        self._returned = False  # whether the line so far ends with a carriage return

    @property
    def last(self) -> int:
        """The number of the last line kept; one below `first` when none is."""
        return self.first + len(self.lines) - 1

    def feed(self, text: str) -> None:
        """Take the next piece of the text."""
        newlines = text.count("\n")
        if self.total + newlines + 1 < self.first or self.total + 1 >= self._beyond:
            self._pass(text, newlines)
            return
        piece, *others = text.split("\n")
        self._add(piece)
        for piece in others:
            self._end()
            self._add(piece)

    def close(self) -> None:
        """Take the end of the text; a last line without its newline is a line."""
        if self._length:
            self._end()

    def _pass(self, text: str, newlines: int) -> None:
        """Count the lines of a piece in which none is wanted, not even the last one."""
        self.total += newlines
        begun = text.rpartition("\n")[2]
        self._length = len(begun) + (0 if newlines else self._length)
        self._head = ""

    def _add(self, piece: str) -> None:
        self._length += len(piece)
        self._head += piece[: limits.READ_LINE_CHARS + 1 - len(self._head)]
        if piece:
            self._returned = piece.endswith("\r")

    def _end(self) -> None:
        self.total += 1
        if self.first <= self.total < self._beyond:
            length = self._length - self._returned
            # The text of a long line is gone; its length is not.
            line = self._head[: min(length, limits.READ_LINE_CHARS)]
            more = length - len(line)
            self.lines.append(f"{line} [{more} more characters]" if more else line)
        self._head, self._length, self._returned = "", 0, False
