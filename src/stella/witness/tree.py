"""What lies in the workspace at one moment: every file and link with its digest [T2-52, T2-53].

Version control says what to leave out; its own directory and what the host writes are left
out always. It reads and never writes, and follows no link.
"""

import asyncio
import hashlib
import os
import stat
import threading
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Final

from stella import limits
from stella.clock import Clock
from stella.files.kind import Kind
from stella.files.write import READ
from stella.process.git import Repository
from stella.process.git import listed
from stella.witness.walk import Walk
from stella.witness.walk import left_out
from stella.witness.walk import parent

_BLOCK: Final = limits.MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What the system says of a file without reading it [T2-52]."""

    kind: int
    mode: int
    size: int
    changed_ns: int
    inode: int


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One regular file or link.

    `digest` is the SHA-256 in hex of the bytes; of a link, of the word `link`, a NUL and its
    text, so that it is never a file's. `settled` says that the stamp was old enough when the
    file was read for any later change to show in it.
    """

    stamp: Stamp
    digest: str
    binary: bool = False
    settled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """Every measured file by its path relative to the root.

    `texts` holds the bytes of small text files by digest, as far as they fit, for diffs.
    `ignoring` says whether version control had a say in what was measured.
    """

    files: Mapping[str, File]
    texts: Mapping[str, bytes] = field(repr=False)
    ignoring: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmeasured:
    """The tree could not be measured, and why, for the notice `changes_unmeasured` [T2-53]."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How much of a tree is measured at most [T2-53]."""

    files: int = limits.TREE_FILES
    entries: int = limits.WATCHED_ENTRIES
    milliseconds: int = limits.TREE_SECS * 1000
    kept_bytes: int = limits.TREE_KEPT_BYTES


async def survey(  # noqa: PLR0913 - each says what is measured, and all but two have a default
    root: Path,
    *,
    path_value: str,
    clock: Clock,
    previous: Tree | None = None,
    reach: Reach | None = None,
    within: Repository | None = None,
) -> Tree | Unmeasured:
    """Return the tree beneath the canonical `root` now [T2-52, T2-53].

    `path_value` is where git is looked up; with `within` git is told that repository, whatever
    the tree says of itself. With `previous`, files whose stamp has not changed
    since are not read again, and what it measured is measured again even when version control
    ignores it now: a worker cannot hide a change by ignoring it. Without git, or outside a
    repository, every file counts.
    """
    reach = reach or Reach()
    began = clock.ticks()
    seconds = reach.milliseconds / 1000
    names = await listed(str(root), env_path=path_value, seconds=seconds, within=within)
    if names is None and previous is not None and previous.ignoring:
        return Unmeasured(reason="version control does not answer any more what it ignores")
    surveyor = _Surveyor(root, clock, previous, reach, began)
    try:
        # In a thread: reading many files must not hold up what else the session does.
        return await asyncio.to_thread(surveyor.survey, names)
    finally:
        surveyor.stop.set()


def glance(root: Path, paths: Iterable[str], *, clock: Clock) -> Tree:
    """Return a tree of the named files only, for tools that say what they touch [T2-51].

    A path that leads to nothing, or to no file or link, is absent.
    """
    surveyor = _Surveyor(root, clock, None, Reach(), clock.ticks())
    for path in paths:
        surveyor.add(path)
    return surveyor.tree(ignoring=False)


