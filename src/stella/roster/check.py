"""What `stella plugin check` finds in a directory: everything that would refuse its install [I-64].

Each step runs that still can [Q-13], nothing is copied and nothing is started. A fault of the
manifest and one of the package are told in one form, for people and as one JSON object.
"""

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final
from typing import TypeVar

import msgspec

from stella import codec
from stella.errors import PackageRefused
from stella.escape import visible
from stella.files import tree
from stella.files.tree import Package
from stella.manifest.fault import ManifestFault
from stella.manifest.fault import Path as Place
from stella.manifest.fault import dotted
from stella.manifest.fault import report
from stella.manifest.fault import sentence
from stella.manifest.fault import titled
from stella.manifest.fault import warning_report
from stella.manifest.plugin import PluginManifest
from stella.manifest.positions import Positions
from stella.manifest.read import Loaded
from stella.manifest.read import Unloadable
from stella.manifest.read import examine
from stella.roster.configure import Settable
from stella.roster.configure import refuse_settings
from stella.roster.listing import printable
from stella.roster.name import refuse_name
from stella.roster.question import text_of
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.shelf import MANIFEST
from stella.roster.shelf import manifest_bytes
from stella.roster.ships import ships
from stella.roster.start import Absent
from stella.roster.start import Lookup
from stella.roster.start import absent
from stella.roster.start import line_end_warning
from stella.roster.start import refuse_unstartable
from stella.roster.start import resolution

T = TypeVar("T")

_PROGRAM: Final[Place] = ("runtime", "argv", 0)
_ABOUT: Final[Mapping[str, Place]] = {"I-3": ("name",), "T-3": _PROGRAM}
"""The keys of a manifest that rules about a package read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageFault:
    """One thing about the files of a package: the rule, which way it was broken, what it means.

    It has a place when a key of the manifest is what is wrong.
    """

    rule: str
    name: str
    message: str
    line: int | None = None
    column: int | None = None
    place: str = ""
    fix: str = ""
    near: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Rule and name, as the report's first line has them [M-12]."""
        return titled(self.rule, self.name, self.line, self.column)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """All that was found: about the manifest, about the package around it, and the warnings.

    `name` is the plugin's where its manifest tells it.
    """

    name: str | None
    manifest: tuple[ManifestFault, ...]
    package: tuple[PackageFault, ...]
    warnings: tuple[ManifestFault | PackageFault, ...]

    @property
    def passed(self) -> bool:
        """Whether there is no fault; a warning is none [M-9]."""
        return not self.manifest and not self.package


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One fault or warning in the object of `check --json`; no key is ever absent [I-64]."""

    rule: str
    name: str
    line: int | None
    column: int | None
    key: str
    message: str
    near: tuple[str, ...]


class Sheet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The object of `check --json` [I-64]."""

    name: str | None
    faults: tuple[Row, ...]
    warnings: tuple[Row, ...]


def check(source: Path, places: Places, path_value: str | None, settable: Settable) -> Checked:
    """Return what would refuse an install of the package in `source`, an absolute path [I-64].

    Programs are looked for as they would be after an install into the project's scope.
    `settable` are the settings open to a plugin [S2-15].
    """
    try:
        with tree.opened(source) as root:
            return _Check(root, places, path_value, settable).run()
    except PackageRefused as refused:
        return Checked(name=None, manifest=(), package=(_fault(refused),), warnings=())


def check_lines(checked: Checked, source: Path) -> tuple[str, ...]:
    """Return the report as lines, the manifest's faults first [M-12]."""
    reports = (
        report(MANIFEST, checked.manifest) if checked.manifest else "",
        report(str(source), checked.package, "cannot be installed") if checked.package else "",
        warning_report(MANIFEST, checked.warnings),
        f"{visible(checked.name or MANIFEST)}: no faults" if checked.passed else "",
    )
    return tuple(line for each in reports if each for line in each.split("\n"))


def check_json(checked: Checked) -> str:
    """Return the report as one JSON object of printable ASCII on one line [I-64]."""
    sheet = Sheet(
        name=checked.name,
        faults=(*map(_row, checked.manifest), *map(_row, checked.package)),
        warnings=tuple(map(_row, checked.warnings)),
    )
    return printable(codec.encode(sheet).decode())


