"""The failing baseline once more, under the conditions a plugin's own run of the test has.

The host measures in the person's environment [G-13]; a plugin gets only the names its manifest
lists [T-10]. A test that fails in the first and passes in the second would be a flip that
nobody worked for, so a failure counts only when it is seen in both.
"""

from collections.abc import Awaitable
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import replace

from stella.wire.grant import TestBaseline
from stella.witness.baseline import Baseline
from stella.witness.readings import BaselineReason

_WAY_OUT = 'put what it needs into the command, as in --test-command "env NAME=value …"'


async def controlled(
    measured: Baseline,
    environments: Iterable[Mapping[str, str]],
    measuring: Callable[[Mapping[str, str]], Awaitable[Baseline]],
) -> Baseline:
    """Return `measured`, as `unobserved` when its failure is not seen in each of `environments`.

    `measuring` runs the plan in one of them. The reading stays the one of the first run, which
    is the baseline [G-27]; nothing here makes a test fail that did not. A control that could
    not be observed is told and changes nothing.
    """
    for env in environments:
        if measured.baseline is not TestBaseline.FAILED:
            break
        again = await measuring(env)
        measured = replace(measured, notices=measured.notices + again.notices)
        if again.baseline is not TestBaseline.FAILED:
            measured = _doubted(measured, again, env)
    return measured


def _doubted(measured: Baseline, again: Baseline, env: Mapping[str, str]) -> Baseline:
    names = ", ".join(sorted(env)) or "nothing"
    where = f"in the environment a plugin gets ({names})"
    if again.baseline is TestBaseline.PASSED:
        notice = (
            f"the test failed in your environment and passed {where}, so its failure proves "
            f"nothing; make it fail each time and everywhere, or {_WAY_OUT}"
        )
        unseen = TestBaseline.UNOBSERVED
        doubted = replace(measured, baseline=unseen, reason=BaselineReason.INFRASTRUCTURE)
    else:
        notice = (
            f"the test failed in your environment, but {where} nobody can say "
            f"({again.reason.value}), so a plugin that runs it may not see it pass; {_WAY_OUT}"
        )
        doubted = measured
    return replace(doubted, notices=(*doubted.notices, notice))
