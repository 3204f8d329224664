import pytest

from stella import limits
from stella.manifest.stages import BOUNDARY
from stella.manifest.stages import EXECUTE
from stella.manifest.stages import NotProduced
from stella.manifest.stages import Resolver
from stella.manifest.stages import Stage
from stella.manifest.stages import Step
from stella.manifest.stages import Turnout
from stella.manifest.stages import malformed
from stella.manifest.stages import program
from stella.manifest.stages import resolve
from stella.manifest.stages import selectable
from stella.wire.points import COUNTS
from stella.wire.points import HOST_STAGES
from stella.wire.points import Signal
from tests.making.manifests import loaded
from tests.making.manifests import wrapper

Values = dict[Signal, bool | int]


def values(**given: bool | int) -> Values:
    """Every signal with its value; those not given are false or 0."""
    table: Values = {signal: 0 if signal in COUNTS else False for signal in Signal}
    return table | {Signal(name.replace("_", "-")): value for name, value in given.items()}


def test_host_stages_are_host_stages_and_all_others_are_contributed() -> None:
    """[M-38, M-39]"""
    assert not any(Stage(name=name).contributed for name in HOST_STAGES)
    assert all(Stage(name=name).contributed for name in ("lint", "Execute", *BOUNDARY))
    assert set(BOUNDARY.values()) < set(HOST_STAGES)
    assert EXECUTE in HOST_STAGES


@pytest.mark.parametrize("name", ["a", "lint-first", "x9", "a" * limits.STAGE_NAME_BYTES])
def test_a_contributed_stage_has_a_short_plain_name(name: str) -> None:
    """[M-39]"""
    assert malformed(name) is None


@pytest.mark.behaviour("M-39")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a" * (limits.STAGE_NAME_BYTES + 1), "longer than 32 bytes"),
        ("é" * 17, "longer than 32 bytes"),
        ("9lives", "first character"),
        ("Execute", "first character"),
        ("-a", "first character"),
        ("", "first character"),
        ("my_stage", "a character"),
        ("a\n", "a character"),
        ("aé", "a character"),
    ],
)
def test_a_malformed_name_has_one_reason(name: str, reason: str) -> None:
    """[M-39, M-40, K-20]"""
    assert reason in (malformed(name) or "")


@pytest.mark.parametrize(
    ("name", "may"), [("a-b_C.1", True), ("a,b", False), ("a b", False), ("a\u00a0b", False)]
)
def test_the_flag_cannot_name_an_id_with_a_comma_or_white_space(
    name: str, may: bool
) -> None:  # a table of cases
    """[M-37]"""
    assert selectable(name) is may


def test_a_stage_runs_unless_its_condition_is_false() -> None:
    """[M-45, K-16]"""
    text = wrapper(
        ("triage", None),
        ("plan", "no-plans"),
        ("research", "questions > 1"),
        ("lint", "test-command"),
        ("execute", None),
    )
    declared = loaded(text).stages
    steps = program(declared)
    assert resolve(steps, values()) == ("triage", "plan", "execute")
    assert resolve(steps, values(plans=True, questions=2, test_command=True)) == (
        "triage",
        "research",
        "lint",
        "execute",
    )


@pytest.mark.behaviour("R-53")
@pytest.mark.parametrize("before", [(), ("triage",)])
def test_a_program_built_by_hand_may_read_what_nothing_published(before: tuple[str, ...]) -> None:
    """A publisher that is absent, or that was skipped, publishes nothing [M-45, R-53]."""
    skipped = program([Stage(name=name, condition="test-command") for name in before])
    steps = (*skipped, *program([Stage(name="plan", condition="plans")]))
    assert resolve(steps, values()) == NotProduced(
        stage="plan", signal=Signal.PLANS, publisher="triage"
    )


def test_a_resolver_answers_stage_by_stage() -> None:
    """[D-27]; each stage under the signals of its moment."""
    steps = program(
        [
            Stage(name="triage"),
            Stage(name="research", condition="questions > 0"),
            Stage(name="plan", condition="plans"),
            Stage(name="verify", condition="tests-red"),
        ]
    )
    resolver = Resolver(left=steps)
    told: list[object] = []
    for table in (values(), values(questions=1), values(questions=1), values(), values()):
        answer, resolver = resolver.advance(table)
        told.append(answer)
    stuck = NotProduced(stage="verify", signal=Signal.TESTS_RED, publisher="verify")
    assert told == [Turnout.RAN, Turnout.RAN, Turnout.SKIPPED, stuck, stuck]
    assert resolver == Resolver(left=steps[3:], ran=("triage", "research"))
    assert Resolver(left=()).advance(values()) == (Turnout.DONE, Resolver(left=()))


def test_an_incomplete_table_leaves_a_resolver_as_it_was() -> None:
    """[D-27, M-45]"""
    resolver = Resolver(left=program([Stage(name="plan", condition="test-command")]))
    with pytest.raises(KeyError):
        resolver.advance({})
    assert resolver.advance(values(test_command=True))[0] is Turnout.RAN


def test_a_condition_no_rule_has_seen_is_refused_when_it_is_read() -> None:
    with pytest.raises(ValueError, match='"plans and" is no condition'):
        program([Stage(name="a", condition="plans and")])


def test_a_stage_without_condition_is_a_step_without_one() -> None:
    assert program([Stage(name="a")]) == (Step(name="a"),)
