"""A package as a tree of bytes: walked, digested and copied without following a link.

Each step goes from one open directory to the next, so nothing can be put in the way between a
look and a use [I-4 to I-7, I-28]. Nothing here knows what a plugin is, and nothing is started.
"""

import hashlib
import os
import stat
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Final

from stella import limits
from stella.errors import PackageRefused
from stella.escape import visible
from stella.files.kind import Kind
from stella.files.kind import kind_of
from stella.files.names import refuse_name
from stella.files.write import READ
from stella.files.write import sync_directory
from stella.files.write import write_all

CONFIGURED: Final = ".stella-configured.json"
COMPILED: Final = "__pycache__"
DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_VERSIONED: Final = ".git"
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PROGRAM_MODE: Final = 0o755
_FILE_MODE: Final = 0o644
_DIRECTORY_MODE: Final = 0o755
_PRIVATE_MODE: Final = 0o700
_ONLY: Final = "a package holds only regular files and directories of its own"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One path of a tree, relative, parts joined by `/`; `sha256` is hex, empty but for a file."""

    path: str
    kind: Kind
    mode: int
    size: int = 0
    sha256: str = ""

    @property
    def line(self) -> bytes:
        """The line of the tree digest [I-28]; what no package may hold has a letter of its own."""
        letter = {Kind.FILE: "f", Kind.DIRECTORY: "d"}.get(self.kind, "x")
        return os.fsencode(self.path) + f"\0{letter}{self.mode:04o}\0{self.sha256}\n".encode()


@dataclass(frozen=True, kw_only=True)
class Package:
    """Everything in a tree, sorted by the bytes of the paths [I-28].

    `state` is one digest over what the system says of each entry: device, inode, mode and, of
    what is no directory, size and times [I-29]. `newest` is the latest of these times, in
    nanoseconds. Both are of the moment before anything was read.
    """

    entries: tuple[Entry, ...]
    state: str = field(default="", compare=False)
    newest: int = field(default=0, compare=False)

    @cached_property
    def digest(self) -> str:
        """`sha256:` and the hex digest over all entries [I-28]."""
        return f"sha256:{hashlib.sha256(b''.join(e.line for e in self.entries)).hexdigest()}"

    @cached_property
    def files(self) -> Mapping[str, str]:
        """Each file's path and `sha256:` digest, as a lock record keeps them [I-26]."""
        return {e.path: f"sha256:{e.sha256}" for e in self.entries if e.kind is Kind.FILE}

    def entry(self, path: str) -> Entry | None:
        """Return what stands at `path`, or None."""
        return next((entry for entry in self.entries if entry.path == path), None)


def differing(before: Package, after: Package) -> tuple[str, ...]:
    """Return each path that is not the same in both, in byte order [I-7]."""
    unequal = set(before.entries) ^ set(after.entries)
    return tuple(sorted({entry.path for entry in unequal}, key=os.fsencode))


def lies_in(inner: Path, outer: Path) -> bool:
    """Return whether `inner` is or lies in `outer`, by what they are and not by spelling.

    Both are absolute and need not exist; a file system may know one directory by two names.
    """
    there = _identity(outer)
    if there is None:
        return inner.is_relative_to(outer)
    return any(_identity(at) == there for at in (inner, *inner.parents))


def names_in(directory: int, most: int | None = None) -> list[str]:
    """Return the names in an open directory in byte order, no more than `most` of them.

    Raises the system's `OSError`.
    """
    with os.scandir(directory) as listed:
        return sorted((item.name for item in islice(listed, most)), key=os.fsencode)


@contextmanager
def opened(path: Path, *, above: int | None = None) -> Iterator[int]:
    """Hold the directory of a package open; a link to one is refused [I-5].

    With `above` the last part of the path is looked up in that open directory. Raises
    `PackageRefused` naming the path and the kind, or what the system says.
    """
    place = path if above is None else path.name
    with _reading(str(path)):
        _expect(str(path), Kind.DIRECTORY, os.stat(place, dir_fd=above, follow_symlinks=False))
        root = os.open(place, DIRECTORY, dir_fd=above)
    with held(root):
        yield root


def read(root: int, name: str, most: int) -> bytes | None:
    """Return the first `most` bytes of the file `name` in an open directory, None without one.

    What is no regular file is refused unopened, so a fifo never stops the host [A11]. Raises
    `PackageRefused`.
    """
    with _reading(name):
        try:
            found = os.stat(name, dir_fd=root, follow_symlinks=False)
        except FileNotFoundError:
            return None
        _expect(name, Kind.FILE, found)
        with held(os.open(name, READ, dir_fd=root)) as file:
            _expect(name, Kind.FILE, os.fstat(file))
            return content(file, most)


def content(file: int, most: int) -> bytes:
    """Return the first `most` bytes of an open file. Raises the system's `OSError`."""
    data = bytearray()
    while block := os.read(file, min(limits.MIB, most - len(data))):
        data += block
    return bytes(data)


