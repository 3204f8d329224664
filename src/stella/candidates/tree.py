"""The bytes of a workspace copied into a candidate, and read there again [D-54].

Which paths count is what git names; git neither reads nor writes any of them here. Nothing is
followed, nothing special is copied, and everything is bounded.
"""

import os
import stat
import threading
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from typing import Final

from stella.candidates.candidate import Bounds
from stella.candidates.candidate import Failed
from stella.candidates.candidate import Item
from stella.candidates.look import item_at
from stella.candidates.look import kind_at
from stella.candidates.place import ours
from stella.clock import Clock
from stella.escape import visible
from stella.files.kind import Kind
from stella.files.names import above
from stella.files.tree import names_in
from stella.files.way import Way
from stella.files.write import write_all

GIT: Final = ".git"
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
PERMISSIONS: Final = 0o777


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """What a copy holds beneath the workspace root, and what was left out and why."""

    items: Mapping[str, Item] = field(repr=False)
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What one sweep is bound to. `prefix` is the workspace root from the top, with its `/`."""

    prefix: str
    bounds: Bounds
    clock: Clock
    stop: threading.Event


class Stopped(Exception):
    """The sweep ends before the tree does."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def copied(names: Iterable[bytes], source: int, target: int, terms: Terms) -> Copied | Failed:
    """Copy what `names` name from one open directory into another and return what that was.

    What is named and not there is left out; what cannot be copied is in `skipped`.
    """
    sweep = _Sweep(source, target, terms)
    named = set(map(os.fsdecode, names))
    failed = sweep.run(named, above(named))
    return failed or Copied(items=sweep.items, skipped=tuple(sweep.skipped))


def read(
    names: Iterable[bytes], start: Iterable[str], source: int, terms: Terms
) -> Mapping[str, Item] | Failed:
    """Return what stands beneath the workspace root at what `names` name and at `start`.

    The paths of the result are relative to the root, those of `names` to the directory.
    """
    sweep = _Sweep(source, None, terms)
    every = {name for name in map(os.fsdecode, names) if name.startswith(terms.prefix)}
    failed = sweep.run(every | {f"{terms.prefix}{path}" for path in start}, above(every))
    return failed or sweep.items


class _Sweep:
    """One way through a tree, reading, and writing where there is a target."""

    def __init__(self, source: int, target: int | None, terms: Terms) -> None:
        self.terms = terms
        self.source = Way(source)
        self.target = None if target is None else Way(target)
        self.items: dict[str, Item] = {}
        self.holding: frozenset[str] = frozenset()
        self.skipped: list[str] = []
        self.began = terms.clock.ticks()
        self.files = 0
        self.bytes = 0
        self.entries = 0
        self.at = "."

    def run(self, names: set[str], holding: frozenset[str]) -> Failed | None:
        """Take every name; `holding` are directories whose files git names one by one."""
        self.holding = holding
        try:
            for name in sorted(names, key=os.fsencode):
                self.name(name.rstrip("/"))
        except Stopped as stopped:
            return Failed(reason=stopped.reason)
        except OSError as error:
            return Failed(reason=f"{visible(self.at)}: {error.strerror or error}")
        finally:
            self.source.close()
            if self.target is not None:
                self.target.close()
        return None

    def name(self, path: str) -> None:
        """Take one name of git's: a file, a link, or the place of another repository."""
        if self.left_out(path):
            return
        if kind_at(self.source.parent(path), path.rpartition("/")[2]) is Kind.DIRECTORY:
            if path in self.holding:  # it is tracked as a file, and a directory by now
                return
            for inner in self.beneath(path):
                self.take(inner)
        else:
            self.take(path)

    def left_out(self, path: str) -> bool:
        return GIT in path.split("/") or ours(path)

    def beneath(self, top: str) -> Iterator[str]:
        """Yield every path beneath a directory that is none itself, `.git` too when reading."""
        waiting = [top]
        while waiting:
            directory = waiting.pop()
            self.at = directory
            here = self.source.enter(directory.split("/"))
            for name in names_in(here, self.terms.bounds.entries - self.entries + 1):
                self.entries += 1
                if self.entries > self.terms.bounds.entries:
                    raise Stopped(f"there are more than {self.terms.bounds.entries} entries")
                path = f"{directory}/{name}"
                if name == GIT:
                    # Nothing of another repository's records is copied, or comes back unseen.
                    if self.target is None:
                        yield path
                elif kind_at(self.source.enter(directory.split("/")), name) is Kind.DIRECTORY:
                    waiting.append(path)
                else:
                    yield path

    def take(self, path: str) -> None:
        self.check()
        self.at = path
        parts = path.split("/")
        here = self.source.parent(path)
        kind = kind_at(here, parts[-1])
        if here is None or kind is None:
            return
        self.files += 1
        if self.files > self.terms.bounds.files:
            raise Stopped(f"there are more than {self.terms.bounds.files} files")
        if self.target is None:
            item = item_at(here, parts[-1], sink=self.meter)
        elif kind in (Kind.FILE, Kind.LINK):
            item = self.copy(here, parts)
        else:
            self.skipped.append(f"{visible(path)}: a {kind.value}")
            return
        if item is not None and path.startswith(self.terms.prefix):
            self.items[path.removeprefix(self.terms.prefix)] = item

    def copy(self, here: int, parts: list[str]) -> Item | None:
        """Copy one file or link; None when it may not be read or is gone by now."""
        assert self.target is not None  # noqa: S101 - for the type checker: only a copy comes here
        name = parts[-1]
        into = self.target.enter(parts[:-1], like=self.source)
        if kind_at(here, name) is Kind.LINK:
            item = item_at(here, name)
            if item is not None:
                os.symlink(item.target, name, dir_fd=into)
            return item
        mode = stat.S_IMODE(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode)
        file = os.open(name, _CREATE, 0o600, dir_fd=into)
        with os.fdopen(file, "wb", buffering=0) as target:

            def put(block: bytes) -> None:
                self.meter(block)
                write_all(target.fileno(), block)

            try:
                item = item_at(here, name, sink=put)
            except PermissionError:
                self.skipped.append(f"{visible('/'.join(parts))}: may not be read")
                item = None
            os.fchmod(file, mode & PERMISSIONS)
        if item is None or item.kind is not Kind.FILE:
            os.unlink(name, dir_fd=into)
            return None
        return item

    def meter(self, block: bytes) -> None:
        self.bytes += len(block)
        if self.bytes > self.terms.bounds.bytes:
            raise Stopped(f"there are more than {self.terms.bounds.bytes} bytes")
        self.check()

    def check(self) -> None:
        if self.terms.stop.is_set():
            raise Stopped("it was given up")
        if self.terms.clock.ticks() - self.began > self.terms.bounds.milliseconds:
            raise Stopped(f"it takes longer than {self.terms.bounds.milliseconds // 1000} seconds")
