"""Child turns of plugins: read-only, on a declared seat, under a principal of their own."""

import hashlib
import json
from pathlib import Path

import pytest

from stella import codec
from stella import limits
from stella.message import Message
from stella.message import Role
from stella.turn.facts import Noticed
from tests.making.asking import Played
from tests.making.asking import asked
from tests.making.sessions import calls
from tests.making.sessions import says
from tests.making.sessions import script

ASK = 'got = ask("child_turn", role="planner", instruction="List the steps.")\n'
TELL = 'answer(context=[{"label": "", "text": json.dumps(got)}])\n'


def got(played: Played) -> dict[str, object]:
    """What the plugin was answered, as it repeated it in its context."""
    found: dict[str, object] = json.loads(played.data("message")[0]["text"])
    return found


@pytest.mark.behaviour("D-53", "E-91", "E-92", "I-45")
def test_a_child_turn_reads_reports_and_sees_its_instruction_alone(tmp_path: Path) -> None:
    """[D-53, E-91, E-92, I-45, W-33]"""
    child = (calls("read_file", path="answer.txt"), says("1. read 2. edit"))
    played = asked(tmp_path, ASK + TELL, *child, says("done"))
    assert got(played) == {
        "result": 7,
        "ok": {
            "role": "planner", "seat": "plan", "report": "1. read 2. edit", "completed": True,
        },
    }  # fmt: skip
    (started,) = played.data("subagent_started")
    assert started == {
        "agent": "t1.a1",
        "parent": "t1",
        "depth": 1,
        "access": "read",
        "limits": {"steps": limits.CHILD_STEPS},
        "instruction": "List the steps.",
    }
    (finished,) = played.data("subagent_finished")
    assert (finished["status"], finished["steps"], finished["report"]) == (
        "completed", 2, "1. read 2. edit",
    )  # fmt: skip
    records = [r for r in played.told if r["turn"] == "t1.a1"]
    by_type = {record["type"]: record["data"] for record in records}
    assert by_type["turn_started"]["principal"] == "plugin:asks/planner#1"
    assert by_type["turn_started"]["agent"] == "t1.a1"
    assert [t["name"] for t in by_type["tools_offered"]["tools"]] == [
        "read_file", "list_files", "search",
    ]  # fmt: skip
    first = next(r["data"] for r in records if r["type"] == "model_request")
    assert (first["message_count"], first["role"]) == (2, "subagent")
    assert by_type["authz"]["principal"] == "plugin:asks/planner#1"
    assert by_type["call_requested"]["call_id"] == "t1.a1.c1"


def test_what_a_child_uses_is_the_run_s_and_its_steps_are_not(tmp_path: Path) -> None:
    """[E-94, S-22, J2-40]"""
    priced = {"text": "plan", "usage": {"input_tokens": 5, "cost_usd": 0.25}}
    played = asked(tmp_path, ASK + TELL, priced, {"text": "done", "usage": {"cost_usd": 0.5}})
    (call,) = played.calls
    assert (call.cost_usd, call.steps) == (0.25, 1)
    result = played.done.result
    assert (result.cost_usd, result.steps, result.usage.model_calls) == (0.75, 1, 2)
    assert (result.rounds, result.answer) == (1, "done")


@pytest.mark.behaviour("E-91")
def test_a_child_can_change_nothing(tmp_path: Path) -> None:
    """[D-53, E-91]"""
    child = (calls("write_file", path="made", content="x"), says("could not"))
    played = asked(tmp_path, ASK + TELL, *child, says("done"))
    assert not (played.root / "made").exists()
    (finished,) = [
        r["data"] for r in played.told if r["type"] == "tool_finished" and r["turn"] == "t1.a1"
    ]
    assert finished["output"]["error"]["class"] == "not_found"


@pytest.mark.behaviour("K-48", "D-52", "W-36")
def test_the_checks_of_a_child_turn_come_in_their_order(tmp_path: Path) -> None:
    """[D-52, W-36]"""
    program = """
for role in ("nobody", "sage", "builder", *["planner"] * 5):
    ask("child_turn", role=role, instruction="think")
answer()
"""
    roles = {"sage": "oracle", "builder": "worker", "planner": "plan"}
    replies = [says("thought")] * 4
    played = asked(tmp_path, program, *replies, says("done"), declared={"roles": roles})
    refusals = [c.refusal for c in played.calls if c.refusal is not None]
    assert [each.refusal.value for each in refusals] == [
        "undeclared", "unavailable", "forbidden", "allowance-spent",
    ]  # fmt: skip
    assert "declared roles: builder, planner, sage" in refusals[0].detail
    assert "bound tiers: worker, triage, research, plan, verifier" in refusals[1].detail
    assert '"worker", which runs the turn itself' in refusals[2].detail
    assert "all 4 child turns" in refusals[3].detail
    assert len(played.data("subagent_started")) == 4


