"""Where a path a model wrote leads, found without ever leaving the workspace [T2-30 to T2-32].

The root is held open; a path is walked from it one component at a time, and no component is
opened through a symbolic link: a link is read and its text walked the same way. What must
not be touched is a `Failure`: `invalid_input` for text that is no path here, and
`refused_by_policy` with cause `protected_path` for a place that no mode and no rule opens.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field
from enum import Enum
from itertools import islice
from typing import Final

from stella import limits
from stella.message import ErrorClass
from stella.message import Failure
from stella.near import near
from stella.tools.text import path_shown
from stella.tools.trouble import failure_of
from stella.tools.trouble import invalid
from stella.tools.trouble import protected

DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe or a device that takes a file's place must not be able to hold us up.
FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

GIT: Final = ".git"
STELLA: Final = ".stella"
PRIVATE: Final = (STELLA, "private")
STEERING: Final = ("stella.toml", ".mcp.json")
"""Files of the root that later sessions are steered by, ours and those of other agents."""

Parts = tuple[str, ...]


class Purpose(Enum):
    """What a path is wanted for [T2-31]."""

    READ = "read"
    """What is there, through links that stay inside."""
    WRITE = "write"
    """A file that is there or will be, through no link."""
    CHANGE = "change"
    """The very thing that is there, itself a link perhaps, through no other link."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """The workspace root: its real path, and the directory itself, held open."""

    path: str
    fd: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where a path leads: a name in a directory that is held open.

    `given` is the path as it was written, `parts` the real one, both relative to the root.
    `missing` are directories between `parent` and `name` that do not exist; `status` is that
    of `name` itself, None when nothing stands there. The root itself has the name `.`.
    """

    given: str
    parts: Parts
    parent: int
    name: str
    status: os.stat_result | None
    missing: Parts = ()

    @property
    def path(self) -> str:
        """The real path as text, the key under which reads are remembered."""
        return "/".join(self.parts)


@contextmanager
def held_root(path: str) -> Iterator[Root]:
    """Hold the workspace root open for the length of the context; `OSError` when it cannot be."""
    real = os.path.realpath(path)
    fd = os.open(real, DIRECTORY)
    try:
        yield Root(path=real, fd=fd)
    finally:
        os.close(fd)


def parts_of(root: Root, path: str) -> Parts | Failure:
    """Return the components of a path relative to the root, judged as text alone [T2-30]."""
    if not path:
        return Failure(message="the path is empty", kind=ErrorClass.INVALID_INPUT)
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return invalid(path, "the path is not valid UTF-8")
    if "\0" in path:
        return invalid(path, "a path cannot hold a NUL character")
    steps = _steps(path)
    if ".." in steps:
        return invalid(path, 'a path cannot hold ".."; write it relative to the workspace root')
    if not path.startswith("/"):
        return steps
    own = _steps(root.path)
    if steps[: len(own)] != own:
        return protected(path, "the path lies outside the workspace")
    return steps[len(own) :]


def steers(root: Root, path: str) -> bool:
    """Return whether `path` steers later sessions: in `.stella/`, or `stella.toml` [T2-32].

    So does `.mcp.json`, which other agents start programs by [attacks D92].
    """
    parts = parts_of(root, path)
    if isinstance(parts, Failure) or not parts:
        return False
    first = parts[0].casefold()
    if first == STELLA or (len(parts) == 1 and first in STEERING):
        return True
    known = {_identity(root, name) for name in (STELLA, *STEERING)} - {None}
    return _identity(root, parts[0]) in known


def walk(root: Root, path: str, purpose: Purpose, held: ExitStack) -> Spot | Failure:
    """Return where `path` leads, or why it may not be touched; `held` closes what was opened."""
    parts = parts_of(root, path)
    if isinstance(parts, Failure):
        return parts
    walker = _Walker(root=root, given="/".join(parts) or ".", purpose=purpose)
    held.callback(walker.close)
    try:
        return walker.walk(parts)
    except OSError as error:
        return failure_of(error, walker.given)


def opened_directory(spot: Spot, held: ExitStack) -> int | Failure:
    """Return the directory at `spot`, opened; `held` closes it."""
    try:
        top = os.open(spot.name, DIRECTORY, dir_fd=spot.parent)
    except OSError as error:
        if error.errno == errno.ENOTDIR:
            return invalid(spot.given, "this is not a directory")
        return failure_of(error, spot.given)
    held.callback(os.close, top)
    return top


