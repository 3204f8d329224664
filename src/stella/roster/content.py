"""The files a directory carries as content: tools, skills, records, and what is none [P-3, P-4].

One reader for a package and for the folders of a person and a workspace. It goes from one open
directory to the next, follows nothing and reads no file beyond its bound; what a fault means is
the caller's business.
"""

import hashlib
import os
import stat
from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Final
from typing import Generic
from typing import TypeVar

from stella import limits
from stella.content.reading import Reading
from stella.content.record import RuleSet
from stella.content.record import read_rules
from stella.content.skill import Skill
from stella.content.skill import read_skill
from stella.content.tool import ToolFile
from stella.content.tool import read_tool
from stella.errors import PackageRefused
from stella.escape import visible
from stella.files import tree
from stella.files.kind import kind_of
from stella.files.tree import DIRECTORY
from stella.files.tree import held

T = TypeVar("T")

TOOLS: Final = "tools"
SKILLS: Final = "skills"
RULES: Final = "rules"
KINDS: Final = (TOOLS, SKILLS, RULES)
"""The directories that hold content, in the order in which their kinds are told [P-1]."""

SKILL: Final = "SKILL.md"
LEDGERS: Final = frozenset(("rules/approved.toml", "rules/promoted.toml"))
"""In the folders of a person and a repository: their decisions about records, no records."""

