"""Which files beneath a root are watched for a test plan, and which must not appear [G-31, Q-26].

The set is computed once [G-30], and with it where later looks go: `look` sees a name that
appeared only where `find` has been.
"""

import os
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from stella import limits
from stella.escape import visible
from stella.witness import pattern
from stella.witness.artifact import ChangeKind
from stella.witness.artifact import Form
from stella.witness.artifact import locate
from stella.witness.artifact import readable
from stella.witness.named import Named
from stella.witness.runners import Runner
from stella.witness.walk import Entry
from stella.witness.walk import Kind
from stella.witness.walk import Place
from stella.witness.walk import Walk
from stella.witness.walk import beneath
from stella.witness.walk import parent
from stella.witness.walk import place

_ENVIRONMENT_MARKS: Final = ("pyvenv.cfg", "conda-meta")


class Group(Enum):
    """Why a file is watched: only test artifacts make a finding clean [G-40]."""

    TEST = "test"
    RUNNER = "runner"


@dataclass(frozen=True, slots=True, kw_only=True)
class Want:
    """One file to pin."""

    group: Group
    form: Form = Form.WHOLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much may be watched and visited [G-33]."""

    files: int = limits.WATCHED_FILES
    entries: int = limits.WATCHED_ENTRIES


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Where to look for what must not appear, fixed when the set is pinned.

    `granted` are directory arguments, `exempt` the environments beneath them that the runner
    passes over. `shadow` are directories whose modules stand before the library's. `exact` are
    single paths. Nothing after `horizon` was seen, so nothing there can be new.
    """

    runner: Runner
    python: bool
    starts: tuple[str, ...] = ()
    granted: tuple[str, ...] = ()
    exempt: frozenset[str] = frozenset()
    shadow: frozenset[str] = frozenset()
    exact: frozenset[str] = frozenset()
    horizon: Place | None = None
    bounds: Bounds = Bounds()


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """The watched set: `notices` inform, `gaps` also make the watch incomplete [G-33, G-41]."""

    wants: Mapping[str, Want]
    scope: Scope
    notices: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The paths that stand at watched names now, and what could not be looked at."""

    paths: frozenset[str]
    gaps: tuple[str, ...] = ()


def find(root: Path, names: Named, globs: Sequence[str], bounds: Bounds) -> Watched:
    """Return the watched set of a plan beneath the canonical `root` [G-31 to G-33].

    Raises `UsageError` for a glob that leaves the root.
    """
    finder = _Finder(root, names, globs, bounds)
    finder.walk()
    finder.add_named()
    finder.add_configuration()
    return finder.watched()


def look(root: Path, scope: Scope) -> Look:
    """Return what stands now at the names of configuration, start-up and shadows [G-38, Q-26]."""
    walk = Walk(root, scope.starts, most=scope.bounds.entries)
    found = {path for path in scope.exact if os.path.lexists(root / path)}
    for entry in walk.entries():
        if scope.horizon is not None and place(entry.path) > scope.horizon:
            break
        found.update(_appearing(root, scope, entry))
    if scope.python:
        for directory in scope.shadow:
            found.update(_shadows(root, directory, scope.runner))
    return Look(paths=frozenset(found), gaps=tuple(_gaps(walk, scope.bounds)))


def _appearing(root: Path, scope: Scope, entry: Entry) -> Iterator[str]:
    if entry.kind is Kind.DIRECTORY:
        return
    if scope.python and pattern.is_startup(entry.name):
        yield entry.path
    if not _granted(entry.path, scope.granted, scope.exempt):
        return
    names = pattern.PYTEST_CONFIG if scope.runner is Runner.PYTEST else (pattern.CONFTEST,)
    if entry.name in names:
        yield entry.path
    if entry.kind is Kind.LINK:
        # The walk follows no link, but a runner would.
        inner = (f"{entry.path}/{name}" for name in names)
        yield from (path for path in inner if os.path.lexists(root / path))


def _shadows(root: Path, directory: str, runner: Runner) -> Iterator[str]:
    try:
        names = os.listdir(root / directory)
    except OSError:  # it is gone, or was never readable: the walk says so
        return
    for name in names:
        path = f"{directory}/{name}" if directory else name
        module = pattern.module_of(name)
        if module and pattern.shadowed(module, runner):
            yield path
        elif pattern.shadowed(name, runner):
            inner = (f"{path}/__init__{suffix}" for suffix in (".py", ".pyc", ".so"))
            yield from (package for package in inner if os.path.lexists(root / package))
        elif not directory and runner is Runner.PYTEST and pattern.is_metadata(name):
            yield path


def _granted(path: str, granted: Iterable[str], exempt: frozenset[str]) -> bool:
    if not any(beneath(path, directory) for directory in granted):
        return False
    return not exempt or not any(ancestor in exempt for ancestor in _ancestors(parent(path)))


def _gaps(walk: Walk, bounds: Bounds) -> Iterator[str]:
    if walk.horizon is not None:
        yield (
            f"more than {bounds.entries} directory entries lie beneath what is watched; "
            "what comes after them is not"
        )
    for directory in walk.unreadable:
        yield f"{visible(readable(directory)) or '.'} cannot be listed, so nothing in it is watched"


def _ancestors(directory: str) -> Iterator[str]:
    """Yield a directory and every one above it, the root "" last."""
    while directory:
        yield directory
        directory = parent(directory)
    yield ""


class _Finder:
    """Gathers the wanted files of one plan."""

    def __init__(self, root: Path, names: Named, globs: Sequence[str], bounds: Bounds) -> None:
        self.root = root
        self.names = names
        self.bounds = bounds
        self.runner = names.recognised.runner
        self.python = names.recognised.python
        self.matchers = {glob: pattern.matcher(glob) for glob in globs}
        self.matched: set[str] = set()
        self.wants: dict[str, Want] = {}
        self.exempt: set[str] = set()
        self.gaps: list[str] = list(names.notices)
        self.over = 0
        self.horizon: Place | None = None
        starts = [*names.directories, *map(pattern.start_of, globs), *([""] if self.python else [])]
        self.starts = tuple(start for start in dict.fromkeys(starts) if self._enterable(start))

    def _enterable(self, start: str) -> bool:
        found = locate(self.root, start) if start else None
        if found is ChangeKind.SYMLINKED:
            self.gaps.append(f"{visible(readable(start))} is reached through a symbolic link")
        return not isinstance(found, ChangeKind)

    def walk(self) -> None:
        """See every entry beneath directory arguments and globs, and for start-up files all."""
        walk = Walk(self.root, self.starts, most=self.bounds.entries)
        for entry in walk.entries():
            if entry.kind is Kind.DIRECTORY:
                self._exempt(entry.path)
            else:
                self._see(entry)
        self.horizon = walk.horizon
        self.gaps += _gaps(walk, self.bounds)
        if self.over:
            self.gaps.append(
                f"more than {self.bounds.files} files lie beneath directory arguments and globs; "
                f"the last {self.over} of them are not watched"
            )

    def _exempt(self, path: str) -> None:
        # pytest collects nothing in an environment; its test files are other people's.
        if any(beneath(path, directory) for directory in self.names.directories) and any(
            os.path.lexists(self.root / path / mark) for mark in _ENVIRONMENT_MARKS
        ):
            self.exempt.add(path)

    def _see(self, entry: Entry) -> None:
        granted = _granted(entry.path, self.names.directories, frozenset(self.exempt))
        want = self._wanted(entry, granted=granted)
        if want is not None and len(self.wants) < self.bounds.files:
            self.wants[entry.path] = want
        elif want is not None:
            self.over += 1
        elif self.python and pattern.is_startup(entry.name):
            self.startup.append(entry.path)
        if granted and entry.kind is Kind.LINK:
            self._follow(entry.path)

    def _wanted(self, entry: Entry, *, granted: bool) -> Want | None:
        """Return how a file beneath a directory argument or a glob is watched, if it is."""
        globs = [glob for glob, regex in self.matchers.items() if regex.fullmatch(entry.path)]
        globs = [] if pattern.is_cache(entry.path) else globs
        self.matched.update(globs)
        if globs or (granted and (pattern.is_test(entry.name) or entry.name == pattern.CONFTEST)):
            return Want(group=Group.TEST)
        if granted and self.runner is Runner.PYTEST and entry.name in pattern.PYTEST_CONFIG:
            return _configuration(entry.name)
        return None
