import pytest

from stella import limits
from stella.turn.allowance import PointAllowance
from stella.turn.allowance import RunAllowance
from stella.turn.allowance import calls_per_point
from stella.turn.allowance import channel_open
from stella.turn.stages import Member
from stella.wire.grade import Grade
from stella.wire.host_call import HostCall
from stella.wire.host_call import RecallArgs
from stella.wire.host_call import RunTestArgs
from stella.wire.host_result import RefusedCall
from stella.wire.points import Call
from stella.wire.points import Point
from stella.wire.points import Refusal

RECALL = HostCall(call=Call.RECALL, id=1, args=RecallArgs(goal="x"))
RUN_TEST = HostCall(call=Call.RUN_TEST, id=2, args=RunTestArgs(candidate="host-tree"))


def member(
    *calls: Call, max_calls: int | None = None, width: int | None = None, name: str = "asks"
) -> Member:
    return Member(
        name=name,
        wrapper=name,
        grade=Grade.STEERING,
        points=frozenset({Point.BEFORE_TURN}),
        calls=frozenset(calls),
        max_calls=max_calls,
        max_fanout_width=width,
    )


@pytest.mark.behaviour("D-47")
def test_the_channel_opens_with_a_permitted_call_and_an_allowance() -> None:
    """[D-47]"""
    assert channel_open(member(Call.RECALL))
    assert not channel_open(member())


@pytest.mark.behaviour("K-47", "D-45", "D-48")
def test_an_undeclared_call_costs_nothing_and_the_ninth_is_refused() -> None:
    """[D-45, D-48]"""
    asks = member(Call.RECALL)
    point = PointAllowance(member=asks)
    undeclared = point.refused(RUN_TEST)
    assert undeclared is not None
    assert undeclared.refusal is Refusal.UNDECLARED
    assert undeclared.detail == 'the manifest does not list "run_test"; it lists recall'
    assert [point.refused(RECALL) for _ in range(limits.HOST_CALLS_PER_POINT)] == [None] * 8
    spent = point.refused(RECALL)
    assert spent is not None
    assert spent.refusal is Refusal.ALLOWANCE_SPENT
    assert spent.detail == "all 8 host calls of this point are used"
    again = point.refused(RUN_TEST)
    assert again is not None
    assert again.refusal is Refusal.UNDECLARED
    assert PointAllowance(member=asks).refused(RECALL) is None


@pytest.mark.parametrize(("ask", "most"), [(None, 8), (3, 3), (8, 8), (9, 8), (1, 1)])
def test_an_ask_lowers_the_calls_of_a_point_and_never_raises_them(
    ask: int | None, most: int
) -> None:
    """[M-21, D-45]"""
    assert calls_per_point(member(Call.RECALL, max_calls=ask)) == most


@pytest.mark.behaviour("D-46")
@pytest.mark.parametrize(("ask", "most"), [(None, 4), (2, 2), (4, 4), (5, 4)])
def test_child_turns_are_counted_per_plugin_and_run(ask: int | None, most: int) -> None:
    """[D-45, D-46]"""
    assert limits.CHILD_TURNS_PER_RUN == 4
    run = RunAllowance()
    first = member(Call.CHILD_TURN, max_calls=ask)
    assert [run.child_turn(first) for _ in range(most)] == list(range(1, most + 1))
    spent = run.child_turn(first)
    assert isinstance(spent, RefusedCall)
    assert spent.refusal is Refusal.ALLOWANCE_SPENT
    assert f"all {most} child turns" in spent.detail
    assert run.child_turn(member(Call.CHILD_TURN, name="other")) == 1


@pytest.mark.parametrize(
    ("asked", "ask", "width"),
    [(10, None, 3), (3, None, 3), (0, None, 1), (2, None, 2), (3, 2, 2), (4, 9, 3), (1, 1, 1)],
)
def test_a_fanout_s_width_is_clamped(asked: int, ask: int | None, width: int) -> None:
    """[D-45, D-54]"""
    assert limits.FANOUT_WIDTH == 3
    fans = member(Call.CANDIDATE_FANOUT, width=ask)
    assert RunAllowance().fanout(fans, asked) == width


def test_the_third_fanout_of_a_run_is_refused_whoever_asks() -> None:
    """[D-45]"""
    run = RunAllowance()
    fans = member(Call.CANDIDATE_FANOUT)
    for _ in range(limits.FANOUTS_PER_RUN):
        assert run.fanout(fans, 1) == 1
    spent = run.fanout(member(Call.CANDIDATE_FANOUT, name="other"), 1)
    assert isinstance(spent, RefusedCall)
    assert spent.refusal is Refusal.ALLOWANCE_SPENT
    assert spent.detail == "all 2 fan-outs of this run are used"
