from itertools import pairwise

import pytest

from stella.consent.text import Resolution
from stella.consent.text import consent_text
from stella.manifest.loop import LADDER
from stella.manifest.loop import NOT_FOR_PLUGINS
from stella.manifest.loop import Loop
from stella.manifest.loop import Power
from stella.manifest.loop import bound
from stella.manifest.loop import grades_with
from stella.manifest.loop import may
from stella.manifest.oracle import FlipPolicy
from stella.manifest.oracle import Oracle
from stella.manifest.plugin import PluginManifest
from stella.manifest.runtime import Runtime
from stella.manifest.stages import Stage
from stella.manifest.stages import Wrapper
from stella.manifest.subloop import Subloop
from stella.wire.grade import Grade
from stella.wire.points import Call
from stella.wire.points import Hook
from stella.wire.points import Point
from tests.making.manifests import broken

RUNTIME = '[runtime]\nargv = ["x"]\ntimeout_secs = 1\n'

ASKING = {
    Power.RUNTIME: ("", RUNTIME, "R-54"),
    Power.EVENTS: ('events = ["*"]', RUNTIME, "R-79"),
    Power.HOOKS: ('hooks = ["TurnEnd"]', "", "R-5"),
    Power.POINTS: ('points = ["before_turn"]', "", "R-7"),
    Power.CALLS: ('points = ["before_turn"]\ncalls = ["recall"]', "", "R-9"),
    Power.SUBLOOP: ("", '[subloop]\nstages = ["draft"]', "R-37"),
    Power.WRAPPER: ("", '[wrapper]\nid = "w"\n[[wrapper.stages]]\nname = "execute"', "R-41"),
    Power.STOP: ('hooks = ["Stop"]', "", "R-18"),
    Power.REQUIREMENTS: ("", '[requirements]\na = "b"', "R-22"),
    Power.ORACLE: ('points = ["after_turn"]', f'[oracle]\nflip = "required"\n{RUNTIME}', "R-25"),
    Power.MAX_HOLDS: ("max_holds = 1", "", "R-20"),
}
"""How a manifest asks for each power, and the rule that refuses it below its grade [M-59]."""

SHOWN = {
    Power.RUNTIME: "runs as a process: ",
    Power.EVENTS: "receives these events: *",
    Power.HOOKS: "hook points: TurnEnd",
    Power.POINTS: "wrapper points: before_turn",
    Power.CALLS: "may ask the host for: recall",
    Power.SUBLOOP: "spends model calls on: draft",
    Power.WRAPPER: "pipeline: w, stages: execute",
    Power.STOP: "may hold a finished turn open: ",
    Power.REQUIREMENTS: "holds a turn until each of these is met:",
    Power.ORACLE: "decides with: its own process again",
    Power.MAX_HOLDS: "may hold a finished turn open: once per run",
}
"""The words of the consent text that show each power [C-10 to C-13]."""

PAIRS = [(grade, power) for grade in Grade for power in Power]


def unchecked(grade: Grade, power: Power) -> PluginManifest:
    """A manifest no rule has seen that asks for one power."""
    stop = power in {Power.STOP, Power.MAX_HOLDS}
    loop = Loop(
        participation=grade,
        hooks=(Hook.STOP,) if stop else (Hook.TURN_END,),
        points=(Point.BEFORE_TURN,),
        calls=(Call.RECALL,),
        max_holds=1 if power is Power.MAX_HOLDS else None,
        events=("*",),
    )
    return PluginManifest(
        name="x",
        loop=loop,
        requirements={"a": "b"},
        oracle=Oracle(flip=FlipPolicy.REQUIRED),
        subloop=Subloop(stages=("draft",)),
        wrapper=Wrapper(id="w", stages=(Stage(name="execute"),)),
        runtime=Runtime(argv=("x",), timeout_secs=1),
    )


