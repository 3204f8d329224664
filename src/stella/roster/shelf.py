"""What stands in a tier, directory by directory, believed or not [I-41, I-44].

A directory that cannot be used is a value with the reason, so that it hides no other. Nothing
here is compared with what a person accepted.
"""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from typing import assert_never

from stella import limits
from stella.errors import PackageRefused
from stella.escape import counted
from stella.escape import visible
from stella.files import tree
from stella.manifest.fault import Reason
from stella.manifest.fault import report
from stella.manifest.read import Loaded
from stella.manifest.read import Unloadable
from stella.manifest.read import examine
from stella.roster.name import name_fault
from stella.roster.scope import Places
from stella.roster.scope import Tier
from stella.roster.scope import naming

MANIFEST: Final = "plugin.toml"

_FOREIGN: Final = (
    "plugins.lock.toml",
    ".stella/plugins.lock.toml",
    ".stella/consent",
    ".stella/plugins/plugins.lock.toml",
    ".stella/trust.toml",
)

Saying = tuple[list[str], list[str]]
"""Where notices go, and those of them that say why a directory is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One directory of a tier and what its manifest says; None: it has no manifest at all.

    A text is the reason why nothing could be made of it, in one line.
    """

    directory: Path
    found: Loaded | Unloadable | str | None

    @property
    def declared(self) -> str | None:
        """The name its manifest declares, as far as that can be told [I-66]."""
        match self.found:
            case Loaded(manifest=manifest):
                return manifest.name
            case Unloadable(name=name):
                return name
            case _:
                return None


def manifest_bytes(root: int) -> bytes | None:
    """Return the manifest in an open directory as it stands, None when there is none [M-1].

    Raises `PackageRefused` when it is no regular file, cannot be read or is too large.
    """
    data = tree.read(root, MANIFEST, limits.MANIFEST_BYTES + 1)
    if data is not None and len(data) > limits.MANIFEST_BYTES:
        said = f"{MANIFEST}: has more than {limits.MANIFEST_BYTES} bytes"
        raise PackageRefused(said, "R-1", Reason.TOO_LARGE.value)
    return data


def shelf(tier: Tier, directory: int | None) -> tuple[tuple[Standing, ...], tuple[str, ...]]:
    """Return the directories of an open tier in byte order of their names, and notices.

    Names that begin with a dot and what is no directory are passed over; a link is passed over
    with a notice [Q-11]. Raises `RosterError` when the tier itself cannot be read.
    """
    if directory is None:
        return (), ()
    notices: list[str] = []
    found: list[Standing] = []
    for name in _names(tier, directory):
        path = tier.path / name
        with naming(path):
            try:
                mode = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
            except FileNotFoundError:
                continue  # taken away since it was listed
        if stat.S_ISLNK(mode):
            notices.append(f"{visible(str(path))}: a symbolic link is not followed; left out")
        elif stat.S_ISDIR(mode) and len(found) == limits.TIER_PLUGINS:
            notices.append(
                f"{visible(str(tier.path))}: holds more than {limits.TIER_PLUGINS} directories; "
                f"{visible(name)} and what follows it are left out"
            )
            break
        elif stat.S_ISDIR(mode):
            found.append(standing(directory, path))
    return tuple(found), tuple(notices)


def usable(each: Standing, saying: Saying) -> Loaded | None:
    """Return what a manifest says when it makes a plugin; adds to `saying` [I-41, I-44]."""
    notices, faulty = saying
    place = visible(str(each.directory))
    why: str | None = None
    match each.found:
        case None:
            return None
        case str() as said:
            why = said
        case Unloadable() as unloadable:
            why = one_line(unloadable)
        case Loaded() as loaded:
            why = name_fault(loaded.manifest.name)
            if why is None:
                if loaded.manifest.name != each.directory.name:
                    notices.append(f'{place}: its manifest calls it "{loaded.manifest.name}"')
                return loaded
        case _:
            assert_never(each.found)
    faulty.append(f"{place}: left out: {why}")
    notices.append(faulty[-1])
    return None


def foreign_records(places: Places) -> Iterable[str]:
    """Return a notice for each file in the workspace that looks like a record [I-26, I-56]."""
    for name in _FOREIGN:
        path = places.workspace / name
        if os.path.lexists(path):
            yield (
                f"{visible(str(path))}: ignored; what a person accepted is kept in "
                f"{visible(str(places.home))} and nowhere in a workspace"
            )


def one_line(found: Unloadable) -> str:
    """Return why a manifest does not load in one line: the first fault and how many there are."""
    return f"{MANIFEST} has {counted(len(found.faults), 'fault')}; first: {found.faults[0]}"


def full_report(found: Unloadable) -> str:
    """Return every fault of a manifest in the form of M-12."""
    return report(MANIFEST, found.faults)


def _names(tier: Tier, directory: int) -> list[str]:
    with naming(tier.path):
        return [name for name in tree.names_in(directory) if not name.startswith(".")]


def standing(above: int, path: Path) -> Standing:
    """Return what the directory `path` is; its last part is looked up in an open one.

    Raises nothing: what cannot be read is the reason.
    """
    try:
        with tree.opened(path, above=above) as root:
            data = manifest_bytes(root)
    except PackageRefused as error:
        return Standing(directory=path, found=str(error))
    return Standing(directory=path, found=None if data is None else examine(data))
