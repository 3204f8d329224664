"""Names at which no file may appear during a run: configuration, start-up, shadows [G-38, Q-26].

Where to look is fixed when the watched set is pinned, so a place that was not seen then is
never called new later.
"""

import os
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Final

from stella import limits
from stella.escape import visible
from stella.files.kind import Kind
from stella.witness import pattern
from stella.witness.artifact import readable
from stella.witness.runners import Runner
from stella.witness.walk import Entry
from stella.witness.walk import Place
from stella.witness.walk import Walk
from stella.witness.walk import beneath
from stella.witness.walk import parent
from stella.witness.walk import place

_PACKAGES: Final = ("__init__.py", "__init__.pyc", "__init__.so")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much may be watched and visited [G-33]."""

    files: int = limits.WATCHED_FILES
    entries: int = limits.WATCHED_ENTRIES


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where to look, as paths relative to the root.

    `starts` are walked. `granted` are directory arguments, `exempt` the environments beneath
    them that a runner passes over. `shadow` are directories whose modules stand before the
    library's; `installed` gives, per directory, the names of installed modules that nothing
    there bore. `exact` are single paths. Nothing after `horizon` was seen, so nothing there can
    be new.
    """

    runner: Runner
    python: bool
    starts: tuple[str, ...] = ()
    granted: tuple[str, ...] = ()
    exempt: frozenset[str] = frozenset()
    shadow: frozenset[str] = frozenset()
    installed: Mapping[str, AbstractSet[str]] = field(default_factory=dict)
    exact: frozenset[str] = frozenset()
    horizon: Place | None = None
    bounds: Bounds = Bounds()


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The paths that stand at such names now, and what could not be looked at."""

    paths: frozenset[str]
    gaps: tuple[str, ...]


def look(root: Path, scope: Scope) -> Look:
    """Return what stands beneath the canonical `root` at the names of `scope` now."""
    walk = Walk(root, scope.starts, most=scope.bounds.entries)
    found = {path for path in scope.exact if os.path.lexists(root / path)}
    for entry in walk.entries():
        if scope.horizon is not None and place(entry.path) > scope.horizon:
            break
        if entry.kind is not Kind.DIRECTORY:
            found.update(_picked_up(root, scope, entry))
    for directory in scope.shadow.union(scope.installed):
        found.update(_shadows(root, directory, scope))
    return Look(paths=frozenset(found), gaps=tuple(gaps(walk, scope.bounds)))


def in_granted(path: str, granted: Iterable[str], exempt: AbstractSet[str]) -> bool:
    """Return whether a path lies beneath a directory argument and in no environment there."""
    if not any(beneath(path, directory) for directory in granted):
        return False
    return not exempt or exempt.isdisjoint(ancestors(parent(path)))


def ancestors(directory: str) -> Iterator[str]:
    """Yield a directory and every one above it, the root "" last."""
    while directory:
        yield directory
        directory = parent(directory)
    yield ""


def gaps(walk: Walk, bounds: Bounds) -> Iterator[str]:
    """Yield one line for each thing a finished walk did not see [G-33]."""
    if walk.horizon is not None:
        yield (
            f"more than {bounds.entries} directory entries lie beneath what is watched; "
            "what comes after them is not"
        )
    for directory in walk.unreadable:
        shown = visible(readable(directory)) or "the workspace"
        yield f"{shown} cannot be listed, so nothing in it is watched"


def _picked_up(root: Path, scope: Scope, entry: Entry) -> Iterator[str]:
    if scope.python and pattern.is_startup(entry.name):
        yield entry.path
    if not in_granted(entry.path, scope.granted, scope.exempt):
        return
    names = pattern.PYTEST_CONFIG if scope.runner is Runner.PYTEST else (pattern.CONFTEST,)
    if entry.name in names:
        yield entry.path
    if entry.kind is Kind.LINK:
        # The walk follows no link, but a runner would.
        inner = (f"{entry.path}/{name}" for name in names)
        yield from (path for path in inner if os.path.lexists(root / path))


def _shadows(root: Path, directory: str, scope: Scope) -> Iterator[str]:
    installed = scope.installed.get(directory, frozenset())

    def counts(module: str) -> bool:
        library = directory in scope.shadow and pattern.shadowed(module, scope.runner)
        return library or module in installed

    for name in entries(root / directory):
        path = f"{directory}/{name}" if directory else name
        module = pattern.module_of(name)
        if module and counts(module):
            yield path
        elif counts(name):
            inner = (f"{path}/{package}" for package in _PACKAGES)
            yield from (package for package in inner if os.path.lexists(root / package))
        elif not directory and scope.runner is Runner.PYTEST and pattern.is_metadata(name):
            yield path


def entries(directory: Path) -> list[str]:
    """Return the sorted names in a directory, none when it is gone or cannot be read."""
    try:
        return sorted(entry.name for entry in directory.iterdir())
    except OSError:  # where it matters, the walk says so
        return []