@dataclass(slots=True, kw_only=True)
class _Walker:
    """One walk: the real components so far, the directory they lead to, what is still to do."""

    root: Root
    given: str
    purpose: Purpose
    here: int = -1
    real: list[str] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)  # the next component is the last one
    links: int = 0

    def close(self) -> None:
        if self.here not in (-1, self.root.fd):
            os.close(self.here)
        self.here = -1

    def restart(self, parts: Parts) -> None:
        """Walk on from the root; `..` of a link and absolute links begin again there."""
        self.close()
        self.here = self.root.fd
        self.real.clear()
        self.pending.extend(reversed(parts))

    def walk(self, parts: Parts) -> Spot | Failure:
        self.restart(parts)
        while self.pending:
            name = self.pending.pop()
            if name == "..":
                if not self.real:
                    return self.outside()
                self.restart(tuple(self.real[:-1]))
                continue
            if failure := self.forbidden((*self.real, name)):
                return failure
            status = self.status(name)
            if status is None or (not self.pending and not self.follows(status)):
                return self.arrived(name, status)
            if failure := self.step(name, status):
                return failure
        return self.spot(tuple(self.real), ".", os.fstat(self.here))

    def status(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(name, dir_fd=self.here, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def follows(self, status: os.stat_result) -> bool:
        """Whether the walk goes on through the last component."""
        return stat.S_ISLNK(status.st_mode) and self.purpose is not Purpose.CHANGE

    def step(self, name: str, status: os.stat_result) -> Failure | None:
        """Go through `name`: into a directory, or on to where a link points."""
        if stat.S_ISLNK(status.st_mode):
            return self.through(name)
        if not stat.S_ISDIR(status.st_mode):
            place = "/".join((*self.real, name))
            message = f"{path_shown(self.given)[0]}: {path_shown(place)[0]} is not a directory"
            return Failure(message=message, kind=ErrorClass.NOT_FOUND)
        below = os.open(name, DIRECTORY, dir_fd=self.here)
        self.close()
        self.here = below
        self.real.append(name)
        return self.alias(os.fstat(below))

    def through(self, name: str) -> Failure | None:
        if self.purpose is not Purpose.READ:
            return protected(self.given, "the path leads through a symbolic link")
        self.links += 1
        if self.links > limits.LINKS_FOLLOWED:
            return protected(self.given, "the path leads through too many symbolic links")
        target = os.readlink(name, dir_fd=self.here)
        steps = _steps(target)
        if not target.startswith("/"):
            self.pending.extend(reversed(steps))
            return None
        own = _steps(self.root.path)
        if steps[: len(own)] != own:
            return self.outside()
        self.restart(steps[len(own) :])
        return None

    def arrived(self, name: str, status: os.stat_result | None) -> Spot | Failure:
        """End the walk at `name`, or at the first component that does not exist."""
        rest = (name, *reversed(self.pending))
        parts = (*self.real, *rest)
        if failure := self.forbidden(parts):
            return failure
        if status is not None:
            return self.alias(status) or self.spot(parts, name, status)
        if self.purpose is not Purpose.WRITE or ".." in rest:
            return self.absent(name)
        return self.spot(parts, rest[-1], None, missing=rest[:-1])

    def spot(
        self, parts: Parts, name: str, status: os.stat_result | None, missing: Parts = ()
    ) -> Spot:
        return Spot(
            given=self.given,
            parts=parts,
            parent=self.here,
            name=name,
            status=status,
            missing=missing,
        )

    def outside(self) -> Failure:
        return protected(self.given, "the path leads out of the workspace through a symbolic link")

    def absent(self, name: str) -> Failure:
        with os.scandir(self.here) as entries:
            present = [entry.name for entry in islice(entries, limits.NAMES_COMPARED)]
        shown = path_shown(self.given)[0]
        message = f"{shown}: there is no {path_shown(name)[0]} here"
        if words := near(name, present):
            message += f"; did you mean {' or '.join(path_shown(word)[0] for word in words)}?"
        return Failure(message=message, kind=ErrorClass.NOT_FOUND)

    def forbidden(self, parts: Parts) -> Failure | None:
        """Refuse the protected places by name, twins in another case included [T2-32]."""
        folded = tuple(part.casefold() for part in parts)
        if folded[: len(PRIVATE)] == PRIVATE:
            return protected(self.given, "the host keeps its own records there")
        if self.purpose is not Purpose.READ and GIT in folded:
            return protected(self.given, "version control keeps its own records there")
        return None

    def alias(self, status: os.stat_result) -> Failure | None:
        """Refuse the protected places under whatever name the file system gives them [T2-32]."""
        identity = (status.st_dev, status.st_ino)
        if identity == _identity(self.root, "/".join(PRIVATE)):
            return self.forbidden(PRIVATE)
        return self.forbidden((GIT,)) if identity == _identity(self.root, GIT) else None


def _steps(path: str) -> Parts:
    return tuple(step for step in path.split("/") if step not in ("", "."))


def _identity(root: Root, name: str) -> tuple[int, int] | None:
    """Return what tells the file `name` in the root from every other one, None when absent."""
    try:
        status = os.stat(name, dir_fd=root.fd)
    except OSError:  # what cannot be reached has no other name either
        return None
    return (status.st_dev, status.st_ino)
