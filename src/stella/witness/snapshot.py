"""The tamper watch: files pinned before the baseline and compared after every turn [G-30 to G-42].

It sees identity at the moments it looks and nothing between them: a change that is undone
before a comparison is not seen [G-42]. It reads and never writes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from stella.escape import visible
from stella.wire.evidence import Artifact
from stella.wire.evidence import Tamper
from stella.wire.evidence import Tampered
from stella.wire.evidence import TamperState
from stella.witness.appearing import Bounds
from stella.witness.appearing import Scope
from stella.witness.appearing import look
from stella.witness.artifact import LINKED
from stella.witness.artifact import ChangeKind
from stella.witness.artifact import Form
from stella.witness.artifact import Identity
from stella.witness.artifact import differences
from stella.witness.artifact import observe
from stella.witness.artifact import readable
from stella.witness.named import Named
from stella.witness.named import named
from stella.witness.pattern import PYPROJECT
from stella.witness.plan import ResolvedPlan
from stella.witness.runners import Recognised
from stella.witness.runners import Runner
from stella.witness.watched import Group
from stella.witness.watched import Want
from stella.witness.watched import find

_NOBODY: Final = Named(recognised=Recognised(runner=Runner.OTHER, program="", args=()))
_EMPTY: Final = (
    "no test file is watched, so the result of the test earns no credit; name its files with "
    "--watch-tests, for example --watch-tests 'tests/**'"
)


class WatchedFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A pinned file as the journal's `baseline` lists it [J2-40, G-35]."""

    path: str
    fingerprint: str


class ChangedArtifact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A changed artifact as the journal's `tamper` lists it [J2-40, G-37]."""

    path: str
    kinds: tuple[ChangeKind, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TamperReport:
    """One comparison: the finding for judge, every changed artifact in path order [G-40].

    `complete` says that everything the watch should see was seen; `notices` are lines about
    this comparison only.
    """

    finding: Tamper
    artifacts: tuple[ChangedArtifact, ...]
    complete: bool
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One pinned file."""

    path: str
    want: Want
    identity: Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """The pinned set of one run; it never changes, and comparing changes nothing.

    `present` are the names that stood there when it was pinned and so are not new. `notices`
    are lines for the person about the set itself, those that make it incomplete among them.
    """

    root: Path
    plan: ResolvedPlan | None
    globs: tuple[str, ...]
    bounds: Bounds
    pins: tuple[Pin, ...]
    scope: Scope
    present: frozenset[str]
    complete: bool
    notices: tuple[str, ...]

    @property
    def files(self) -> tuple[WatchedFile, ...]:
        """The pinned files with their fingerprints, for the journal [J2-40]."""
        return tuple(
            WatchedFile(path=readable(pin.path), fingerprint=pin.identity.fingerprint)
            for pin in self.pins
        )

    def compare(self) -> TamperReport:
        """Return what differs now from what was pinned [G-36 to G-40]."""
        now = look(self.root, self.scope)
        changes: dict[str, tuple[ChangeKind, ...]] = {}
        for pin in self.pins:
            seen = observe(self.root, pin.path, pin.want.form)
            changes[pin.path] = differences(pin.identity, seen, pin.want.form)
        for path in now.paths - self.present:
            if path not in changes and _counts_as_added(self.root, path):
                changes[path] = (ChangeKind.ADDED,)
        artifacts = tuple(
            ChangedArtifact(path=readable(path), kinds=changes[path])
            for path in sorted(changes)
            if changes[path]
        )
        complete = self.complete and not now.gaps
        return TamperReport(
            finding=self._finding(artifacts, complete=complete),
            artifacts=artifacts,
            complete=complete,
            notices=now.gaps,
        )

    def again(self) -> "Watch":
        """Pin the set once more, after the baseline changed an artifact [G-34]."""
        return pin(self.root, self.plan, self.globs, self.bounds)

    def _finding(self, artifacts: tuple[ChangedArtifact, ...], *, complete: bool) -> Tamper:
        if artifacts:
            return Tampered(tampered=Artifact(artifact=artifacts[0].path))
        tested = any(pin.want.group is Group.TEST for pin in self.pins)
        return TamperState.CLEAN if tested and complete else TamperState.NOT_CHECKED


def pin(
    root: Path,
    plan: ResolvedPlan | None,
    globs: Sequence[str] = (),
    bounds: Bounds | None = None,
) -> Watch:
    """Return the watch over a plan's artifacts beneath the canonical `root` [G-30, G-31].

    `globs` are the person's `--watch-tests`. Without a plan only they are watched [G-12].
    Raises `UsageError` for a glob that leaves the root. It reads every watched file.
    """
    bounds = bounds or Bounds()
    names = _NOBODY if plan is None else named(plan, root)
    watched = find(root, names, globs, bounds)
    pins: list[Pin] = []
    gaps = list(watched.gaps)
    for path, want in sorted(watched.wants.items()):
        identity = observe(root, path, want.form)
        if (fault := _unpinnable(identity, want.form)) or isinstance(identity, ChangeKind):
            gaps.append(f"{visible(readable(path))} {fault}, so it is not watched")
        else:
            pins.append(Pin(path=path, want=want, identity=identity))
    empty = plan is not None and not any(pin.want.group is Group.TEST for pin in pins)
    return Watch(
        root=root,
        plan=plan,
        globs=tuple(globs),
        bounds=bounds,
        pins=tuple(pins),
        scope=watched.scope,
        present=look(root, watched.scope).paths,
        complete=not gaps,
        notices=(*watched.notices, *gaps, *((_EMPTY,) if empty else ())),
    )


def _unpinnable(identity: Identity | ChangeKind, form: Form) -> str:
    """Return why a file cannot be pinned, or an empty string [G-41]."""
    match identity:
        case ChangeKind.SYMLINKED:
            return "is a symbolic link or lies behind one"
        case ChangeKind.REPLACED:
            return "is no regular file"
        case ChangeKind():
            return "cannot be read"
        case Identity(links=links) if links != 1 and form not in LINKED:
            return f"has {links} hard links"
        case _:
            return ""


def _counts_as_added(root: Path, path: str) -> bool:
    """Return whether a name that appeared is a change: of pyproject only its tables are [G-38]."""
    if path.rpartition("/")[2] != PYPROJECT:
        return True
    # What cannot be read, or is no TOML, cannot be shown to hold no table.
    seen = observe(root, path, Form.PYTEST_TABLES)
    return isinstance(seen, ChangeKind) or seen.tables is None or bool(seen.tables)
