"""The host's own run of the test plan, once before round 0, and what it said [G-13, G-20, G-27].

It is not evidence: the flip is what a plugin reports. Nothing compiled earlier takes part,
since every run gets a cache of its own that is removed with it [G-15].
"""

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path
from typing import Final

from stella import limits
from stella.escape import visible
from stella.process.ending import Completed
from stella.process.ending import Ending
from stella.process.run import run
from stella.wire.grant import TestBaseline
from stella.witness.named import script_missing
from stella.witness.plan import ResolvedPlan
from stella.witness.readings import BaselineReason
from stella.witness.readings import Reading
from stella.witness.readings import reading
from stella.witness.runners import recognise
from stella.witness.snapshot import TamperReport
from stella.witness.snapshot import Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What the plan said before the run: for the journal, the report and, in part, the wire.

    `exit_code` is None unless the program exited. `tail` is the last 4000 characters of its
    output, not yet made visible. `notices` are lines for the person.
    """

    baseline: TestBaseline
    reason: BaselineReason
    exit_code: int | None = None
    duration_ms: int = 0
    tail: str = ""
    notices: tuple[str, ...] = ()


NO_PLAN: Final = Baseline(baseline=TestBaseline.NOT_RUN, reason=BaselineReason.NO_PLAN)
"""The baseline of a run without a test command [G-12]."""

_ENDINGS: Final[Mapping[Ending, BaselineReason]] = {
    Ending.EXITED: BaselineReason.INFRASTRUCTURE,  # with a status that nobody saw
    Ending.NOT_STARTED: BaselineReason.NOT_STARTED,
    Ending.TIMED_OUT: BaselineReason.TIMED_OUT,
    Ending.SIGNALLED: BaselineReason.KILLED_BY_SIGNAL,
    Ending.OVERFLOWED: BaselineReason.INFRASTRUCTURE,
    Ending.STOPPED: BaselineReason.INFRASTRUCTURE,
    Ending.LOST: BaselineReason.INFRASTRUCTURE,
}
"""What every ending without an exit status says [G-21]."""


async def measure(
    plan: ResolvedPlan | None,
    root: Path,
    env: Mapping[str, str],
    private: Path,
    *,
    red_on_error: bool = False,
) -> Baseline:
    """Return the baseline of `plan` in the canonical `root` [G-20, G-21].

    `env` is the host's environment without credentials [G-13]; `private` is a directory of
    the host's own, outside what the plan may read as code, in which the cache is made.
    """
    if plan is None:
        return NO_PLAN
    try:
        cache = Path(tempfile.mkdtemp(prefix="pycache-", dir=private))
    except OSError as error:
        return _unseen(BaselineReason.INFRASTRUCTURE, f"no private directory: {error}")
    missing = script_missing(recognise(plan.words), root)
    try:
        done = await _run(plan, root, env, cache)
    finally:
        left = _removed(cache)
    measured = judged(plan, done, red_on_error=red_on_error)
    if missing and done.code != 0:
        measured = _without_script(measured, missing)
    return replace(measured, notices=measured.notices + left)


def judged(plan: ResolvedPlan, done: Completed, *, red_on_error: bool = False) -> Baseline:
    """Return what one finished run of a plan says of its test [G-21]."""
    output = done.stdout.decode("utf-8", "replace")
    said = _reading(plan, done, output, red_on_error=red_on_error)
    return Baseline(
        baseline=said.baseline,
        reason=said.reason,
        exit_code=done.code if done.ending is Ending.EXITED else None,
        duration_ms=done.duration_ms,
        tail=output[-limits.TEST_TAIL_CHARS :],
        notices=(done.reason,) if done.reason else (),
    )


def after_baseline(measured: Baseline, watch: Watch) -> tuple[Baseline, Watch, TamperReport]:
    """Compare right after the baseline; pin once more when it changed an artifact [G-30, G-34].

    The report of the comparison comes back for its list; the finding of a round is never
    taken from it. A baseline that could not be observed anyway keeps its reason [G-21].
    """
    report = watch.compare()
    if not report.artifacts:
        return measured, watch, report
    names = ", ".join(visible(artifact.path) for artifact in report.artifacts)
    notice = f"the test changed watched files while it ran before round 0: {names}"
    unseen = measured.exit_code is None
    return (
        replace(
            measured,
            baseline=measured.baseline if unseen else TestBaseline.UNOBSERVED,
            reason=measured.reason if unseen else BaselineReason.ARTIFACT_CHANGED,
            notices=(*measured.notices, notice),
        ),
        watch.again(),
        report,
    )


async def _run(plan: ResolvedPlan, root: Path, env: Mapping[str, str], cache: Path) -> Completed:
    return await run(
        plan.argv(root),
        env={**env, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": str(cache)},
        cwd=root,
        timeout=plan.timeout,
        merge=True,
        keep=limits.TEST_MARKER_BYTES,
    )


def _reading(plan: ResolvedPlan, done: Completed, output: str, *, red_on_error: bool) -> Reading:
    if done.ending is not Ending.EXITED or done.code is None:
        return Reading(baseline=TestBaseline.UNOBSERVED, reason=_ENDINGS[done.ending])
    return reading(recognise(plan.words), done.code, output, red_on_error=red_on_error)


def _without_script(measured: Baseline, missing: str) -> Baseline:
    """Return the baseline of a test that is not there, which is no failing test [G-21]."""
    notice = f"{visible(missing)} does not exist, so the test was not seen before round 0"
    unseen = measured.exit_code is None
    return replace(
        measured,
        baseline=TestBaseline.UNOBSERVED,
        reason=measured.reason if unseen else BaselineReason.NOT_STARTED,
        notices=(*measured.notices, notice),
    )


def _unseen(reason: BaselineReason, notice: str) -> Baseline:
    return Baseline(baseline=TestBaseline.UNOBSERVED, reason=reason, notices=(notice,))


def _removed(cache: Path) -> tuple[str, ...]:
    """Remove the private cache; what stays behind is told, not hidden."""
    try:
        shutil.rmtree(cache)
    except FileNotFoundError:  # the plan itself was thorough
        return ()
    except OSError as error:
        return (f"{visible(str(cache))} could not be removed: {visible(str(error))}",)
    return ()
