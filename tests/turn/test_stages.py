from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stella.errors import PipelineError
from stella.manifest.grammar import parse_condition
from stella.manifest.stages import Stage
from stella.manifest.stages import Step
from stella.manifest.stages import program as program_of
from stella.manifest.stages import resolve
from stella.turn.stages import Member
from stella.turn.stages import compose
from stella.turn.stages import mistyped
from stella.turn.stages import opening_table
from stella.turn.stages import value_of
from stella.verdict.again import Grant
from stella.verdict.rule import VerdictRule
from stella.wire.before_turn import PublishedSignal
from stella.wire.before_turn import SignalValue
from stella.wire.grade import Grade
from stella.wire.points import COUNTS
from stella.wire.points import HOST_STAGES
from stella.wire.points import Signal
from tests.making.members import arbiter
from tests.making.members import steering


def program(name: str, *stages: str) -> Member:
    return steering(name, tuple(Step(name=stage) for stage in stages))


def conditional(text: str) -> Step:
    condition = parse_condition(text)
    return Step(name="plan", condition=condition)  # type: ignore[arg-type]  # the text parses


@pytest.mark.behaviour("D-37", "W-53")
def test_an_empty_selection_is_refused() -> None:
    """[D-37]"""
    with pytest.raises(PipelineError, match="EmptyComposition"):
        compose(())


@pytest.mark.behaviour("D-35", "K-63", "W-53")
def test_two_arbiters_are_refused_by_name() -> None:
    """[D-35]"""
    with pytest.raises(PipelineError, match='TwoArbiters: "a" and "b"'):
        compose((arbiter("a"), arbiter("b")))


@pytest.mark.behaviour("D-34", "K-63", "W-53")
def test_reversed_stages_are_refused_naming_both_plugins_and_both_stages() -> None:
    """[D-34]"""
    with pytest.raises(PipelineError) as refused:
        compose((program("a", "execute", "verify"), program("b", "verify", "execute")))
    for word in ("ConflictingStageOrder", '"a"', '"b"', '"execute"', '"verify"'):
        assert word in str(refused.value)


@pytest.mark.behaviour("D-34")
def test_a_new_stage_is_inserted_at_the_cursor() -> None:
    """[D-34]"""
    composition = compose((program("a", "triage", "execute"), program("b", "triage", "plan")))
    assert composition.before == ("triage", "plan", "execute")


@pytest.mark.behaviour("D-22")
def test_stages_split_around_the_turn() -> None:
    """[D-22]"""
    stages = ("mine", "execute", "own-check", "verify", "late")
    composition = compose((program("a", *stages),))
    assert composition.before == ("mine", "execute")
    assert composition.after == ("own-check", "verify", "late")


@pytest.mark.behaviour("D-22")
def test_a_program_without_execute_turns_at_its_first_late_stage() -> None:
    """[D-22]"""
    composition = compose((program("a", "triage", "mine", "verify", "other"),))
    assert composition.before == ("triage", "mine")
    assert composition.after == ("verify", "other")


@pytest.mark.behaviour("D-34")
@given(st.lists(st.permutations(HOST_STAGES[:4]).map(tuple), min_size=1, max_size=3))
def test_a_merge_keeps_every_members_order_or_is_refused(programs: list[tuple[str, ...]]) -> None:
    members = tuple(program(f"m{n}", *stages) for n, stages in enumerate(programs))
    try:
        composition = compose(members)
    except PipelineError:
        assert len(programs) > 1, "one program alone conflicts with nobody"
        return
    merged = composition.before + composition.after
    for stages in programs:
        assert [stage for stage in merged if stage in stages] == list(stages)


@pytest.mark.behaviour("D-36", "D-38")
def test_rule_and_holds_come_from_the_arbiter() -> None:
    """[D-36]"""
    composition = compose((steering("s"), arbiter("v", max_holds=1)))
    assert composition.rule == arbiter().rule
    assert (composition.grant.participation, composition.grant.max_holds) == (Grade.ARBITER, 1)
    assert composition.variant == "s,v"


@pytest.mark.behaviour("D-36")
def test_without_an_arbiter_nothing_is_required() -> None:
    """[D-36]"""
    composition = compose((steering("s"),))
    assert composition.rule == VerdictRule()
    assert composition.grant.participation is Grade.STEERING


