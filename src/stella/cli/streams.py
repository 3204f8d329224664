"""The standard streams of a command: there, in UTF-8, and without them when nobody reads [S-12].

What a command says decides nothing, so a stream that has gone never ends what is being done.
"""

import errno
import io
import os
import sys
from typing import Final
from typing import TextIO

from stella.errors import OutputError

_STANDARD: Final = (0, 1, 2)
# A pipe without a reader; a terminal that was closed.
_GONE: Final = (errno.EPIPE, errno.EIO)


def settle() -> None:
    """Make the process's standard streams usable, whoever started it.

    A closed descriptor leads nowhere from now on, so that no file of ours gets its number.
    Whatever the locale says, what is written is UTF-8 and never fails for a character.
    """
    for number in _STANDARD:
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free, which is this one
    sys.stdin = sys.stdin or os.fdopen(0, "r", encoding="utf-8", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def say(stream: TextIO, text: str) -> None:
    """Write one line at once; when the reader has gone, nowhere, now and later [S-12].

    What cannot be written for another reason, such as a full disk, is lost and said to be.
    """
    try:
        put(stream, text)
    except OutputError as error:
        if stream is not sys.stderr:
            say(sys.stderr, f"stella: {error.message}")


def put(stream: TextIO, text: str) -> None:
    """Write one line at once, as `say`; raise `OutputError` for what is refused, and once only."""
    try:
        stream.write(f"{text}\n")
        stream.flush()
    except OSError as error:
        let_go(stream)
        if error.errno not in _GONE:
            raise unwritten(error, stream) from error


def unwritten(error: OSError, stream: TextIO | None = None) -> OutputError:
    """Return the error for what a standard stream has refused, standard output unless told."""
    name = "standard error" if stream is sys.stderr else "standard output"
    return OutputError(f"{name}: {error.strerror or error}; what it was is lost")


def let_go(stream: TextIO) -> None:
    """Lead a stream nowhere: what is still in it could not be written when the process ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
