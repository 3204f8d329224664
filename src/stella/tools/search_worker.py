"""A program of its own: looks for an expression in files, in a process that can be ended [T2-17].

Python's expressions may take exponential time, so they never run in the host. Standard input
holds fields that end with NUL: the root's device and inode; `L` for literal and `I` for any
case, or `-`; lines of context; most matches; most characters of a line shown; most bytes of a
line looked at in one go; bytes looked at for a NUL; the expression; then paths from the working
directory, which is the root. Standard output holds records of five such fields: kind, path,
line, bytes of it that are not UTF-8, text. It imports nothing but the standard library and
reads nothing through a link.
"""

import io
import os
import re
import stat
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from typing import BinaryIO
from typing import Final

MATCH: Final = "m"
CONTEXT: Final = "c"
FULL: Final = "l"  # as many matches as were asked for
REFUSED: Final = "e"  # the expression does not compile; the line is the position

_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NUMBERS: Final = 5


@dataclass(slots=True, kw_only=True)
class Search:
    """One search over many files, writing as it finds."""

    out: BinaryIO
    wanted: "re.Pattern[str]"
    around: int
    left: int
    line_chars: int
    line_bytes: int
    probe_bytes: int
    before: "deque[tuple[int, bytes]]" = field(init=False)

    def file(self, path: str, descriptor: int) -> bool:
        """Write the lines of one file that match, with those around; False at the last match."""
        self.before = deque(maxlen=self.around)
        after = last = 0
        for number, line in self.lines(descriptor):
            if number == last:
                continue
            if self.left and self.wanted.search(line.decode("utf-8", "replace")):
                self.match(path, number, line)
                after, last = self.around, number
            elif after:
                self.write(CONTEXT, path, number, line)
                after -= 1
            else:
                self.before.append((number, line))
            if not self.left and not after:
                return False
        return bool(self.left)

    def match(self, path: str, number: int, line: bytes) -> None:
        """Write a match and the lines before it that were not written yet."""
        self.left -= 1
        for earlier, data in self.before:
            self.write(CONTEXT, path, earlier, data)
        self.before.clear()
        self.write(MATCH, path, number, line)

    def lines(self, descriptor: int) -> Iterator[tuple[int, bytes]]:
        """Yield numbered lines of a text file, long ones in pieces; nothing for a binary file."""
        with io.BufferedReader(io.FileIO(descriptor), self.line_bytes) as file:
            if b"\0" in file.peek(self.probe_bytes)[: self.probe_bytes]:
                return
            number = 1
            while data := file.readline(self.line_bytes):
                yield number, data.rstrip(b"\r\n")
                number += data.endswith(b"\n")

    def write(self, kind: str, path: str, number: int, line: bytes) -> None:
        """Write the record of one line."""
        text = line.decode("utf-8", "replace")
        more = len(text) - self.line_chars
        shown = text if more <= 0 else f"{text[: self.line_chars]} [{more} more characters]"
        strange = len(line) - len(line.decode("utf-8", "ignore").encode())
        record(self.out, kind, path, (number, strange), shown)


def record(
    out: BinaryIO, kind: str, path: str = "", line: tuple[int, int] = (0, 0), text: str = ""
) -> None:
    """Write the five fields of a record, at once: the process may be ended at any time.

    `line` is its number, and how many of its bytes are not UTF-8.
    """
    fields = (kind, path, *map(str, line), text.replace("\0", "\ufffd"))
    out.write(b"".join(f"{value}\0".encode("utf-8", "surrogateescape") for value in fields))
    out.flush()


def opened(root: int, path: str) -> int | None:
    """Return the regular file at `path`, opened through no link; None when there is none."""
    *folders, name = path.split("/")
    here = root
    try:
        for folder in folders:
            inner = os.open(folder, _DIRECTORY, dir_fd=here)
            if here != root:
                os.close(here)
            here = inner
        if not stat.S_ISREG(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
            return None
        return os.open(name, _FILE, dir_fd=here)
    except OSError:  # gone, replaced or not ours since it was listed
        return None
    finally:
        if here != root:
            os.close(here)


def compiled(expression: str, *, literal: bool, any_case: bool) -> "re.Pattern[str]":
    """Return the expression ready to search; `re.error` with its position when it is none."""
    try:
        return re.compile(
            re.escape(expression) if literal else expression,
            re.IGNORECASE if any_case else re.NOFLAG,
        )
    except (OverflowError, RecursionError) as error:
        raise re.error(str(error)) from error


def main(asked: BinaryIO, out: BinaryIO, where: str = ".") -> int:
    """Search in the root `where` as `asked` says; 1 when that is not the root that was meant."""
    given = asked.read().decode("utf-8", "surrogateescape").split("\0")
    device, inode, literal, case, *rest = given[:-1]
    around, most, line_chars, line_bytes, probe_bytes = map(int, rest[:_NUMBERS])
    expression, *paths = rest[_NUMBERS:]
    root = os.open(where, _DIRECTORY)
    status = os.fstat(root)
    if (str(status.st_dev), str(status.st_ino)) != (device, inode):
        os.close(root)
        return 1
    try:
        wanted = compiled(expression, literal=literal == "L", any_case=case == "I")
    except re.error as error:
        record(out, REFUSED, line=(error.pos or 0, 0), text=error.msg)
        paths = []
        wanted = re.compile("")
    search = Search(
        out=out,
        wanted=wanted,
        around=around,
        left=most,
        line_chars=line_chars,
        line_bytes=line_bytes,
        probe_bytes=probe_bytes,
    )
    for path in paths:
        descriptor = opened(root, path)
        if descriptor is not None and not search.file(path, descriptor):
            record(out, FULL)
            break
    os.close(root)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.stdin.buffer, sys.stdout.buffer))
