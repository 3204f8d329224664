"""The witness of one session: what was pinned, what the test said, what changed on disk.

Nothing here decides. A tree that cannot be measured is None, never "no change" [T2-53], and a
watch that saw less than everything is never clean [G-40].
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from stella.clock import Clock
from stella.process.git import Repository
from stella.session.telling import Telling
from stella.turn.facts import Baselined
from stella.turn.facts import ChangedArtifact
from stella.turn.facts import Pinned
from stella.turn.questions import Change
from stella.turn.questions import Granted
from stella.turn.questions import Inspection
from stella.wire.evidence import TamperState
from stella.witness.baseline import Baseline
from stella.witness.baseline import after_baseline
from stella.witness.baseline import measure
from stella.witness.changes import changes
from stella.witness.changes import digest
from stella.witness.control import controlled
from stella.witness.plan import ResolvedPlan
from stella.witness.plan import grant
from stella.witness.snapshot import Watch
from stella.witness.snapshot import pin
from stella.witness.tree import Tree
from stella.witness.tree import Unmeasured
from stella.witness.tree import glance
from stella.witness.tree import survey

_NOT_YET = Unmeasured(reason="the tree was not measured yet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Granting:
    """What the person grants the plugins of a run [G-1 to G-12]; `plan` None without a test.

    `environments` are those in which its plugins could run the test, each once.
    """

    plan: ResolvedPlan | None
    globs: tuple[str, ...]
    red_on_error: bool
    environments: tuple[Mapping[str, str], ...] = ()


@dataclass(slots=True, kw_only=True)
class Watching:
    """Measures one workspace for one session.

    `private` is a directory of the host's own for the caches of the test's runs; `granting` is
    None without a pipeline, and then no artifact is watched. `within` is the repository that git
    is told of where the tree's own word for it is not to be trusted.
    """

    root: Path
    env: Mapping[str, str]
    path_value: str
    private: Path
    clock: Clock
    telling: Telling
    granting: Granting | None
    within: Repository | None = None
    _opened: Tree | Unmeasured = _NOT_YET
    _origin: Tree | Unmeasured = _NOT_YET
    _last: Tree | Unmeasured = _NOT_YET
    _stale: bool = False
    _watch: Watch | None = None

    async def open(self) -> None:
        """Measure the tree as its agent finds it."""
        self._opened = self._last = await self._survey(self._last)

    async def since_open(self) -> tuple[Change, ...] | None:
        """Return all that changed since `open`, None when that could not be measured [D-55]."""
        self._last, self._stale = await self._survey(self._last), False
        if isinstance(self._opened, Unmeasured) or isinstance(self._last, Unmeasured):
            return None
        return changes(self._opened, self._last)

    def disturbed(self) -> None:
        """Note that somebody else ran, so that what they changed is no call's own."""
        self._stale = True

    async def before(self, paths: tuple[str, ...]) -> Tree | Unmeasured:
        """Return the state before a call: of the paths it names, or of the tree [T2-51].

        `paths` are as written in the call; empty for a tool that names none, such as a shell.
        """
        if paths:
            return self._glance(paths)
        if self._stale:
            self._last, self._stale = await self._survey(self._last), False
        return self._last

    async def since(
        self, before: Tree | Unmeasured, paths: tuple[str, ...]
    ) -> tuple[Change, ...] | None:
        """Return what changed since `before`, None when that could not be measured [T2-53]."""
        if paths:
            after: Tree | Unmeasured = self._glance(paths)
            self._stale = True
        else:
            after = self._last = await self._survey(self._last)
        if isinstance(before, Unmeasured) or isinstance(after, Unmeasured):
            return None
        return changes(before, after)

    def _glance(self, paths: tuple[str, ...]) -> Tree:
        named = (os.path.relpath(self.root / path, self.root) for path in paths)
        return glance(self.root, named, clock=self.clock)

    async def baseline(self) -> Granted:
        """Pin the watched artifacts, run the granted test once, and compare [G-20, G-30, G-34]."""
        granting = self.granting
        assert granting is not None  # noqa: S101  # only a run with a pipeline asks
        watch = pin(self.root, granting.plan, granting.globs)
        measured = await self._measured(granting, self.env)
        again = partial(self._measured, granting)
        measured = await controlled(measured, granting.environments, again)
        measured, self._watch, _ = after_baseline(measured, watch)
        for text in (*self._watch.notices, *measured.notices):
            self.telling.once("baseline", text)
        # What the test itself wrote is no change of the worker's.
        self._origin = self._last = await self._survey(self._last)
        self._stale = False
        return Granted(
            candidate=grant(self.root, granting.plan, measured.baseline),
            baseline=_fact(granting.plan, measured, self._watch),
        )

    async def _measured(self, granting: Granting, env: Mapping[str, str]) -> Baseline:
        return await measure(
            granting.plan, self.root, env, self.private, red_on_error=granting.red_on_error
        )

    async def inspect(self) -> Inspection:
        """Compare the watched artifacts and measure the tree against round 0 [G-30, D-43]."""
        self._last, self._stale = await self._survey(self._last), False
        tree = digest(self._origin, self._last)
        if self._watch is None:
            return Inspection(finding=TamperState.NOT_CHECKED, artifacts=(), digest=tree)
        report = self._watch.compare()
        for text in report.notices:
            self.telling.once("watch", text)
        artifacts = tuple(
            ChangedArtifact(path=a.path, kinds=tuple(kind.value for kind in a.kinds))
            for a in report.artifacts
        )
        return Inspection(finding=report.finding, artifacts=artifacts, digest=tree)

    async def _survey(self, previous: Tree | Unmeasured) -> Tree | Unmeasured:
        tree = await survey(
            self.root,
            path_value=self.path_value,
            clock=self.clock,
            previous=previous if isinstance(previous, Tree) else None,
            within=self.within,
        )
        if isinstance(tree, Unmeasured):
            self.telling.once("changes_unmeasured", f"changes are not measured: {tree.reason}")
        return tree


def _fact(plan: ResolvedPlan | None, measured: Baseline, watch: Watch) -> Baselined:
    return Baselined(
        program=plan.program if plan else "",
        path=str(plan.path) if plan else None,
        args=plan.args if plan else (),
        baseline=measured.baseline,
        reason=measured.reason.value,
        exit_code=measured.exit_code,
        duration_ms=measured.duration_ms,
        watched=tuple(Pinned(path=f.path, fingerprint=f.fingerprint) for f in watch.files),
        complete=watch.complete,
    )