class _Stopped(Exception):
    """The measurement ends before the tree does."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class _Surveyor:
    """One measurement. `stop` may be set from another thread to end it."""

    def __init__(
        self, root: Path, clock: Clock, previous: Tree | None, reach: Reach, began: int
    ) -> None:
        self.root = root
        self.clock = clock
        self.previous = previous or Tree(files={}, texts={})
        self.reach = reach
        self.began = began
        self.stop = threading.Event()
        self.files: dict[str, File] = {}
        self.texts: dict[str, bytes] = {}
        self.kept = 0
        self.real = {"": True}
        # Times of files are coarse: what changed this lately may change again unseen.
        self.old_ns = (int(clock.now().timestamp() * 1000) - limits.TREE_SLACK_MS) * 1_000_000

    def survey(self, names: Sequence[bytes] | None) -> Tree | Unmeasured:
        """Return the tree of the files git names, or of all when it names none."""
        try:
            for path in self._paths(names):
                self.add(path)
        except _Stopped as stopped:
            return Unmeasured(reason=stopped.reason)
        return self.tree(ignoring=names is not None)

    def tree(self, *, ignoring: bool) -> Tree:
        """Return what was added."""
        return Tree(files=self.files, texts=self.texts, ignoring=ignoring)

    def add(self, path: str) -> None:
        """Measure one file or link; anything else, and nothing, is passed over."""
        self._check()
        stamp = None if path in self.files else self._stamp(path)
        if stamp is None:
            return
        if len(self.files) >= self.reach.files:
            raise _Stopped(f"there are more than {self.reach.files} files")
        before = self.previous.files.get(path)
        if before is not None and before.settled and before.stamp == stamp:
            self.files[path] = before
            self._keep(before.digest, self.previous.texts.get(before.digest))
        elif stat.S_ISLNK(stamp.kind):
            self._add_link(path, stamp)
        else:
            self._add_regular(path, stamp)

    def _paths(self, names: Sequence[bytes] | None) -> Iterator[str]:
        if names is None:
            yield from self._beneath("")
        for name in names or ():
            path = os.fsdecode(name).rstrip("/")
            if left_out(path):
                continue
            # Another repository inside this one is a single name to git.
            if self._is_directory(path):
                yield from self._beneath(path)
            else:
                yield path
        yield from self.previous.files

    def _beneath(self, directory: str) -> Iterator[str]:
        walk = Walk(self.root, [directory], most=self.reach.entries)
        for entry in walk.entries():
            self._check()
            if entry.kind in (Kind.FILE, Kind.LINK):
                yield entry.path
        if walk.horizon is not None:
            raise _Stopped(f"there are more than {self.reach.entries} directory entries")

    def _is_directory(self, path: str) -> bool:
        """Return whether a real directory stands there, reached through real ones only."""
        if path not in self.real:
            try:
                mode = (self.root / path).lstat().st_mode
            except OSError:
                mode = 0
            self.real[path] = stat.S_ISDIR(mode) and self._is_directory(parent(path))
        return self.real[path]

    def _stamp(self, path: str) -> Stamp | None:
        if not self._is_directory(parent(path)):
            return None
        try:
            found = (self.root / path).lstat()
        except OSError:
            return None
        known = stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)
        return _stamped(found) if known else None

    def _add_link(self, path: str, stamp: Stamp) -> None:
        try:
            text = os.fsencode((self.root / path).readlink())
        except OSError:  # it was a link a moment ago and is measured again next time
            return
        digest = hashlib.sha256(b"link\0" + text).hexdigest()
        self.files[path] = File(stamp=stamp, digest=digest, settled=False)
        self._keep(digest, text)

    def _add_regular(self, path: str, stamp: Stamp) -> None:
        try:
            descriptor = os.open(self.root / path, READ)
        except OSError:  # what the host may not read, a worker with the same rights may not either
            return
        try:
            stamp = _stamped(os.fstat(descriptor))
            if stamp.kind != stat.S_IFREG:  # something else took its place just now
                return
            head = os.read(descriptor, _BLOCK)
            whole, block = hashlib.sha256(head), head
            while block:
                self._check()
                block = os.read(descriptor, _BLOCK)
                whole.update(block)
        finally:
            os.close(descriptor)
        digest = whole.hexdigest()
        binary = b"\0" in head[: limits.BINARY_PROBE_BYTES]
        settled = stamp.changed_ns < self.old_ns
        self.files[path] = File(stamp=stamp, digest=digest, binary=binary, settled=settled)
        if stamp.size == len(head) and not binary:
            self._keep(digest, head)

    def _keep(self, digest: str, text: bytes | None) -> None:
        if text is None or digest in self.texts:
            return
        small = len(text) <= limits.TREE_KEPT_FILE_BYTES
        if small and self.kept + len(text) <= self.reach.kept_bytes:
            self.texts[digest] = text
            self.kept += len(text)

    def _check(self) -> None:
        if self.stop.is_set():
            raise _Stopped("the measurement was given up")
        if self.clock.ticks() - self.began > self.reach.milliseconds:
            raise _Stopped(f"it takes longer than {self.reach.milliseconds // 1000} seconds")


def _stamped(found: os.stat_result) -> Stamp:
    return Stamp(
        kind=stat.S_IFMT(found.st_mode),
        mode=stat.S_IMODE(found.st_mode),
        size=found.st_size,
        changed_ns=found.st_ctime_ns,
        inode=found.st_ino,
    )
