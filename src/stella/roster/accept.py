"""Accepting an installed plugin as it is now, after a person was shown what changed [I-33].

Nothing is copied and no setting is changed: all that comes of a yes is a new record.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path

from stella import limits
from stella.clock import Clock
from stella.errors import NotInstalled
from stella.errors import PackageRefused
from stella.errors import RosterError
from stella.escape import listed
from stella.escape import visible
from stella.files import tree
from stella.files.tree import Package
from stella.roster import lock
from stella.roster.change import Change
from stella.roster.change import carry_out
from stella.roster.change import changing
from stella.roster.change import mend
from stella.roster.configure import unset
from stella.roster.install import Ask
from stella.roster.install import Declined
from stella.roster.install import Proposal
from stella.roster.install import Question
from stella.roster.install import Wish
from stella.roster.install import compared
from stella.roster.install import loadable
from stella.roster.install import proposed
from stella.roster.install import recorded
from stella.roster.install import refuse_unequal
from stella.roster.lock import AcceptedBy
from stella.roster.lock import Record
from stella.roster.lock import read_records
from stella.roster.place import token
from stella.roster.remove import missing
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.scope import Tier
from stella.roster.scope import entered
from stella.roster.shelf import shelf

_OWN_YES = (AcceptedBy.TTY, AcceptedBy.YES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The plugin stands as it was accepted; nothing was asked and nothing written."""

    name: str
    directory: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Anew:
    """A plugin was accepted as it is now."""

    name: str
    directory: Path
    record: Record


def accept(
    name: str, wish: Wish, ask: Ask, clock: Clock, *, scope: Scope | None = None
) -> Anew | Standing | Declined:
    """Accept the installed plugin `name` when the person says yes to what `ask` is given [I-33].

    Of two copies it is the one a session uses, unless `scope` says which. Of `wish` only the
    surroundings count. Raises `NotInstalled`, `PackageRefused` for what could not be installed
    either, and `RosterError`.
    """
    mend(wish.places)
    tier, directory = _where(name, wish.places, scope)
    anchor = lock.place_of(tier)
    here = replace(wish, source=directory, scope=tier.scope)
    with _naming(directory), tree.opened(directory) as root:
        package, proposal = _prepared(root, here, name)
    before = read_records(tier).by_name.get(name)
    if before is not None and _stands(before, package, proposal):
        return Standing(name=name, directory=directory)
    proposal = compared(proposal, Question.ACCEPT, before, package)
    accepted = ask(proposal)
    if accepted is None:
        return Declined(name=name)
    path = os.fsencode(directory).decode(errors="replace")
    source = path if before is None else before.source
    record = recorded(proposal, package, accepted, clock, source)
    with changing(tier), _naming(directory):
        lock.refuse_other(tier, anchor)
        _refuse_changed(tier, directory, package)
        records = ((tier, lock.with_record(tier, record)),)
        carry_out(tier, Change(name=name, mark=token(clock), records=records))
    return Anew(name=name, directory=directory, record=record)


def _where(name: str, places: Places, scope: Scope | None) -> tuple[Tier, Path]:
    """Return the copy that is meant: in a tier the last that declares the name [I-41]."""
    found = [
        (tier, path)
        for tier in places.tiers
        if scope in (None, tier.scope) and (path := _copy(tier, name)) is not None
    ]
    if not found:
        raise NotInstalled(missing(name, places))
    # As in the roster, being there does not take the place of one that the person accepted.
    known = [each for each in found if name in read_records(each[0]).by_name]
    return (known or found)[0]


def _copy(tier: Tier, name: str) -> Path | None:
    with entered(tier, make=False) as directory:
        found, _ = shelf(tier, directory)
    of_name = [each.directory for each in found if each.declared == name]
    # One that says nothing of its name is told what is wrong with it.
    mute = [each.directory for each in found if each.directory.name == name]
    return next((path for path in (*reversed(of_name), *mute)), None)


def _prepared(root: int, wish: Wish, name: str) -> tuple[Package, Proposal]:
    """Load, check limits and kinds, reconcile; nothing is written [I-33]."""
    loaded, data = loadable(root)
    manifest = loaded.manifest
    if manifest.name != name:
        raise PackageRefused(f'its manifest calls it "{manifest.name}", so accept that name')
    package = tree.acceptable(root)
    refuse_unequal(package, data)
    proposal = proposed(root, loaded, package, wish, wish.source)
    if keys := unset(root, manifest.configure):
        note = (
            f"not set by this: {', '.join(keys)}; an install with --upgrade sets what it asks for"
        )
        proposal = replace(proposal, notes=(*proposal.notes, note))
    return package, proposal


def _stands(before: Record, package: Package, proposal: Proposal) -> bool:
    same = before.digest == package.digest and before.consent_text == proposal.consent
    return same and before.accepted_by in _OWN_YES


def _refuse_changed(tier: Tier, directory: Path, package: Package) -> None:
    """Refuse a tree that is not what the person was shown any more [Q-15]."""
    with entered(tier, make=False) as above, tree.opened(directory, above=above) as root:
        changed = tree.differing(package, tree.acceptable(root))
    if changed:
        shown = listed(changed, limits.CHANGED_PATHS_SHOWN)
        raise PackageRefused(f"it changed while the question was open: {shown}")


@contextmanager
def _naming(directory: Path) -> Iterator[None]:
    """Let a refusal say which package it is about, and that nothing came of it."""
    try:
        yield
    except RosterError as error:
        said = str(error)
        end = "\n" if "\n" in said else "; "
        raise type(error)(f"{visible(str(directory))}: {said}{end}nothing was accepted") from error
