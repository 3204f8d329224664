"""What a plugin may look up: passages of notes and of the workspace that fit a goal [D-51].

Everything is local: a full-text index below the workspace's private directory, brought up to
date before each search. The event loop is never held up, and a search that is given up leaves
an index that works.
"""

import os
import sqlite3
from contextlib import ExitStack
from contextlib import closing
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from threading import Event

from stella import limits
from stella.clock import Clock
from stella.context import gather
from stella.context import index
from stella.context import place
from stella.context.folders import Folders
from stella.context.gather import Bounds
from stella.context.gather import Origin
from stella.context.gather import TooMuch
from stella.context.terms import question
from stella.escape import visible
from stella.files.aside import aside
from stella.files.tree import DIRECTORY
from stella.files.tree import held
from stella.process.git import listed
from stella.wire.host_result import Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Unbuilt:
    """The index could not be built or asked; `reason` is for people and may name paths."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """The searches of one session.

    `root` is the workspace as a real path, `home` the person's directory whose `memory/*.md`
    are notes. `directory` is where the index lies, below `root`; it is made when needed, and
    sessions may share it. Notes of the project count with `trusted` only. `path_value` is where
    git is looked up.
    """

    root: Path
    home: Path
    directory: Path
    path_value: str
    clock: Clock
    trusted: bool = False
    bounds: Bounds = field(default_factory=Bounds)

    async def search(self, goal: str, limit: int | None = None) -> tuple[Frame, ...] | Unbuilt:
        """Return the passages that fit `goal` best, at most `limit` and never more than eight.

        One passage per file, the best one; order: score, then path. A limit of 0 is none. A
        goal without a word finds nothing. A cancelled search ends its work before it raises.
        """
        asked = question(goal)
        if asked is None:
            return ()
        most = min(limit or limits.RECALL_FRAMES, limits.RECALL_FRAMES)
        names = await listed(str(self.root), env_path=self.path_value)

        def search(stop: Event) -> tuple[Frame, ...] | Unbuilt:
            return _Search(recall=self, names=names, question=asked, most=most, stop=stop).run()

        return await aside(search)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """One search, in a thread of its own."""

    recall: Recall
    names: tuple[bytes, ...] | None
    question: str
    most: int
    stop: Event

    @property
    def below(self) -> tuple[str, ...]:
        return self.recall.directory.relative_to(self.recall.root).parts

    def run(self) -> tuple[Frame, ...] | Unbuilt:
        try:
            with ExitStack() as kept:
                root = kept.enter_context(held(os.open(self.recall.root, DIRECTORY)))
                alone = place.alone(root, self.below, self.recall.clock, self.stop)
                return self.asked(root, kept.enter_context(alone))
        except TooMuch as error:
            return Unbuilt(reason=str(error))
        except OSError as error:
            return self.broken(error.strerror or str(error))
        except sqlite3.Error as error:
            return self.broken(str(error))

    def broken(self, why: str) -> Unbuilt:
        return Unbuilt(reason=f"the index in {visible('/'.join(self.below))}: {visible(why)}")

    def asked(self, root: int, private: int) -> tuple[Frame, ...]:
        """Search, a second time with a new index when the file of the first is damaged."""
        try:
            return self.searched(root, private)
        except sqlite3.Error as error:
            if not index.damaged(error):
                raise
        place.discard(private)
        return self.searched(root, private)

    def searched(self, root: int, private: int) -> tuple[Frame, ...]:
        place.prepare(private)
        path = place.path_of(self.recall.root, self.below)
        with ExitStack() as kept:
            opened = kept.enter_context(index.opened(path, self.stop))
            tree = kept.enter_context(closing(Folders(top=root)))
            sources = [(tree, gather.workspace(tree, self.names, self.recall.bounds))]
            if self.recall.trusted:
                sources.append((tree, gather.notes(tree, (".stella",), Origin.PROJECT)))
            if (home := self._home()) is not None:
                person = Folders(top=kept.enter_context(held(home)))
                kept.enter_context(closing(person))
                sources.append((person, gather.notes(person, (), Origin.PERSON)))
            opened.update(sources, self.recall.bounds)
            return opened.best(self.question, self.most)

    def _home(self) -> int | None:
        """Return the person's directory, opened, None when there is none."""
        try:
            return os.open(self.recall.home, DIRECTORY)
        except OSError:
            return None
