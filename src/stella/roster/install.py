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
from dataclasses import field
from dataclasses import replace
from pathlib import Path

from stella.clock import Clock
from stella.codec import Word
from stella.consent.answer import digest_of
from stella.consent.difference import difference
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
from stella.roster.change import mend
from stella.roster.configure import Owner
from stella.roster.configure import Settable
from stella.roster.configure import configured
from stella.roster.configure import refuse_settings
from stella.roster.drift import changes
from stella.roster.drift import unnamed
from stella.roster.lock import AcceptedBy
from stella.roster.lock import Record
from stella.roster.lock import read_records
from stella.roster.name import refuse_name
from stella.roster.place import Placing
from stella.roster.place import place
from stella.roster.place import refuse_place
from stella.roster.question import other_copies
from stella.roster.question import recordable
from stella.roster.question import text_of
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.scope import Tier
from stella.roster.scope import entered
from stella.roster.shelf import MANIFEST
from stella.roster.shelf import full_report
from stella.roster.shelf import manifest_bytes
from stella.roster.ships import refuse_unreconciled
from stella.roster.ships import ships
from stella.roster.start import Lookup
from stella.roster.start import absent
from stella.roster.start import line_end_warning
from stella.roster.start import refuse_unstartable
from stella.roster.start import resolution
from stella.roster.target import read_target
from stella.roster.target import refuse_other_format


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is to be installed where; `source` is absolute.

    `path_value` is the host's `PATH`; `registered` are the variables that model keys are read
    from [T-11]; `settable` are the settings open to a plugin [S2-15]. `upgrade` asks for the place
    of the copy that is installed.
    """

    source: Path
    scope: Scope
    places: Places
    path_value: str | None
    registered: frozenset[str] = frozenset()
    settable: Settable = field(default_factory=dict)
    upgrade: bool = False


class Question(Word):
    """What a person is asked to agree to [I-2, I-33, I-36]."""

    INSTALL = "install"
    UPGRADE = "upgrade"
    ACCEPT = "accept"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """All that a person is shown before the question, and what their yes is about [I-2].

    `consent` is the whole text, `warnings` a text about the manifest that may be empty, `notes`
    are lines about this package in this place. `withheld` are the names in `env` that are
    credentials. `program` is what will be started, None without one. `digest` is that of the
    tree as it will be installed. `difference` and `files` compare with what was accepted before:
    lines of the consent text, None for a first install, and paths or what else differs.
    """

    manifest: PluginManifest
    scope: Scope
    directory: Path
    digest: str
    consent: str
    warnings: str
    notes: tuple[str, ...]
    withheld: tuple[str, ...]
    program: str | None = None
    question: Question = Question.INSTALL
    difference: tuple[str, ...] | None = None
    files: tuple[str, ...] = ()

    @property
    def consent_digest(self) -> str:
        """The digest that the text is recorded by, and that `--accept` names [I-26]."""
        return digest_of(self.consent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """A plugin that is in its place, and the record of it.

    `settings` is the file in which `configured` keys were set, `left` are lines about keys of the
    copy before that were not put back.
    """

    manifest: PluginManifest
    scope: Scope
    directory: Path
    record: Record
    settings: Path
    configured: int = 0
    left: tuple[str, ...] = ()


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
    mend(wish.places)
    with ExitStack() as held:
        with _about(wish.source, "nothing was copied"):
            anchor = lock.place_of(tier)
            root = held.enter_context(tree.opened(wish.source))
            package, proposal = _prepared(root, wish, tier)
            replaced = read_records(tier).by_name.get(proposal.manifest.name)
            if wish.upgrade:
                proposal = compared(proposal, Question.UPGRADE, replaced, package)
        accepted = ask(proposal)
        if accepted is None:
            return Declined(name=proposal.manifest.name)
        source = os.fsencode(os.path.realpath(wish.source)).decode(errors="replace")
        record = recorded(proposal, package, accepted, clock, source)
        placing = Placing(
            package=package,
            record=record,
            configure=proposal.manifest.configure,
            settable=wish.settable,
            upgrade=wish.upgrade,
            replaced=replaced,
            anchor=anchor,
        )
        with _about(wish.source, "nothing was installed"):
            placed = place(root, placing, tier, clock)
    return Installed(
        manifest=proposal.manifest,
        scope=wish.scope,
        directory=proposal.directory,
        record=record,
        settings=tier.settings_path,
        configured=placed.configured,
        left=placed.left,
    )


def recorded(
    proposal: Proposal,
    package: Package,
    accepted: AcceptedBy,
    clock: Clock,
    source: str,
) -> Record:
    """Return the record of a yes to a proposal about the tree `package` [I-26]."""
    return Record(
        name=proposal.manifest.name,
        digest=package.digest,
        consent=proposal.consent_digest,
        consent_text=proposal.consent,
        accepted_at=lock.accepted_at(clock.now()),
        accepted_by=accepted,
        source=source,
        program=recordable(proposal.program),
        files=dict(package.files),
    )


def compared(
    proposal: Proposal, question: Question, before: Record | None, package: Package
) -> Proposal:
    """Return a proposal with what differs from the record; without one all is new [I-36, I-38]."""
    text, files = ("", {}) if before is None else (before.consent_text, before.files)
    changed = changes(files, package)
    if not changed and before is not None and before.digest != package.digest:
        changed = (unnamed(before.files, package),)
    return replace(
        proposal,
        question=question,
        difference=difference(text, proposal.consent),
        files=changed,
    )


def _prepared(root: int, wish: Wish, tier: Tier) -> tuple[Package, Proposal]:
    """Run the steps before the question; nothing is written [I-2, steps 1 to 9]."""
    loaded, package = _loaded(root, wish, tier)
    if loaded.manifest.configure:
        refuse_settings(loaded.manifest.configure, wish.settable)
        refuse_other_format(tier)
        owner = Owner(
            tier=tier,
            name=loaded.manifest.name,
            configure=loaded.manifest.configure,
            settable=wish.settable,
        )
        configured(owner, read_target(tier).text)  # what cannot be set is no thing to ask about
    return package, proposed(root, loaded, package, wish, tier.path / loaded.manifest.name)


def proposed(root: int, loaded: Loaded, package: Package, wish: Wish, directory: Path) -> Proposal:
    """Return what a person is shown of a package that is, or will be, in `directory`.

    Raises `PackageRefused` for a package that must not be accepted.
    """
    manifest = loaded.manifest
    shipped = ships(root, directory, manifest, package)
    refuse_unreconciled(shipped)
    lookup = Lookup(path_value=wish.path_value, workspace=wish.places.workspace)
    refuse_unstartable(manifest, package, directory, lookup)
    found = resolution(manifest, package, directory, lookup)
    text = text_of(manifest, found)
    notes = (
        line_end_warning(manifest, root, directory),
        *(f"warning: {each.says}" for each in absent(manifest, package, directory, lookup)),
        other_copies(wish.places, wish.scope).get(manifest.name),
        *shipped.lines,
    )
    listed = () if manifest.runtime is None else manifest.runtime.env
    return Proposal(
        manifest=manifest,
        scope=wish.scope,
        directory=directory,
        digest=package.digest,
        consent=text,
        warnings=warning_report(MANIFEST, loaded.warnings),
        notes=tuple(note for note in notes if note),
        withheld=withheld(listed, wish.registered),
        program=found.runtime,
    )


def _loaded(root: int, wish: Wish, tier: Tier) -> tuple[Loaded, Package]:
    """Load the manifest, judge name and place, walk the tree [I-2, steps 1 to 4]."""
    loaded, data = loadable(root)
    _refuse_nested(wish.source, tier)
    with entered(tier, make=False) as directory:
        refuse_place(tier, directory, loaded.manifest.name, upgrade=wish.upgrade)
    package = tree.walk(root)
    refuse_unequal(package, data)
    return loaded, package


def loadable(root: int) -> tuple[Loaded, bytes]:
    """Return the manifest in an open directory and its bytes [I-2, steps 1 and 2].

    Raises `PackageRefused` without one, with every fault of it, and for a name of I-3.
    """
    data = manifest_bytes(root)
    if data is None:
        raise PackageRefused(f"not a plugin: there is no {MANIFEST} in it")
    loaded = examine(data)
    if isinstance(loaded, Unloadable):
        raise PackageRefused(full_report(loaded))
    refuse_name(loaded.manifest.name)
    return loaded, data


def refuse_unequal(package: Package, data: bytes) -> None:
    """Raise `PackageRefused` when the manifest of a tree is not `data`."""
    entry = package.entry(MANIFEST)
    # What is judged and shown are the very bytes that are copied.
    if entry is None or entry.sha256 != hashlib.sha256(data).hexdigest():
        raise PackageRefused(f"{MANIFEST}: changed while it was read")


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
