"""One change of a tier, its settings and its records: whole, or undone [I-8, I-37, Q-12].

Before the first step that anybody could see, a note in the person's home says how to take each
step back; when it is gone, the change holds. Whoever changes a tier next undoes what a crash
left half done and takes away what it left lying about.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from contextlib import contextmanager
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from stella.errors import RosterError
from stella.errors import ShapeError
from stella.escape import brief
from stella.escape import visible
from stella.files import tree
from stella.files.delete import delete
from stella.files.delete import is_directory
from stella.files.write import sync_directory
from stella.roster import lock
from stella.roster.name import name_fault
from stella.roster.pending import Moved
from stella.roster.pending import Pending
from stella.roster.pending import Schema
from stella.roster.pending import SettingsBefore
from stella.roster.pending import pending_path
from stella.roster.pending import read_pending
from stella.roster.pending import records_before
from stella.roster.pending import write_pending
from stella.roster.private import clear_temporary
from stella.roster.scope import CONSENT
from stella.roster.scope import Places
from stella.roster.scope import Tier
from stella.roster.scope import alone
from stella.roster.scope import anchored
from stella.roster.scope import entered
from stella.roster.scope import kept
from stella.roster.scope import naming
from stella.roster.shelf import standing
from stella.roster.target import Target
from stella.roster.target import read_target
from stella.roster.target import write_target

STAGING: Final = ".staging-"
REMOVING: Final = ".removing-"
OLD: Final = ".old-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One rename inside the tier."""

    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is to become of a tier, in this order: the settings, the moves, the records.

    `settings` is the file as it stands and as it shall be; `records` has each file
    of records that changes, by the tier it belongs to, with the bytes that shall be.
    """

    name: str
    mark: str
    moves: tuple[Move, ...] = ()
    settings: tuple[Target, Target] | None = None
    records: tuple[tuple[Tier, bytes], ...] = ()


def mend(places: Places) -> tuple[str, ...]:
    """Undo what a crash left half done in either tier; return what was done, for people [Q-12].

    Nothing is written where nothing is unfinished. Raises `RosterError`.
    """
    told: list[str] = []
    for tier in places.tiers:
        if unfinished(tier):
            with changing(tier) as done:
                told += done
    return tuple(told)


def unfinished(tier: Tier) -> tuple[str, ...]:
    """Return a notice for each thing that a crash, or a command at work, left in a tier.

    Nothing is written, and what cannot be read is nothing.
    """
    notices: list[str] = []
    if os.path.lexists(pending_path(tier)):
        notices.append(
            f"{visible(str(tier.path))}: a change of it has begun and not ended; if no other "
            "stella command is at work, the next one that changes plugins undoes it"
        )
    with suppress(RosterError, OSError), entered(tier, make=False) as directory:
        notices += [
            f"{visible(str(tier.path / name))}: left by a command that is at work or was cut "
            "off; the next one that changes plugins takes it away"
            for name in ([] if directory is None else _leftovers(directory))
        ]
    return tuple(notices)


@contextmanager
def changing(tier: Tier) -> Iterator[tuple[str, ...]]:
    """Hold a tier alone, mended; yields what was mended, for people. Raises `RosterError`."""
    with alone(tier):
        yield _mended(tier)


def carry_out(tier: Tier, change: Change) -> None:
    """Take the steps of a change, and undo them all when one of them fails.

    The caller holds the tier alone. Raises `RosterError`.
    """
    with ExitStack() as undo:
        undo.push(partial(_undo, tier))
        _begin(tier, change)
        _end(tier)


def _undo(
    tier: Tier, kind: type[BaseException] | None, error: BaseException | None, *_: object
) -> None:
    """Take back what has begun when a step raised; an interrupt is one as well."""
    if kind is None:
        return
    try:
        _take_back(tier)
    except RosterError as second:
        raise RosterError(
            f"{error}; it could not be undone at once ({second}), so the next stella command "
            "that changes plugins does it"
        ) from error


def _begin(tier: Tier, change: Change) -> None:
    with entered(tier, make=False) as directory:
        _note(tier, change, directory)
        if change.settings is not None:
            _, new = change.settings
            write_target(tier, new.text, new.mode, mark=change.mark)
        for move in change.moves:
            _rename(tier, directory, move.before, move.after)
    for kind, data in change.records:
        lock.replace(kind, data, mark=change.mark)


def _mended(tier: Tier) -> tuple[str, ...]:
    with kept(tier.home, CONSENT) as home, naming(tier.home / CONSENT):
        clear_temporary(home, tier.key)
    if tier.anchor.is_dir():
        with anchored(tier) as anchor, naming(tier.anchor):
            clear_temporary(anchor, tier.key)
    told = _take_back(tier)
    with entered(tier, make=False) as directory:
        if directory is not None:
            clear_leftovers(tier, directory)
    return told


def clear_leftovers(tier: Tier, directory: int) -> None:
    """Take away what a crash left in an open tier; the caller holds it alone [I-8, I-37, Q-12].

    An old directory goes back to its name when that is free. Raises `RosterError`.
    """
    for name in _leftovers(directory):
        with naming(tier.path / name):
            if not (name.startswith(OLD) and _returned(tier, directory, name)):
                delete(directory, name)


def _leftovers(directory: int) -> list[str]:
    found: list[str] = []
    for name in tree.names_in(directory):
        if name.startswith((STAGING, REMOVING, OLD)):
            with suppress(FileNotFoundError):  # whoever looks without the lock may come too late
                found += [name] if is_directory(directory, name) else []
    return found


def _returned(tier: Tier, directory: int, old: str) -> bool:
    """Return whether an old directory has gone back to the name that its manifest declares."""
    name = standing(directory, tier.path / old).declared
    # A manifest that nobody vouches for must not choose a path.
    if name is None or name_fault(name) or _identity(directory, name) is not None:
        return False
    _rename(tier, directory, old, name)
    return True


def _take_back(tier: Tier) -> tuple[str, ...]:
    """Undo the change that has begun and not ended, if there is one; return what was done."""
    path = pending_path(tier)
    try:
        note = read_pending(path)
    except (ShapeError, OSError) as error:
        with kept(tier.home, CONSENT) as directory, naming(path):
            os.rename(path.name, f"{path.name}.damaged", src_dir_fd=directory, dst_dir_fd=directory)
        return (f"{visible(str(path))}: {error}; it was put aside and nothing was undone",)
    if note is None:
        return ()
    told = [f"{visible(str(tier.path))}: undone, since it was cut off: {_about(note)}"]
    for record in reversed(note.records):
        before = None if record.text is None else record.text.encode()
        kind = tier.apart if record.by_variable else tier
        lock.put_back(kind, before, record.written, mark=note.mark)
    if note.settings is not None:
        told += _settings_back(tier, note, note.settings)
    with entered(tier, make=False) as directory:
        for move in reversed(note.moves if directory is not None else ()):
            here, there = _system(move.before), _system(move.after)
            moved = _identity(directory, there) == (move.device, move.inode)
            if moved and _identity(directory, here) is None:
                _rename(tier, directory, there, here)
    _end(tier)
    return tuple(told)


def _about(note: Pending) -> str:
    return f"what a command had begun to change about {visible(note.name)}"


def _settings_back(tier: Tier, note: Pending, before: SettingsBefore) -> Iterator[str]:
    """Put the settings back and yield what there is to tell of it.

    Somebody's own changes stay; only what still stands as the change left it goes back [I-23].
    """
    where = visible(str(tier.settings_path))
    by_hand = f"look at what {visible(note.name)} may have set in it"
    try:
        now = read_target(tier)
        old, left = _taken_back(before, now)
    except RosterError as error:
        yield f"{where}: left as it is, since {error}; {by_hand}"
        return
    if old != now:
        write_target(tier, old.text, old.mode, mark=f"{note.mark}-back")
    if left:
        keys = ", ".join(map(brief, left))
        yield f"{where}: changed by somebody else meanwhile; {keys} not put back; {by_hand}"


def _taken_back(before: SettingsBefore, now: Target) -> tuple[Target, tuple[str, ...]]:
    """Return the settings without the change, and the keys that somebody changed since."""
    from stella.roster.rebase import rebased  # noqa: PLC0415  # most repairs change no settings

    old = Target(text=before.text, mode=before.mode)
    if now.digest == old.digest:
        return now, ()
    if now.digest == before.written:
        return old, ()
    done = rebased(before.text or "", before.after or "", now.text or "")
    text = done.text if done.text or now.text is not None else None
    return Target(text=text, mode=now.mode), done.left


def _note(tier: Tier, change: Change, directory: int | None) -> None:
    moves = []
    for move in change.moves:
        found = _identity(directory, move.before)
        if found is None:
            raise RosterError(f"{visible(str(tier.path / move.before))}: is not there any more")
        device, inode = found
        before, after = _kept(move.before), _kept(move.after)
        moves.append(Moved(before=before, after=after, device=device, inode=inode))
    settings = None
    if change.settings is not None:
        old, new = change.settings
        settings = SettingsBefore(text=old.text, mode=old.mode, written=new.digest, after=new.text)
    note = Pending(
        schema=Schema.V1,
        name=change.name,
        mark=change.mark,
        moves=tuple(moves),
        settings=settings,
        records=tuple(records_before(kind, data) for kind, data in change.records),
    )
    write_pending(tier, note)


def _end(tier: Tier) -> None:
    """Let the change hold, or be forgotten once it is undone."""
    path = pending_path(tier)
    with kept(tier.home, CONSENT) as directory, naming(path):
        with suppress(FileNotFoundError):
            os.unlink(path.name, dir_fd=directory)
        # It holds by now: to say otherwise would be wrong. A note that comes back after a loss of
        # power undoes it whole.
        with suppress(OSError):
            sync_directory(directory)


def _rename(tier: Tier, directory: int | None, before: str, after: str) -> None:
    # Without a tier there is nothing to move.
    assert directory is not None  # noqa: S101
    with naming(tier.path / before):
        os.rename(before, after, src_dir_fd=directory, dst_dir_fd=directory)
        sync_directory(directory)


def _identity(directory: int | None, name: str) -> tuple[int, int] | None:
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _kept(name: str) -> str:
    """Return the name of a file as JSON can hold it, whatever bytes it has."""
    return os.fsencode(name).decode("latin-1")


def _system(name: str) -> str:
    return os.fsdecode(name.encode("latin-1"))