def test_each_grade_includes_the_ones_below_it() -> None:
    """[M-15, M-59]"""
    powers = [LADDER[grade] for grade in Grade]
    assert all(low < high for low, high in pairwise(powers))
    assert powers[0] == frozenset()
    assert powers[-1] == frozenset(Power)


@pytest.mark.behaviour("M-59")
@pytest.mark.parametrize(("grade", "power"), PAIRS)
def test_the_load_rules_refuse_exactly_what_the_ladder_does_not_hold(
    grade: Grade, power: Power
) -> None:
    """[M-59]"""
    loop, tables, rule = ASKING[power]
    text = f'name = "x"\n[loop]\nparticipation = "{grade.value}"\n{loop}\n{tables}\n'
    assert (rule not in broken(text)) is (power in LADDER[grade])


@pytest.mark.parametrize(("grade", "power"), PAIRS)
def test_the_consent_text_shows_exactly_what_the_ladder_holds(grade: Grade, power: Power) -> None:
    """[M-59, C-10 to C-13]"""
    text = consent_text(unchecked(grade, power), Resolution())
    assert (SHOWN[power] in text) is (power in LADDER[grade])


@pytest.mark.behaviour("M-17")
@pytest.mark.parametrize("grade", list(Grade))
def test_a_grant_no_rule_has_seen_permits_exactly_what_the_ladder_holds(grade: Grade) -> None:
    """[M-17]"""
    loop = Loop(
        participation=grade,
        hooks=tuple(Hook),
        points=tuple(Point),
        calls=tuple(Call),
        events=("*",),
    )
    assert all(loop.holds(power) is (power in LADDER[grade]) for power in Power)
    hooks = {hook for hook in Hook if loop.permits_hook(hook)}
    assert (Hook.STOP in hooks) is (Power.STOP in LADDER[grade])
    assert (set(Hook) - {Hook.STOP} <= hooks) is (Power.HOOKS in LADDER[grade])
    assert all(loop.permits_point(point) is (Power.POINTS in LADDER[grade]) for point in Point)
    assert all(loop.permits_call(call) is (Power.CALLS in LADDER[grade]) for call in Call)
    assert loop.permits_event("agent.error") is (Power.EVENTS in LADDER[grade])


def test_what_is_not_listed_is_not_permitted() -> None:
    """[M-15, M-17]"""
    loop = Loop(participation=Grade.ARBITER)
    assert not any(loop.permits_hook(hook) for hook in Hook)
    assert not any(loop.permits_point(point) for point in Point)
    assert not any(loop.permits_call(call) for call in Call)
    assert not loop.permits_event("agent.error")


def test_a_listed_event_is_permitted_by_its_pattern() -> None:
    """[M-17, M-18]"""
    loop = Loop(participation=Grade.OBSERVER, events=("agent.turn.*", "agent.error"))
    assert loop.permits_event("agent.turn.started")
    assert loop.permits_event("agent.error")
    assert not loop.permits_event("agent.turn")


def test_the_grades_with_a_power_stand_lowest_first() -> None:
    """[M-59]"""
    assert grades_with(Power.EVENTS) == (Grade.OBSERVER, Grade.STEERING, Grade.ARBITER)
    assert grades_with(Power.STOP) == (Grade.ARBITER,)
    assert all(may(grades_with(power)[0], power) for power in Power)


@pytest.mark.behaviour("M-21")
@pytest.mark.parametrize(
    ("ask", "ceiling", "applies"), [(None, 8, 8), (0, 8, 8), (3, 8, 3), (8, 8, 8), (9, 8, 8)]
)
def test_an_ask_lowers_a_ceiling_and_never_raises_it(
    ask: int | None, ceiling: int, applies: int
) -> None:
    """[M-21, D-45]"""
    assert bound(ask, ceiling) == applies


def test_hook_words_no_plugin_may_have_are_no_hooks() -> None:
    """[M-16]"""
    assert not {hook.value for hook in Hook} & set(NOT_FOR_PLUGINS)
