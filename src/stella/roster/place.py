"""Putting a package into a tier so that it is there whole, with its record, or not at all.

The copy is made beside its place, checked, and renamed; a crash leaves the tier, the settings
and the records as they were, once the next change has looked [I-2, I-7, I-8, I-37].
"""

import os
from contextlib import ExitStack
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import field
from typing import Final

from stella import limits
from stella.clock import Clock
from stella.errors import NameTaken
from stella.errors import NotInstalled
from stella.errors import PackageRefused
from stella.errors import RosterError
from stella.escape import listed
from stella.escape import visible
from stella.files import tree
from stella.files.delete import delete
from stella.files.delete import is_directory
from stella.files.tree import Package
from stella.files.write import sync_directory
from stella.files.write import write_atomic
from stella.manifest.package import Configure
from stella.roster import lock
from stella.roster.change import OLD
from stella.roster.change import STAGING
from stella.roster.change import Change
from stella.roster.change import Move
from stella.roster.change import carry_out
from stella.roster.change import changing
from stella.roster.configure import JOURNAL_MODE
from stella.roster.configure import Owner
from stella.roster.configure import Settable
from stella.roster.configure import configured
from stella.roster.configure import put_back
from stella.roster.lock import Anchor
from stella.roster.lock import Record
from stella.roster.name import folded
from stella.roster.scope import Tier
from stella.roster.scope import entered
from stella.roster.scope import naming
from stella.roster.shelf import shelf
from stella.roster.target import Target
from stella.roster.target import read_target
from stella.roster.target import refuse_other_format

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz234567"
_TOKEN_CHARS: Final = 16
_PRIVATE_MODE: Final = 0o700
_DIRECTORY_MODE: Final = 0o755


@dataclass(frozen=True, slots=True, kw_only=True)
class Placing:
    """What is put into a tier: the files, their record, and what they set.

    With `upgrade` it takes the place of the copy whose record is `replaced`. `anchor` is the
    workspace that a person was asked about, None for the person's own tier.
    """

    package: Package
    record: Record
    configure: tuple[Configure, ...] = ()
    settable: Settable = field(default_factory=dict)
    upgrade: bool = False
    replaced: Record | None = None
    anchor: Anchor | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """What became of the settings: how many keys were set, and lines about others left alone."""

    configured: int = 0
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settings:
    """The settings file before and after, None when it stays; the journal that goes with it."""

    change: tuple[Target, Target] | None = None
    journal: bytes | None = None
    left: tuple[str, ...] = ()


def token(clock: Clock) -> str:
    """Return letters that nobody can guess, for the name of something unfinished [A25]."""
    return clock.letters(_LETTERS, _TOKEN_CHARS)


def place(root: int, placing: Placing, tier: Tier, clock: Clock) -> Placed:
    """Copy the package in an open source directory into a tier and keep its record.

    Raises `NameTaken` when the name was taken meanwhile [Q-15], `PackageRefused` when the
    source is not what `package` says any more [I-7], and `RosterError` for what the system
    refuses. After any of them, or an interrupt, all is as it was.
    """
    mark = token(clock)
    staging, old, name = f"{STAGING}{mark}", f"{OLD}{mark}", placing.record.name
    with changing(tier), entered(tier, make=True) as directory, ExitStack() as undo:
        if directory is None:
            raise RosterError(f"{visible(str(tier.anchor))}: is not there any more")
        lock.refuse_other(tier, placing.anchor)
        refuse_place(tier, directory, name, upgrade=placing.upgrade)
        if placing.upgrade and lock.read_records(tier).by_name.get(name) != placing.replaced:
            raise RosterError(f"{name}: another command changed it while the question was open")
        with naming(tier.path / name):
            os.mkdir(staging, _PRIVATE_MODE, dir_fd=directory)
            undo.callback(_discard, directory, staging)
            settings = _settings(tier, directory, placing)
            _stage(root, directory, staging, placing.package)
            _note_priors(directory, staging, settings.journal, mark)
        away = (Move(before=name, after=old),) if placing.upgrade else ()
        change = Change(
            name=name,
            mark=mark,
            settings=settings.change,
            moves=(*away, Move(before=staging, after=name)),
            records=((tier, lock.with_record(tier, placing.record)),),
        )
        carry_out(tier, change)
        undo.pop_all()
        if placing.upgrade:
            # The new one holds by now; what stays of the old is cleared by the next change.
            _discard(directory, old)
    return Placed(configured=len(placing.configure), left=settings.left)


def refuse_place(tier: Tier, directory: int | None, name: str, *, upgrade: bool) -> None:
    """Raise when a package of that name cannot be put into a tier [I-2, I-36].

    `NameTaken` for a name that is taken, by the copy to be upgraded excepted; `NotInstalled`
    when there is none to upgrade.
    """
    if not upgrade:
        refuse_taken(tier, directory, name)
        return
    if directory is None or not _is_package(directory, name):
        raise NotInstalled(
            f'"{visible(name)}" is not installed in the {tier.scope.value} scope, so there is '
            "nothing to upgrade; leave --upgrade out to install it"
        )
    refuse_taken(tier, directory, name, but=name)


def refuse_taken(tier: Tier, directory: int | None, name: str, *, but: str | None = None) -> None:
    """Raise `NameTaken` when a directory of the tier bears or declares the name [I-2, A4].

    `but` is a directory that may.
    """
    found, _ = shelf(tier, directory)
    for each in found:
        at = each.directory.name
        if at != but and folded(name) in {folded(at), folded(each.declared or "")}:
            raise _taken(name, tier, at)
    if but is None and directory is not None and _is_there(directory, name):
        raise _taken(name, tier, name)


def _settings(tier: Tier, directory: int, placing: Placing) -> _Settings:
    """Return what becomes of the settings: an old copy's keys put back, the new one's set."""
    name = placing.record.name
    new = Owner(tier=tier, name=name, configure=placing.configure, settable=placing.settable)
    if placing.configure:
        refuse_other_format(tier)
    target, back = put_back(new, directory, (name,) if placing.upgrade else ())
    after, journal = back.text, None
    if placing.configure:
        if target is None:
            target = read_target(tier)
            after = target.text
        after, journal = configured(new, after)
    change = None
    if target is not None and target.text != after:
        change = target, Target(text=after, mode=target.mode)
    return _Settings(change=change, journal=journal, left=back.left)


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


def _note_priors(above: int, staging: str, journal: bytes | None, mark: str) -> None:
    if journal is not None:
        with tree.held(os.open(staging, tree.DIRECTORY, dir_fd=above)) as into:
            write_atomic(into, tree.CONFIGURED, journal, JOURNAL_MODE, token=mark)


def _discard(directory: int, name: str) -> None:
    with suppress(OSError):  # the next change of the tier takes it away
        delete(directory, name)


def _is_package(directory: int, name: str) -> bool:
    return _is_there(directory, name) and is_directory(directory, name)


def _is_there(directory: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _taken(name: str, tier: Tier, holder: str) -> NameTaken:
    at = visible(str(tier.path / holder))
    scope = tier.scope.value
    shown = visible(name)
    upgrade = "`--upgrade` puts this one in its place, " if holder == name else ""
    return NameTaken(
        f'"{shown}" is taken in the {scope} scope by {at}; {upgrade}'
        f"`stella plugin remove {shown}` makes room for it"
    )
