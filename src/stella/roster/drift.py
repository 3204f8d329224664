"""Whether the bytes of an installed plugin are the ones a person accepted [I-28 to I-32].

Asked before every start of anything a plugin ships. Only *accepted* runs; whatever stands in
the way of telling is *changed*.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from pathlib import PurePosixPath
from typing import Final
from typing import assert_never

from stella import limits
from stella.consent.difference import difference
from stella.consent.text import consent_text
from stella.errors import PackageRefused
from stella.errors import RosterError
from stella.escape import listed
from stella.escape import visible
from stella.files import tree
from stella.files.delete import delete
from stella.files.kind import Kind
from stella.files.tree import Package
from stella.manifest.read import Unloadable
from stella.manifest.read import examine
from stella.roster.cache import Noted
from stella.roster.lock import AcceptedBy
from stella.roster.lock import Record
from stella.roster.scope import naming
from stella.roster.shelf import MANIFEST
from stella.roster.shelf import manifest_bytes
from stella.roster.shelf import one_line
from stella.roster.start import Lookup
from stella.roster.start import resolution

_INSTALLED_MODES: Final = {Kind.FILE: (0o644, 0o755), Kind.DIRECTORY: (0o755,)}

UNNAMED: Final = "a mode or a directory is not as it was"
"""What differs when no file of the record does: of these it says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The tree is the one of the record."""

    package: Package


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """The tree is another: each path with `added`, `removed` or `changed` before it [I-31].

    `consent` are the lines of the consent text that differ, the accepted ones with `- `, the
    present ones with `+ `. `why` says what else stands in the way. `package` is None when the
    tree could not be read.
    """

    paths: tuple[str, ...] = ()
    consent: tuple[str, ...] = ()
    why: str | None = None
    package: Package | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAccepted:
    """There is no record that counts."""

    why: str


Acceptance = Accepted | Changed | NotAccepted


def check(
    directory: Path,
    record: Record | None,
    lookup: Lookup,
    noted: Noted | None = None,
    *,
    read: int = 0,
) -> Acceptance:
    """Return whether what stands in `directory` is what `record` says was accepted [I-30].

    Reads the whole tree and writes nothing. Without a record nothing is read. `noted` may stand
    in for reading a tree of more than `read` bytes that is as it was [I-29].
    """
    if record is None:
        return NotAccepted(why="nobody accepted it here")
    try:
        with tree.opened(directory) as root:
            package = _unread(root, record, noted, read) or tree.installed(root)
            if package.digest == record.digest:
                return Accepted(package=package)
            consent = _consent(root, directory, package, record, lookup)
    except PackageRefused as error:
        return Changed(why=str(error))
    # A folder that was accepted where it stood has the modes of its checkout, not an install's.
    stood = record.accepted_by in (AcceptedBy.TRUST, AcceptedBy.ENV)
    paths = changes(record.files, package, modes=not stood)
    why = None if paths else unnamed(record.files, package)
    return Changed(paths=paths, consent=consent, why=why, package=package)


def barrier(name: str, acceptance: Acceptance, way_out: str) -> str | None:
    """Return in one line why the plugin may not run and what to do, None when it may [I-30]."""
    match acceptance:
        case Accepted():
            return None
        case Changed(paths=paths, why=why):
            detail = "; ".join(filter(None, (", ".join(first(paths)), why)))
            return f"{visible(name)} is not what was accepted: {detail}; {way_out}"
        case NotAccepted(why=why):
            return f"{visible(name)} does not run: {why}; {way_out}"
        case _:
            assert_never(acceptance)


def explained(name: str, acceptance: Acceptance, way_out: str) -> tuple[str, ...]:
    """Return the whole message of I-31: `barrier` and the consent lines that differ, if any."""
    head = barrier(name, acceptance, way_out)
    if head is None:
        return ()
    if not isinstance(acceptance, Changed) or not acceptance.consent:
        return (head,)
    lines = (f"  {line}" for line in acceptance.consent)
    return (head, "consent then (-) and now (+):", *lines)


def differences(acceptance: Acceptance) -> tuple[str, ...]:
    """Return every file that differs and the consent lines that do, one per line [I-34]."""
    if not isinstance(acceptance, Changed):
        return ()
    consent = (f"  {line}" for line in acceptance.consent)
    grant = ("consent then (-) and now (+):", *consent) if acceptance.consent else ()
    return tuple(filter(None, (*first(acceptance.paths), acceptance.why, *grant)))


def check_for_start(
    directory: Path, record: Record | None, lookup: Lookup, noted: Noted | None = None
) -> Acceptance:
    """Return what `check` does, after deleting compiled files nobody accepted [I-32, T-9].

    A tree of up to `limits.START_READ_BYTES` is read whatever is noted, which costs less than
    the start: on some file systems a write through an old mapping changes no time.
    """
    if record is not None:
        try:
            with tree.opened(directory) as root:
                _sweep(root, directory, limits.PACKAGE_DEPTH)
        except RosterError as error:
            return Changed(why=str(error))
    return check(directory, record, lookup, noted, read=limits.START_READ_BYTES)


def _unread(root: int, record: Record, noted: Noted | None, read: int) -> Package | None:
    """Return the accepted tree when the system says that it is the one that was noted [I-29]."""
    if noted is None or noted.digest != record.digest:
        return None
    package = tree.looked(root, record.files)
    if package.state != noted.state or sum(entry.size for entry in package.entries) <= read:
        return None
    return package if package.digest == record.digest else None


def _sweep(here: int, path: Path, depth: int) -> None:
    """Delete every `__pycache__` directory beneath an open one; below the depth all is changed."""
    with naming(path):
        for name in tree.names_in(here):
            mode = os.stat(name, dir_fd=here, follow_symlinks=False).st_mode
            if not stat.S_ISDIR(mode):
                continue
            if name == tree.COMPILED:
                delete(here, name)
            elif depth > 1:
                with tree.opened(path / name, above=here) as below:
                    _sweep(below, path / name, depth - 1)


def changes(before: Mapping[str, str], package: Package, *, modes: bool = True) -> tuple[str, ...]:
    """Return each path of a tree that is not as it was recorded, with what became of it [I-31].

    With `modes` a mode that no install gives counts as a change.
    """
    found = dict.fromkeys(before, "removed")
    for entry in package.entries:
        # Of directories the record says nothing.
        known = found.pop(entry.path, None) or entry.kind is Kind.DIRECTORY
        word = "changed" if known else "added"
        if entry.kind not in _INSTALLED_MODES:
            found[entry.path] = f"{word} ({entry.kind.value})"
        elif modes and entry.mode not in _INSTALLED_MODES[entry.kind]:
            found[entry.path] = f"{word} (mode)"
        elif entry.kind is Kind.FILE and before.get(entry.path) != package.files[entry.path]:
            found[entry.path] = word
    return tuple(f"{found[path]} {visible(path)}" for path in sorted(found, key=os.fsencode))


def unnamed(files: Mapping[str, str], package: Package) -> str:
    """Return what to say of a tree with every accepted file in it that is another all the same.

    A record says nothing of directories and which file may run, so one without a file is named.
    """
    held = {str(above) for path in files for above in PurePosixPath(path).parents}
    bare = [
        visible(entry.path)
        for entry in package.entries
        if entry.kind is Kind.DIRECTORY and entry.path not in held
    ]
    where = listed(bare, limits.CHANGED_PATHS_SHOWN)
    return f"{UNNAMED}; no accepted file lies in {where}" if bare else UNNAMED


def first(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the first paths of a list, and how many more there are [I-31]."""
    more = len(paths) - limits.CHANGED_PATHS_SHOWN
    rest = (f"and {more} more",) if more > 0 else ()
    return (*paths[: limits.CHANGED_PATHS_SHOWN], *rest)


def _consent(
    root: int, directory: Path, package: Package, record: Record, lookup: Lookup
) -> tuple[str, ...]:
    """Return the lines in which the accepted consent text and the present one differ [I-31]."""
    data = manifest_bytes(root)
    if data is None:
        return (f"{MANIFEST} is not there any more",)
    loaded = examine(data)
    if isinstance(loaded, Unloadable):
        return (f"{MANIFEST} does not load any more: {one_line(loaded)}",)
    manifest = loaded.manifest
    now = consent_text(manifest, resolution(manifest, package, directory, lookup))
    return difference(record.consent_text, now)