@pytest.mark.behaviour("D-12")
def test_the_opening_table_knows_the_facts_of_the_host() -> None:
    """[D-12]"""
    table = opening_table(test_command=True, metered=False)
    assert table[Signal.TEST_COMMAND] is True
    assert table[Signal.CANDIDATES] == 1
    assert table[Signal.BUDGET_METERED] is False
    assert opening_table(test_command=False, metered=True)[Signal.BUDGET_METERED] is True
    assert table[Signal.QUESTIONS] == 0
    assert set(table) == set(Signal)


@pytest.mark.behaviour("D-20", "M-46")
def test_a_stage_runs_unless_its_condition_is_false() -> None:
    """[D-20, M-43]"""
    table = opening_table(test_command=False, metered=False)
    member = steering("s", (Step(name="triage"), conditional("plans")))
    assert member.runs("triage", table)
    assert not member.runs("plan", table)
    table[Signal.PLANS] = True
    assert member.runs("plan", table)
    assert not member.runs("verify", table)


@pytest.mark.parametrize(
    ("signal", "value", "wrong"),
    [
        (Signal.PLANS, SignalValue(boolean=True), False),
        (Signal.PLANS, SignalValue(count=1), True),
        (Signal.QUESTIONS, SignalValue(count=2), False),
        (Signal.QUESTIONS, SignalValue(boolean=False), True),
    ],
)
def test_a_value_has_its_signals_kind(signal: Signal, value: SignalValue, wrong: bool) -> None:
    """[D-29]"""
    assert mistyped(PublishedSignal(signal=signal, value=value)) is wrong


def test_a_published_value_is_read_as_what_it_is() -> None:
    plans = PublishedSignal(signal=Signal.PLANS, value=SignalValue(boolean=False))
    questions = PublishedSignal(signal=Signal.QUESTIONS, value=SignalValue(count=3))
    assert value_of(plans) is False
    assert value_of(questions) == 3


CONDITIONS = ("plans", "no-plans", "questions > 0", "questions == 0", "verifies", "test-command")


@given(
    st.lists(st.sampled_from([None, *CONDITIONS]), max_size=8),
    st.booleans(),
    st.integers(0, 2),
)
@pytest.mark.behaviour("K-132")
def test_for_a_constant_table_late_and_early_evaluation_agree(
    texts: list[str | None], plans: bool, questions: int
) -> None:
    """[D-27, M-45]"""
    own = tuple(Stage(name=f"s{n}", condition=text) for n, text in enumerate(texts))
    steps = program_of((Stage(name="triage"), *own))
    table = opening_table(test_command=True, metered=False)
    table[Signal.PLANS], table[Signal.QUESTIONS] = plans, questions
    composition = compose((steering("a", steps),))
    member = composition.members[0]
    late = tuple(stage for stage in composition.before if member.runs(stage, table))
    assert late == resolve(steps, table)


@pytest.mark.behaviour("D-36")
def test_without_an_arbiter_the_first_members_holds_are_asked_for() -> None:
    """[D-36]"""
    members = [replace(steering(name), max_holds=holds) for name, holds in (("a", 1), ("b", 2))]
    assert compose(members).grant == Grant(participation=Grade.STEERING, max_holds=1)
    assert compose([*members, arbiter("v", max_holds=None)]).grant.max_holds is None


@pytest.mark.behaviour("D-34")
def test_a_stage_may_be_put_before_the_first_one() -> None:
    """[D-34] The cursor stands behind what was inserted and before what was there."""
    composition = compose((program("a", "triage", "execute"), program("b", "mine", "triage")))
    assert composition.before == ("mine", "triage", "execute")


@pytest.mark.behaviour("D-22")
def test_a_stage_of_the_hosts_before_the_turn_stays_there_wherever_it_is_written() -> None:
    """[D-22] Contributed stages come after the turn when they are written after it."""
    composition = compose((program("a", "execute", "plan", "own", "second"),))
    assert composition.before == ("execute", "plan")
    assert composition.after == ("own", "second")


@pytest.mark.behaviour("D-12")
def test_each_signal_opens_as_a_value_of_its_kind() -> None:
    """[D-12] False is no zero once it is written down."""
    table = opening_table(test_command=False, metered=False)
    assert {signal for signal in Signal if not isinstance(table[signal], bool)} == COUNTS
