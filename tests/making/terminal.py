"""A command on a pseudo-terminal: what it writes there, to the byte, whatever the stream."""

import os
import pty
import tty
from contextlib import suppress

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
