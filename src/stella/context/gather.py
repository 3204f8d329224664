"""Which files a recall searches: notes, and what version control does not ignore [D-51].

Names come from version control where it has a say, and from a bounded walk elsewhere. No link
is followed, and neither the host's own records nor what looks like a secret is offered.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Final

from stella import limits
from stella.context.folders import Folders
from stella.context.folders import Look
from stella.context.folders import Parts
from stella.context.sensitive import sensitive
from stella.files.names import above
from stella.files.write import TEMPORARY

_GIT: Final = ".git"
_STELLA: Final = ".stella"
_MEMORY: Final = "memory"
# What the host writes: an installed package speaks of itself, not of the workspace. The notes
# in `.stella/memory` are notes where the workspace is trusted, and nothing elsewhere.
_OURS: Final = ("private", "candidates", "plugins", _MEMORY)
_NOTE: Final = ".md"


class Origin(Enum):
    """Where a file was found; the value is how the index keeps it."""

    PERSON = "person"
    PROJECT = "project"
    WORKSPACE = "workspace"


class TooMuch(Exception):
    """There is more than an index is made of; the text names the bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much is searched at most: files, entries of a walk, bytes of text."""

    files: int = limits.RECALL_FILES
    entries: int = limits.TREE_ENTRIES
    bytes: int = limits.RECALL_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """One regular file that may be searched, `path` from its own top directory."""

    origin: Origin
    parts: Parts
    look: Look

    @property
    def path(self) -> str:
        """The parts joined."""
        return "/".join(self.parts)


def notes(folders: Folders, above: Parts, origin: Origin) -> Iterator[Offered]:
    """Yield the Markdown files in `memory` in the directory at `above`."""
    names = (name for name, _ in folders.names((*above, _MEMORY)))
    for name in sorted(name for name in names if name.endswith(_NOTE) and offers((name,))):
        parts = (*above, _MEMORY, name)
        if look := folders.look(parts):
            yield Offered(origin=origin, parts=parts, look=look)


def workspace(
    folders: Folders, names: tuple[bytes, ...] | None, bounds: Bounds
) -> Iterator[Offered]:
    """Yield the files of the workspace whose top `folders` holds open.

    `names` are what version control does not ignore, None where it has no say. A repository
    inside the workspace is one name there, and is walked. Raises `TooMuch`.
    """
    walk = _Walk(folders=folders, left=bounds.entries)
    found = walk.below(()) if names is None else _named(names, walk)
    for count, parts in enumerate(found):
        if count >= bounds.files:
            raise TooMuch(f"the workspace has more than {bounds.files} files")
        if look := folders.look(parts):
            yield Offered(origin=Origin.WORKSPACE, parts=parts, look=look)


def offers(parts: Parts) -> bool:
    """Return whether the file or directory at `parts` may be looked at."""
    folded = tuple(part.casefold() for part in parts)
    # At any depth: a directory of the workspace can be a workspace of its own.
    if any(here == _STELLA and name in _OURS for here, name in pairwise(folded)):
        return False
    if _GIT in folded or len(parts) > limits.RECALL_DEPTH or parts[-1].startswith(TEMPORARY):
        return False
    path = "/".join(parts)
    return _readable(path) and not sensitive(path)


def _readable(path: str) -> bool:
    """Whether a name is text: one that is not UTF-8 cannot be told to a plugin."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _named(names: tuple[bytes, ...], walk: "_Walk") -> Iterator[Parts]:
    holding = above(map(os.fsdecode, names))
    for name in names:
        path = os.fsdecode(name.rstrip(b"/"))
        parts = tuple(path.split("/"))
        if not offers(parts):
            continue
        if walk.folders.is_directory(parts):
            if path not in holding:  # else a file that is a directory by now, whose files are named
                yield from walk.below(parts)
        else:
            yield parts


@dataclass(slots=True, kw_only=True)
class _Walk:
    folders: Folders
    left: int

    def below(self, top: Parts) -> Iterator[Parts]:
        """Yield the files below a directory, in the order of their names."""
        todo = [(top, True)]
        while todo:
            parts, is_directory = todo.pop()
            if not is_directory:
                yield parts
                continue
            todo += sorted(self.children(parts), reverse=True)

    def children(self, parts: Parts) -> Iterator[tuple[Parts, bool]]:
        for name, mode in self.folders.names(parts):
            self.left -= 1
            if self.left < 0:
                raise TooMuch("the workspace has more files and directories than are looked at")
            below = (*parts, name)
            if offers(below) and (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
                yield below, stat.S_ISDIR(mode)
