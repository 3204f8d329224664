"""What stands at a name in an open directory, read whole; a link is never followed."""

import hashlib
import os
import stat
from collections.abc import Callable

from stella import limits
from stella.candidates.candidate import Item
from stella.files.kind import Kind
from stella.files.kind import kind_of
from stella.files.write import READ


def kind_at(here: int | None, name: str) -> Kind | None:
    """Return what stands at a name in an open directory, None for nothing."""
    if here is None:
        return None
    try:
        return kind_of(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return None


def item_at(
    here: int | None, name: str, *, sink: Callable[[bytes], None] | None = None
) -> Item | None:
    """Return what stands at a name in an open directory, read whole, None for nothing.

    `sink` is given each block of a regular file and may raise to end the reading. Raises
    `OSError` when it cannot be read.
    """
    kind = kind_at(here, name)
    if here is None or kind is None:
        return None
    if kind is Kind.LINK:
        target = os.readlink(name, dir_fd=here)
        digest = hashlib.sha256(os.fsencode(target)).hexdigest()
        return Item(kind=kind, digest=digest, target=target)
    if kind is not Kind.FILE:
        return Item(kind=kind)
    file = os.open(name, READ, dir_fd=here)
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):  # something else took its place just now
            return Item(kind=kind_of(found.st_mode))
        digest = _digest(file, sink)
    finally:
        os.close(file)
    return Item(kind=kind, digest=digest, program=bool(found.st_mode & stat.S_IXUSR))


def _digest(file: int, sink: Callable[[bytes], None] | None) -> str:
    whole = hashlib.sha256()
    while block := os.read(file, limits.MIB):
        whole.update(block)
        if sink is not None:
            sink(block)
    return whole.hexdigest()
