"""How a candidate comes to be: the ground it stands on, its note, its work tree, its files [D-54].

Git makes an empty work tree and an index; the files are put there by the host.
"""

import os
import threading
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stella.candidates import registry
from stella.candidates.candidate import Bounds
from stella.candidates.candidate import Candidate
from stella.candidates.candidate import Failed
from stella.candidates.place import LETTERS
from stella.candidates.place import NAME_CHARS
from stella.candidates.place import NOTES
from stella.candidates.place import WORK
from stella.candidates.place import entered
from stella.candidates.place import ignore
from stella.candidates.place import path_of
from stella.candidates.registry import Note
from stella.candidates.tree import Copied
from stella.candidates.tree import Terms
from stella.candidates.tree import copied
from stella.clock import Clock
from stella.escape import visible
from stella.files.aside import aside
from stella.files.tree import DIRECTORY
from stella.files.tree import held
from stella.files.way import Way
from stella.process.git import Repository
from stella.process.git import Unanswered
from stella.process.git import listed
from stella.process.git import repository
from stella.process.identity import own
from stella.process.worktree import add_worktree
from stella.process.worktree import commit_of
from stella.process.worktree import read_commit
from stella.process.worktree import records_of

WORKTREES: Final = "worktrees"
_HEX: Final = "0123456789abcdef"
_HEX_CHARS: Final = 32
_HANDLE: Final = "c-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a candidate is made from: the repository, its commit and records, and the names.

    `prefix` is the workspace root from the top of the repository, with its `/`, empty for the
    top itself.
    """

    repository: Repository
    commit: str
    records: Path
    names: tuple[bytes, ...]
    prefix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What is needed to make a candidate; `path_value` is where git is looked up."""

    path_value: str
    clock: Clock
    bounds: Bounds

    def terms(self, prefix: str, stop: threading.Event) -> Terms:
        """Return the terms of one sweep through a tree."""
        return Terms(prefix=prefix, bounds=self.bounds, clock=self.clock, stop=stop)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """A workspace that is noted on disk, and the open file that holds it as this host's own."""

    name: str
    note: Note
    lock: int


async def ground_of(root: Path, *, env_path: str) -> Ground | Failed:
    """Return what a candidate of the canonical `root` would be made from, or why none can be."""
    within = repository(root)
    if within is None:
        return Failed(reason=f"{visible(str(root))}: is in no git repository")
    commit = await commit_of(within, env_path=env_path)
    if isinstance(commit, Unanswered):
        return Failed(reason=commit.reason)
    records = await records_of(within, env_path=env_path)
    if isinstance(records, Unanswered):
        return Failed(reason=records.reason)
    if (records / WORKTREES).is_symlink():
        # Git would write where it leads to.
        return Failed(reason=f"{visible(str(records / WORKTREES))}: is a symbolic link")
    names = await listed(str(within.top), env_path=env_path, within=within)
    if names is None:
        return Failed(reason="git does not say what the workspace holds")
    prefix = "" if root == within.top else f"{root.relative_to(within.top)}/"
    if prefix and not any(name.startswith(os.fsencode(prefix)) for name in names):
        return Failed(reason=f"{visible(str(root))}: git knows nothing of what it holds")
    return Ground(repository=within, commit=commit, records=records, names=names, prefix=prefix)


def noted(root: Path, plugin: str, clock: Clock) -> Noted:
    """Note a workspace before there is any. Raises `OSError`; then there is no note."""
    name = clock.letters(LETTERS, NAME_CHARS)
    note = Note(
        handle=f"{_HANDLE}{clock.letters(_HEX, _HEX_CHARS)}",
        plugin=plugin,
        root=str(path_of(root, WORK) / name),
        host=own(),
    )
    with entered(root, NOTES, make=True) as notes:
        lock = registry.register(notes, name, note)
    return Noted(name=name, note=note, lock=lock)


async def made(root: Path, this: Noted, ground: Ground, means: Means) -> Candidate | Failed:
    """Make the noted workspace; after a failure or a cancel some of it may be left."""
    try:
        with entered(root, WORK, make=True) as work:
            ignore(work, this.name)
    except OSError as error:
        shown = visible(str(path_of(root, WORK)))
        return Failed(reason=f"{shown}: {error.strerror or error}")
    top, records = Path(this.note.root), ground.records / WORKTREES / this.name
    env_path = means.path_value
    bad = await add_worktree(ground.repository, top, ground.commit, env_path=env_path)
    if bad is None:
        inner = Repository(top=top, directory=records, fence=ground.repository.fence)
        bad = await read_commit(inner, ground.commit, env_path=env_path)
    if bad is not None:
        return Failed(reason=bad.reason)
    copy = await aside(lambda stop: _filled(top, ground, means.terms(ground.prefix, stop)))
    if isinstance(copy, Failed):
        return copy
    outer = ground.repository
    return Candidate(
        handle=this.note.handle,
        plugin=this.note.plugin,
        name=this.name,
        root=top / ground.prefix,
        repository=Repository(top=top, directory=outer.directory, fence=outer.fence),
        skipped=copy.skipped,
        start=copy.items,
    )


def _filled(top: Path, ground: Ground, terms: Terms) -> Copied | Failed:
    try:
        with ExitStack() as opened:
            source = opened.enter_context(held(os.open(ground.repository.top, DIRECTORY)))
            target = opened.enter_context(held(os.open(top, DIRECTORY)))
            done = copied(ground.names, source, target, terms)
            if isinstance(done, Copied):
                _furnish(source, target, ground.prefix)
            return done
    except OSError as error:
        return Failed(reason=f"{visible(str(top))}: {error.strerror or error}")


def _furnish(source: int, target: int, prefix: str) -> None:
    """Make the workspace root itself, which may hold no file just now."""
    parts = [part for part in prefix.split("/") if part]
    old, new = Way(source), Way(target)
    try:
        old.enter(parts)
        new.enter(parts, like=old)
    finally:
        old.close()
        new.close()
