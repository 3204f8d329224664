"""What the package of a plugin ships, read and held against its declaration [P-3 to P-9].

The one look that install, upgrade, accept, check and every load take.
"""

from dataclasses import dataclass
from pathlib import Path

from stella.errors import PackageRefused
from stella.escape import counted
from stella.escape import visible
from stella.files import tree
from stella.files.tree import Package
from stella.manifest.plugin import PluginManifest
from stella.roster.commands import doubtful
from stella.roster.commands import unstartable
from stella.roster.content import KINDS
from stella.roster.content import Content
from stella.roster.content import Found
from stella.roster.content import Told
from stella.roster.content import read_content
from stella.roster.reconcile import Finding
from stella.roster.reconcile import reconcile
from stella.roster.reconcile import report
from stella.roster.reconcile import texts_differ


@dataclass(frozen=True, slots=True, kw_only=True)
class Ships:
    """What a package ships; with `findings` it may contribute none of it [P-9].

    `warnings` are texts that are not the declared ones [P-8], `notes` what was passed over in
    a file, `doubts` what may keep a tool from starting.
    """

    content: Content
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[Told, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def withheld(self) -> str | None:
        """Why none of it is used, in one line; None when it may be [P-9]."""
        if not self.findings:
            return None
        first, more = self.findings[0].message, len(self.findings) - 1
        rest = f" and {counted(more, 'more finding')}" if more else ""
        return f"what it ships is withheld: {first}{rest}"

    @property
    def lines(self) -> tuple[str, ...]:
        """What is told beside the consent text: warnings, notes, inert files [P-4, P-8]."""
        return (
            *(f"warning: {each}" for each in self.warnings),
            *(f"warning: {each}" for each in self.notes),
            *(f"warning: {each}" for each in self.doubts),
            *(f"note: {each}" for each in self.inert),
        )

    @property
    def inert(self) -> tuple[str, ...]:
        """A line for each file that is never loaded as content [P-4]."""
        return tuple(
            f"{visible(path)}: data, never loaded as a tool, a skill or a record"
            for path in self.content.inert
        )


def ships(root: int, directory: Path, manifest: PluginManifest, package: Package) -> Ships:
    """Return what the open package `root` ships; raises nothing [P-3].

    `directory` is where it stands, or will; `package` are the bytes that are accepted or shown,
    and a file with others is a finding.
    """
    found = read_content(root, directory, expected=package.files)
    content = found.content
    return Ships(
        content=content,
        findings=(*reconcile(manifest, found), *unstartable(content, package, directory)),
        warnings=texts_differ(manifest, content),
        notes=found.notes,
        doubts=tuple(doubtful(content, package, directory, root)),
    )


def accepted_ships(directory: Path, manifest: PluginManifest, package: Package) -> Ships:
    """Return what an installed package ships, whose accepted bytes are `package` [P-9].

    Of one without such files nothing is opened: most plugins are programs.
    """
    if not any(entry.path in KINDS for entry in package.entries):
        nothing = Found(content=Content(directory=directory))
        return Ships(content=nothing.content, findings=reconcile(manifest, nothing))
    try:
        with tree.opened(directory) as root:
            return ships(root, directory, manifest, package)
    except PackageRefused as error:
        content = Content(directory=directory)
        gone = Found(content=content, faults=(Told(path=".", says=str(error)),))
        return Ships(content=content, findings=reconcile(manifest, gone))


def on_disk(directory: Path) -> Content:
    """Return the content that stands in an installed package, accepted or not [I-60]."""
    try:
        with tree.opened(directory) as root:
            return read_content(root, directory).content
    except PackageRefused:
        return Content(directory=directory)


def refuse_unreconciled(shipped: Ships) -> None:
    """Raise `PackageRefused` with every finding in one message [P-7]."""
    if shipped.findings:
        first = shipped.findings[0]
        raise PackageRefused(report(shipped.findings), first.rule, first.word)
