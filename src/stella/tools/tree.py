"""What is in a directory and below it, without following a link and without what is ignored.

Version control is asked what it ignores; where it has no say, everything but `.git` is shown
[T2-16]. The host's own records in `.stella/private/` are never looked at [T2-32].
"""

import asyncio
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field

from stella import limits
from stella.files.kind import Kind
from stella.files.kind import kind_of
from stella.files.write import TEMPORARY
from stella.process.git import listed
from stella.tools.paths import DIRECTORY
from stella.tools.paths import GIT
from stella.tools.paths import PRIVATE
from stella.tools.paths import Parts
from stella.tools.tool import ToolContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing in the tree; `path` is from the directory looked at, as Python reads names."""

    path: str
    kind: Kind

    @property
    def shown(self) -> str:
        """The path as it is listed: a directory ends with `/` [T2-16]."""
        return f"{self.path}/" if self.kind is Kind.DIRECTORY else self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """Entries sorted by code point; `stopped` when there are more than are looked at."""

    entries: tuple[Entry, ...]
    stopped: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What version control does not ignore, from the workspace root."""

    files: frozenset[str]
    folders: frozenset[str]

    def shows(self, path: str) -> bool:
        """Return whether the file at `path` is not ignored."""
        return path in self.files or self.inside(path)

    def leads(self, path: str) -> bool:
        """Return whether something not ignored is in the directory at `path`."""
        return path in self.folders or path in self.files or self.inside(path)

    def inside(self, path: str) -> bool:
        """Return whether `path` is in a repository of its own, of which only its place is known."""
        return any(place in self.files or f"{place}/" in self.files for place in _above(path))


async def offered(context: ToolContext) -> Offer | None:
    """Ask version control what it does not ignore; None when it has no say."""
    names = await listed(context.root.path, env_path=context.environment.get("PATH", ""))
    if names is None:
        return None
    files = frozenset(map(os.fsdecode, names))
    return Offer(files=files, folders=frozenset(place for name in files for place in _above(name)))


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How a directory is looked at.

    `base` is where it is from the root; `offer` what version control does not ignore, None for
    everything; `git` shows what version control keeps too; `depth` 1 is the directory's own
    entries; after `most` entries the survey stops.
    """

    base: Parts
    offer: Offer | None
    git: bool = False
    depth: int | None = None
    most: int = limits.TREE_ENTRIES


async def surveyed(top: int, view: View) -> Tree:
    """Return what is below the open directory `top`."""
    survey = _Survey(top=top, view=view)
    await survey.run()
    entries = tuple(sorted(survey.entries, key=lambda entry: entry.shown))
    return Tree(entries=entries, stopped=survey.stopped)


@dataclass(slots=True, kw_only=True)
class _Survey:
    top: int
    view: View
    todo: list[Parts] = field(default_factory=lambda: [()])
    hollow: set[Parts] = field(default_factory=set)
    entries: list[Entry] = field(default_factory=list)
    stopped: bool = False

    async def run(self) -> None:
        while self.todo and not self.stopped:
            below = self.todo.pop()
            for name, mode in names_in(self.top, below):
                if len(self.entries) >= self.view.most:
                    self.stopped = True
                    break
                self.look(below, name, mode)
            await asyncio.sleep(0)

    def look(self, below: Parts, name: str, mode: int) -> None:
        parts = (*below, name)
        if self.hidden(parts):
            return
        if not stat.S_ISDIR(mode):
            if self.view.offer is None or self.view.offer.shows(
                "/".join((*self.view.base, *parts))
            ):
                self.entries.append(Entry(path="/".join(parts), kind=kind_of(mode)))
        elif self.enters(parts):
            self.entries.append(Entry(path="/".join(parts), kind=Kind.DIRECTORY))
            if self.view.depth is None or len(parts) < self.view.depth:
                self.todo.append(parts)

    def hidden(self, parts: Parts) -> bool:
        whole = tuple(part.casefold() for part in (*self.view.base, *parts))
        if whole[: len(PRIVATE)] == PRIVATE or parts[-1].startswith(TEMPORARY):
            return True
        return not self.view.git and parts[-1].casefold() == GIT

    def enters(self, parts: Parts) -> bool:
        """Whether a directory is shown: version control knows files only, so an empty one is."""
        if self.view.offer is None or self.view.offer.leads("/".join((*self.view.base, *parts))):
            return True
        if parts[:-1] in self.hollow or _hollow(self.top, parts):
            self.hollow.add(parts)
            return True
        return False


def _hollow(top: int, parts: Parts) -> bool:
    """Return whether there is nothing but directories at and below `parts`, as far as we look."""
    if len(parts) > limits.LIST_DEPTH:
        return False
    return all(
        stat.S_ISDIR(mode) and _hollow(top, (*parts, name)) for name, mode in names_in(top, parts)
    )


def names_in(top: int, below: Parts) -> Iterator[tuple[str, int]]:
    """Yield the names in a directory with their modes; nothing when it cannot be looked into.

    It may have gone meanwhile, be another user's, or be a link by now: no component is opened
    through one.
    """
    here = top
    try:
        for name in below:
            inner = os.open(name, DIRECTORY, dir_fd=here)
            _let_go(here, top)
            here = inner
        with os.scandir(here) as found:
            for entry in found:
                yield entry.name, entry.stat(follow_symlinks=False).st_mode
    except OSError:
        return
    finally:
        _let_go(here, top)


def _let_go(descriptor: int, top: int) -> None:
    if descriptor != top:
        os.close(descriptor)


def _above(path: str) -> Iterator[str]:
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)
