"""What a project contributes besides its plugins: the files that trust is about [I-53, Q-1].

That is the project's settings file and every file below `.stella/` but what the host itself
writes and what has a record of its own. No link is followed, and nothing is read without a
bound, because all this is looked at before anybody trusted it.
"""

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Final

from stella import limits
from stella.errors import RosterError
from stella.escape import visible
from stella.files import tree
from stella.files.kind import Kind
from stella.files.kind import kind_of
from stella.files.write import READ
from stella.roster.scope import naming

SETTINGS: Final = "stella.toml"
STELLA: Final = ".stella"
EXEMPT: Final = frozenset({"private", "plugins", "candidates", ".gitignore"})
"""What in `.stella/` the trust is not about [Q-1]; plugins have records of their own."""

_ANCHOR: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """The files by their path in the workspace, each with mode and digest: `0644 sha256:…`.

    `fault` says why no trust can be about them; `files` are then only a part.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    fault: str | None = None

    @property
    def digest(self) -> str:
        """`sha256:` and the hex digest over all of them [I-53]."""
        return digest_of(self.files)


def items_of(workspace: Path) -> Items:
    """Return what the project in `workspace`, a canonical path, contributes. Raises nothing.

    A link, a special file, a name that is not UTF-8, something unreadable or more than
    `limits.TRUST_FILES` entries or `limits.TRUST_BYTES` is a fault [I-55, D97].
    """
    walk = _Walk()
    try:
        with naming(workspace):
            root = os.open(workspace, _ANCHOR)
        with tree.held(root):
            walk.settings(root)
            walk.stella(root)
    except RosterError as error:
        return Items(files=walk.files, fault=str(error))
    return Items(files=dict(sorted(walk.files.items())))


def digest_of(files: Mapping[str, str]) -> str:
    """Return the one digest over paths, modes and contents [I-53]."""
    lines = (f"{path}\0{files[path]}\n".encode() for path in sorted(files))
    return f"sha256:{hashlib.sha256(b''.join(lines)).hexdigest()}"


def differing(before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """Return each path that is not the same in both, with `added`, `removed` or `changed`."""
    found = []
    for path in sorted(before.keys() | after.keys()):
        word = "removed" if path not in after else "changed" if path in before else "added"
        if before.get(path) != after.get(path):
            found.append(f"{word} {visible(path)}")
    return tuple(found)


@dataclass(slots=True)
class _Walk:
    """What was met so far, and the bounds it is held to."""

    files: dict[str, str] = field(default_factory=dict)
    entries: int = 0
    bytes: int = 0

    def settings(self, root: int) -> None:
        found = _look(root, SETTINGS, SETTINGS)
        if found is not None:
            self.entry(root, SETTINGS, SETTINGS, found)

    def stella(self, root: int) -> None:
        found = _look(root, STELLA, STELLA)
        if found is None:
            return
        if not stat.S_ISDIR(found.st_mode):
            raise _refused(STELLA, kind_of(found.st_mode))
        with naming(Path(STELLA)):
            here = os.open(STELLA, tree.DIRECTORY, dir_fd=root)
        with tree.held(here):
            self.directory(here, STELLA, EXEMPT)

    def directory(self, here: int, above: str, exempt: frozenset[str] = frozenset()) -> None:
        with naming(Path(above)):
            most = limits.TRUST_FILES - self.entries + len(exempt) + 1
            names = tree.names_in(here, most)
        for name in names:
            if name in exempt:
                continue
            path = f"{above}/{name}"
            found = _look(here, name, path)
            if found is None:
                raise RosterError(f"{visible(path)}: went away while it was looked at")
            if stat.S_ISDIR(found.st_mode):
                self.count(path)
                with naming(Path(path)):
                    below = os.open(name, tree.DIRECTORY, dir_fd=here)
                with tree.held(below):
                    self.directory(below, path)
            else:
                self.entry(here, name, path, found)

    def entry(self, here: int, name: str, path: str, found: os.stat_result) -> None:
        self.count(path)
        if not stat.S_ISREG(found.st_mode):
            raise _refused(path, kind_of(found.st_mode))
        with naming(Path(path)):
            file = os.open(name, READ, dir_fd=here)
        with tree.held(file):
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                raise _refused(path, kind_of(found.st_mode))
            self.bytes += found.st_size
            _bound(path, self.bytes, limits.TRUST_BYTES, "bytes in total")
            sha256 = tree.hashed(file, path, found.st_size, None)
        self.files[path] = f"{stat.S_IMODE(found.st_mode):04o} sha256:{sha256}"

    def count(self, path: str) -> None:
        self.entries += 1
        _bound(path, self.entries, limits.TRUST_FILES, "files and directories")
        _bound(path, path.count("/"), limits.PACKAGE_DEPTH, "levels of depth")
        try:
            path.encode()
        except UnicodeEncodeError as error:
            raise RosterError(f"{visible(path)}: the name is not UTF-8") from error


def _look(here: int, name: str, path: str) -> os.stat_result | None:
    with naming(Path(path)):
        try:
            return os.stat(name, dir_fd=here, follow_symlinks=False)
        except FileNotFoundError:
            return None


def _bound(path: str, found: int, most: int, what: str) -> None:
    if found > most:
        raise RosterError(f"{visible(path)}: {found} {what}; the limit is {most}")


def _refused(path: str, kind: Kind) -> RosterError:
    return RosterError(
        f"{visible(path)}: is a {kind.value}; trust is only about regular files of the workspace"
    )
