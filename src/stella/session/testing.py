"""The plane behind `run_test`: the granted test in a named candidate [D-58, D-59, G-13].

What it says is told to the plugin only; the verdict reads what the plugin reports.
"""

from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stella.escape import brief
from stella.escape import visible
from stella.session.asker import Asker
from stella.session.asker import failed
from stella.session.asker import unavailable
from stella.session.telling import Telling
from stella.wire.grant import HOST_TREE
from stella.wire.host_call import RunTestArgs
from stella.wire.host_result import RefusedCall
from stella.wire.host_result import RunTestOk
from stella.witness.baseline import measure
from stella.witness.plan import ResolvedPlan
from stella.witness.readings import BaselineReason

_ENDED = frozenset({BaselineReason.TIMED_OUT, BaselineReason.KILLED_BY_SIGNAL})
"""Runs without an exit code that are runs all the same [D-58]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Testing:
    """Runs the plan of a run; `root_of` finds a live candidate of a plugin by its handle.

    `env` is the host's environment without credentials [G-13]; `private` is the session's own
    directory.
    """

    plan: ResolvedPlan | None
    root: Path
    env: Mapping[str, str]
    private: Path
    telling: Telling
    root_of: Callable[[str, str], Path | None]

    async def run(self, asker: Asker, args: RunTestArgs) -> RunTestOk | RefusedCall:
        """Return how the test ended, or why it was not run."""
        if self.plan is None:
            return unavailable("this run has no test command")
        name = asker.member.name
        own = args.candidate == HOST_TREE
        root = self.root if own else self.root_of(name, args.candidate)
        if root is None:
            handle = brief(args.candidate)
            return unavailable(
                f'unknown_handle: "{handle}" is neither {HOST_TREE} nor a candidate of {name}'
            )
        if root.resolve() != root or not root.is_dir():
            # Whoever worked there may have put a link in its place: that is another tree's test.
            return failed(f"root_unavailable: {visible(str(root))} is no directory any more")
        measured = await measure(self.plan, root, self.env, self.private)
        for text in measured.notices:
            self.telling.notice("run_test", f"{visible(name)} run_test: {text}", asker.turn)
        if measured.exit_code is None and measured.reason not in _ENDED:
            why = "; ".join(measured.notices) or measured.reason.value
            return failed(f"the test could not be run: {why}")
        return RunTestOk(
            candidate=args.candidate,
            passed=measured.exit_code == 0,
            exit_code=measured.exit_code,
            baseline=asker.baseline,
            duration_ms=measured.duration_ms,
            output_tail=measured.tail,
        )
