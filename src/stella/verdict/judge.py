"""Evidence to verdict: a decision no plugin can make [J-1, J-2].

Pure and total over its types: no process, clock, model, chance or exception. A known
failure is never hidden by something unknown [J-7], and nothing unknown is ever met.
"""

from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from enum import auto
from typing import assert_never

from stella.manifest.grammar import Unparsable
from stella.manifest.grammar import parse_check
from stella.manifest.oracle import FlipPolicy
from stella.verdict.finding import Because
from stella.verdict.finding import Clause
from stella.verdict.finding import Credited
from stella.verdict.finding import Failed
from stella.verdict.finding import MeasurementMissing
from stella.verdict.finding import Met
from stella.verdict.finding import NoFlip
from stella.verdict.finding import ObservedFlip
from stella.verdict.finding import OverBudget
from stella.verdict.finding import Reason
from stella.verdict.finding import Reported
from stella.verdict.finding import Unchecked
from stella.verdict.finding import Undecidable
from stella.verdict.finding import Unknowable
from stella.verdict.finding import Unmet
from stella.verdict.finding import Unread
from stella.verdict.finding import UnreadableCheck
from stella.verdict.finding import Unreported
from stella.verdict.finding import Verdict
from stella.verdict.finding import undecided
from stella.verdict.rule import OracleRule
from stella.verdict.rule import VerdictRule
from stella.verdict.rule import reduced
from stella.wire.evidence import EvidenceSet
from stella.wire.evidence import Flip
from stella.wire.evidence import Tampered
from stella.wire.evidence import TamperState


class Conjunct(Enum):
    """What the flip asks of a requirement when it neither denies nor abstains [J-9]."""

    CREDITED = auto()
    ABSENT = auto()


Credit = Conjunct | NoFlip | Tampered | Unknowable
"""The flip's say, the same for every requirement: nothing, a denial or an abstention [J-9]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What was found about one requirement: checks in declared order, then the flip [J-11]."""

    requirement: str
    clauses: tuple[Clause, ...]
    abstentions: tuple[Reason, ...]


def judge(rule: VerdictRule, evidence: EvidenceSet) -> Verdict:
    """Return whether the rule's requirements hold on this evidence [J-6]."""
    if not rule.requirements:
        return Met(met=Credited(evidence=evidence.provenance))
    if rule.oracle is None:
        return undecided(Unknowable.NO_ORACLE)
    found = examined(rule.requirements, rule.oracle, evidence)
    if clauses := tuple(clause for each in found for clause in each.clauses):
        return Unmet(unmet=Failed(unmet=clauses))
    for each in found:
        for reason in each.abstentions:
            return undecided(reason)
    return Met(met=Credited(evidence=evidence.provenance))


def judge_one(rule: VerdictRule, requirement: str, evidence: EvidenceSet) -> Verdict:
    """Return what judge gives for the rule reduced to one requirement [S-43].

    Raises `KeyError` when the rule has no such requirement.
    """
    return judge(reduced(rule, requirement), evidence)


def examined(
    requirements: Mapping[str, str], oracle: OracleRule, evidence: EvidenceSet
) -> tuple[Examined, ...]:
    """Return every finding, requirement by requirement in byte order of the keys [J-11]."""
    checks: defaultdict[str, list[str]] = defaultdict(list)
    for declared in oracle.checks:
        checks[declared.requirement].append(declared.check)
    # A number the oracle does not declare is read by no check [W-28, J-68].
    names = frozenset(oracle.measurements)
    numbers = {name: n for name, n in evidence.measurements.items() if name in names}
    credit = flip_credit(oracle.flip, evidence)
    # Python orders text by code point, which is the order of its UTF-8 bytes.
    return tuple(
        _examined_one(key, requirements[key], checks[key], numbers, credit)
        for key in sorted(requirements)
    )


def flip_credit(policy: FlipPolicy, evidence: EvidenceSet) -> Credit:
    """Return the flip's say under `policy`; the tamper finding matters to `achieved` only [J-9]."""
    if policy is FlipPolicy.NOT_APPLICABLE:
        return Conjunct.ABSENT
    match evidence.flip:
        case Flip.ACHIEVED:
            return _untouched(evidence.tamper)
        case Flip.NOT_ACHIEVED:
            return NoFlip(no_flip=ObservedFlip(observed=evidence.flip))
        case Flip.UNSATISFIABLE:
            return Unknowable.WITNESS_UNSATISFIABLE
        case Flip.NOT_ATTEMPTED | Flip.UNOBSERVABLE:
            return Unknowable.FLIP_UNOBSERVABLE
        case _:
            assert_never(evidence.flip)


def _untouched(tamper: TamperState | Tampered) -> Credit:
    match tamper:
        case TamperState.CLEAN:
            return Conjunct.CREDITED
        case TamperState.NOT_CHECKED:
            return Unknowable.TAMPER_UNCHECKED
        case Tampered():
            return tamper
        case _:
            assert_never(tamper)


def _examined_one(
    key: str,
    statement: str,
    checks: Sequence[str],
    numbers: Mapping[str, int],
    credit: Credit,
) -> Examined:
    failures: list[Because] = []
    abstentions: list[Reason] = []
    for found in _found(key, checks, numbers, credit):
        if isinstance(found, Because):
            failures.append(found)
        else:
            abstentions.append(found)
    return Examined(
        requirement=key,
        clauses=tuple(
            Clause(requirement=key, statement=statement, because=because) for because in failures
        ),
        abstentions=tuple(abstentions),
    )


def _found(
    key: str, checks: Sequence[str], numbers: Mapping[str, int], credit: Credit
) -> Iterator[Because | Reason]:
    """Yield the findings of the checks [J-12], then that of the flip conjunct [J-14]."""
    for text in checks:
        if (found := _checked(key, text, numbers)) is not None:
            yield found
    match credit:
        case Conjunct.CREDITED:
            return
        case Conjunct.ABSENT:
            if not checks:
                yield Undecidable(undecidable=Unchecked(requirement=key))
        case NoFlip() | Tampered() | Unknowable():
            yield credit
        case _:
            assert_never(credit)


def _checked(key: str, text: str, numbers: Mapping[str, int]) -> Because | Reason | None:
    """Return what one check finds, None when it holds; an absent number is not zero [J-13]."""
    comparison = parse_check(text)
    if isinstance(comparison, Unparsable):
        return UnreadableCheck(unreadable_check=Unread(requirement=key, reason=comparison.reason))
    number = numbers.get(comparison.name)
    if number is None:
        missing = Unreported(requirement=key, measurement=comparison.name)
        return MeasurementMissing(measurement_missing=missing)
    if comparison.holds(number):
        return None
    return OverBudget(budget=Reported(check=text, reported=number))
