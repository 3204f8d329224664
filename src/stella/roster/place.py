"""Putting a package into a tier so that it is there whole, with its record, or not at all.

The copy is made beside its place, checked, and renamed; a crash leaves a directory that is
never read as a plugin and that the next change of the tier takes away [I-2, I-7, I-8].
"""

import os
from contextlib import ExitStack
from contextlib import suppress
from typing import Final

from stella import limits
from stella.clock import Clock
from stella.errors import NameTaken
from stella.errors import PackageRefused
from stella.errors import RosterError
from stella.escape import listed
from stella.escape import visible
from stella.files import tree
from stella.files.delete import delete
from stella.files.delete import is_directory
from stella.files.tree import Package
from stella.files.write import sync_directory
from stella.roster import lock
from stella.roster.lock import Record
from stella.roster.name import folded
from stella.roster.scope import Tier
from stella.roster.scope import alone
from stella.roster.scope import entered
from stella.roster.scope import naming
from stella.roster.shelf import shelf

STAGING: Final = ".staging-"
REMOVING: Final = ".removing-"

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz234567"
_TOKEN_CHARS: Final = 16
_PRIVATE_MODE: Final = 0o700
_DIRECTORY_MODE: Final = 0o755


def token(clock: Clock) -> str:
    """Return letters that nobody can guess, for the name of something unfinished [A25]."""
    return clock.letters(_LETTERS, _TOKEN_CHARS)


def place(root: int, package: Package, record: Record, tier: Tier, clock: Clock) -> None:
    """Copy the package in an open source directory into a tier and keep its record.

    Raises `NameTaken` when the name was taken meanwhile [Q-15], `PackageRefused` when the
    source is not what `package` says any more [I-7], and `RosterError` for what the system
    refuses. After any of them, or an interrupt, nothing of it is left.
    """
    mark = token(clock)
    staging, name = f"{STAGING}{mark}", record.name
    with alone(tier), entered(tier, make=True) as directory, ExitStack() as undo:
        if directory is None:
            raise RosterError(f"{visible(str(tier.anchor))}: is not there any more")
        refuse_taken(tier, directory, name)
        with naming(tier.path / name):
            clear_leftovers(directory)
            os.mkdir(staging, _PRIVATE_MODE, dir_fd=directory)
            undo.callback(_discard, directory, staging, name)
            _stage(root, directory, staging, package)
            os.rename(staging, name, src_dir_fd=directory, dst_dir_fd=directory)
            sync_directory(directory)
        lock.put(tier, record, mark=mark)
        undo.pop_all()


def refuse_taken(tier: Tier, directory: int | None, name: str) -> None:
    """Raise `NameTaken` when a directory of the tier bears or declares the name [I-2, A4]."""
    standing, _ = shelf(tier, directory)
    for each in standing:
        if folded(name) in {folded(each.directory.name), folded(each.declared or "")}:
            raise _taken(name, tier, each.directory.name)
    if directory is not None and _is_there(directory, name):
        raise _taken(name, tier, name)


def clear_leftovers(directory: int) -> None:
    """Delete what a crash left in an open tier; the caller holds the tier alone [I-8, Q-12]."""
    for name in tree.names_in(directory):
        if name.startswith((STAGING, REMOVING)) and is_directory(directory, name):
            delete(directory, name)


def _stage(root: int, above: int, staging: str, package: Package) -> None:
    with tree.held(os.open(staging, tree.DIRECTORY, dir_fd=above)) as into:
        tree.copy(root, into)
        os.fchmod(into, _DIRECTORY_MODE)
        sync_directory(into)
        # What lies there now, read back: the source or the copy may have been touched.
        changed = tree.differing(package, tree.installed(into))
    if changed:
        shown = listed(changed, limits.CHANGED_PATHS_SHOWN)
        raise PackageRefused(f"it changed while the question was open: {shown}")


def _discard(directory: int, *names: str) -> None:
    for name in names:
        with suppress(FileNotFoundError):
            delete(directory, name)


def _is_there(directory: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _taken(name: str, tier: Tier, holder: str) -> NameTaken:
    at = visible(str(tier.path / holder))
    scope = tier.scope.value
    return NameTaken(
        f'"{visible(name)}" is taken in the {scope} scope by {at}; '
        f"`stella plugin remove {visible(name)}` makes room for it"
    )
