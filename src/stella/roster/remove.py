"""Removing a plugin, every copy of it, whatever state it is in [I-66].

What is to go is found first and refused as a whole when one part may not be touched; then it
leaves its tier by a rename, so that a crash never leaves half a plugin.
"""

import os
import stat
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from stella.clock import Clock
from stella.errors import NotInstalled
from stella.errors import RosterError
from stella.errors import UsageError
from stella.escape import visible
from stella.files.delete import delete
from stella.files.write import sync_directory
from stella.near import suggestion
from stella.roster import lock
from stella.roster.place import REMOVING
from stella.roster.place import clear_leftovers
from stella.roster.place import token
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.scope import Tier
from stella.roster.scope import alone
from stella.roster.scope import entered
from stella.roster.scope import naming
from stella.roster.shelf import shelf


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """What is gone: directories of plugins, and the files from which a record was dropped."""

    directories: tuple[Path, ...]
    records: tuple[Path, ...]


def remove(name: str, places: Places, clock: Clock) -> Removed:
    """Remove every directory that bears or declares `name` in both tiers, and its records.

    The project's tier comes first. Raises `UsageError` for what cannot be the name of a
    directory, `NotInstalled` when nothing is found, and `RosterError` for a link in the way or
    at the first deletion that fails [I-66].
    """
    _refuse_path(name)
    # Both are looked at, so that a link in one is refused whatever the other has.
    found = [_found(tier, name) for tier in places.tiers]
    if not any(found):
        raise NotInstalled(_missing(name, places))
    directories: list[Path] = []
    records: list[Path] = []
    with ExitStack() as held:
        for tier in places.tiers:
            held.enter_context(alone(tier))
        # Once more, now that nobody else changes them: refuse before anything is touched.
        for tier in places.tiers:
            _found(tier, name)
        mark = token(clock)
        for tier in places.tiers:
            directories += _remove_from(tier, name, mark)
            kept = (tier, tier.apart) if tier.scope is Scope.PROJECT else (tier,)
            records += [each.record_path for each in kept if lock.drop(each, name, mark=mark)]
    return Removed(directories=tuple(directories), records=tuple(records))


def _remove_from(tier: Tier, name: str, mark: str) -> list[Path]:
    with entered(tier, make=False) as directory:
        if directory is None:
            return []
        with naming(tier.path):
            clear_leftovers(directory)
        going = _targets(tier, directory, name)
        for number, path in enumerate(going):
            away = f"{REMOVING}{mark}-{number}"
            with naming(path):
                os.rename(path.name, away, src_dir_fd=directory, dst_dir_fd=directory)
                sync_directory(directory)
                delete(directory, away)
        return going


def _found(tier: Tier, name: str) -> bool:
    """Return whether a tier has a directory or a record of the name; `RosterError` for a link."""
    with entered(tier, make=False) as directory:
        if directory is not None and _targets(tier, directory, name):
            return True
    return any(table.get("name") == name for table in lock.read_records(tier).tables)


def _targets(tier: Tier, directory: int, name: str) -> list[Path]:
    standing, _ = shelf(tier, directory)
    found = [each.directory for each in standing if name in {each.declared, each.directory.name}]
    path = tier.path / name
    try:
        mode = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return found
    if not stat.S_ISDIR(mode):
        raise RosterError(
            f"{visible(str(path))}: is no directory but a link or a file, and is not followed or "
            "deleted; look at it and take it away yourself"
        )
    # Whatever its manifest says, or that it has none.
    return found if path in found else [*found, path]


def _refuse_path(name: str) -> None:
    if not name or name.startswith(".") or "/" in name or "\0" in name:
        raise UsageError(
            f'"{visible(name)}" is a path, not the name of a plugin; see `stella plugin list`'
        )


def _missing(name: str, places: Places) -> str:
    known: set[str] = set()
    for tier in places.tiers:
        with entered(tier, make=False) as directory:
            standing, _ = shelf(tier, directory)
        known.update(each.declared or each.directory.name for each in standing)
    where = " nor ".join(f"in {visible(str(tier.path))}" for tier in places.tiers)
    hint = suggestion(name, known)
    said = f'"{visible(name)}" is installed neither {where}'
    return f"{said}; {hint}" if hint else said
