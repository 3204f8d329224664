"""Which files beneath a root are watched for a test plan [G-31 to G-33, Q-26].

The set is computed once [G-30], and with it the scope of what must not appear later.
"""

import os
import stat
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from stella.escape import visible
from stella.files.kind import Kind
from stella.witness import pattern
from stella.witness.appearing import Bounds
from stella.witness.appearing import Scope
from stella.witness.appearing import ancestors
from stella.witness.appearing import gaps
from stella.witness.appearing import in_granted
from stella.witness.artifact import ChangeKind
from stella.witness.artifact import Form
from stella.witness.artifact import locate
from stella.witness.artifact import readable
from stella.witness.installed import modules
from stella.witness.named import Named
from stella.witness.named import mode_of
from stella.witness.named import relative
from stella.witness.runners import Runner
from stella.witness.walk import Entry
from stella.witness.walk import Place
from stella.witness.walk import Walk
from stella.witness.walk import beneath
from stella.witness.walk import parent

_ENVIRONMENT_MARKS: Final = ("pyvenv.cfg", "conda-meta")


class Group(Enum):
    """Why a file is watched: only test artifacts can make a finding clean [G-40]."""

    TEST = "test"
    RUNNER = "runner"


@dataclass(frozen=True, slots=True, kw_only=True)
class Want:
    """How one file is to be pinned."""

    group: Group
    form: Form = Form.WHOLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """The watched set by path: `notices` inform, `gaps` make the watch incomplete [G-33, G-41]."""

    wants: Mapping[str, Want]
    scope: Scope
    notices: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()


def find(root: Path, names: Named, globs: Sequence[str], bounds: Bounds) -> Watched:
    """Return the watched set of a plan beneath the canonical `root`.

    A file in it exists in some form; whether it can be pinned shows when it is observed.
    Raises `UsageError` for a glob that leaves the root.
    """
    finder = _Finder(root, names, globs, bounds)
    finder.walk()
    finder.add_named()
    finder.add_configuration()
    return finder.watched()