_TOML: Final = ".toml"
_NOT_FOLLOWED: Final = "a symbolic link is not followed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed(Generic[T]):
    """What a file says, and its path relative to the directory it was found through."""

    path: str
    value: T


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What one directory carries, each kind sorted by the bytes of the paths [P-14].

    `directory` is what the paths are relative to. `inert` are the files beneath the three
    directories that are never loaded as anything [P-4].
    """

    directory: Path
    tools: tuple[Placed[ToolFile], ...] = ()
    skills: tuple[Placed[Skill], ...] = ()
    rules: tuple[Placed[RuleSet], ...] = ()
    inert: tuple[str, ...] = ()

    def place(self, path: str) -> str:
        """Return the whole path of a file of it, fit for a line."""
        return visible(str(self.directory / path))


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One thing to say about a file, by its path as in `Placed`."""

    path: str
    says: str

    def __str__(self) -> str:
        return f"{visible(self.path)}: {self.says}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Everything beneath the three directories.

    `faults` are about files that cannot be used: in a package they refuse it, elsewhere they
    are about that file alone [P-4, P-14, P-31]. `notes` refuse nothing.
    """

    content: Content
    faults: tuple[Told, ...] = ()
    notes: tuple[Told, ...] = ()


def read_content(
    root: int,
    directory: Path,
    *,
    skipped: frozenset[str] = frozenset(),
    expected: Mapping[str, str] | None = None,
    most: int = limits.CONTENT_ENTRIES,
) -> Found:
    """Return what the open directory `root`, which is at `directory`, carries [P-3, P-4].

    `skipped` are paths that are passed over; `expected` are the `sha256:` digests that files must
    have. No more than `most` entries are looked at; one more is a fault, and so is a file that
    makes all of them more than `limits.CONTENT_TOTAL_BYTES`. Raises nothing: what the system
    refuses is a fault.
    """
    reader = _Reader(directory, skipped, expected, most)
    reader.run(root)
    return reader.found()


def read_tools(root: int, directory: Path) -> Found:
    """Return the tools of one open folder of tool files, their paths as from its parent [P-10]."""
    reader = _Reader(directory.parent, frozenset(), None, limits.CONTENT_ENTRIES)
    for name in reader.names(root, ""):
        if _kind(f"{TOOLS}/{name}"):
            reader.meet(root, f"{TOOLS}/{name}", depth=2)
    return reader.found()


@dataclass(slots=True)
class _Reader:
    """One look at a directory: what was met so far."""

    directory: Path
    skipped: frozenset[str]
    expected: Mapping[str, str] | None
    left: int
    tools: list[Placed[ToolFile]] = field(default_factory=list)
    skills: list[Placed[Skill]] = field(default_factory=list)
    rules: list[Placed[RuleSet]] = field(default_factory=list)
    inert: list[str] = field(default_factory=list)
    faults: list[Told] = field(default_factory=list)
    notes: list[Told] = field(default_factory=list)
    bytes: int = 0

    def found(self) -> Found:
        return Found(
            content=Content(
                directory=self.directory,
                tools=tuple(self.tools),
                skills=tuple(self.skills),
                rules=tuple(self.rules),
                inert=tuple(self.inert),
            ),
            faults=tuple(self.faults),
            notes=tuple(self.notes),
        )

    def run(self, root: int) -> None:
        for name in self.names(root, ""):
            # By the listed name: a file system that ignores case knows others as well.
            if name in KINDS:
                self.enter(root, name, depth=1)

    def names(self, here: int, path: str) -> list[str]:
        try:
            return tree.names_in(here, self.left + 1) if path else tree.names_in(here)
        except OSError as error:
            self.refuse(path or ".", error)
            return []

    def enter(self, above: int, path: str, depth: int) -> None:
        """Look at everything in a directory that is one, and is not a way to elsewhere."""
        name = path.rpartition("/")[2]
        try:
            below = os.open(name, DIRECTORY, dir_fd=above)
        except OSError as error:
            self.refuse_unentered(above, name, path, error)
            return
        with held(below):
            for inner in self.names(below, path):
                if self.left == 0:
                    self.faults.append(Told(path=path, says="holds more than is looked at"))
                    return
                self.left -= 1
                self.meet(below, f"{path}/{inner}", depth + 1)

    def meet(self, above: int, path: str, depth: int) -> None:
        """Sort one entry in: a directory to enter, a known file to read, or inert data."""
        if path in self.skipped:
            return
        try:
            mode = os.stat(path.rpartition("/")[2], dir_fd=above, follow_symlinks=False).st_mode
        except OSError as error:
            self.refuse(path, error)
            return
        read = _KNOWN.get(_kind(path))
        if stat.S_ISDIR(mode):
            if depth > limits.PACKAGE_DEPTH:
                self.faults.append(Told(path=path, says="is deeper than is looked at"))
            else:
                self.enter(above, path, depth)
        elif read is not None and stat.S_ISREG(mode):
            self.read(above, path, read)
        elif read is not None or (stat.S_ISLNK(mode) and _is_slug(path)):
            says = _NOT_FOLLOWED if stat.S_ISLNK(mode) else f"is a {kind_of(mode).value}"
            self.faults.append(Told(path=path, says=says))
        else:
            self.inert.append(path)

    def read(self, above: int, path: str, take: "_Take") -> None:
        try:
            data = tree.read(above, path.rpartition("/")[2], limits.CONTENT_BYTES + 1)
        except PackageRefused as error:
            self.faults.append(Told(path=path, says=str(error).partition(": ")[2]))
            return
        if data is None:
            self.faults.append(Told(path=path, says="is gone since it was listed"))
        elif len(data) > limits.CONTENT_BYTES:
            says = f"has more than {limits.CONTENT_BYTES} bytes"
            self.faults.append(Told(path=path, says=says))
        elif (total := self.bytes + len(data)) > limits.CONTENT_TOTAL_BYTES:
            most = f"more than {limits.CONTENT_TOTAL_BYTES} bytes"
            self.faults.append(Told(path=path, says=f"with the files before it, it makes {most}"))
        elif self.expected is not None and self.expected.get(path) != _digest(data):
            self.faults.append(Told(path=path, says="changed while it was read"))
        else:
            self.bytes = total
            faults, notes = take(self, path, data)
            self.faults += (Told(path=path, says=each) for each in faults)
            self.notes += (Told(path=path, says=each) for each in notes)

    def refuse_unentered(self, above: int, name: str, path: str, error: OSError) -> None:
        """Tell why a directory was not entered; a plain file of that name is nobody's content."""
        try:
            mode = os.stat(name, dir_fd=above, follow_symlinks=False).st_mode
        except OSError:
            mode = 0
        if stat.S_ISLNK(mode):
            self.faults.append(Told(path=path, says=_NOT_FOLLOWED))
        elif not stat.S_ISREG(mode):
            self.refuse(path, error)

    def refuse(self, path: str, error: OSError) -> None:
        self.faults.append(Told(path=path, says=error.strerror or str(error)))


_Take = Callable[[_Reader, str, bytes], tuple[tuple[str, ...], tuple[str, ...]]]


def _take(
    reading: Reading[T], path: str, into: list[Placed[T]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if reading.value is not None:
        into.append(Placed(path=path, value=reading.value))
    return reading.faults, reading.notes


_KNOWN: Final[dict[str, _Take]] = {
    TOOLS: lambda to, path, data: _take(read_tool(data), path, to.tools),
    SKILLS: lambda to, path, data: _take(read_skill(data, path.split("/")[1]), path, to.skills),
    RULES: lambda to, path, data: _take(read_rules(data), path, to.rules),
}


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _kind(path: str) -> str:
    """Return which kind of content a file is by its path alone, empty for inert data [P-4]."""
    match path.split("/"):
        case [kind, name] if kind in {TOOLS, RULES} and name.endswith(_TOML) and name != _TOML:
            return kind
        case [kind, _, name] if kind == SKILLS and name == SKILL:
            return kind
        case _:
            return ""


def _is_slug(path: str) -> bool:
    """Return whether a path is where the directory of a skill stands."""
    return path.startswith(f"{SKILLS}/") and path.count("/") == 1