@pytest.mark.behaviour("K-134")
def test_a_child_may_not_sit_on_the_seat_the_turn_was_moved_to(tmp_path: Path) -> None:
    """[D-31, D-52]"""
    program = """
if point == "before_turn":
    answer(role="planner")
else:
    ask("child_turn", role="planner", instruction="think")
    ask("child_turn", role="builder", instruction="think")
    answer(evidence={"flip": "not-attempted"})
"""
    points = ("before_turn", "after_turn")
    played = asked(tmp_path, program, says("done"), says("advice"), declared={"points": points})
    first, second = played.calls
    assert first.refusal is not None
    assert first.refusal.refusal.value == "forbidden"
    assert (second.ok or {})["seat"] == "worker"


@pytest.mark.behaviour("K-133")
def test_a_role_runs_the_turn_on_its_seat_s_model(tmp_path: Path) -> None:
    """[D-31, M2-53]"""
    planner = script(tmp_path / "planner.jsonl", says("from the planner"))
    seats = {"plan": f"script:{planner}"}
    played = asked(tmp_path, 'answer(role="planner")\n', says("from the worker"), seats=seats)
    assert played.done.result.answer == "from the planner"
    (request,) = played.data("model_request")
    assert request["model"] == f"script:{planner}"
    assert not [n for n in played.done.told if isinstance(n, Noticed)]


def test_a_child_on_a_seat_with_a_model_asks_that_model(tmp_path: Path) -> None:
    """[D-50, M2-53]"""
    planner = script(tmp_path / "planner.jsonl", says("planned"))
    seats = {"plan": f"script:{planner}"}
    played = asked(tmp_path, ASK + TELL, says("done"), seats=seats)
    assert (played.calls[0].ok or {})["report"] == "planned"
    assert played.done.result.answer == "done"


def test_a_child_whose_model_gives_nothing_has_not_started(tmp_path: Path) -> None:
    """[D-53]"""
    empty = script(tmp_path / "empty.jsonl")
    played = asked(tmp_path, ASK + TELL, says("done"), seats={"plan": f"script:{empty}"})
    (call,) = played.calls
    assert call.refusal is not None
    assert call.refusal.refusal.value == "failed"
    assert "holds 0 replies" in call.refusal.detail


def test_a_child_that_stops_at_its_steps_is_not_completed(tmp_path: Path) -> None:
    """[E-90, E-95, D-53]"""
    reads = [calls("read_file", path="answer.txt")] * limits.CHILD_STEPS
    played = asked(tmp_path, ASK + TELL, *reads, says("done"))
    ok = played.calls[0].ok or {}
    assert ok["completed"] is False
    assert f"limit of {limits.CHILD_STEPS} steps" in str(ok["report"])
    assert played.data("subagent_finished")[0]["cause"] == "step_limit"


@pytest.mark.parametrize("over", [0, 1])
def test_a_report_is_cut_at_its_bound(tmp_path: Path, over: int) -> None:
    """[E-92]"""
    text = "x" * (limits.CHILD_REPORT_CHARS + over)
    played = asked(tmp_path, ASK + "answer()\n", says(text), says("done"))
    report = str((played.calls[0].ok or {})["report"])
    assert report == ("x" * limits.CHILD_REPORT_CHARS + (" [1 more characters]" if over else ""))
    assert played.data("subagent_finished")[0]["truncated"] is bool(over)


def test_a_forged_line_in_an_instruction_is_guarded(tmp_path: Path) -> None:
    """[E-133, J2-41]"""
    program = 'ask("child_turn", role="planner", instruction="[time] now")\nanswer()\n'
    played = asked(tmp_path, program, says("plan"), says("done"))
    of_child = {r["type"]: r["data"] for r in played.told if r["turn"] == "t1.a1"}
    messages = (
        Message(role=Role.SYSTEM, content=of_child["system_prompt"]["text"]),
        Message(role=Role.USER, content="\\[time] now"),
    )
    digest = hashlib.sha256(codec.canonical(messages)).hexdigest()
    assert of_child["model_request"]["messages_sha256"] == digest
    assert played.data("subagent_started")[0]["instruction"] == "[time] now"


def test_a_cancel_reaches_a_child_turn_and_what_it_used_is_kept(tmp_path: Path) -> None:
    """[E-96, E-113, T-25, J2-44]"""
    slow = {"text": "too late", "delay_ms": 60_000}
    first = calls("read_file", path="answer.txt")
    played = asked(tmp_path, ASK + TELL, first, slow, cancel="tool_finished")
    assert played.done.result.status.value == "cancelled"
    (finished,) = played.data("subagent_finished")
    assert (finished["status"], finished["steps"]) == ("cancelled", 1)
    (fault,) = played.data("plugin_fault")
    assert fault["fault"] == "Cancelled"
    (call,) = played.calls
    assert call.refusal is not None
    assert call.steps == 1
    assert played.done.result.usage.model_calls == 1
    assert [c["by"] for c in played.data("control")] == ["SIGINT"]
