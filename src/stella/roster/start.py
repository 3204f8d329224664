"""Which program a plugin runs as, and with which words [M-34, T-3, Q-30].

Consent and the start follow one rule, so what a person was shown is what is started. Files
are looked at and none is run.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stella import limits
from stella.consent.text import Resolution
from stella.errors import PackageRefused
from stella.escape import visible
from stella.files import tree
from stella.files.tree import Kind
from stella.files.tree import Package
from stella.manifest.oracle import Command
from stella.manifest.plugin import PluginManifest
from stella.manifest.runtime import PLUGIN_DIR
from stella.manifest.runtime import Runtime
from stella.process.program import find_program
from stella.process.program import searched

_PLACE: Final = "[runtime] argv entry 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """Where programs are looked up: the host's `PATH`, without what lies in the workspace."""

    path_value: str | None
    workspace: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The words a plugin is started with, or why there is no program to start [T-8]."""

    argv: tuple[str, ...]
    not_started: str | None = None


def replaced(argv: tuple[str, ...], directory: Path) -> tuple[str, ...]:
    """Return the words with the installed directory in place of every `${plugin_dir}` [M-34]."""
    return tuple(word.replace(PLUGIN_DIR, str(directory)) for word in argv)


def start(runtime: Runtime, directory: Path, lookup: Lookup) -> Start:
    """Return how the plugin installed in `directory` is started; the program is an absolute path.

    A name without `/` is looked up; one with it is taken from the plugin's directory and need
    not exist, which starting it tells [T-3].
    """
    argv = replaced(runtime.argv, directory)
    found = find_program(argv[0], lookup.path_value, cwd=directory, skip_under=lookup.workspace)
    if found is None:
        why = searched(argv[0], lookup.path_value, skip_under=lookup.workspace)
        return Start(argv=argv, not_started=why)
    return Start(argv=(str(found), *argv[1:]))


def resolution(
    manifest: PluginManifest, package: Package, directory: Path, lookup: Lookup
) -> Resolution:
    """Return the programs that consent shows, as they are once installed in `directory` [C-1].

    `package` holds the files that stand there, or will.
    """
    command = None if manifest.oracle is None else manifest.oracle.command
    return Resolution(
        runtime=_program(manifest.runtime, package, directory, lookup),
        oracle=_program(command, package, directory, lookup),
    )


def refuse_unstartable(manifest: PluginManifest, package: Package, directory: Path) -> None:
    """Refuse a package whose own program is missing or may not be executed, with the fix [G7]."""
    inner = _own_program(manifest, directory)
    if inner is None:
        return
    entry = package.entry(inner)
    if entry is None or entry.kind is not Kind.FILE:
        raise PackageRefused(f'{_PLACE}: the package has no file "{visible(inner)}"')
    if not entry.mode & stat.S_IXUSR:
        raise PackageRefused(
            f"{_PLACE}: {visible(inner)} may not be executed; give it that right with chmod +x"
        )


def line_end_warning(manifest: PluginManifest, root: int, directory: Path) -> str | None:
    """Return a warning about a script no system can start for its first line's end [G8].

    `root` is the open source directory; `refuse_unstartable` has seen the package.
    """
    inner = _own_program(manifest, directory)
    first = tree.read(root, inner, limits.FIRST_LINE_BYTES) if inner else None
    if first and first.startswith(b"#!") and b"\r\n" in first.partition(b"\n")[0] + b"\n":
        return (
            f"{visible(str(inner))}: its first line ends with a carriage return, which becomes "
            "part of the interpreter's name; save the file with line feeds only"
        )
    return None


def _program(
    process: Runtime | Command | None, package: Package, directory: Path, lookup: Lookup
) -> str | None:
    if process is None:
        return None
    word = process.argv[0].replace(PLUGIN_DIR, str(directory))
    if "/" not in word:
        found = find_program(word, lookup.path_value, cwd=directory, skip_under=lookup.workspace)
        return None if found is None else str(found)
    place = Path(os.path.normpath(directory / word))
    if place.is_relative_to(directory):
        entry = package.entry(str(place.relative_to(directory)))
        there = entry is not None and entry.mode & stat.S_IXUSR != 0
    else:
        there = os.access(place, os.X_OK) and place.is_file()
    return str(place) if there else None


def _own_program(manifest: PluginManifest, directory: Path) -> str | None:
    """Return the path in the package that the plugin is started from, None when it is not there."""
    if manifest.runtime is None:
        return None
    word = manifest.runtime.argv[0].replace(PLUGIN_DIR, str(directory))
    place = Path(os.path.normpath(directory / word))
    if "/" not in word or not place.is_relative_to(directory):
        return None
    return str(place.relative_to(directory))
