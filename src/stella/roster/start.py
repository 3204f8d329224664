"""Which program a plugin runs as, and with which words [M-34, T-3, Q-30].

A program is looked for once, when a person is asked; what they were shown is recorded and is
what is started. Files are looked at and none is run.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stella import limits
from stella.consent.text import Resolution
from stella.errors import PackageRefused
from stella.escape import brief
from stella.escape import visible
from stella.files import tree
from stella.files.kind import Kind
from stella.files.tree import Package
from stella.manifest.fault import Path as Place
from stella.manifest.oracle import Command
from stella.manifest.plugin import PluginManifest
from stella.manifest.runtime import PLUGIN_DIR
from stella.manifest.runtime import Runtime
from stella.process.program import Program
from stella.process.program import find_program
from stella.process.program import is_program
from stella.process.program import leads_into

_PLACE: Final = "[runtime] argv entry 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """Where programs are looked up: the host's `PATH`, without what lies in the workspace."""

    path_value: str | None
    workspace: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """Something a start would need and nobody can see: a name, a sentence, the key it is about."""

    name: str
    says: str
    place: Place


def replaced(argv: tuple[str, ...], directory: Path) -> tuple[str, ...]:
    """Return the words with the installed directory in place of every `${plugin_dir}` [M-34]."""
    return tuple(word.replace(PLUGIN_DIR, str(directory)) for word in argv)


def accepted_program(
    runtime: Runtime, directory: Path, recorded: str | None, lookup: Lookup
) -> Program:
    """Return the program as it was recorded, or why that one cannot be started now [T-3, E131].

    A program of the package must still lie in it, any other outside the workspace, both by
    where links lead [B56, Q-30].
    """
    word = runtime.argv[0]
    if recorded is None and _is_own(word):
        # A path that is not UTF-8 cannot be recorded; the package itself was accepted.
        recorded = os.path.normpath(directory / word.replace(PLUGIN_DIR, str(directory)))
    if recorded is None:
        missing = f"{brief(word)}: no such program was found when it was accepted"
        return Program(path=word, not_started=missing)
    path, place = Path(recorded), visible(recorded)
    why: str | None = None
    if not is_program(path):
        why = f"{place}: the program that was accepted is gone or may not be executed"
    elif _is_own(word) or path.is_relative_to(directory):
        if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(directory)):
            why = f"{place}: expected a program inside the package, got one that lies outside it"
    elif leads_into(path, lookup.workspace):
        why = f"{place}: expected a program outside the workspace, got one that lies in it"
    return Program(path=recorded, not_started=why)


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


def refuse_unstartable(
    manifest: PluginManifest, package: Package, directory: Path, lookup: Lookup
) -> None:
    """Refuse a program that is missing, may not be executed or is not the package's to name [G7].

    A path that is not absolute never leaves the package, and no path leads into the workspace,
    where what is started could be put later [B56, Q-30].
    """
    _refuse_place(manifest, directory, lookup)
    word = None if manifest.runtime is None else manifest.runtime.argv[0]
    if word is not None and (fault := program_fault(word, package, directory)):
        raise _refused(f"{_PLACE}: {fault}")


def program_fault(word: str, package: Package, directory: Path) -> str | None:
    """Return why a program of the package cannot be started, None when it can or is another's.

    `directory` is where the package stands, or will; `word` is the program as it is written.
    """
    if _is_own(word) and _leaves(word):
        return "expected a program inside the package, got a path that leaves it"
    inner = own_program(word, directory)
    if inner is None:
        return None
    entry = package.entry(inner)
    if entry is None or entry.kind is not Kind.FILE:
        return f'the package has no file "{brief(inner)}"'
    if not entry.mode & stat.S_IXUSR:
        return f"{brief(inner)} may not be executed; give it that right with chmod +x"
    return None


def own_program(word: str, directory: Path) -> str | None:
    """Return the path in the package that a program is started from, None when it is not there."""
    word = word.replace(PLUGIN_DIR, str(directory))
    place = Path(os.path.normpath(directory / word))
    if "/" not in word or not place.is_relative_to(directory):
        return None
    return str(place.relative_to(directory))