class _Check:
    """One look at an open directory: the steps of an install that write and ask nothing."""

    def __init__(
        self, root: int, places: Places, path_value: str | None, settable: Settable
    ) -> None:
        self.root = root
        self.places = places
        self.path_value = path_value
        self.settable = settable
        self.faults: list[PackageFault] = []
        self.positions: Positions | None = None

    def run(self) -> Checked:
        """Take the steps in their order [I-2]."""
        found = self.step(self.read)
        name = found.name if isinstance(found, Unloadable) else None
        if isinstance(found, Loaded):
            name = found.manifest.name
        if name:  # a blank one is the manifest's own fault
            self.step(partial(refuse_name, name))
        package = self.step(partial(tree.walk, self.root))
        warnings: list[ManifestFault | PackageFault] = []
        warnings += found.warnings if found is not None else ()
        if isinstance(found, Loaded) and package is not None:
            self.step(partial(refuse_settings, found.manifest.configure, self.settable))
            warnings += self.ships(found.manifest, package)
            for each in self.step(partial(self.program, found.manifest, package)) or ():
                odd = PackageRefused(each.says, "T-3", each.name)
                warnings.append(_fault(odd, self.positions, each.place))
        return Checked(
            name=name,
            manifest=found.faults if isinstance(found, Unloadable) else (),
            package=tuple(self.faults),
            warnings=tuple(warnings),
        )

    def step(self, take: Callable[[], T]) -> T | None:
        """Return what a step returns, or keep its refusal as a fault and return None."""
        try:
            return take()
        except PackageRefused as refused:
            fault = _fault(refused, self.positions)
            # Two steps may meet one file that neither can use.
            about = fault.message.partition(":")[0]
            if about not in {each.message.partition(":")[0] for each in self.faults}:
                self.faults.append(fault)
            return None

    def read(self) -> Loaded | Unloadable:
        data = manifest_bytes(self.root)
        if data is None:
            raise PackageRefused(f"there is no {MANIFEST} in it", "I-2", "NotAPlugin")
        found = examine(data)
        if not isinstance(found, Unloadable) or found.name is not None:
            self.positions = Positions(data.decode("utf-8"))
        return found

    def ships(self, manifest: PluginManifest, package: Package) -> tuple[PackageFault, ...]:
        """Keep each finding about content as a fault; return what is odd about it [P-3]."""
        directory = self.places.tier(Scope.PROJECT).path / manifest.name
        shipped = ships(self.root, directory, manifest, package)
        for each in shipped.findings:
            line, column = (self.positions and self.positions.of(each.place)) or (None, None)
            self.faults.append(
                PackageFault(
                    rule=each.rule,
                    name=each.word,
                    message=sentence(each.message),
                    line=line,
                    column=column,
                    place=dotted(each.place),
                    near=each.near,
                )
            )
        odd = (
            *(("P-8", "TextDiffers", each) for each in shipped.warnings),
            *(("P-11", "PassedOver", str(each)) for each in shipped.notes),
            *(("P-15", "DoubtfulProgram", each) for each in shipped.doubts),
            *(("P-4", "NeverLoaded", each) for each in shipped.inert),
        )
        return tuple(_fault(PackageRefused(says, rule, word)) for rule, word, says in odd)

    def program(self, manifest: PluginManifest, package: Package) -> tuple[Absent, ...]:
        """Refuse what could not be started or read; return what is odd about it [T-3, I-2]."""
        lookup = Lookup(path_value=self.path_value, workspace=self.places.workspace)
        directory = self.places.tier(Scope.PROJECT).path / manifest.name
        refuse_unstartable(manifest, package, directory, lookup)
        text_of(manifest, resolution(manifest, package, directory, lookup))
        odd = line_end_warning(manifest, self.root, directory)
        ends = () if odd is None else (Absent(name="CarriageReturn", says=odd, place=_PROGRAM),)
        return (*ends, *absent(manifest, package, directory, lookup))


def _fault(
    refused: PackageRefused, positions: Positions | None = None, about: Place = ()
) -> PackageFault:
    """Return a refusal as a fault, with its place when it is about a key of the manifest."""
    path = about or _ABOUT.get(refused.rule, ())
    line, column = (positions and positions.of(path)) or (None, None)
    return PackageFault(
        rule=refused.rule,
        name=refused.word,
        message=sentence(refused.message),
        line=line,
        column=column,
        place=dotted(path),
    )


def _row(fault: ManifestFault | PackageFault) -> Row:
    return Row(
        rule=fault.rule,
        name=fault.name,
        line=fault.line,
        column=fault.column,
        key=fault.place,
        message=f"{fault.message} fix: {fault.fix}" if fault.fix else fault.message,
        near=fault.near,
    )
