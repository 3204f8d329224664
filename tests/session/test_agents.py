"""How turns under a turn are named and what they hand back; what they do is in test_children."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from stella.clock import SystemClock
from stella.journal.entry import Record
from stella.providers.all import open_model
from stella.session.agents import Agents
from stella.session.agents import Assignment
from stella.session.agents import Done
from stella.session.facts import ToolsOffered
from stella.tools.all import TOOLS
from stella.turn.changes import ChangeBook
from stella.turn.facts import Fact
from stella.turn.facts import TurnStatus
from stella.turn.loop import TurnEnd
from stella.turn.plugin_facts import SubagentFinished
from stella.turn.questions import Change
from stella.turn.tally import Tally
from tests.making.repositories import repository
from tests.making.sessions import calls
from tests.making.sessions import says
from tests.making.sessions import script
from tests.session.test_workshop import workshop
from tests.tools.test_custom import custom


def end(status: TurnStatus = TurnStatus.COMPLETED, steps: int = 1) -> TurnEnd:
    return TurnEnd(
        status=status,
        cause=None,
        text="t",
        answer="t",
        truncated=False,
        steps=steps,
        tally=Tally(),
        uses=(),
        changes=ChangeBook(),
    )


def test_turns_are_numbered_per_turn_and_principals_per_plugin(tmp_path: Path) -> None:
    """[E-2, D-53]"""
    agents = Agents(workshop=workshop(tmp_path))
    assert [agents.next_id(turn) for turn in ("t1", "t1", "t2")] == ["t1.a1", "t1.a2", "t2.a1"]
    assert agents.principal("a", "planner") == "plugin:a/planner#1"
    assert agents.principal("a", "builder") == "plugin:a/builder#2"
    assert agents.principal("b", "planner") == "plugin:b/planner#1"


def test_agents_on_a_script_go_one_after_another(tmp_path: Path) -> None:
    """[E-96]"""
    shop = workshop(tmp_path)
    assert Agents(workshop=shop).in_turn("worker")
    other = open_model(f"script:{script(tmp_path / 's')}", clock=SystemClock())
    assert other.in_turn


def test_changes_are_counted_in_files_and_lines_as_far_as_known() -> None:
    """[D-55]"""
    counted = Change(path="a", kind="modified", before="0", after="1", added=2, removed=3)
    unknown = Change(path="b", kind="created", before=None, after="1")
    done = Done(end=end(), report="r", truncated=False, changes=(counted, unknown))
    assert (done.files, done.lines, done.completed, done.began) == (2, 5, True, True)
    unmeasured = Done(end=end(TurnStatus.FAILED, 0), report="r", truncated=False, changes=None)
    assert (unmeasured.files, unmeasured.lines) == (0, 0)
    assert (unmeasured.completed, unmeasured.began) == (False, False)


@pytest.mark.parametrize("write", [True, False])
def test_a_child_reads_with_built_in_tools_and_a_worker_has_every_tool_in_its_own_root(
    tmp_path: Path, write: bool
) -> None:
    """[E-91, P-15] A tool of a file runs in the copy and never in the workspace."""
    command = ["/bin/sh", "-c", "pwd > where"]
    shop = workshop(tmp_path, calls("probe"), says("done"))
    shop = replace(shop, tools=(*TOOLS, custom(command)))
    root = repository(tmp_path / "copy", {"a.txt": "a\n"}).resolve()
    assignment = Assignment(
        agent="t1.a1",
        parent="t1",
        round=0,
        principal="plugin:a/builder#1",
        seat="worker",
        instruction="x",
        root=root,
        write=write,
        max_steps=2,
    )
    done = asyncio.run(Agents(workshop=shop).conduct(assignment, lambda _done: None))
    assert done.completed
    [offered] = [fact for fact in shop.telling.every if isinstance(fact, ToolsOffered)]
    reading = [t.contract.name for t in TOOLS if t.contract.trusted_read_only]
    every = [t.contract.name for t in shop.tools]
    assert [tool.name for tool in offered.tools] == (every if write else reading)
    where = root / "where"
    assert where.exists() == write
    assert not write or where.read_text() == f"{root}\n"
    shop.telling.journal.close()


def test_a_turn_that_is_cancelled_before_it_begins_is_told_to_be_over(tmp_path: Path) -> None:
    """[T-23, J2-44] While the copy it is to work in is measured."""
    shop = workshop(tmp_path)
    root = repository(tmp_path / "copy", {"a.txt": "a\n"}).resolve()
    ended: list[Done] = []

    async def go() -> None:
        assignment = Assignment(
            agent="t1.a1",
            parent="t1",
            round=0,
            principal="plugin:a/builder#1",
            seat="worker",
            instruction="x",
            root=root,
            write=True,
            max_steps=1,
        )
        introduced = asyncio.Event()

        def hear(_record: Record, fact: Fact) -> None:
            if isinstance(fact, ToolsOffered):
                introduced.set()

        shop.telling.listen(hear)
        agents = Agents(workshop=shop)
        conducting = asyncio.ensure_future(agents.conduct(assignment, ended.append))
        await introduced.wait()
        conducting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await conducting

    asyncio.run(go())
    over = shop.telling.every[-1]
    assert isinstance(over, SubagentFinished)
    assert (over.agent, over.status, over.steps) == ("t1.a1", "cancelled", 0)
    assert [done.end.status for done in ended] == [TurnStatus.CANCELLED]
    shop.telling.journal.close()
