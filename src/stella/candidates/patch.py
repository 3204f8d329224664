"""What an attempt changed, and whether such a change may be put into the real tree [D-57, N347].

Pure over two readings of the candidate. One path that may not be adopted refuses the whole.
"""

import hashlib
import os
import posixpath
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from stella.candidates.candidate import Changed
from stella.candidates.candidate import ChangeKind
from stella.candidates.candidate import Item
from stella.files.kind import Kind

_RECORDS: Final = frozenset({".git", ".stella"})
_STEPS: Final = frozenset({"", ".", ".."})


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One path that differs: what it was when the copy was made, and what it is now."""

    path: str
    before: Item | None
    after: Item | None

    @property
    def kind(self) -> ChangeKind:
        """What happened to it."""
        if self.before is None:
            return ChangeKind.CREATED
        return ChangeKind.DELETED if self.after is None else ChangeKind.MODIFIED

    @property
    def told(self) -> Changed:
        """The change as it is handed out."""
        return Changed(path=self.path, kind=self.kind)


def compare(before: Mapping[str, Item], now: Mapping[str, Item]) -> tuple[Change, ...]:
    """Return what differs from one reading to the next, in the order of the paths' bytes.

    Content, kind and whether a file may be executed count; other permissions do not, since
    a program that writes a file anew gives it its own.
    """
    paths = sorted(before.keys() | now.keys(), key=os.fsencode)
    every = (Change(path=path, before=before.get(path), after=now.get(path)) for path in paths)
    return tuple(change for change in every if change.before != change.after)


def digest(changes: Iterable[Change]) -> str:
    """Return `sha256:` and the digest of every path with what it becomes."""
    whole = hashlib.sha256()
    for change in changes:
        after = change.after
        row = "" if after is None else f"{after.kind.name}\0{after.program:d}\0{after.digest}"
        # A path holds no NUL, so the rows cannot be read in two ways.
        whole.update(os.fsencode(change.path) + f"\0{change.kind.value}\0{row}\0".encode())
    return f"sha256:{whole.hexdigest()}"


def refusal(change: Change) -> str | None:
    """Return why a change may not be put into the real tree, or None.

    Judged by the path, by what stands there now, and for a link by its text. Only regular files
    and links that stay inside the tree are adopted; nothing of version control's or the host's
    own is, at any depth and in any spelling.
    """
    parts = change.path.split("/")
    if _STEPS.intersection(parts) or "\0" in change.path:
        return "is no path beneath the root"
    if _RECORDS.intersection(part.casefold() for part in parts):
        return "lies where version control or the host keeps its own records"
    if change.after is None:
        return None
    if change.after.kind is Kind.LINK:
        return _link_refusal(change.path, change.after.target)
    return None if change.after.kind is Kind.FILE else f"is a {change.after.kind.value}"


def _link_refusal(path: str, target: str) -> str | None:
    if target.startswith("/"):
        return "is a link to an absolute path"
    steps = [step for step in target.split("/") if step not in ("", ".")]
    descent = next((at for at, step in enumerate(steps) if step != ".."), len(steps))
    # Past another link `..` leads elsewhere than the text says, so it may only stand first.
    if ".." in steps[descent:]:
        return 'is a link with ".." after a name'
    led = posixpath.normpath(posixpath.join(posixpath.dirname(path), *steps))
    first = led.split("/")
    if first[0] == "..":
        return "is a link that leaves the root"
    if _RECORDS.intersection(step.casefold() for step in first):
        return "is a link into the records of version control or the host"
    return None
