"""A candidate: a copy of the workspace in which a model tries something, and what becomes of it.

Values only. What was made, changed, adopted or left behind is told by these.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path

from stella import limits
from stella.codec import Word
from stella.files.kind import Kind
from stella.process.git import Repository


class Denial(Word):
    """Why a candidate is not used, in the words of reports [G-52]."""

    UNKNOWN_HANDLE = "unknown_handle"
    PATH = "path"
    ROOT_UNAVAILABLE = "root_unavailable"


class ChangeKind(Word):
    """What happened to one file [T2-50]."""

    CREATED = "created"
    MODIFIED = "modified"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One file or link: the hex SHA-256 of its bytes or of the link's text, and what runs.

    `target` is the text of a link. Anything else that stands at a path has no digest.
    """

    kind: Kind
    digest: str = ""
    program: bool = False
    target: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much a candidate may be [D-54, T2-53]."""

    files: int = limits.TREE_FILES
    entries: int = limits.WATCHED_ENTRIES
    bytes: int = limits.CANDIDATE_BYTES
    milliseconds: int = limits.CANDIDATE_SECS * 1000
    adopted_bytes: int = limits.ADOPTED_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A workspace of its own for one plugin's attempt [D-54, D-56, G-2].

    `root` is where the attempt works; `handle` is what its plugin calls it by. `repository` is
    what git is to be told of it, because the candidate's own `.git` may say anything by now.
    `skipped` are paths, as a person is shown them, that were not copied. `start` is what the
    copy held when it was made.
    """

    handle: str
    plugin: str
    name: str
    root: Path
    repository: Repository = field(repr=False)
    skipped: tuple[str, ...] = ()
    start: Mapping[str, Item] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """One path that is not as it was in the copy; Python's spelling of the name."""

    path: str
    kind: ChangeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """What stands in the real tree now; `digest` is over every path and content [D-57]."""

    handle: str
    plugin: str
    changes: tuple[Changed, ...]
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """It was not done, and why, fit to be shown; `denial` is the word where there is one."""

    reason: str
    denial: Denial | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Discarded:
    """A workspace that is gone, its registration included; empty where nobody knows."""

    handle: str
    plugin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaked:
    """A workspace that could not be taken away, where it is and why [D-80, D-85]."""

    handle: str
    plugin: str
    place: str
    reason: str
