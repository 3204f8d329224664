"""Taking a candidate away: its files, git's records of it, and what the host noted [D-85, T-33].

Only what bears the candidate's name directly in the host's own places is deleted, and nothing
is reached through a link. What has gone already is no fault, so it may be done again.
"""

import fcntl
import os
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from stella.candidates import plan
from stella.candidates import registry
from stella.candidates.look import kind_at
from stella.candidates.place import IGNORE
from stella.candidates.place import NOTES
from stella.candidates.place import WORK
from stella.candidates.place import entered
from stella.candidates.place import path_of
from stella.candidates.place import standing
from stella.escape import visible
from stella.files.delete import delete
from stella.files.kind import Kind
from stella.files.tree import DIRECTORY
from stella.files.tree import held
from stella.files.tree import names_in
from stella.files.write import TEMPORARY

_WORKTREES: Final = "worktrees"
_TRIES: Final = 3


def stage_of(name: str) -> str:
    """Return the name of the directory where a candidate's adoption is staged."""
    return f"{name}.adopt"


def remove(root: Path, name: str, records: Path | None) -> str | None:
    """Take a candidate away, its note last; None when nothing of it is left, else why not.

    `records` is where git keeps what all work trees share; None leaves git's part, and the
    note, in place. An adoption that did not come to its end is undone first [N346].
    """
    problem = None
    parts: tuple[Callable[[], str | None], ...] = (
        partial(_unadopt, root, name),
        partial(_files, root, name),
        partial(_records, records, name),
    )
    for part in parts:
        try:
            problem = part() or problem
        except OSError as error:
            problem = f"{visible(os.fspath(error.filename or name))}: {error.strerror or error}"
    if problem is None:
        try:
            with standing(root, NOTES) as notes:
                if notes is not None:
                    registry.unregister(notes, name)
        except OSError as error:
            problem = f"its note cannot be taken away: {error.strerror or error}"
    return problem


@contextmanager
def adopting(notes: int) -> Iterator[bool]:
    """Hold the right to change the real tree; False when another adoption is under way [N344]."""
    # A description of its own: locks belong to those, and another session may be in this process.
    with held(os.open(".", DIRECTORY, dir_fd=notes)) as mine:
        try:
            fcntl.flock(mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def drop_stage(notes: int, name: str) -> None:
    """Delete a staging directory from which nothing is to be undone. Raises `OSError`."""
    if kind_at(notes, stage_of(name)) is Kind.DIRECTORY:
        delete(notes, stage_of(name))


def _unadopt(root: Path, name: str) -> str | None:
    with standing(root, NOTES) as notes:
        if notes is None or kind_at(notes, stage_of(name)) is None:
            return None
        with adopting(notes) as alone:
            if not alone:
                return "another adoption is under way"
            with (
                held(os.open(stage_of(name), DIRECTORY, dir_fd=notes)) as stage,
                held(os.open(root, DIRECTORY)) as real,
            ):
                stuck = plan.undo(real, stage)
            if stuck is None:
                drop_stage(notes, name)
                return None
            kept = path_of(root, NOTES) / stage_of(name)
            return f"{stuck}; what it replaced is kept in {visible(str(kept))}"


def _files(root: Path, name: str) -> str | None:
    with standing(root, WORK) as work:
        if work is None:
            return None
        for left in reversed(range(_TRIES)):
            try:
                _delete(work, name)
                _delete(work, f"{TEMPORARY}{name}")
                break
            except OSError:  # something may still be writing there, which ends in its time
                if not left:
                    raise
        if set(names_in(work)) <= {IGNORE}:
            # A candidate that another host makes just now keeps the directory.
            with suppress(OSError):
                _delete(work, IGNORE)
                with entered(root, WORK[:1]) as above:
                    os.rmdir(WORK[1][0], dir_fd=above)
    return None


def _records(records: Path | None, name: str) -> str | None:
    if records is None:
        return "git does not say where it keeps its records of work trees"
    try:
        above = os.open(records, DIRECTORY)
    except FileNotFoundError:  # a repository that is gone has no records
        return None
    with held(above):
        try:
            worktrees = os.open(_WORKTREES, DIRECTORY, dir_fd=above)
        except FileNotFoundError:
            return None
        with held(worktrees):
            _delete(worktrees, name)
        # As git does it: the directory goes with the last work tree.
        with suppress(OSError):
            os.rmdir(_WORKTREES, dir_fd=above)
    return None


def _delete(above: int, name: str) -> None:
    kind = kind_at(above, name)
    if kind is Kind.DIRECTORY:
        delete(above, name)
    elif kind is not None:
        os.unlink(name, dir_fd=above)
