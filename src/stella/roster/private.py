"""Reading a file of the person's home that must be theirs alone [I-26, S2-42].

What others could have written proves nothing, so it is not read at all.
"""

import os
import stat
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stella.errors import RosterError
from stella.files import tree
from stella.files.write import READ
from stella.roster.scope import naming

_ANCHOR: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Private:
    """The bytes of a file and when they were last written, in nanoseconds by the file system."""

    data: bytes
    written: int


def read_private(home: Path, path: Path, most: int) -> Private | None:
    """Return a file that stands in the home or one directory below it, None without one.

    Raises `RosterError` when it is no regular file with one name, belongs to somebody else, may
    be written by others, has more than `most` bytes, or lies behind a link.
    """
    with ExitStack() as held:
        try:
            here = held.enter_context(tree.held(os.open(home, _ANCHOR)))
            if path.parent != home:
                below = os.open(path.parent.name, tree.DIRECTORY, dir_fd=here)
                here = held.enter_context(tree.held(below))
            file = held.enter_context(tree.held(os.open(path.name, READ, dir_fd=here)))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RosterError(error.strerror or str(error)) from error
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise RosterError("expected a regular file with one name")
        if found.st_uid != os.geteuid():
            raise RosterError("the file belongs to somebody else")
        if found.st_mode & _OTHERS_WRITE:
            raise RosterError("others may write the file, so it proves nothing; see chmod 600")
        with naming(path):
            data = tree.content(file, most + 1)
    if len(data) > most:
        raise RosterError(f"the file has more than {most} bytes")
    return Private(data=data, written=found.st_mtime_ns)
