"""The order of a call: the grant, the counter, the plane; and what is kept of each [D-48]."""

import asyncio

import pytest

from stella import limits
from stella.errors import JournalError
from stella.session.asker import Asker
from stella.session.asker import Bill
from stella.session.asker import Outcome
from stella.session.asker import unavailable
from stella.session.desk import Desk
from stella.turn.allowance import PointAllowance
from stella.turn.questions import Change
from stella.turn.stages import Member
from stella.wire.grade import Grade
from stella.wire.grant import TestBaseline
from stella.wire.host_call import HostCall
from stella.wire.host_call import RecallArgs
from stella.wire.host_call import RunTestArgs
from stella.wire.host_result import RecallOk
from stella.wire.host_result import RefusedCall
from stella.wire.points import Call
from stella.wire.points import Point
from stella.wire.points import Refusal
from tests.making.playing import says

MEMBER = Member(
    name="asks",
    wrapper="asks",
    grade=Grade.STEERING,
    points=frozenset({Point.BEFORE_TURN}),
    calls=frozenset({Call.RECALL}),
    max_calls=2,
)
ASKER = Asker(member=MEMBER, turn="t1", round=0, seat="worker", baseline=TestBaseline.NOT_RUN)
RECALL = HostCall(call=Call.RECALL, id=4, args=RecallArgs(goal="x"))
CHANGE = Change(path="a", kind="created", before=None, after="1", added=1, removed=0)


class Plane:
    """A plane that answers, bills, and remembers how often it was reached."""

    def __init__(self, *outcomes: Outcome, changes: tuple[Change, ...] | None = ()) -> None:
        self.outcomes = list(outcomes)
        self.changes = changes
        self.reached = 0

    async def __call__(self, _asker: Asker, _call: HostCall, bill: Bill) -> Outcome:
        self.reached += 1
        bill.changes = self.changes
        return self.outcomes.pop(0)


def desk(plane: Plane) -> Desk:
    return Desk(plane=plane, asker=ASKER, allowance=PointAllowance(member=MEMBER))


@pytest.mark.behaviour("W-37")
def test_a_plane_s_refusal_costs_a_unit_and_an_undeclared_call_none() -> None:
    """[D-48]"""
    plane = Plane(unavailable("no"), RecallOk())
    ours = desk(plane)

    async def go() -> None:
        await ours.serve(HostCall(call=Call.RUN_TEST, id=1, args=RunTestArgs(candidate="c")))
        for _ in range(3):
            await ours.serve(RECALL)

    asyncio.run(go())
    words = [c.refusal.refusal.value if c.refusal else "ok" for c in ours.served.calls]
    assert words == ["undeclared", "unavailable", "ok", "allowance-spent"]
    assert plane.reached == 2


def test_what_is_kept_of_a_call_is_what_the_plugin_was_told() -> None:
    """[J2-40, D-49]"""
    ours = desk(Plane(RecallOk(), changes=(CHANGE,)))
    asyncio.run(ours.serve(RECALL))
    (call,) = ours.served.calls
    assert (call.id, call.call, call.args) == (4, Call.RECALL, {"goal": "x"})
    assert (call.ok, call.refusal, call.cost_usd, call.steps) == ({}, None, None, None)
    assert ours.served.changes == (CHANGE,)


def test_one_call_that_could_not_be_measured_leaves_the_changes_unknown() -> None:
    """[T2-53]"""
    ours = desk(Plane(RecallOk(), changes=None))
    asyncio.run(ours.serve(RECALL))
    assert ours.served.changes is None


def test_a_call_that_the_end_of_the_point_cut_short_is_kept_with_its_bill() -> None:
    """[T-23, J2-44]"""
    spent = says()

    async def plane(_asker: Asker, _call: HostCall, bill: Bill) -> Outcome:
        bill.spent.charge(spent)
        bill.steps = 1
        await asyncio.sleep(60)
        return RecallOk()

    ours = Desk(plane=plane, asker=ASKER, allowance=PointAllowance(member=MEMBER))

    async def go() -> None:
        task = asyncio.create_task(ours.serve(RECALL))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(go())
    (call,) = ours.served.calls
    assert call.refusal is not None
    assert call.refusal.refusal.value == "failed"
    assert (call.steps, call.cost_usd) == (1, 0.0)
    assert ours.served.spent.usage.model_calls == 1


def test_what_the_world_refuses_behind_a_plane_is_a_refusal() -> None:
    """[W-35, W-37] It is no fault of the plugin's process, and what was spent is kept."""

    async def plane(_asker: Asker, _call: HostCall, bill: Bill) -> Outcome:
        bill.steps = 1
        raise PermissionError(13, "Permission denied", "\x1b[31ma")

    ours = Desk(plane=plane, asker=ASKER, allowance=PointAllowance(member=MEMBER))
    outcome = asyncio.run(ours.serve(RECALL))
    assert isinstance(outcome, RefusedCall)
    assert outcome.refusal is Refusal.FAILED
    assert "Permission denied" in outcome.detail
    assert "\x1b" not in outcome.detail
    (call,) = ours.served.calls
    assert (call.refusal, call.steps) == (outcome, 1)


def test_whatever_ends_a_call_it_is_kept() -> None:
    """[D-49]"""

    async def plane(_asker: Asker, _call: HostCall, bill: Bill) -> Outcome:
        bill.steps = 2
        raise JournalError("no space")

    ours = Desk(plane=plane, asker=ASKER, allowance=PointAllowance(member=MEMBER))
    with pytest.raises(JournalError):
        asyncio.run(ours.serve(RECALL))
    assert [call.steps for call in ours.served.calls] == [2]


@pytest.mark.parametrize("more", [0, 1, 500])
def test_refusals_without_end_are_counted_after_a_while(more: int) -> None:
    """[D-48, D-49] They cost nothing, so there may be any number of them; each is answered."""
    ours = desk(Plane(RecallOk()))
    test = HostCall(call=Call.RUN_TEST, id=1, args=RunTestArgs(candidate="c"))

    async def go() -> list[Outcome]:
        asked = limits.REFUSALS_TOLD_PER_POINT + more
        outcomes = [await ours.serve(test) for _ in range(asked)]
        return [*outcomes, await ours.serve(RECALL)]

    *refused, served = asyncio.run(go())
    assert {each.refusal for each in refused if isinstance(each, RefusedCall)} == {
        Refusal.UNDECLARED
    }
    assert served == RecallOk()
    assert len(ours.served.calls) == limits.REFUSALS_TOLD_PER_POINT + 1
    assert ours.served.untold == more
