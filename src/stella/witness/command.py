"""The test command as a person types it, split into words and never given to a shell.

POSIX quoting separates words and nothing is expanded [G-4]. What only a shell could do is
refused with its place and a way out [G-5], and so is what cannot be seen [G-6].
"""

import re
import unicodedata
from typing import Final

from stella.errors import TestCommandError

_OPERATORS: Final = ("$(", "`", "&", "|", ";", "<", ">", "\n")
_ESCAPED_IN_DOUBLE: Final = frozenset('$`"\\')
_BETWEEN: Final = frozenset(" \t")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_SCRIPT: Final = "put the command into a script file and name that file instead"


def parse_test_command(text: str) -> tuple[str, ...]:
    """Return the words of a test command, or raise `TestCommandError` at its first fault.

    Positions in messages count characters from 1. At least one word comes back, and the
    first is neither empty nor an assignment [G-4 to G-7].
    """
    splitter = _Splitter(text)
    words = splitter.words()
    if not words:
        raise TestCommandError("test command: it is empty; name a program, such as pytest -q")
    _check_program(words[0], splitter.starts[0])
    return tuple(words)


def _check_program(word: str, position: int) -> None:
    if not word:
        raise _fault(position, "the first word is empty; name the program to run")
    if match := _ASSIGNMENT.match(word):
        name = match.group()
        raise _fault(
            position,
            f'"{name}…" is an assignment, which only a shell would apply; '
            f"write env {name}… before the program",
        )


class _Splitter:
    """One pass over the text; `starts` holds where each word begins, counted from 1."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.starts: list[int] = []

    def words(self) -> list[str]:
        found: list[str] = []
        while True:
            while self.at < len(self.text) and self.text[self.at] in _BETWEEN:
                self.at += 1
            if self.at == len(self.text):
                return found
            self.starts.append(self.at + 1)
            found.append(self._word())

    def _word(self) -> str:
        parts: list[str] = []
        while self.at < len(self.text) and (char := self.text[self.at]) not in _BETWEEN:
            if char == "'":
                parts.append(self._single())
            elif char == '"':
                parts.append(self._double())
            else:
                parts.append(self._bare(char))
        return "".join(parts)

    def _bare(self, char: str) -> str:
        self._refuse_operator()
        if char == "\\":
            self.at += 1
            if self.at == len(self.text):
                raise _fault(
                    self.at, "a backslash at the end escapes nothing; remove it or write \\\\"
                )
            char = self.text[self.at]
        # A tab stands here only after a backslash, and outside quotes it is allowed [G-6].
        if char != "\t":
            _refuse_hidden(char, self.at + 1)
        if char.isspace() and char not in _BETWEEN:
            raise _fault(
                self.at + 1,
                f"{_point(char)} looks like a space and is none; use a plain space, or quote it",
            )
        self.at += 1
        return char

    def _single(self) -> str:
        opened = self.at + 1
        self.at += 1
        start = self.at
        while self._inside(opened, "'") != "'":
            self.at += 1
        self.at += 1
        return self.text[start : self.at - 1]

    def _double(self) -> str:
        opened = self.at + 1
        self.at += 1
        parts: list[str] = []
        while (char := self._inside(opened, '"')) != '"':
            following = self.text[self.at + 1 : self.at + 2]
            if char == "\\" and following in _ESCAPED_IN_DOUBLE:
                char = following
                self.at += 1
            parts.append(char)
            self.at += 1
        self.at += 1
        return "".join(parts)

    def _inside(self, opened: int, quote: str) -> str:
        if self.at == len(self.text):
            raise _fault(opened, f"the quote {quote} is never closed; close it, or escape it")
        char = self.text[self.at]
        _refuse_hidden(char, self.at + 1)
        return char

    def _refuse_operator(self) -> None:
        for operator in _OPERATORS:
            if self.text.startswith(operator, self.at):
                shown = "a newline (U+000A)" if operator == "\n" else f'"{operator}"'
                message = f"{shown} would need a shell and none is used; {_SCRIPT}"
                raise _fault(self.at + 1, message)


def _refuse_hidden(char: str, position: int) -> None:
    category = unicodedata.category(char)
    if category == "Cc":
        raise _fault(position, f"{_point(char)} is a control character; remove it, or {_SCRIPT}")
    # Not text: a byte of the command line that was no UTF-8. The wire could not carry it.
    if category == "Cs":
        raise _fault(position, f"{_point(char)} stands for a byte that is not UTF-8; remove it")


def _point(char: str) -> str:
    return f"U+{ord(char):04X}"


def _fault(position: int, message: str) -> TestCommandError:
    return TestCommandError(f"test command, position {position}: {message}")
