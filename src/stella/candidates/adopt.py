"""A candidate's changes put into the real tree: all of them, or none [D-57, N344, N346, N347].

Everything is judged before anything is written, and everything that is to be written lies
staged on disk beside a plan before the first file of the person's is touched. A failure, a
cancel and a kill are undone from that plan. The repository's index and branches are not touched.
"""

import errno
import os
import stat
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import field
from typing import Final

from stella.candidates import plan
from stella.candidates.candidate import ChangeKind
from stella.candidates.candidate import Denial
from stella.candidates.candidate import Failed
from stella.candidates.look import item_at
from stella.candidates.look import kind_at
from stella.candidates.patch import Change
from stella.candidates.patch import refusal
from stella.candidates.plan import Deed
from stella.candidates.plan import Folder
from stella.candidates.plan import Plan
from stella.candidates.tree import PERMISSIONS
from stella.escape import visible
from stella.files.kind import Kind
from stella.files.tree import names_in
from stella.files.way import Way
from stella.files.write import sync_directory
from stella.files.write import write_all

_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS: Final = frozenset(
    {errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS, errno.EXDEV}
)
_RUN: Final = 0o111
_NEW_FILE: Final = 0o644
_NEW_PROGRAM: Final = 0o755
_STAMP: Final = ("st_dev", "st_ino", "st_size", "st_mtime_ns", "st_mode")
_DEEDS: Final = {
    ChangeKind.CREATED: Deed.CREATE,
    ChangeKind.MODIFIED: Deed.MODIFY,
    ChangeKind.DELETED: Deed.DELETE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The open directories of one adoption: the real tree, the candidate, and the staging."""

    root: int
    source: int
    stage: int


class _Refused(Exception):
    """It cannot be done, and why; nothing has been lost."""

    def __init__(self, path: str, reason: str, denial: Denial | None = None) -> None:
        self.denial = denial
        super().__init__(f"{visible(path)}: {reason}")


def adopt(
    changes: Sequence[Change], places: Places, *, most: int, token: str, stop: threading.Event
) -> Failed | None:
    """Make all changes in the real tree; None when they are made, else it is as it was.

    `most` bounds the bytes of the new contents; `stop` may be set from another thread and
    undoes what was done. When undoing is not possible either, the reason says so, and what was
    replaced stays in the staging directory with the plan.
    """
    adoption = _Adoption(places, most, stop)
    denial = None
    try:
        adoption.judge(changes)
        adoption.stage(token)
        adoption.apply()
        plan.done(places.stage)
    except _Refused as refused:
        reason, denial = str(refused), refused.denial
    except OSError as error:
        reason = f"{visible(adoption.at)}: {error.strerror or error}"
    else:
        with suppress(_Refused):
            adoption.tidy()
        return None
    finally:
        adoption.close()
    return Failed(reason=f"{reason}; {_undone(places)}", denial=denial)


def _undone(places: Places) -> str:
    try:
        stuck = plan.undo(places.root, places.stage)
    except OSError as error:
        stuck = error.strerror or str(error)
    return f"undoing it failed too: {stuck}" if stuck else "nothing was changed"


@dataclass(slots=True, kw_only=True)
class _Step:
    """One change on its way, and what the real file looked like when it was judged."""

    change: Change
    number: int = 0
    stamp: tuple[int, ...] | None = None
    mode: int = 0

    @property
    def path(self) -> str:
        return self.change.path

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(slots=True, kw_only=True)
class _Folders:
    """Directories to make and to take away, parents first."""

    made: list[str] = field(default_factory=list)
    taken: list[Folder] = field(default_factory=list)


class _Adoption:
    def __init__(self, places: Places, most: int, stop: threading.Event) -> None:
        self.places = places
        self.most = most
        self.stop = stop
        self.real = Way(places.root)
        self.source = Way(places.source)
        self.steps: list[_Step] = []
        self.deleted: frozenset[str] = frozenset()
        self.folders = _Folders()
        self.at = "."

    def close(self) -> None:
        self.real.close()
        self.source.close()

    def judge(self, changes: Sequence[Change]) -> None:
        """Refuse, before anything is written, what may not be adopted or has moved meanwhile."""
        for change in changes:
            if why := refusal(change):
                raise _Refused(change.path, why, Denial.PATH)
        self.deleted = frozenset(each.path for each in changes if each.after is None)
        gone_first = sorted(changes, key=lambda each: each.after is not None)
        for number, change in enumerate(gone_first):
            self.check(change.path)
            step = _Step(change=change, number=number)
            self.steps.append(step)
            self.compare(step)

    def compare(self, step: _Step) -> None:
        """Refuse a real file that is not what the candidate started from [N344]."""
        self.lead(step)
        here = self.real.parent(step.path)
        found = _status(here, step.name)
        step.stamp = _stamp(found)
        step.mode = 0 if found is None else stat.S_IMODE(found.st_mode) & PERMISSIONS
        now = item_at(here, step.name)
        if step.change.before is None and now is not None and now.kind is Kind.DIRECTORY:
            self.take_away(step.path)
            step.stamp = None
        elif now != step.change.before:
            gone = "is gone from" if now is None else "is not the same any more in"
            there = "stands in" if step.change.before is None else gone
            raise _Refused(step.path, f"{there} the real tree since the candidate was made")

    def lead(self, step: _Step) -> None:
        """Note the directories that a path needs; refuse a link on the way to it."""
        parts = step.path.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            above = "/".join(parts[:depth])
            kind = kind_at(self.real.parent(above), parts[depth - 1])
            if kind is Kind.DIRECTORY:
                continue
            if step.change.after is None:
                return  # then it is gone itself, which the comparison says
            if kind is not None and above not in self.deleted:
                raise _Refused(step.path, f"a {kind.value} stands in the way to it", Denial.PATH)
            if above not in self.folders.made:
                self.folders.made.append(above)

    def take_away(self, top: str) -> None:
        """Note a directory that gives way to a file; refuse when it holds anything else."""
        waiting = [top]
        while waiting:
            directory = waiting.pop()
            here = self.real.enter(directory.split("/"))
            mode = stat.S_IMODE(os.fstat(here).st_mode)
            self.folders.taken.append(Folder(path=plan.hexed(directory), mode=mode))
            for name in names_in(here):
                path = f"{directory}/{name}"
                if kind_at(self.real.enter(directory.split("/")), name) is Kind.DIRECTORY:
                    waiting.append(path)
                elif path not in self.deleted:
                    raise _Refused(path, "would be lost with its directory")

    def stage(self, token: str) -> None:
        """Put new contents, what is replaced, and the plan on disk, and all of it durably."""
        for step in self.steps:
            self.check(step.path)
            if step.change.after is not None:
                self.stage_new(step)
            if step.change.kind is ChangeKind.MODIFIED:
                self.keep_old(step)
        sync_directory(self.places.stage)
        rows = tuple(
            plan.row_of(step.path, _DEEDS[step.change.kind], step.change.after)
            for step in self.steps
        )
        made = tuple(map(plan.hexed, self.folders.made))
        whole = Plan(rows=rows, taken=tuple(self.folders.taken), made=made)
        if not plan.write(self.places.stage, whole, token):
            raise _Refused(".", "there are too many changes to be noted down")

    def stage_new(self, step: _Step) -> None:
        """Copy what the candidate holds; refuse when that is not what was judged."""
        here, name = self.source.parent(step.path), plan.fresh(step.number)
        after = step.change.after
        if after is not None and after.kind is Kind.LINK:
            os.symlink(after.target, name, dir_fd=self.places.stage)
            return
        file = os.open(name, _CREATE, 0o600, dir_fd=self.places.stage)
        with os.fdopen(file, "wb", buffering=0) as target:

            def put(block: bytes) -> None:
                self.most -= len(block)
                if self.most < 0:
                    raise _Refused(step.path, "the changes hold more bytes than are adopted")
                write_all(target.fileno(), block)

            if item_at(here, step.name, sink=put) != after:
                raise _Refused(step.path, "changed in the candidate while it was adopted")
            os.fchmod(file, _mode(step))
            os.fsync(file)

    def keep_old(self, step: _Step) -> None:
        """Give what will be replaced a second name, or copy it where there is no such thing."""
        here, name = self.real.parent(step.path), plan.kept(step.number)
        stage = self.places.stage
        if here is None:
            raise _Refused(step.path, "is gone from the real tree")
        try:
            os.link(step.name, name, src_dir_fd=here, dst_dir_fd=stage, follow_symlinks=False)
            return
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
        before = step.change.before
        if before is not None and before.kind is Kind.LINK:
            os.symlink(before.target, name, dir_fd=stage)
            return
        file = os.open(name, _CREATE, 0o600, dir_fd=stage)
        with os.fdopen(file, "wb", buffering=0) as target:
            if item_at(here, step.name, sink=lambda block: write_all(file, block)) != before:
                raise _Refused(step.path, "changed while it was adopted")
            os.fchmod(target.fileno(), step.mode)
            os.fsync(target.fileno())

    def apply(self) -> None:
        """Do the plan: deletions, directories, then new contents; make all of it durable."""
        for step in self.steps:
            if step.change.after is None:
                self.replace(step)
        for folder in reversed(self.folders.taken):
            self.at = plan.plain(folder.path)
            self.real.close()
            os.rmdir(self.at.rpartition("/")[2], dir_fd=self.above(self.at))
        for path in self.folders.made:
            self.at = path
            os.mkdir(path.rpartition("/")[2], dir_fd=self.above(path))
        for step in self.steps:
            if step.change.after is not None:
                self.replace(step)
        for step in self.steps:
            self.at = step.path
            here = self.real.parent(step.path)
            if here is not None:
                sync_directory(here)

    def replace(self, step: _Step) -> None:
        """Make one change, if the real file is what was judged."""
        self.check(step.path)
        here, stage, name = self.above(step.path), self.places.stage, step.name
        if _stamp(_status(here, name)) != step.stamp:
            raise _Refused(step.path, "changed while it was adopted")
        fresh, old = plan.fresh(step.number), plan.kept(step.number)
        match step.change.kind:
            case ChangeKind.DELETED:
                os.rename(name, old, src_dir_fd=here, dst_dir_fd=stage)
            case ChangeKind.MODIFIED:
                os.rename(fresh, name, src_dir_fd=stage, dst_dir_fd=here)
            case ChangeKind.CREATED:
                _put_new(fresh, name, stage, here)

    def above(self, path: str) -> int:
        here = self.real.parent(path)
        if here is None:
            raise _Refused(path, "the way to it changed while it was adopted")
        return here

    def tidy(self) -> None:
        """Take away the directories that the deletions emptied, where the candidate has none."""
        emptied = {step.path.rpartition("/")[0] for step in self.steps if not step.change.after}
        while emptied := emptied - {""}:
            path = max(emptied)  # what lies deeper sorts behind what it lies in
            emptied.discard(path)
            # It is not empty, or not ours to remove: what was adopted stands all the same.
            with suppress(OSError):
                self.real.close()
                above, _, name = path.rpartition("/")
                if kind_at(self.source.parent(path), name) is not Kind.DIRECTORY:
                    os.rmdir(name, dir_fd=self.above(path))
                    emptied.add(above)

    def check(self, path: str) -> None:
        self.at = path
        if self.stop.is_set():
            raise _Refused(path, "the adoption was given up")


def _put_new(fresh: str, name: str, stage: int, here: int) -> None:
    """Give a staged file its place, where nothing may stand by now."""
    try:
        os.link(fresh, name, src_dir_fd=stage, dst_dir_fd=here, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.rename(fresh, name, src_dir_fd=stage, dst_dir_fd=here)
    else:
        os.unlink(fresh, dir_fd=stage)


def _mode(step: _Step) -> int:
    """Return the permissions of a new content: the old ones, and whether it is a program."""
    after, before = step.change.after, step.change.before
    program = after is not None and after.program
    if before is None or before.kind is not Kind.FILE:
        return _NEW_PROGRAM if program else _NEW_FILE
    if before.program == program:
        return step.mode
    # Whoever may read it may run it.
    return step.mode | (step.mode & 0o444) >> 2 if program else step.mode & ~_RUN


def _status(here: int | None, name: str) -> os.stat_result | None:
    if here is None:
        return None
    try:
        return os.stat(name, dir_fd=here, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _stamp(found: os.stat_result | None) -> tuple[int, ...] | None:
    return None if found is None else tuple(getattr(found, name) for name in _STAMP)