def walk(root: int) -> Package:
    """Return the package in an open source directory, with the modes an install gives it.

    Raises `PackageRefused` for a kind [I-5], a limit [I-4] or a name that no package may hold.
    """
    return _Walk(source=True).run(root, None)


def copy(root: int, into: int) -> Package:
    """Copy the package in one open directory into another, empty one, and sync all of it [I-2].

    Returns what was copied. Raises `PackageRefused` as `walk` does, about the source, and the
    system's `OSError` when the copy cannot be written.
    """
    package = _Walk(source=True).run(root, into)
    sync_directory(into)
    return package


def installed(root: int) -> Package:
    """Return an installed tree as it is, modes included, whatever somebody put there [I-28].

    Raises `PackageRefused` when a limit of I-4 is crossed or something cannot be read.
    """
    return _Walk(source=False).run(root, None)


def acceptable(root: int) -> Package:
    """Return an installed tree as `installed` does, held to all that a source is held to [I-33].

    Raises `PackageRefused` for a kind [I-5], a limit [I-4] or a name that no package may hold.
    """
    return _Walk(source=False, strict=True).run(root, None)


def looked(root: int, files: Mapping[str, str]) -> Package:
    """Return an installed tree as `installed` does, but read no file [I-29].

    `files` has the `sha256:` digest each one is taken to have; one that is not there has none.
    Only the caller knows whether `state` lets it believe them.
    """
    return _Walk(source=False, files=files).run(root, None)


def hashed(source: int, path: str, size: int, target: int | None) -> str:
    """Return the hex SHA-256 of an open file of `size` bytes, and write them to `target`, if any.

    What is read is counted, because a size is only what a file said of itself [A14, A16].
    Raises `PackageRefused` naming `path` when there are more or fewer bytes.
    """
    digest = hashlib.sha256()
    count = 0
    while block := _block(source, path, size + 1 - count):
        count += len(block)
        digest.update(block)
        if target is not None:
            write_all(target, block)
    if count != size:
        raise PackageRefused(f"{visible(path)}: changed while it was read", "I-7", "SourceChanged")
    return digest.hexdigest()


