"""steering-plan: a plan made on another seat stands in the first turn, and only there."""

import json
from pathlib import Path

import pytest

from tests.making.ends import HONEST
from tests.making.ends import Json
from tests.making.ends import Place
from tests.making.ends import granted
from tests.making.ends import place
from tests.making.ends import says
from tests.making.ends import works
from tests.making.examples import EXAMPLES
from tests.making.examples import asked
from tests.making.examples import context
from tests.making.examples import played
from tests.making.examples import refused
from tests.making.examples import request
from tests.making.examples import said
from tests.making.examples import served
from tests.making.plugins import arbiter

NAME = "steering-plan"
EMPTY = {"point": "before_turn", "body": {"protocol_version": 1}}


def planned(folder: Path) -> Place:
    where = place(folder)
    where.install(EXAMPLES / NAME)
    return where


def planner(where: Place, *replies: Json) -> tuple[str, ...]:
    """The flags that give the tier `plan` a scripted model of its own."""
    path = where.root.parent / "planner.jsonl"
    path.write_text("".join(json.dumps(reply) + "\n" for reply in replies), "utf-8")
    return ("--tier", f"plan=script:{path}")


def test_the_plan_of_another_model_stands_in_the_turn(tmp_path: Path) -> None:
    """[D-30, D-53]"""
    where = planned(tmp_path)
    where.scripted(says("Done."))
    result = played(where, "--pipeline", NAME, *planner(where, says("1. Write answer.txt.")))
    assert (result["status"], result["faults"]) == ("completed", [])
    (text,) = context(where)
    assert text.startswith("## a plan\n\nMade by another model that only read the workspace.")
    assert text.endswith("\n\n1. Write answer.txt.")
    (started,) = where.told("subagent_started")
    assert (started["access"], started["instruction"].endswith("The work: go")) == ("read", True)


def test_a_held_round_is_not_planned_again(tmp_path: Path) -> None:
    """[D-45] One child turn is spent in two rounds."""
    where = planned(tmp_path)
    where.install(arbiter(tmp_path / "judge", HONEST))
    where.scripted(works("41"), says("There."), works("42"), says("Now."))
    plan = planner(where, says("1. Write 42."))
    result = played(where, *granted(f"{NAME},judge"), *plan)
    assert (result["status"], result["rounds"]) == ("met", 2)
    assert served(where) == [("child_turn", "ok")]
    assert len(context(where)) == 1


def test_a_planner_that_does_not_answer_is_asked_twice_and_done_without(tmp_path: Path) -> None:
    """[D-53, W-37]"""
    where = planned(tmp_path)
    where.scripted(says("Done."))
    result = played(where, "--pipeline", NAME, *planner(where))
    assert (result["status"], result["faults"]) == ("completed", [])
    assert served(where) == [("child_turn", "failed")] * 2
    assert context(where) == []


def test_a_planner_on_the_seat_of_the_turn_is_done_without(tmp_path: Path) -> None:
    """[D-52, S2-26] The person bound the tier to the seat that does the work."""
    where = planned(tmp_path)
    where.home.mkdir(exist_ok=True)
    (where.home / "stella.toml").write_text('[pipeline.tiers]\nplan = "worker"\n', "utf-8")
    where.scripted(says("Done."))
    result = played(where, "--pipeline", NAME)
    assert (result["status"], result["faults"]) == ("completed", [])
    assert (served(where), context(where)) == ([("child_turn", "forbidden")], [])


@pytest.mark.behaviour("W-35")
@pytest.mark.parametrize(
    "word", ["forbidden", "unsupported", "allowance-spent", "unavailable", "tomorrow"]
)
def test_a_refusal_that_will_not_change_is_taken_once(word: str) -> None:
    """[W-35, W-37]"""
    call, answer = said(asked(NAME, request("before_turn"), refused(1, word)))
    assert (call["call"], answer) == ("child_turn", EMPTY)


def test_a_turn_that_broke_off_is_tried_once_more() -> None:
    """[W-35]"""
    ok = {"role": "planner", "seat": "plan", "report": "1. go", "completed": True}
    lines = (request("before_turn"), refused(1, "failed"), {"result": 2, "ok": ok})
    first, second, answer = said(asked(NAME, *lines))
    assert (first["id"], second["id"], first["args"]) == (1, 2, second["args"])
    assert answer["body"]["context"][0]["text"].endswith("1. go")


def test_a_mistake_of_the_package_is_said_aloud() -> None:
    """[W-29, W-35] The manifest does not list what the program asks for."""
    done = asked(NAME, request("before_turn"), refused(1, "undeclared"))
    assert done.returncode == 1
    assert done.stdout.count(b"\n") == 1, "the call and no answer"
    assert done.stderr == b'steering-plan: child_turn was refused: "because"\n'


@pytest.mark.parametrize(("report", "completed"), [("half a plan", False), (" \n", True)])
def test_what_is_no_plan_is_not_given_as_one(report: str, *, completed: bool) -> None:
    """[D-53, E-95]"""
    ok = {"role": "planner", "seat": "plan", "report": report, "completed": completed}
    _, answer = said(asked(NAME, request("before_turn"), {"result": 1, "ok": ok}))
    assert answer == EMPTY


def test_a_long_plan_and_a_long_goal_are_cut() -> None:
    ok = {"role": "planner", "seat": "plan", "report": "x" * 9000, "completed": True}
    line = request("before_turn", goal="g" * 9000)
    call, answer = said(asked(NAME, line, {"result": 1, "ok": ok}))
    assert call["args"]["instruction"].count("g" * 4000) == 1
    assert "g" * 4001 not in call["args"]["instruction"]
    assert len(answer["body"]["context"][0]["text"]) == 4000
