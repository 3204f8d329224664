"""A command on a pseudo-terminal: what it writes there, to the byte, and what it is answered."""

import os
import pty
import select
import signal
import sys
import termios
import tty
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.making.ends import PATIENCE
from tests.making.ends import Place


def on_terminal(where: Place, *words: str) -> tuple[int, bytes]:
    """Return the exit code of a command and all it wrote to a terminal of 80 columns.

    The terminal changes nothing: a newline stays one. Nothing is typed; standard input is
    empty, so that what asks refuses.
    """
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    said = bytearray()
    with where.started(*words, stdin=-3, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        with suppress(OSError):  # what a terminal says when nobody holds its other end
            while block := os.read(ours, 65_536):
                said += block
        try:
            code = process.wait(PATIENCE)
        finally:
            process.kill()
    os.close(ours)
    return code, bytes(said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversed:
    """A command that asked on a terminal and is over; `shown` is all that it wrote there."""

    code: int
    shown: str
    asked: str

    @property
    def rows(self) -> list[str]:
        """The rows it wrote, the one with the question and what the terminal echoed included."""
        return self.shown.replace("\r\n", "\n").split("\n")


def conversed(
    where: Place,
    *words: str,
    typed: bytes,
    early: bytes = b"",
    meanwhile: Callable[[], object] = lambda: None,
    columns: int = 80,
    env: Mapping[str, str] | None = None,
) -> Conversed:
    """Run a command that owns a terminal of its own, and type once its question stands there.

    `early` is typed before the command begins; `meanwhile` is done while the question is open.
    """
    return answered(
        (sys.executable, "-m", "stella", *words),
        env=where.env | dict(env or {}),
        cwd=where.root,
        typed=typed,
        early=early,
        meanwhile=meanwhile,
        columns=columns,
    )


def answered(
    words: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    typed: bytes,
    early: bytes = b"",
    meanwhile: Callable[[], object] = lambda: None,
    columns: int = 80,
) -> Conversed:
    """Do the same with any program, by its path, in any directory."""
    reading, writing = os.pipe()
    child, ours = pty.fork()
    if child == 0:
        os.read(reading, 1)
        os.chdir(cwd)
        os.execve(words[0], [*words], env)
    said = bytearray()
    try:
        termios.tcsetwinsize(ours, (24, columns))
        os.write(ours, early)
        os.write(writing, b".")
        while not said.rstrip().endswith(b"[y/N]"):
            try:
                said += _more(ours)
            except OSError:
                raise AssertionError(said.decode()) from None
        asked = said.decode()
        meanwhile()
        os.write(ours, typed)
        with suppress(OSError):  # what a terminal says when nobody holds its other end
            while True:
                said += _more(ours)
    finally:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        for descriptor in (ours, reading, writing):
            os.close(descriptor)
    code = os.waitstatus_to_exitcode(status)
    return Conversed(code=code, shown=said.decode(), asked=asked)


def _more(terminal: int) -> bytes:
    ready, _, _ = select.select([terminal], [], [], PATIENCE)
    assert ready, "the command has hung"
    return os.read(terminal, 65_536)
