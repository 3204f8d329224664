"""What a person is shown of a plugin that already stands in a tier, and what a yes would record.

For `stella trust` and for the variable [I-34]. Everything is read from the directory as it
stands; nothing is started and nothing is written.
"""

import hashlib
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from stella.consent.answer import digest_of
from stella.errors import PackageRefused
from stella.files import tree
from stella.files.tree import Package
from stella.manifest.plugin import PluginManifest
from stella.manifest.read import Unloadable
from stella.manifest.read import examine
from stella.roster import lock
from stella.roster.lock import AcceptedBy
from stella.roster.lock import Record
from stella.roster.question import recordable
from stella.roster.question import text_of
from stella.roster.shelf import MANIFEST
from stella.roster.shelf import manifest_bytes
from stella.roster.shelf import one_line
from stella.roster.ships import accepted_ships
from stella.roster.start import Lookup
from stella.roster.start import refuse_unstartable
from stella.roster.start import resolution


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A plugin as it stands: its bytes, the text about them, and the program it would run as."""

    manifest: PluginManifest
    directory: Path
    package: Package
    consent: str
    program: str | None

    @property
    def name(self) -> str:
        """The manifest's name."""
        return self.manifest.name

    def record(self, by: AcceptedBy, moment: datetime) -> Record:
        """Return the record of a yes to this."""
        return Record(
            name=self.name,
            digest=self.package.digest,
            consent=digest_of(self.consent),
            consent_text=self.consent,
            accepted_at=lock.accepted_at(moment),
            accepted_by=by,
            source=os.fsencode(self.directory).decode(errors="replace"),
            program=recordable(self.program),
            files=dict(self.package.files),
        )


def offer(directory: Path, lookup: Lookup) -> Offer:
    """Return what can be accepted of the plugin in `directory`, an absolute path.

    Raises `PackageRefused` for whatever no install would take either.
    """
    with tree.opened(directory) as root:
        data = manifest_bytes(root)
        tree.walk(root)  # for what no package may hold
        package = tree.installed(root)
    if data is None:
        raise PackageRefused(f"{MANIFEST}: is not there")
    if package.files.get(MANIFEST) != f"sha256:{hashlib.sha256(data).hexdigest()}":
        raise PackageRefused(f"{MANIFEST}: changed while it was read")
    found = examine(data)
    if isinstance(found, Unloadable):
        raise PackageRefused(one_line(found))
    manifest = found.manifest
    if (withheld := accepted_ships(directory, manifest, package).withheld) is not None:
        raise PackageRefused(withheld)
    refuse_unstartable(manifest, package, directory, lookup)
    programs = resolution(manifest, package, directory, lookup)
    text = text_of(manifest, programs)
    return Offer(
        manifest=manifest,
        directory=directory,
        package=package,
        consent=text,
        program=programs.runtime,
    )