class _Finder:
    """Gathers the wanted files of one plan, in the order of its methods."""

    def __init__(self, root: Path, names: Named, globs: Sequence[str], bounds: Bounds) -> None:
        self.root = root
        self.names = names
        self.bounds = bounds
        self.pytest = names.recognised.runner is Runner.PYTEST
        self.python = names.recognised.python
        self.matchers = {glob: pattern.matcher(glob) for glob in globs}
        self.matched: set[str] = set()
        self.wants: dict[str, Want] = {}
        self.startup: list[str] = []
        self.exempt: set[str] = set()
        self.gaps: list[str] = list(names.notices)
        self.over = 0
        self.horizon: Place | None = None
        self.chain: set[str] = set()
        starts = [*names.directories, *map(pattern.start_of, globs), *([""] if self.python else [])]
        self.starts = tuple(start for start in dict.fromkeys(starts) if self._enterable(start))

    def _enterable(self, start: str) -> bool:
        found = locate(self.root, start) if start else None
        if found is ChangeKind.SYMLINKED:
            self.gaps.append(
                f"{visible(readable(start))} is reached through a symbolic link, so nothing in it "
                "is watched; name the directory it leads to"
            )
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
        self.gaps += gaps(walk, self.bounds)
        if self.over:
            self.gaps.append(
                f"more than {self.bounds.files} files lie beneath directory arguments and globs; "
                f"the last {self.over} of them are not watched"
            )

    def _exempt(self, path: str) -> None:
        # A runner collects nothing in an environment; the tests there are other people's.
        marks = (os.path.lexists(self.root / path / mark) for mark in _ENVIRONMENT_MARKS)
        if in_granted(path, self.names.directories, frozenset()) and any(marks):
            self.exempt.add(path)

    def _see(self, entry: Entry) -> None:
        granted = in_granted(entry.path, self.names.directories, self.exempt)
        want = self._wanted(entry, granted=granted)
        if want is not None and len(self.wants) < self.bounds.files:
            self.wants[entry.path] = want
        elif want is not None:
            self.over += 1
        elif self.python and pattern.is_startup(entry.name):
            self.startup.append(entry.path)
        if granted and entry.kind is Kind.LINK:
            self._check_link(entry.path)

    def _wanted(self, entry: Entry, *, granted: bool) -> Want | None:
        """Return how a file beneath a directory argument or a glob is watched, if it is."""
        globs = [glob for glob, regex in self.matchers.items() if regex.fullmatch(entry.path)]
        if globs and not pattern.is_cache(entry.path):
            self.matched.update(globs)
            return Want(group=Group.TEST)
        if granted and (pattern.is_test(entry.name) or entry.name == pattern.CONFTEST):
            return Want(group=Group.TEST)
        if granted and self.pytest and entry.name in pattern.PYTEST_CONFIG:
            return _runner_want(entry.path)
        return None

    def _check_link(self, path: str) -> None:
        place = self.root / path
        if not stat.S_ISDIR(mode_of(place)):
            return
        leads = relative(self.root, os.path.realpath(place))
        if leads is None or not any(beneath(leads, start) for start in self.starts):
            self.gaps.append(
                f"{visible(readable(path))} is a link to a directory that is not watched"
            )

    def add_named(self) -> None:
        """Add what the words name and the start-up files that were seen."""
        names = self.names
        for path in names.files:
            self.wants[path] = Want(group=Group.TEST)
        for path in names.config:
            if os.path.lexists(self.root / path):
                self.wants.setdefault(path, _runner_want(path))
        for path in self.startup:
            self.wants.setdefault(path, Want(group=Group.RUNNER, form=self._startup_form(path)))
        for path in names.programs:
            if os.path.lexists(self.root / path):
                self.wants[path] = Want(group=Group.RUNNER, form=self._program_form(path))
        if names.script is not None and os.path.lexists(self.root / names.script):
            form = self._program_form(names.script)
            self.wants[names.script] = Want(group=Group.TEST, form=form)

    def _program_form(self, path: str) -> Form:
        """Return the stricter form where a program word stands by itself [Q-28].

        Installers link the programs of an environment, symbolically and otherwise.
        """
        found = locate(self.root, path)
        own = not isinstance(found, ChangeKind) and found.st_nlink == 1
        return Form.WHOLE if own else Form.PROGRAM

    def _startup_form(self, path: str) -> Form:
        """Return the stricter form where a start-up file stands by itself.

        Some installers hard-link what they install, `*.pth` among it, from a cache of theirs.
        """
        found = locate(self.root, path)
        linked = not isinstance(found, ChangeKind) and found.st_nlink > 1
        return Form.SHARED if linked else Form.WHOLE

    def add_configuration(self) -> None:
        """Add what pytest reads on the way from the root to each test [G-31, Q-26]."""
        if not self.pytest:
            return
        tests = self._test_directories()
        on_the_way = {above for directory in tests for above in ancestors(directory)}
        granted = (above for start in self.names.directories for above in ancestors(start))
        for directory in sorted(on_the_way.union(granted)):
            names = (
                *pattern.PYTEST_CONFIG,
                *((pattern.PACKAGE,) if directory in on_the_way else ()),
            )
            self.chain.update(f"{directory}/{name}" if directory else name for name in names)
        for path in sorted(self.chain):
            if os.path.lexists(self.root / path):
                self.wants.setdefault(path, _runner_want(path))

    def _test_directories(self) -> set[str]:
        return {parent(path) for path, want in self.wants.items() if want.group is Group.TEST}

    def _shadow_directories(self) -> frozenset[str]:
        """Return the root, each test's directory, and what pytest puts on the path.

        That is, for a test and for a `conftest.py`, the first directory above that is no package.
        """
        tests = self._test_directories()
        files = (path for path in self.chain if path.endswith(f"/{pattern.CONFTEST}"))
        found = {"", *tests}
        for start in tests.union(parent(file) for file in files if file in self.wants):
            above = start
            while above and self._is_package(above):
                above = parent(above)
            found.add(above)
        return frozenset(found)

    def _installed(self, shadow: frozenset[str]) -> dict[str, frozenset[str]]:
        """Return which names of installed modules nothing bears yet, where it would be read first.

        pytest does not put a test's own package on the path, so what is new there is work.
        """
        names = self.names.installed
        return {
            directory: names - modules(self.root / directory)
            for directory in shadow
            if not (directory and self.pytest and self._is_package(directory))
        }

    def _is_package(self, directory: str) -> bool:
        return os.path.lexists(self.root / directory / pattern.PACKAGE)

    def watched(self) -> Watched:
        """Return what was gathered."""
        shadow = self._shadow_directories() if self.python else frozenset[str]()
        unmatched = (glob for glob in self.matchers if glob not in self.matched)
        return Watched(
            wants=self.wants,
            scope=Scope(
                runner=self.names.recognised.runner,
                python=self.python,
                starts=self.starts,
                granted=self.names.directories,
                exempt=frozenset(self.exempt),
                shadow=shadow,
                installed=self._installed(shadow),
                exact=self.names.appearing.union(self.chain),
                horizon=self.horizon,
                bounds=self.bounds,
            ),
            notices=tuple(
                f'--watch-tests "{visible(glob)}" matches no file; for everything beneath a '
                "directory write dir/**"
                for glob in unmatched
            ),
            gaps=tuple(self.gaps),
        )


def _runner_want(path: str) -> Want:
    tables = path.rpartition("/")[2] == pattern.PYPROJECT
    return Want(group=Group.RUNNER, form=Form.PYTEST_TABLES if tables else Form.WHOLE)
