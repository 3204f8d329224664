"""Installing a plugin: every step in its order, and nothing left when one fails [I-2].

Nothing here prints, asks or starts anything. The question is the caller's: it gets all a
person is to be shown and returns how they accepted, or None.
"""

import hashlib
import os
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import ExitStack
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stella import limits
from stella.clock import Clock
from stella.consent.answer import digest_of
from stella.consent.text import consent_text
from stella.errors import PackageRefused
from stella.errors import RosterError
from stella.escape import visible
from stella.files import tree
from stella.files.tree import Package
from stella.manifest.fault import warning_report
from stella.manifest.plugin import PluginManifest
from stella.manifest.read import Loaded
from stella.manifest.read import Unloadable
from stella.manifest.read import examine
from stella.process.environment import withheld
from stella.roster import lock
from stella.roster.lock import AcceptedBy
from stella.roster.lock import Record
from stella.roster.name import refuse_name
from stella.roster.place import place
from stella.roster.place import refuse_taken
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.scope import Tier
from stella.roster.scope import entered
from stella.roster.shelf import MANIFEST
from stella.roster.shelf import full_report
from stella.roster.shelf import manifest_bytes
from stella.roster.shelf import shelf
from stella.roster.ships import refuse_unreconciled
from stella.roster.ships import ships
from stella.roster.start import Lookup
from stella.roster.start import absent
from stella.roster.start import line_end_warning
from stella.roster.start import refuse_unstartable
from stella.roster.start import resolution


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be installed where; `source` is absolute.

    `path_value` is the host's `PATH`; `registered` are the variables that model keys are read
    from [T-11].
    """

    source: Path
    scope: Scope
    places: Places
    path_value: str | None
    registered: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """All that a person is shown before the question, and what their yes is about [I-2].

    `consent` is the whole text, `warnings` a text about the manifest that may be empty, `notes`
    are lines about this package in this place. `withheld` are the names in `env` that are
    credentials. `digest` is that of the tree as it will be installed.
    """

    manifest: PluginManifest
    scope: Scope
    directory: Path
    digest: str
    consent: str
    warnings: str
    notes: tuple[str, ...]
    withheld: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """A plugin that is in its place, and the record of it."""

    manifest: PluginManifest
    scope: Scope
    directory: Path
    record: Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Declined:
    """The person said no; nothing was written [I-9]."""

    name: str


Ask = Callable[[Proposal], AcceptedBy | None]


def install(wish: Wish, ask: Ask, clock: Clock) -> Installed | Declined:
    """Install the package in `wish.source` when the person accepts what `ask` is given [I-2].

    Raises `PackageRefused` or `NameTaken` for what must not be installed, `RosterError` for
    what the system refuses, and whatever `ask` raises. After any of them nothing of the package
    is in the tier.
    """
    tier = wish.places.tier(wish.scope)
    with ExitStack() as held:
        with _about(wish.source, "nothing was copied"):
            root = held.enter_context(tree.opened(wish.source))
            package, program, proposal = _prepared(root, wish, tier)
        accepted = ask(proposal)
        if accepted is None:
            return Declined(name=proposal.manifest.name)
        record = Record(
            name=proposal.manifest.name,
            digest=package.digest,
            consent=digest_of(proposal.consent),
            consent_text=proposal.consent,
            accepted_at=lock.accepted_at(clock.now()),
            accepted_by=accepted,
            source=os.fsencode(os.path.realpath(wish.source)).decode(errors="replace"),
            program=_recordable(program),
            files=dict(package.files),
        )
        with _about(wish.source, "nothing was installed"):
            place(root, package, record, tier, clock)
    return Installed(
        manifest=proposal.manifest,
        scope=wish.scope,
        directory=proposal.directory,
        record=record,
    )


def _prepared(root: int, wish: Wish, tier: Tier) -> tuple[Package, str | None, Proposal]:
    """Run the steps before the question; nothing is written [I-2, steps 1 to 9].

    The text is the program that is started from then on, None when there is none.
    """
    loaded, package = _loaded(root, tier, wish.source)
    manifest = loaded.manifest
    directory = tier.path / manifest.name
    shipped = ships(root, directory, manifest, package)
    refuse_unreconciled(shipped)
    lookup = Lookup(path_value=wish.path_value, workspace=wish.places.workspace)
    refuse_unstartable(manifest, package, directory, lookup)
    found = resolution(manifest, package, directory, lookup)
    text = consent_text(manifest, found)
    if len(text.encode()) > limits.CONSENT_BYTES:
        raise PackageRefused(
            f"the consent text has {len(text.encode())} bytes, more than anybody reads; "
            f"the limit is {limits.CONSENT_BYTES}"
        )
    notes = (
        line_end_warning(manifest, root, directory),
        *(f"warning: {each.says}" for each in absent(manifest, package, directory, lookup)),
        _other_copy(wish.places, wish.scope, manifest.name),
        *shipped.lines,
    )
    listed = () if manifest.runtime is None else manifest.runtime.env
    proposal = Proposal(
        manifest=manifest,
        scope=wish.scope,
        directory=directory,
        digest=package.digest,
        consent=text,
        warnings=warning_report(MANIFEST, loaded.warnings),
        notes=tuple(note for note in notes if note),
        withheld=withheld(listed, wish.registered),
    )
    return package, found.runtime, proposal


def _loaded(root: int, tier: Tier, source: Path) -> tuple[Loaded, Package]:
    """Load the manifest, judge name and place, walk the tree [I-2, steps 1 to 4]."""
    data = manifest_bytes(root)
    if data is None:
        raise PackageRefused(f"not a plugin: there is no {MANIFEST} in it")
    loaded = examine(data)
    if isinstance(loaded, Unloadable):
        raise PackageRefused(full_report(loaded))
    refuse_name(loaded.manifest.name)
    _refuse_nested(source, tier)
    with entered(tier, make=False) as directory:
        refuse_taken(tier, directory, loaded.manifest.name)
    package = tree.walk(root)
    entry = package.entry(MANIFEST)
    # What is judged and shown are the very bytes that are copied.
    if entry is None or entry.sha256 != hashlib.sha256(data).hexdigest():
        raise PackageRefused(f"{MANIFEST}: changed while it was read")
    return loaded, package


def _recordable(program: str | None) -> str | None:
    """Return the path if TOML can hold it exactly: a system's path need not be UTF-8."""
    if program is None or program != os.fsencode(program).decode(errors="replace"):
        return None
    return program


