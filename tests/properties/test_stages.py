"""The laws of stage programs, over every program that loads and every table of signals [M-45]."""

import copy
from typing import Any

import pytest
from hypothesis import assume
from hypothesis import given
from hypothesis import strategies as st

from stella.manifest.read import Loaded
from stella.manifest.read import examine
from stella.manifest.stages import NotProduced
from stella.manifest.stages import Resolver
from stella.manifest.stages import Stage
from stella.manifest.stages import Step
from stella.manifest.stages import Turnout
from stella.manifest.stages import program
from stella.manifest.stages import resolve
from stella.turn.stages import compose
from stella.wire.points import COUNTS
from stella.wire.points import HOST_STAGES
from stella.wire.points import PUBLISHER
from stella.wire.points import Signal
from tests.making.members import steering
from tests.properties import manifests as some

Values = dict[Signal, bool | int]

TABLES = st.fixed_dictionaries(
    {s: st.integers(0, 3) if s in COUNTS else st.booleans() for s in Signal}
)
"""A complete table: every signal with a value of its kind."""


def conditions(signal: Signal) -> st.SearchStrategy[str]:
    """Return conditions that read a signal as what it is."""
    if signal not in COUNTS:
        return st.sampled_from([signal.value, f"no-{signal.value}"])
    operators = st.sampled_from([">", ">=", "<", "<=", "==", "!="])
    return st.builds(f"{signal.value} {{}} {{}}".format, operators, st.integers(0, 3))


@st.composite
def programs(draw: st.DrawFn, *, loadable: bool = True) -> tuple[Stage, ...]:
    """Return stages in any order; `loadable` ones read only what is sure to be published."""
    names = draw(st.lists(st.sampled_from([*HOST_STAGES, "lint", "x-1"]), unique=True, min_size=1))
    stages: list[Stage] = []
    certain: set[str | None] = {None}
    for name in names:
        legal = [s for s in Signal if PUBLISHER[s] in certain] if loadable else list(Signal)
        condition = None
        if draw(st.booleans()):
            condition = draw(conditions(draw(st.sampled_from(legal))))
        else:
            certain.add(name)
        stages.append(Stage(name=name, condition=condition))
    return tuple(stages)


def loaded(stages: tuple[Stage, ...]) -> Loaded | None:
    """Return what a manifest with these stages loads as, None when it does not load."""
    written: list[dict[str, Any]] = [
        {"name": stage.name} | ({} if stage.condition is None else {"if": stage.condition})
        for stage in stages
    ]
    tree = {
        "name": "probe",
        "loop": {"participation": "steering"},
        "wrapper": {"id": "w", "stages": written},
    }
    found = examine(some.as_toml(tree))
    return found if isinstance(found, Loaded) else None


def answers(steps: tuple[Step, ...], values: Values) -> tuple[list[object], Resolver]:
    """Return all that a resolver answers to one table, and the resolver behind it."""
    resolver, told = Resolver(left=steps), list[object]()
    while not told or told[-1] in {Turnout.RAN, Turnout.SKIPPED}:
        answer, resolver = resolver.advance(values)
        told.append(answer)
    return told, resolver


@some.PROOF
@given(programs(), TABLES)
@pytest.mark.behaviour("M-45")
def test_a_program_that_loads_resolves_for_every_table(
    stages: tuple[Stage, ...], values: Values
) -> None:
    """[M-44, M-45]; in declared order, without what a false condition leaves out."""
    found = loaded(stages)
    assert found is not None
    ran = resolve(program(found.manifest.stages), values)
    assert not isinstance(ran, NotProduced)
    names = [stage.name for stage in stages]
    assert list(ran) == [name for name in names if name in ran]
    assert {stage.name for stage in stages if stage.condition is None} <= set(ran)


@some.PROOF
@given(programs(loadable=False), TABLES)
def test_a_program_that_does_not_resolve_would_not_have_loaded(
    stages: tuple[Stage, ...], values: Values
) -> None:
    """[R-51, R-52, R-53]; what the loader refuses is at least what cannot be resolved."""
    assume(isinstance(resolve(program(stages), values), NotProduced))
    assert loaded(stages) is None


@some.PROOF
@given(programs(), TABLES)
@pytest.mark.behaviour("K-132")
def test_progressive_and_up_front_results_are_equal(
    stages: tuple[Stage, ...], values: Values
) -> None:
    """[D-27]; the resolver, and a run that asks stage by stage."""
    steps = program(stages)
    told, resolver = answers(steps, values)
    assert resolver.ran == resolve(steps, values)
    assert told.count(Turnout.RAN) == len(resolver.ran)
    assert (len(told), told[-1]) == (len(steps) + 1, Turnout.DONE)
    (member,) = compose((steering("a", steps),)).members
    asked = tuple(step.name for step in steps if member.runs(step.name, values))
    assert asked == resolver.ran


@some.PROOF
@given(programs(loadable=False), TABLES, TABLES)
@pytest.mark.behaviour("D-27")
def test_a_resolver_is_a_value(stages: tuple[Stage, ...], values: Values, others: Values) -> None:
    """[D-27]; asking it changes nothing, a copy answers alike, an error leaves it unchanged."""
    resolver = Resolver(left=program(stages))
    while True:
        twin = copy.copy(resolver)
        resolver.advance(others)
        answer, following = resolver.advance(values)
        assert twin == resolver
        assert twin.advance(values) == (answer, following)
        if isinstance(answer, NotProduced) or answer is Turnout.DONE:
            assert following is resolver
            return
        assert len(following.left) == len(resolver.left) - 1
        resolver = following
