"""A command on a pseudo-terminal: what it writes there, to the byte, whatever the stream."""

import fcntl
import os
import pty
import select
import struct
import sys
import termios
import tty
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from tests.making.child import start
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
class Shown:
    """What a command came to, and all that its terminal was sent."""

    code: int
    sent: bytes

    @property
    def rows(self) -> list[str]:
        """The rows as a terminal draws them that is sent nothing but lines."""
        return self.sent.decode().replace("\r\n", "\n").split("\n")


def asked(
    where: Place,
    *words: str,
    question: str,
    typed: bytes,
    early: bytes = b"",
    columns: int = 80,
    env: Mapping[str, str] | None = None,
) -> Shown:
    """Run a command on a terminal of its own that controls it, and type once it has asked.

    `early` is typed before the command is started. A negative code is the signal that ended it.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.write(ours, early)

    def command() -> None:
        os.login_tty(theirs)
        os.chdir(where.root)
        program = [sys.executable, "-m", "stella", *words]
        os.execve(sys.executable, program, {**where.env, **(env or {})})

    child = start(command)
    os.close(theirs)
    sent = b""
    waiting = True
    with suppress(OSError):  # what a terminal says when nobody holds its other end
        while block := _block(ours):
            sent += block
            if waiting and sent.endswith(question.encode()):
                waiting = False
                os.write(ours, typed)
    os.close(ours)
    _, status = os.waitpid(child, 0)
    assert not waiting, sent.decode()
    return Shown(code=os.waitstatus_to_exitcode(status), sent=sent)


def _block(terminal: int) -> bytes:
    """Return what comes next, or nothing once a command has hung."""
    ready, _, _ = select.select([terminal], [], [], PATIENCE)
    return os.read(terminal, 65_536) if ready else b""
