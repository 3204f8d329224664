"""What a person reads at the end of a run: requirement by requirement, and on what it rests [S-43].

The state of one requirement is what judge gives for the rule reduced to it; nothing here
decides anything of its own.
"""

from collections.abc import Iterator
from typing import assert_never

from stella.escape import counted
from stella.escape import visible
from stella.manifest.oracle import FlipPolicy
from stella.session.session import Finished
from stella.turn.facts import Baselined
from stella.turn.facts import ModelFailed
from stella.turn.facts import TamperFound
from stella.verdict.again import AllowanceSpent
from stella.verdict.again import BudgetSpent
from stella.verdict.again import Stopped
from stella.verdict.again import StoppedUnmet
from stella.verdict.again import StopReason
from stella.verdict.finding import MeasurementMissing
from stella.verdict.finding import Met
from stella.verdict.finding import Reason
from stella.verdict.finding import Undecidable
from stella.verdict.finding import Undecided
from stella.verdict.finding import Unknowable
from stella.verdict.finding import Unmet
from stella.verdict.finding import UnreadableCheck
from stella.verdict.finding import Verdict
from stella.verdict.guidance import reason_text
from stella.verdict.judge import judge_one
from stella.verdict.rule import VerdictRule
from stella.wire.evidence import Provenance
from stella.wire.evidence import Tampered
from stella.wire.grant import TestBaseline

NO_FLIP = "a flip can no longer be earned"

_UNKNOWABLE = {
    Unknowable.NO_ORACLE: "no oracle is declared",
    Unknowable.FLIP_UNOBSERVABLE: "nobody observed whether the test flipped",
    Unknowable.WITNESS_UNSATISFIABLE: "the plugin says that the test cannot pass",
    Unknowable.TAMPER_UNCHECKED: "the test files were not watched, so its result earns no credit",
}


_GATES = {
    "capped": "a Stop hook held the turn as often as it may and was not satisfied",
    "unanswered": "a Stop hook wanted a person to approve, and nobody could be asked",
}


def board(done: Finished) -> Iterator[str]:
    """Yield the lines that end a run."""
    yield f"{done.result.status.value}: {_headline(done)}"
    if done.rule.requirements and done.evidence is not None:
        for key in sorted(done.rule.requirements):
            yield from _requirement(done, key)
        yield from _grounds(done)
    else:
        yield "nothing was judged"
        if done.result.faults:
            yield f"{counted(len(done.result.faults), 'fault')} occurred; see the lines above"
    cost = done.result.cost_usd
    price = "cost unknown (no price for the model)" if cost is None else f"cost {cost:.4f} USD"
    yield f"{price}, {counted(done.result.steps, 'step')}"
    yield f"session {done.result.session}"
    yield f"journal {visible(done.result.journal.path)}"


def _headline(done: Finished) -> str:
    rounds = counted(done.result.rounds, "round")
    outcome = done.result.outcome
    if isinstance(outcome.stop, StoppedUnmet):
        clauses = counted(len(outcome.stop.clauses), "clause")
        return f"{clauses} not met after {rounds}; {_stopped(outcome.stop.stopped)}"
    if outcome.cause is not None and done.turn_text:
        return f"{_cause(done)} (after {rounds})"
    if gate := _GATES.get(outcome.stop_gate):
        return f"after {rounds}; {gate}"
    return f"after {rounds}"


def flip_lost(rule: VerdictRule, fact: Baselined) -> bool:
    """Return whether the rule asks for a flip that no test can show any more [G-20]."""
    required = rule.oracle is not None and rule.oracle.flip is FlipPolicy.REQUIRED
    return required and fact.baseline in {TestBaseline.PASSED, TestBaseline.UNOBSERVED}


def _cause(done: Finished) -> str:
    """Return what ended the turn, without the model's words, which have been told."""
    text = visible(done.turn_text)
    for fact in done.told:
        if isinstance(fact, ModelFailed) and (words := visible(fact.message)):
            text = text.removesuffix(f": {words}")
    return text


def _requirement(done: Finished, key: str) -> Iterator[str]:
    assert done.evidence is not None  # noqa: S101  # the caller looked
    verdict = judge_one(done.rule, key, done.evidence)
    yield f"  {_state(verdict):<8}{visible(key)}: {visible(done.rule.requirements[key])}"
    if isinstance(verdict, Unmet):
        for clause in verdict.clauses:
            yield f"          {reason_text(clause.because)}"
    elif isinstance(verdict, Undecided):
        yield f"          {reason_words(verdict.reason)}"


def _state(verdict: Verdict) -> str:
    match verdict:
        case Met():
            return "met"
        case Unmet():
            return "unmet"
        case Undecided():
            return "unknown"


def _grounds(done: Finished) -> Iterator[str]:
    assert done.evidence is not None  # noqa: S101  # the caller looked
    own = done.evidence.provenance is Provenance.PLUGIN_REPORTED
    yield f"  evidence: {'reported by the plugin' if own else 'nobody answered'}"
    for fact in done.told:
        if isinstance(fact, Baselined):
            lost = f"; {NO_FLIP}" if flip_lost(done.rule, fact) else ""
            yield f"  baseline: {fact.baseline.value} ({fact.reason}){lost}"
    found = [fact for fact in done.told if isinstance(fact, TamperFound)]
    if found:
        yield f"  tamper: {_finding(found[-1])}"


def _finding(fact: TamperFound) -> str:
    if isinstance(fact.finding, Tampered):
        return ", ".join(f"{visible(a.path)} ({', '.join(a.kinds)})" for a in fact.artifacts)
    return fact.finding.value


def _stopped(stopped: Stopped) -> str:
    match stopped:
        case StopReason.NOT_AN_ARBITER:
            return "the plugin has no say over completion"
        case StopReason.NO_PROGRESS:
            return "the last round changed nothing"
        case AllowanceSpent():
            spent = stopped.allowance_spent
            if spent.allowed == 0:
                return "no holds allowed"
            return f"all {counted(spent.allowed, 'hold')} spent"
        case BudgetSpent():
            return f"the limit of {stopped.budget_spent.ceiling.value} is reached"
        case _:
            assert_never(stopped)


def reason_words(reason: Reason) -> str:
    """Return why nothing could be said about a requirement, as one line."""
    match reason:
        case Unknowable():
            return _UNKNOWABLE[reason]
        case Undecidable():
            return "no check and no flip speak of it"
        case MeasurementMissing():
            name = visible(reason.measurement_missing.measurement)
            return f'the plugin did not report "{name}"'
        case UnreadableCheck():
            return f"its check cannot be read: {visible(reason.unreadable_check.reason)}"
        case _:
            assert_never(reason)
