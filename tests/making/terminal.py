"""A command on a pseudo-terminal: what it writes there, and what is typed where it asks."""

import os
import pty
import termios
import time
import tty
from collections.abc import Mapping
from collections.abc import Sequence
from contextlib import suppress
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


def answered(
    words: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    question: bytes,
    answer: bytes,
    columns: int = 80,
) -> tuple[int, str]:
    """Run a program on a terminal of its own and type `answer` once it has asked `question`.

    Returns its exit code and all that stood on the terminal, with the newlines of a file.
    """
    child, terminal = pty.fork()
    if child == 0:
        termios.tcsetwinsize(0, (24, columns))
        os.chdir(cwd)
        os.execvpe(words[0], [*words], env)
    shown = b""
    left = [answer]
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            got = os.read(terminal, 4096)
        except OSError:
            break
        shown += got
        if left and question in shown:
            os.write(terminal, left.pop(0))
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), shown.decode().replace("\r\n", "\n")
