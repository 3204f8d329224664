"""Removing a plugin, every copy of it, whatever state it is in [I-66].

What is to go is found first and refused as a whole when one part may not be touched; then it
leaves its tier by a rename, so that a crash never leaves half a plugin.
"""

import os
import stat
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from stella.clock import Clock
from stella.errors import NotInstalled
from stella.errors import RosterError
from stella.errors import UsageError
from stella.escape import visible
from stella.files.delete import delete
from stella.near import suggestion
from stella.roster import lock
from stella.roster.change import REMOVING
from stella.roster.change import Change
from stella.roster.change import Move
from stella.roster.change import carry_out
from stella.roster.change import changing
from stella.roster.change import mend
from stella.roster.configure import Owner
from stella.roster.configure import Settable
from stella.roster.configure import put_back
from stella.roster.place import token
from stella.roster.scope import Places
from stella.roster.scope import Tier
from stella.roster.scope import entered
from stella.roster.scope import naming
from stella.roster.shelf import shelf
from stella.roster.target import Target

_NOTHING_OPEN: Final[Settable] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """What is gone: directories of plugins, and the files from which a record was dropped.

    `restored` are the settings that were put back, `left` are lines about those that were not.
    """

    directories: tuple[Path, ...]
    records: tuple[Path, ...]
    restored: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def remove(
    name: str, places: Places, clock: Clock, *, settable: Settable = _NOTHING_OPEN
) -> Removed:
    """Remove every directory that bears or declares `name` in both tiers, and its records.

    The project's tier comes first, and in each the settings, then the directories, then the
    record. Raises `UsageError` for what cannot be the name of a directory, `NotInstalled` when
    nothing is found, and `RosterError` for a link in the way or at the first deletion that fails
    [I-66].
    """
    _refuse_path(name)
    mend(places)
    _refuse_missing(name, places)
    with ExitStack() as held:
        for tier in places.tiers:
            held.enter_context(changing(tier))
        # Once more, now that nobody else changes them: refuse before anything is touched.
        _refuse_missing(name, places)
        mark = token(clock)
        done = [_remove_from(tier, name, mark, settable) for tier in places.tiers]
    return Removed(
        directories=tuple(path for each in done for path in each.directories),
        records=tuple(path for each in done for path in each.records),
        restored=tuple(key for each in done for key in each.restored),
        left=tuple(line for each in done for line in each.left),
    )


def _remove_from(tier: Tier, name: str, mark: str, settable: Settable) -> Removed:
    with entered(tier, make=False) as directory:
        if directory is None or not (going := targets(tier, directory, name)):
            return _forgotten(tier, name, mark)
        owner = Owner(tier=tier, name=name, configure=(), settable=settable)
        target, back = put_back(owner, directory, (path.name for path in going))
        moves = tuple(
            Move(before=path.name, after=f"{REMOVING}{mark}-{number}")
            for number, path in enumerate(going)
        )
        settings = None
        if target is not None and target.text != back.text:
            settings = target, Target(text=back.text, mode=target.mode)
        without = _without(tier, name)
        change = Change(name=name, mark=mark, settings=settings, moves=moves, records=without)
        carry_out(tier, change)
        for path, move in zip(going, moves, strict=True):
            with naming(path):
                delete(directory, move.after)
    where = visible(str(tier.settings_path))
    return Removed(
        directories=tuple(going),
        records=tuple(each.record_path for each, _ in without),
        restored=tuple(f"{key} in {where}" for key in back.restored),
        left=back.left,
    )


def _forgotten(tier: Tier, name: str, mark: str) -> Removed:
    """Drop every record of a name that has no directory."""
    without = _without(tier, name)
    if without:
        carry_out(tier, Change(name=name, mark=mark, records=without))
    return Removed(directories=(), records=tuple(each.record_path for each, _ in without))


def _without(tier: Tier, name: str) -> tuple[tuple[Tier, bytes], ...]:
    """Return each file that has a record of a name, as its tier, with the bytes it has without."""
    return tuple(
        (each, lock.without_record(each, name)) for each in tier.kinds if lock.seen(each).has(name)
    )


def _refuse_missing(name: str, places: Places) -> None:
    # Both are looked at, so that a link in one is refused whatever the other has.
    found = [_found(tier, name) for tier in places.tiers]
    if not any(found):
        raise NotInstalled(missing(name, places))


def _found(tier: Tier, name: str) -> bool:
    """Return whether a tier has a directory or a record of the name; `RosterError` for a link."""
    with entered(tier, make=False) as directory:
        if directory is not None and targets(tier, directory, name):
            return True
    return any(lock.read_records(each).has(name) for each in tier.kinds)


def targets(tier: Tier, directory: int, name: str) -> list[Path]:
    """Return every directory of an open tier that bears or declares a name [I-66].

    Raises `RosterError` for a link or a file of that name.
    """
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


def missing(name: str, places: Places) -> str:
    """Return that a name is installed nowhere, and the near ones [M-8]."""
    known: set[str] = set()
    for tier in places.tiers:
        with entered(tier, make=False) as directory:
            standing, _ = shelf(tier, directory)
        known.update(each.declared or each.directory.name for each in standing)
    where = " nor ".join(f"in {visible(str(tier.path))}" for tier in places.tiers)
    hint = suggestion(name, known)
    said = f'"{visible(name)}" is installed neither {where}'
    return f"{said}; {hint}" if hint else said
