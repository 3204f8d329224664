"""Changes of several files, all or nothing [T2-34].

The caller has checked every item; here they are made. New contents are written beside their
targets first, then renamed; when one cannot be, the earlier ones are put back. A batch of one
is a single atomic change [T2-35].
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import field
from typing import Final
from typing import Protocol

from stella.files.write import TEMPORARY
from stella.files.write import keep
from stella.files.write import stage
from stella.files.write import sync_directory
from stella.message import ErrorClass
from stella.message import Failure
from stella.tools.paths import DIRECTORY
from stella.tools.paths import Spot
from stella.tools.seen import Unread
from stella.tools.text import path_shown
from stella.tools.trouble import failure_of

KEPT: Final = ".stella-kept-"

_STAMP: Final = ("st_dev", "st_ino", "st_size", "st_mtime_ns", "st_mode", "st_nlink")


class Rename(Protocol):
    """`os.rename`, or a test's stand-in for a file system that refuses."""

    def __call__(self, src: str, dst: str, /, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        """Rename, or raise `OSError`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """New contents for a file, and the mode it gets."""

    spot: Spot
    data: bytes
    mode: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """The end of a file or a link."""

    spot: Spot


Change = Put | Drop


@dataclass(slots=True, kw_only=True)
class _Item:
    """One change on its way: where, what was staged for it, what was kept of the old."""

    change: Change
    parent: int
    staged: str | None = None
    kept: str | None = None
    applied: bool = False

    @property
    def state(self) -> str:
        """What a person is told of the file when a batch could not be undone [T2-34]."""
        shown = path_shown(self.change.spot.given)[0]
        if not self.applied:
            return f"{shown}: as it was"
        if self.kept is not None:
            return f"{shown}: changed; what it held is in {self.kept} beside it"
        return f"{shown}: changed; it did not exist before"


def commit(changes: Sequence[Change], token: str, *, rename: Rename = os.rename) -> Failure | None:
    """Make all changes, or none and say why [T2-34]; no other temporary name has that `token`."""
    batch = _Batch(token=token, rename=rename, alone=len(changes) == 1)
    try:
        return batch.make(changes)
    finally:
        batch.close()


@dataclass(slots=True, kw_only=True)
class _Batch:
    token: str
    rename: Rename
    alone: bool
    items: list[_Item] = field(default_factory=list)
    opened: list[int] = field(default_factory=list)
    made: list[tuple[int, str]] = field(default_factory=list)
    done: bool = False
    named: int = 0

    def own(self) -> str:
        """Return a token for the next name of this batch."""
        self.named += 1
        return f"{self.token}.{self.named}"

    def make(self, changes: Sequence[Change]) -> Failure | None:
        place = ""
        try:
            for change in changes:
                place = change.spot.given
                self.prepare(change)
            for item in self.items:
                place = item.change.spot.given
                if failure := _overtaken(item):
                    return self.undone(failure)
                self.apply(item)
            self.done = True
            for item in self.items:
                sync_directory(item.parent)
        except OSError as error:
            return self.undone(failure_of(error, place))
        return None

    def prepare(self, change: Change) -> None:
        """Write the new contents beside the target; keep the old ones, for a batch."""
        spot = change.spot
        item = _Item(change=change, parent=self.parent(spot))
        self.items.append(item)
        if isinstance(change, Put):
            if spot.status is not None and not self.alone:
                item.kept = keep(item.parent, spot.name, token=self.own())
            item.staged = stage(item.parent, change.data, change.mode, token=self.own())

    def parent(self, spot: Spot) -> int:
        """Return the directory the change happens in, made where it is missing [T2-13]."""
        here = spot.parent
        for name in spot.missing:
            try:
                os.mkdir(name, dir_fd=here)
                self.made.append((here, name))
            except FileExistsError:
                pass  # made by an earlier item; opening it tells whether it is a directory
            here = os.open(name, DIRECTORY, dir_fd=here)
            self.opened.append(here)
        return here

    def apply(self, item: _Item) -> None:
        name = item.change.spot.name
        if item.staged is not None:
            self.move(item, item.staged, name)
            item.staged = None
        elif self.alone:
            os.unlink(name, dir_fd=item.parent)
        else:
            kept = f"{TEMPORARY}{self.own()}"
            self.move(item, name, kept)
            item.kept = kept
        item.applied = True

    def move(self, item: _Item, old: str, new: str) -> None:
        self.rename(old, new, src_dir_fd=item.parent, dst_dir_fd=item.parent)

    def undone(self, failure: Failure) -> Failure:
        """Put everything back and return the failure with what came of that."""
        if self.done:
            message = f"{failure.message}; the changes were made but may not survive a crash"
            return Failure(message=message, kind=failure.kind)
        for item in reversed(self.items):
            if item.applied:
                self.put_back(item)
        if any(item.applied for item in self.items):
            for item in self.items:
                self.rescue(item)
            states = "".join(f"\n{item.state}" for item in self.items)
            message = f"{failure.message}; undoing the others failed too:{states}"
        else:
            message = f"{failure.message}; nothing was changed"
        return Failure(message=message, kind=failure.kind, cause=failure.cause)

    def rescue(self, item: _Item) -> None:
        """Give what is kept a name that nobody takes for a temporary one [T2-35]."""
        if item.applied and item.kept is not None:
            safe = f"{KEPT}{self.own()}"
            with suppress(OSError):  # then it stays where it is, and that is told
                self.move(item, item.kept, safe)
                item.kept = safe

    def put_back(self, item: _Item) -> None:
        name = item.change.spot.name
        try:
            if item.kept is not None:
                self.move(item, item.kept, name)
                item.kept = None
            else:
                os.unlink(name, dir_fd=item.parent)
        except OSError:
            return  # the item stays applied, and its state is told
        item.applied = False

    def close(self) -> None:
        """Remove what was only in between, and let go of the directories."""
        for item in self.items:
            spare = (item.staged, item.kept if self.done or not item.applied else None)
            for name in filter(None, spare):
                # What cannot be removed now is stale once the session is dead [T2-35].
                with suppress(OSError):
                    os.unlink(name, dir_fd=item.parent)
        for parent, name in reversed([] if self.done else self.made):
            # Somebody may have put something into it by now; then it is not ours to remove.
            with suppress(OSError):
                os.rmdir(name, dir_fd=parent)
        for descriptor in self.opened:
            os.close(descriptor)


def _overtaken(item: _Item) -> Failure | None:
    """Return a refusal when the target is no longer what was checked [T2-33]."""
    spot = item.change.spot
    try:
        now = os.stat(spot.name, dir_fd=item.parent, follow_symlinks=False)
    except FileNotFoundError:
        now = None
    if _stamp(now) == _stamp(spot.status):
        return None
    return Failure(
        message=f"{path_shown(spot.given)[0]}: the file changed while this call was made",
        kind=ErrorClass.REFUSED_BY_POLICY,
        cause=Unread.CHANGED.value,
    )


def _stamp(status: os.stat_result | None) -> tuple[int, ...] | None:
    return None if status is None else tuple(getattr(status, name) for name in _STAMP)
