"""Temporary files that a dead session left in the workspace, removed when one starts [T2-35]."""

import asyncio
import os
import stat
from collections.abc import Callable
from contextlib import ExitStack

from stella import limits
from stella.files.write import TEMPORARY
from stella.message import Failure
from stella.tools.paths import GIT
from stella.tools.paths import Parts
from stella.tools.paths import Purpose
from stella.tools.paths import Root
from stella.tools.paths import walk
from stella.tools.tree import names_in


async def swept(
    root: Root, alive: Callable[[str], bool], *, most: int = limits.TREE_ENTRIES
) -> tuple[str, ...]:
    """Remove what dead sessions left and return the paths, relative to the root, sorted.

    `alive` tells of a session id whether that session may still be writing. No link is
    followed and `.git` is left alone; after `most` entries the rest is left for later.
    """
    removed: list[str] = []
    todo: list[Parts] = [()]
    looked = 0
    while todo and looked < most:
        below = todo.pop()
        for name, mode in names_in(root.fd, below):
            looked += 1
            if stat.S_ISDIR(mode):
                if name.casefold() != GIT:
                    todo.append((*below, name))
            elif _stale(name, alive) and _removed(root, (*below, name)):
                removed.append("/".join((*below, name)))
        await asyncio.sleep(0)
    return tuple(sorted(removed))


def _stale(name: str, alive: Callable[[str], bool]) -> bool:
    session, _, chance = name.removeprefix(TEMPORARY).rpartition("-")
    return name.startswith(TEMPORARY) and bool(session and chance) and not alive(session)


def _removed(root: Root, parts: Parts) -> bool:
    """Remove one file; False when it is gone already or cannot be removed, which harms nobody."""
    with ExitStack() as held:
        spot = walk(root, "/".join(parts), Purpose.CHANGE, held)
        if isinstance(spot, Failure) or spot.status is None:
            return False
        try:
            os.unlink(spot.name, dir_fd=spot.parent)
        except OSError:
            return False
    return True
