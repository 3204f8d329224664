"""The laws of judge [J-60 to J-71], each over all values of its types."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import Phase
from hypothesis import find
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from stella import codec
from stella.manifest.grammar import Comparison
from stella.manifest.grammar import parse_check
from stella.manifest.oracle import Check
from stella.manifest.oracle import FlipPolicy
from stella.verdict.finding import Met
from stella.verdict.finding import OverBudget
from stella.verdict.finding import Reported
from stella.verdict.finding import Undecided
from stella.verdict.finding import Unknowable
from stella.verdict.finding import Unmet
from stella.verdict.finding import Verdict
from stella.verdict.finding import undecided
from stella.verdict.judge import Examined
from stella.verdict.judge import examined
from stella.verdict.judge import judge
from stella.verdict.judge import judge_one
from stella.verdict.rule import VerdictRule
from stella.verdict.rule import rule_digest
from stella.wire.evidence import EvidenceSet
from stella.wire.evidence import Flip
from stella.wire.evidence import Tamper
from stella.wire.evidence import TamperState
from tests.properties import strategies as some

replace = msgspec.structs.replace

REQUIRED = st.just(FlipPolicy.REQUIRED)
NOT_APPLICABLE = st.just(FlipPolicy.NOT_APPLICABLE)


def found(rule: VerdictRule, evidence: EvidenceSet) -> tuple[Examined, ...]:
    assert rule.oracle is not None
    return examined(rule.requirements, rule.oracle, evidence)


def without(rule: VerdictRule, key: str) -> VerdictRule:
    kept = {k: v for k, v in rule.requirements.items() if k != key}
    return replace(rule, requirements=kept)


def with_checks(rule: VerdictRule, *checks: Check) -> VerdictRule:
    assert rule.oracle is not None
    return replace(rule, oracle=replace(rule.oracle, checks=checks))


def checks_of(rule: VerdictRule, key: str) -> list[str]:
    assert rule.oracle is not None
    return [each.check for each in rule.oracle.checks if each.requirement == key]


def with_measurements(evidence: EvidenceSet, numbers: dict[str, int]) -> EvidenceSet:
    return replace(evidence, measurements=numbers)


# ── judge ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.behaviour("J-1", "J-60")
@some.PROOF
@given(rule=some.rules(), evidence=some.evidences())
def test_judge_is_total(rule: VerdictRule, evidence: EvidenceSet) -> None:
    """[J-60, J-1]"""
    assert isinstance(judge(rule, evidence), Verdict)
    for key in rule.requirements:
        assert isinstance(judge_one(rule, key, evidence), Verdict)


@pytest.mark.behaviour("J-61")
@some.PROOF
@given(rule=some.rules(some.TEXT), evidence=some.evidences(some.TEXT))
def test_judge_ignores_the_order_of_keys(rule: VerdictRule, evidence: EvidenceSet) -> None:
    """[J-61]"""
    turned = replace(rule, requirements=dict(reversed(rule.requirements.items())))
    turned_evidence = with_measurements(evidence, dict(reversed(evidence.measurements.items())))
    said = judge(rule, evidence)
    assert judge(rule, evidence) == said
    assert codec.encode(judge(turned, turned_evidence)) == codec.encode(said)
    assert rule_digest(turned) == rule_digest(rule)


@pytest.mark.behaviour("J-8", "J-62")
@some.PROOF
@given(oracle=st.none() | some.oracles(), evidence=some.evidences())
def test_no_requirements_is_met(oracle: Any, evidence: EvidenceSet) -> None:
    """[J-62, J-8]"""
    said = judge(VerdictRule(oracle=oracle), evidence)
    assert isinstance(said, Met)
    assert said.evidence is evidence.provenance


@pytest.mark.behaviour("J-63")
@some.PROOF
@given(requirements=some.requirements(least=1), evidence=some.evidences())
def test_no_oracle_is_undecided(requirements: dict[str, str], evidence: EvidenceSet) -> None:
    """[J-63]"""
    said = judge(VerdictRule(requirements=requirements), evidence)
    assert said == undecided(Unknowable.NO_ORACLE)


@pytest.mark.behaviour("J-6", "J-64")
@some.PROOF
@given(rule=some.judged_rules(), evidence=some.evidences())
def test_unmet_beats_undecided_beats_met(rule: VerdictRule, evidence: EvidenceSet) -> None:
    """[J-64, J-6] Every clause that exists is in the verdict; then the first abstention counts."""
    every = found(rule, evidence)
    clauses = tuple(clause for each in every for clause in each.clauses)
    abstentions = [reason for each in every for reason in each.abstentions]
    match judge(rule, evidence):
        case Unmet() as said:
            assert clauses
            assert said.clauses == clauses
        case Undecided() as said:
            assert not clauses
            assert said.reason == abstentions[0]
        case Met() as said:
            assert not clauses
            assert not abstentions
            assert said.evidence is evidence.provenance


@pytest.mark.behaviour("J-7", "J-64")
@some.PROOF
@given(
    rule=some.judged_rules(),
    evidence=some.evidences(),
    blind=st.sampled_from(("never reported", "nobody <= 0", "", "x<=0", "x <= 0 and more")),
    where=st.integers(0, 5),
    data=st.data(),
)
def test_an_abstention_more_never_lifts_a_failure(
    rule: VerdictRule, evidence: EvidenceSet, blind: str, where: int, data: st.DataObject
) -> None:
    """[J-64, J-7] A check that abstains, put anywhere, leaves every clause as it was."""
    assert rule.oracle is not None
    key = data.draw(st.sampled_from(sorted(rule.requirements)))
    before = [each.clauses for each in found(rule, evidence)]
    checks = list(rule.oracle.checks)
    checks.insert(where, Check(requirement=key, check=blind))
    blinded = with_checks(rule, *checks)
    assert [each.clauses for each in found(blinded, evidence)] == before
    said = judge(blinded, evidence)
    assert isinstance(said, Unmet if any(before) else Undecided)


@pytest.mark.behaviour("J-64")
@some.PROOF
@given(rule=some.judged_rules(), evidence=some.evidences())
def test_a_number_that_vanishes_from_a_true_check_never_lifts_a_failure(
    rule: VerdictRule, evidence: EvidenceSet
) -> None:
    """[J-64]"""
    said = judge(rule, evidence)
    if not isinstance(said, Unmet):
        return
    read_by_failures = {
        parsed.name
        for clause in said.clauses
        if isinstance(clause.because, OverBudget)
        and isinstance(parsed := parse_check(clause.because.budget.check), Comparison)
    }
    kept = {name: n for name, n in evidence.measurements.items() if name in read_by_failures}
    assert judge(rule, with_measurements(evidence, kept)) == said


@pytest.mark.behaviour("J-65")
@some.PROOF
@given(rule=some.judged_rules(), evidence=some.evidences())
def test_met_means_flipped_untouched_and_every_check_true(
    rule: VerdictRule, evidence: EvidenceSet
) -> None:
    """[J-65]"""
    if not isinstance(judge(rule, evidence), Met):
        return
    assert rule.oracle is not None
    if rule.oracle.flip is FlipPolicy.REQUIRED:
        assert evidence.flip is Flip.ACHIEVED
        assert evidence.tamper is TamperState.CLEAN
    for key in rule.requirements:
        checks = checks_of(rule, key)
        assert checks or rule.oracle.flip is FlipPolicy.REQUIRED
        for text in checks:
            comparison = parse_check(text)
            assert isinstance(comparison, Comparison)
            assert comparison.holds(evidence.measurements[comparison.name])


@pytest.mark.behaviour("J-10", "J-66")
@some.PROOF
@given(
    rule=some.rules(policies=NOT_APPLICABLE),
    evidence=some.evidences(),
    flip=st.sampled_from(Flip),
    tamper=some.tampers(),
)
def test_a_flip_that_is_not_applicable_changes_nothing(
    rule: VerdictRule, evidence: EvidenceSet, flip: Flip, tamper: Tamper
) -> None:
    """[J-66, J-10]"""
    other = replace(evidence, flip=flip, tamper=tamper)
    assert judge(rule, other) == judge(rule, evidence)


@pytest.mark.behaviour("J-67")
@some.PROOF
@given(rule=some.rules(), evidence=some.evidences(), tamper=some.tampers())
def test_tampering_never_makes_a_verdict_met(
    rule: VerdictRule, evidence: EvidenceSet, tamper: Tamper
) -> None:
    """[J-67]"""
    clean = judge(rule, replace(evidence, tamper=TamperState.CLEAN))
    other = judge(rule, replace(evidence, tamper=tamper))
    assert not isinstance(other, Met) or isinstance(clean, Met)


@pytest.mark.behaviour("J-68")
@some.PROOF
@given(rule=some.rules(), evidence=some.evidences(), kept=st.sets(st.integers(0, 3)))
def test_a_missing_number_never_makes_a_verdict_met(
    rule: VerdictRule, evidence: EvidenceSet, kept: set[int]
) -> None:
    """[J-68, J-13]"""
    fewer = {name: n for i, (name, n) in enumerate(evidence.measurements.items()) if i in kept}
    poorer = judge(rule, with_measurements(evidence, fewer))
    assert not isinstance(poorer, Met) or isinstance(judge(rule, evidence), Met)


@pytest.mark.behaviour("J-68")
@some.PROOF
@given(
    rule=some.rules(),
    evidence=some.evidences(),
    more=st.dictionaries(st.sampled_from(("x", "y", "z", "w")) | some.ANY_TEXT, some.U64),
)
def test_an_undeclared_number_changes_nothing(
    rule: VerdictRule, evidence: EvidenceSet, more: dict[str, int]
) -> None:
    """[J-68, W-28]"""
    declared = () if rule.oracle is None else rule.oracle.measurements
    undeclared = {name: n for name, n in more.items() if name not in declared}
    richer = with_measurements(evidence, evidence.measurements | undeclared)
    assert judge(rule, richer) == judge(rule, evidence)


@pytest.mark.behaviour("J-69")
@some.PROOF
@given(
    requirements=some.requirements(least=1),
    oracle=st.none() | some.oracles(),
    evidence=some.unanswered(),
)
def test_silence_is_neither_met_nor_unmet(
    requirements: dict[str, str], oracle: Any, evidence: EvidenceSet
) -> None:
    """[J-69]"""
    rule = VerdictRule(requirements=requirements, oracle=oracle)
    assert isinstance(judge(rule, evidence), Undecided)


@pytest.mark.behaviour("J-70")
@some.PROOF
@given(rule=some.judged_rules(), evidence=some.evidences(), data=st.data())
def test_a_requirement_deleted_leaves_the_others_as_they_were(
    rule: VerdictRule, evidence: EvidenceSet, data: st.DataObject
) -> None:
    """[J-70, J-15, S-43]"""
    key = data.draw(st.sampled_from(sorted(rule.requirements)))
    others = tuple(each for each in found(rule, evidence) if each.requirement != key)
    assert found(without(rule, key), evidence) == others
    for each in others:
        alone = judge_one(rule, each.requirement, evidence)
        assert isinstance(alone, Unmet) == bool(each.clauses)
        assert isinstance(alone, Met) == (not each.clauses and not each.abstentions)


@pytest.mark.behaviour("J-12", "J-71")
@some.PROOF
@given(rule=some.judged_rules(), evidence=some.evidences())
def test_clauses_stand_by_key_then_by_check_then_the_flip(
    rule: VerdictRule, evidence: EvidenceSet
) -> None:
    """[J-71, J-11, J-12, J-13] Every check present and false has its clause, and no other has."""
    said = judge(rule, evidence)
    clauses = said.clauses if isinstance(said, Unmet) else ()
    keys = [clause.requirement.encode("utf-8", "surrogatepass") for clause in clauses]
    assert keys == sorted(keys)
    for key, statement in rule.requirements.items():
        own = [clause for clause in clauses if clause.requirement == key]
        assert all(clause.statement == statement for clause in own)
        false = list(false_checks(rule, key, evidence))
        assert [clause.because for clause in own[: len(false)]] == false
        flips = [clause.because for clause in own[len(false) :]]
        assert len(flips) <= 1
        assert not any(isinstance(because, OverBudget) for because in flips)


def false_checks(rule: VerdictRule, key: str, evidence: EvidenceSet) -> Iterator[OverBudget]:
    assert rule.oracle is not None
    for text in checks_of(rule, key):
        parsed = parse_check(text)
        if not isinstance(parsed, Comparison) or parsed.name not in rule.oracle.measurements:
            continue
        number = evidence.measurements.get(parsed.name)
        if number is not None and not parsed.holds(number):
            yield OverBudget(budget=Reported(check=text, reported=number))


# ── the laws speak of something ───────────────────────────────────────────────────────


def premise_judged_met(case: tuple[VerdictRule, EvidenceSet]) -> bool:
    rule, evidence = case
    return isinstance(judge(rule, evidence), Met) and bool(checks_of(rule, "a"))


def premise_unmet_beside_abstentions(case: tuple[VerdictRule, EvidenceSet]) -> bool:
    every = found(*case)
    return any(each.clauses for each in every) and any(each.abstentions for each in every)


@pytest.mark.parametrize("policy", FlipPolicy)
@pytest.mark.parametrize("premise", [premise_judged_met, premise_unmet_beside_abstentions])
def test_the_premises_of_the_laws_occur(policy: FlipPolicy, premise: Any) -> None:
    """A law about met rules proves nothing over values of which none is met."""
    cases = st.tuples(some.judged_rules(policies=st.just(policy)), some.evidences())
    first = settings(some.PROOF, phases=[Phase.generate])
    assert premise(find(cases, premise, settings=first))