def _refuse_nested(source: Path, tier: Tier) -> None:
    """Refuse a source inside the tier, or one that contains it [I-8]."""
    real = Path(os.path.realpath(source))
    if tree.lies_in(real, tier.path):
        raise PackageRefused(
            f"it lies inside {visible(str(tier.path))}, where installed plugins are kept; "
            "install from a copy elsewhere"
        )
    if tree.lies_in(tier.path, real):
        raise PackageRefused(
            f"it contains {visible(str(tier.path))}, where it would be installed; "
            "choose another --scope or --workspace"
        )


def _other_copy(places: Places, scope: Scope, name: str) -> str | None:
    """Return which copy will be used when the other tier has one too [I-2, step 9; I-42]."""
    for tier in places.tiers:
        if tier.scope is scope:
            continue
        with entered(tier, make=False) as directory:
            standing, _ = shelf(tier, directory)
        for each in standing:
            if each.declared == name:
                at = visible(str(each.directory))
                return (
                    f"{name} is in the {tier.scope.value} scope too, at {at}; in this workspace "
                    "the copy of the project scope is used, not the one of the user scope"
                )
    return None


@contextmanager
def _about(source: Path, outcome: str) -> Iterator[None]:
    """Let a refusal say which package it is about, and what became of it."""
    try:
        yield
    except RosterError as error:
        place, said = f"{visible(str(source))}: ", str(error)
        said = said if said.startswith(place) else place + said
        end = "\n" if "\n" in said else "; "
        raise type(error)(f"{said}{end}{outcome}") from error
