"""A file in the person's home that says what they agreed to: read strictly, written whole [S2-42].

What is not the person's own file alone proves nothing, and is refused with the reason. What a
reader could not use is put aside for repair and never overwritten.
"""

import os
import stat
from contextlib import ExitStack
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stella import limits
from stella.errors import RosterError
from stella.escape import visible
from stella.files import tree
from stella.files.write import READ
from stella.files.write import TEMPORARY
from stella.files.write import sync_directory
from stella.files.write import write_atomic
from stella.roster.scope import kept
from stella.roster.scope import naming

_ANCHOR: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_MODE: Final = 0o600
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateFile:
    """Where such a file is: below the person's home by real directories.

    `key` is in the name of its temporary files, so that one writer takes away only its own.
    """

    home: Path
    below: tuple[str, ...]
    name: str
    key: str

    @property
    def path(self) -> Path:
        """The whole path, for messages."""
        return self.home.joinpath(*self.below, self.name)


def read_private(file: PrivateFile) -> bytes | None:
    """Return the bytes of a file, None without one; `RosterError` when it is not private."""
    with ExitStack() as held:
        try:
            here = held.enter_context(tree.held(os.open(file.home, _ANCHOR)))
            for name in file.below:
                here = held.enter_context(tree.held(os.open(name, tree.DIRECTORY, dir_fd=here)))
            opened = held.enter_context(tree.held(os.open(file.name, READ, dir_fd=here)))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RosterError(error.strerror or str(error)) from error
        found = os.fstat(opened)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            raise RosterError("expected a regular file with one name")
        if found.st_uid != os.geteuid():
            raise RosterError("the file belongs to somebody else")
        if found.st_mode & _OTHERS_WRITE:
            raise RosterError("others may write the file, so it proves nothing; see chmod 600")
        with naming(file.path):
            data = tree.content(opened, limits.LOCK_BYTES + 1)
    if len(data) > limits.LOCK_BYTES:
        raise RosterError(f"the file has more than {limits.LOCK_BYTES} bytes")
    return data


def write_private(file: PrivateFile, data: bytes, *, mark: str, damaged: bool) -> None:
    """Put a file in place whole, with mode 0600; the caller keeps other writers away [I-26].

    One that is `damaged` is renamed first and kept for repair. Raises `RosterError`.
    """
    if len(data) > limits.LOCK_BYTES:
        raise RosterError(
            f"{visible(str(file.path))}: would have {len(data)} bytes, "
            f"the limit is {limits.LOCK_BYTES}"
        )
    with kept(file.home, *file.below) as directory, naming(file.path):
        _clear(directory, file.key)
        if damaged:
            os.rename(
                file.name,
                f"{file.name}.damaged-{mark}",
                src_dir_fd=directory,
                dst_dir_fd=directory,
            )
            sync_directory(directory)
        write_atomic(directory, file.name, data, _MODE, token=f"{file.key}-{mark}")


def _clear(directory: int, key: str) -> None:
    """Take away what a killed writer left; only this file's, whose other writers wait for us."""
    for name in tree.names_in(directory):
        if name.startswith(f"{TEMPORARY}{key}-"):
            with suppress(IsADirectoryError):
                os.unlink(name, dir_fd=directory)