class _Walk:
    """One walk over one tree: what was met so far, and the bounds it is held to [I-4]."""

    def __init__(
        self, *, source: bool, strict: bool = False, files: Mapping[str, str] | None = None
    ) -> None:
        self.source = source
        self.strict = source or strict
        self.known = files
        self.entries: list[Entry] = []
        self.marks: list[bytes] = []
        self.newest = 0
        self.files = 0
        self.directories = 0
        self.bytes = 0

    def run(self, root: int, into: int | None) -> Package:
        self.mark("", os.fstat(root))
        self.directory(root, "", into)
        return Package(
            entries=tuple(sorted(self.entries, key=lambda entry: os.fsencode(entry.path))),
            state=hashlib.sha256(b"".join(sorted(self.marks))).hexdigest(),
            newest=self.newest,
        )

    def mark(self, path: str, found: os.stat_result) -> None:
        """Note what the system says of an entry; the names in a directory are always read."""
        says = [found.st_dev, found.st_ino, found.st_mode]
        if not stat.S_ISDIR(found.st_mode):
            says += [found.st_size, found.st_mtime_ns, found.st_ctime_ns]
            self.newest = max(self.newest, found.st_mtime_ns, found.st_ctime_ns)
        self.marks.append(os.fsencode(path) + f"\0{says}\n".encode())

    def directory(self, here: int, prefix: str, into: int | None) -> None:
        twins: dict[str, str] = {}
        for name in self.names(here, prefix):
            path = f"{prefix}{name}"
            with _reading(path):
                found = os.stat(name, dir_fd=here, follow_symlinks=False)
            kind = kind_of(found.st_mode)
            if self.skips(path, name, kind):
                continue
            self.bound(path, kind)
            if self.strict:
                refuse_name(path, name, twins, reserved=CONFIGURED)
            if kind is Kind.DIRECTORY:
                self.entries.append(self.inner(here, path, name, into))
            elif kind is Kind.FILE and self.known is None:
                self.entries.append(self.file(here, path, name, into))
            elif kind is Kind.FILE:
                self.entries.append(self.believed(path, found))
            elif self.strict:
                raise _wrong_kind(path, f"a {kind.value}; {_ONLY}")
            else:
                self.mark(path, found)
                mode = stat.S_IMODE(found.st_mode)
                self.entries.append(Entry(path=path, kind=kind, mode=mode))

    def names(self, here: int, prefix: str) -> list[str]:
        """Return the names in a directory, no more than can be legal and one [I-4]."""
        left = limits.PACKAGE_FILES - self.files + limits.PACKAGE_DIRECTORIES - self.directories
        with _reading(prefix or "."):
            return names_in(here, left + len((_VERSIONED, COMPILED)) + 1)

    def skips(self, path: str, name: str, kind: Kind) -> bool:
        if name == COMPILED and kind is Kind.DIRECTORY:
            return True
        if self.source:
            return name == _VERSIONED
        # Anything but a file of that name is none of the host's.
        return path == CONFIGURED and kind is Kind.FILE

    def bound(self, path: str, kind: Kind) -> None:
        """Count one more entry and refuse the one that crosses a limit [I-4]."""
        if kind is Kind.DIRECTORY:
            self.directories += 1
        else:
            self.files += 1
        _limit(path, self.files, limits.PACKAGE_FILES, "files")
        _limit(path, self.directories, limits.PACKAGE_DIRECTORIES, "directories")
        _limit(path, path.count("/") + 1, limits.PACKAGE_DEPTH, "levels of depth")
        length = len(os.fsencode(path))
        _limit(path, length, limits.PACKAGE_PATH_BYTES, "bytes in one path")

    def inner(self, here: int, path: str, name: str, into: int | None) -> Entry:
        with _reading(path):
            below = os.open(name, DIRECTORY, dir_fd=here)
        with held(below):
            found = os.fstat(below)
            self.mark(path, found)
            mode = self.mode(path, found.st_mode, _DIRECTORY_MODE)
            if into is None:
                self.directory(below, f"{path}/", None)
            else:
                os.mkdir(name, _PRIVATE_MODE, dir_fd=into)
                with held(os.open(name, DIRECTORY, dir_fd=into)) as target:
                    self.directory(below, f"{path}/", target)
                    os.fchmod(target, mode)
                    sync_directory(target)
        return Entry(path=path, kind=Kind.DIRECTORY, mode=mode)

    def file(self, here: int, path: str, name: str, into: int | None) -> Entry:
        with _reading(path):
            source = os.open(name, READ, dir_fd=here)
        with held(source):
            found = os.fstat(source)
            _expect(path, Kind.FILE, found)
            self.mark(path, found)
            if self.strict and found.st_nlink > 1:
                names = f"{found.st_nlink} names for one file"
                raise _wrong_kind(path, f"a hard link, {names}; {_ONLY}")
            program = found.st_mode & stat.S_IXUSR
            mode = self.mode(path, found.st_mode, _PROGRAM_MODE if program else _FILE_MODE)
            _limit(path, self.bytes + found.st_size, limits.PACKAGE_BYTES, "bytes in total")
            if into is None:
                sha256 = hashed(source, path, found.st_size, None)
            else:
                with held(os.open(name, _CREATE, _FILE_MODE, dir_fd=into)) as target:
                    sha256 = hashed(source, path, found.st_size, target)
                    os.fchmod(target, mode)
                    os.fsync(target)
        self.bytes += found.st_size
        return Entry(path=path, kind=Kind.FILE, mode=mode, size=found.st_size, sha256=sha256)

    def believed(self, path: str, found: os.stat_result) -> Entry:
        """Return a file as the system and the caller say it is; nothing of it is read [I-29]."""
        self.mark(path, found)
        _limit(path, self.bytes + found.st_size, limits.PACKAGE_BYTES, "bytes in total")
        self.bytes += found.st_size
        sha256 = (self.known or {}).get(path, "").removeprefix("sha256:")
        mode = stat.S_IMODE(found.st_mode)
        return Entry(path=path, kind=Kind.FILE, mode=mode, size=found.st_size, sha256=sha256)

    def mode(self, path: str, mode: int, normal: int) -> int:
        """Return the mode an entry gets [I-6], or the one it has in an installed tree."""
        for bit, word in ((stat.S_ISUID, "setuid"), (stat.S_ISGID, "setgid")):
            if self.strict and mode & bit:
                raise _wrong_kind(path, f"has the {word} bit; {_ONLY}")
        return normal if self.source else stat.S_IMODE(mode)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _limit(path: str, found: int, most: int, what: str) -> None:
    if found > most:
        said = f"{visible(path)}: {found} {what}; the limit is {most}"
        raise PackageRefused(said, "I-4", "LimitCrossed")


def _expect(path: str, kind: Kind, found: os.stat_result) -> None:
    if (got := kind_of(found.st_mode)) is not kind:
        raise _wrong_kind(path, f"expected a {kind.value}, got a {got.value}")


def _wrong_kind(path: str, says: str) -> PackageRefused:
    return PackageRefused(f"{visible(path)}: {says}", "I-5", "KindRefused")


def _block(source: int, path: str, left: int) -> bytes:
    with _reading(path):
        return os.read(source, min(limits.MIB, left))


@contextmanager
def held(descriptor: int) -> Iterator[int]:
    """Close an open file or directory at the end of the block."""
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _reading(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        said = f"{visible(path)}: {error.strerror or error}"
        raise PackageRefused(said, "I-2", "Unreadable") from error