def spoiled_first_line(root: int, inner: str) -> str | None:
    """Return a warning about a script no system can start for its first line's end [G8]."""
    first = tree.read(root, inner, limits.FIRST_LINE_BYTES)
    if first and first.startswith(b"#!") and b"\r\n" in first.partition(b"\n")[0] + b"\n":
        return (
            f"{visible(inner)}: its first line ends with a carriage return, which becomes "
            "part of the interpreter's name; save the file with line feeds only"
        )
    return None


def line_end_warning(manifest: PluginManifest, root: int, directory: Path) -> str | None:
    """Return a warning about a script no system can start for its first line's end [G8].

    `root` is the open source directory; `refuse_unstartable` has seen the package.
    """
    word = None if manifest.runtime is None else manifest.runtime.argv[0]
    inner = None if word is None else own_program(word, directory)
    return None if inner is None else spoiled_first_line(root, inner)


def absent(
    manifest: PluginManifest, package: Package, directory: Path, lookup: Lookup
) -> Iterator[Absent]:
    """Yield what is not there to be started; none of it blocks [M-9, T-3].

    A program may be missing here and stand on the machine that runs it, and only the program
    itself knows what its other words mean.
    """
    runtime = manifest.runtime
    if runtime is None:
        for key in ("points", "hooks"):
            if getattr(manifest.loop, key):
                says = f"[loop] {key}: without [runtime] no process can answer them"
                yield Absent(name="NoRuntime", says=says, place=("loop", key))
        return
    word = runtime.argv[0]
    if _program(runtime, package, directory, lookup) is None:
        own = "/" not in word and package.entry(word) is not None
        fix = f"; the package's own is {PLUGIN_DIR}/{visible(word)}" if own else ""
        says = f'{_PLACE} = "{visible(word)}": no such program here{fix}'
        yield Absent(name="ProgramNotFound", says=says, place=("runtime", "argv", 0))
    for at, other in enumerate(runtime.argv[1:], 1):
        inner = other.removeprefix(f"{PLUGIN_DIR}/")
        if inner != other and inner.strip("/.") and not package.entry(os.path.normpath(inner)):
            says = f'[runtime] argv entry {at + 1}: the package has no file "{visible(inner)}"'
            yield Absent(name="FileNotFound", says=says, place=("runtime", "argv", at))


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


def _refuse_place(manifest: PluginManifest, directory: Path, lookup: Lookup) -> None:
    if manifest.runtime is None:
        return
    word = manifest.runtime.argv[0]
    head = f'{_PLACE} = "{brief(word)}"'
    if _is_own(word):
        if _leaves(word):
            raise _refused(
                f"{head}: expected a program inside the package, got a path that leaves it; ship "
                "the program in the package, or write the name of one on PATH"
            )
        return
    place = Path(os.path.normpath(word))
    inside = "/" not in word or place.is_relative_to(directory)
    if not inside and leads_into(place, lookup.workspace):
        raise _refused(
            f"{head}: expected a program outside the workspace, got one that lies in it; ship "
            "the program in the package, or write the name of one on PATH"
        )


def _refused(says: str) -> PackageRefused:
    return PackageRefused(says, "T-3", "ProgramRefused")


def _is_own(word: str) -> bool:
    """Return whether a program is given by a path of the package, which is not absolute."""
    return PLUGIN_DIR in word or ("/" in word and not word.startswith("/"))


def _leaves(word: str) -> bool:
    """Return whether a path of the package goes above it at any step [B56]."""
    rest = word.removeprefix(PLUGIN_DIR)
    # `${plugin_dir}x` is a neighbour; a placeholder further on is a whole path inside another.
    if PLUGIN_DIR in rest or (rest != word and not f"{rest}/".startswith("/")):
        return True
    depth = 0
    for step in rest.split("/"):
        depth += -1 if step == ".." else step not in {"", "."}
        if depth < 0:
            return True
    return False
