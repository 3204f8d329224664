"""Facts and the events they make, one by one; that they fire in a run is shown in tests/ends."""

from typing import Any

import pytest

from stella.manifest.events import CATALOGUE
from stella.message import ErrorClass
from stella.message import Output
from stella.message import ToolCall
from stella.message import Usage
from stella.message import failed
from stella.message import succeeded
from stella.turn.events import NAMES
from stella.turn.events import RunEvents
from stella.turn.facts import Baselined
from stella.turn.facts import BoundMember
from stella.turn.facts import CallJudged
from stella.turn.facts import CallRequested
from stella.turn.facts import Cause
from stella.turn.facts import Emitted
from stella.turn.facts import Fact
from stella.turn.facts import FileChanged
from stella.turn.facts import MessageAppended
from stella.turn.facts import ModelFailed
from stella.turn.facts import ModelReplied
from stella.turn.facts import ModelRequested
from stella.turn.facts import Noticed
from stella.turn.facts import PipelineBound
from stella.turn.facts import Prompted
from stella.turn.facts import ToolFinished
from stella.turn.facts import ToolStarted
from stella.turn.facts import TraceRow
from stella.turn.facts import TurnEnded
from stella.turn.facts import TurnStarted
from stella.turn.facts import TurnStatus
from stella.turn.facts import UsageTotal
from stella.verdict.rule import VerdictRule
from stella.wire.grant import TestBaseline

Rows = list[tuple[str, dict[str, Any]]]


def told(*facts: Fact, turn: str | None = "t1") -> Rows:
    """The events of facts in their order."""
    run = RunEvents(workspace="/w")
    return [(each.name, each.payload) for fact in facts for each in run.of(turn, fact)]


def names(*facts: Fact) -> list[str]:
    return [name for name, _ in told(*facts)]


def requested(step: int = 0, model: str = "m") -> ModelRequested:
    return ModelRequested(
        step=step, role="worker", model=model, message_count=1, messages_sha256="", tools_sha256=""
    )


def replied(text: str = "", calls: int = 0, step: int = 0, finish: str = "stop") -> ModelReplied:
    return ModelReplied(
        step=step,
        model="m",
        text=text,
        tool_calls=(ToolCall(name="bash", input={}),) * calls,
        finish_reason=finish,
        usage=Usage(reported=True, input_tokens=3, output_tokens=4),
        duration_ms=1,
    )


def asked(tool: str = "bash", number: int = 1, **given: Any) -> CallRequested:
    return CallRequested(call_id=f"t1.c{number}", tool=tool, input=given)


def judged(tool: str = "bash", decision: str = "allow", **more: Any) -> CallJudged:
    row = TraceRow(rule="mode all", source="mode", matched=True, contribution="x", deciding=True)
    values = {"call_id": "t1.c1", "principal": "user", "risk": "high", "trace": (row,)} | more
    return CallJudged(tool=tool, decision=decision, **values)


def started(tool: str = "bash") -> ToolStarted:
    return ToolStarted(call_id="t1.c1", tool=tool, read_only=False)


def finished(output: Output, tool: str = "bash", number: int = 1) -> ToolFinished:
    return ToolFinished(call_id=f"t1.c{number}", tool=tool, input={}, output=output, duration_ms=5)


def ended(status: TurnStatus = TurnStatus.COMPLETED, cause: Cause | None = None) -> TurnEnded:
    return TurnEnded(
        status=status, cause=cause, stop_gate="not_asked", steps=1, usage=UsageTotal(), text="over"
    )


def test_every_name_is_one_of_the_catalogue_and_stands_once() -> None:
    """[H-10]"""
    assert set(NAMES) <= set(CATALOGUE)
    assert len(set(NAMES)) == len(NAMES)


def test_a_fact_without_a_name_is_silent() -> None:
    """[H-10]"""
    assert told(Noticed(code="c", text="t")) == []


def test_what_a_plugin_emits_keeps_its_name_and_payload() -> None:
    """[H-21, D-75]"""
    assert told(Emitted(name="plugin.p.a.b", payload={"n": 1})) == [("plugin.p.a.b", {"n": 1})]


def test_a_turn_begins_and_ends() -> None:
    """[E-10, E-14]"""
    begun = TurnStarted(round=2, principal="user", max_steps=9)
    assert told(begun, ended()) == [
        (
            "agent.turn.started",
            {"turn_id": "t1", "round": 2, "max_steps": 9, "principal": "user"},
        ),
        ("agent.turn.completed", {"status": "completed", "steps": 1, "cost_usd": None}),
    ]


def test_a_failed_turn_is_an_error_first() -> None:
    assert told(ended(TurnStatus.FAILED, Cause.PROVIDER)) == [
        ("agent.error", {"cause": "provider", "message": "over"}),
        (
            "agent.turn.completed",
            {"status": "failed", "cause": "provider", "steps": 1, "cost_usd": None},
        ),
    ]


@pytest.mark.parametrize(
    ("status", "cause", "calls_open", "outcome"),
    [
        (TurnStatus.COMPLETED, None, False, "done"),
        (TurnStatus.STOPPED, Cause.STEP_LIMIT, False, "continue"),
        (TurnStatus.STOPPED, Cause.STEP_LIMIT, True, "aborted"),
        (TurnStatus.STOPPED, Cause.MONEY_LIMIT, False, "aborted"),
        (TurnStatus.FAILED, Cause.PROVIDER, False, "aborted"),
        (TurnStatus.CANCELLED, Cause.CANCEL, False, "aborted"),
    ],
)
def test_the_last_step_of_a_turn_has_an_outcome(
    status: TurnStatus, cause: Cause | None, calls_open: bool, outcome: str
) -> None:
    """[E-12 item 16]"""
    rows = told(requested(), replied("x", calls=int(calls_open)), ended(status, cause))
    assert ("agent.step.completed", {"step": 0, "outcome": outcome}) in rows


def test_a_step_follows_another_and_an_attempt_is_none() -> None:
    """[E-12]"""
    rows = told(requested(), requested(), replied("x"), requested(1), ended())
    assert [(name, row["step"]) for name, row in rows if name.startswith("agent.step")] == [
        ("agent.step.started", 0),
        ("agent.step.completed", 0),
        ("agent.step.started", 1),
        ("agent.step.completed", 1),
    ]
    assert [name for name, _ in rows].count("model.request.started") == 3


def test_turns_that_overlap_keep_their_steps_apart() -> None:
    """[H-3]"""
    run = RunEvents(workspace="/w")
    for turn in ("t1", "t1.a1"):
        assert next(e.name for e in run.of(turn, requested())) == "agent.step.started"
    (ends, _) = run.of("t1.a1", ended())
    assert ends.name == "agent.step.completed"
    assert [each.name for each in run.of("t1.a1", ended())] == ["agent.turn.completed"]
    assert next(e.name for e in run.of("t1", ended())) == "agent.step.completed"


def test_a_model_call_is_told_with_what_it_used() -> None:
    assert told(requested(), replied("four"))[1:] == [
        ("model.request.started", {"step": 0, "role": "worker", "model": "m"}),
        (
            "model.request.completed",
            {
                "step": 0,
                "role": "worker",
                "model": "m",
                "usage": {"reported": True, "input_tokens": 3, "output_tokens": 4},
                "cost_usd": None,
                "tool_calls": 0,
            },
        ),
        ("transcript.entry.created", {"role": "assistant", "origin": "model", "chars": 4}),
        ("agent.message.completed", {"step": 0, "chars": 4}),
    ]


@pytest.mark.parametrize(
    ("reply", "appended"),
    [
        (replied("x"), True),
        (replied(" \n"), False),
        (replied("x", finish="content_filter"), False),
        (replied("", calls=1), True),
        (replied("x", calls=1, finish="content_filter"), True),
    ],
)
def test_a_reply_that_is_not_appended_is_no_entry(reply: ModelReplied, appended: bool) -> None:
    """[E-30]"""
    found = names(requested(), reply)
    assert ("transcript.entry.created" in found) is appended
    assert ("agent.message.completed" in found) is (appended and reply.text != "")


def test_an_attempt_that_failed_says_why() -> None:
    """[E-62]"""
    broken = ModelFailed(step=0, attempt=1, kind="transport", message="m")
    limited = ModelFailed(step=0, attempt=2, kind="rate_limited", message="m", delay_ms=70)
    assert told(broken, limited) == [
        ("model.request.failed", {"kind": "transport", "attempt": 1}),
        ("model.request.failed", {"kind": "rate_limited", "attempt": 2, "delay_ms": 70}),
        ("model.rate_limited", {"retry_after_ms": 70}),
    ]


def test_messages_of_the_person_and_of_others_are_entries() -> None:
    """[J2-42]"""
    message = MessageAppended(role="user", origin="plugin:p", label="l", text="abc")
    assert told(Prompted(text="\N{CHECK MARK}", source="run"), message) == [
        ("transcript.entry.created", {"role": "user", "origin": "person", "chars": 1}),
        ("transcript.entry.created", {"role": "user", "origin": "plugin:p", "chars": 3}),
    ]


def test_the_results_of_a_reply_are_one_entry() -> None:
    """[E-22]"""
    rows = told(
        requested(),
        replied(calls=2),
        finished(succeeded("abc")),
        finished(failed(ErrorClass.NOT_FOUND, "no"), number=2),
    )
    assert rows[-1] == ("transcript.entry.created", {"role": "tool", "origin": "tool", "chars": 5})
    assert [row for _, row in rows if row.get("role") == "tool"] == [rows[-1][1]]


def test_an_allowed_call_is_judged_and_validated() -> None:
    """[H-60, A-37]"""
    assert told(asked(command="ls"), judged(chain=("p",))) == [
        ("tool.call.requested", {"tool": "bash", "input": {"command": "ls"}}),
        (
            "policy.evaluated",
            {
                "tool": "bash",
                "principal": "user",
                "decision": "allow",
                "modified": True,
                "consulted": ["mode all"],
            },
        ),
        ("policy.allowed", {"tool": "bash"}),
        ("tool.call.validated", {"tool": "bash", "call_id": "t1.c1"}),
    ]


def test_a_refused_call_is_blocked_and_has_no_life() -> None:
    """[E-28]"""
    refused = failed(ErrorClass.REFUSED_BY_POLICY, "no", "mode")
    rows = told(asked(), judged(decision="deny", cause="mode"), finished(refused))
    assert [name for name, _ in rows] == [
        "tool.call.requested",
        "policy.evaluated",
        "policy.blocked",
    ]
    assert rows[-1][1] == {"tool": "bash", "cause": "mode"}


def test_a_call_that_is_none_is_not_requested() -> None:
    """[E-23] Neither an unknown tool nor arguments that are no object reach the gate."""
    raw = CallRequested(call_id="t1.c1", tool="bash", raw="{")
    assert told(raw, finished(failed(ErrorClass.INVALID_INPUT, "no"))) == []
    assert told(raw, judged())[0] == ("tool.call.requested", {"tool": "bash", "input": "{"})
    empty = CallRequested(call_id="t1.c1", tool="bash")
    assert told(empty, judged())[0][1]["input"] == ""


@pytest.mark.parametrize(
    ("output", "name", "more"),
    [
        (succeeded("x"), "completed", {"ok": True}),
        (failed(ErrorClass.TIMEOUT, "x"), "failed", {"ok": False, "class": "timeout"}),
        (failed(ErrorClass.CANCELLED, "x"), "cancelled", {"ok": False, "class": "cancelled"}),
    ],
)
def test_a_call_that_ran_has_one_end(output: Output, name: str, more: dict[str, Any]) -> None:
    """[E-22]"""
    rows = told(asked("search"), started("search"), finished(output, "search"))
    assert rows == [
        ("tool.call.started", {"tool": "search", "call_id": "t1.c1"}),
        (
            f"tool.call.{name}",
            {"tool": "search", "call_id": "t1.c1", "duration_ms": 5} | more,
        ),
    ]


@pytest.mark.parametrize(
    ("output", "name", "more"),
    [
        (succeeded("", {"exit_code": 0, "signal": None}), "completed", {"exit_code": 0}),
        (succeeded("", {"exit_code": 2, "signal": None}), "failed", {"exit_code": 2}),
        (succeeded("", {"exit_code": None, "signal": 9}), "failed", {"signal": 9}),
        (failed(ErrorClass.TIMEOUT, "", data={"signal": 9}), "failed", {"signal": 9}),
        (failed(ErrorClass.CANCELLED, ""), "failed", {}),
    ],
)
def test_a_command_runs_inside_its_call(output: Output, name: str, more: dict[str, Any]) -> None:
    rows = told(asked(command="ls"), started(), finished(output))
    assert rows[1] == ("command.started", {"command": "ls", "cwd": "/w"})
    assert rows[2] == (f"command.{name}", {"duration_ms": 5} | more)
    assert rows[3][0].startswith("tool.call.")


@pytest.mark.parametrize("given", [{}, {"command": 7}])
def test_a_command_that_is_no_text_is_empty(given: dict[str, Any]) -> None:
    rows = told(asked(**given), started())
    assert rows[1][1]["command"] == ""
    assert told(started())[1][1]["command"] == ""


def test_files_that_were_shown_are_told() -> None:
    files = [
        {"path": "a", "lines": 3},
        {"path": "b", "binary": True},
        {"path": "c", "error": {"class": "not_found"}},
    ]
    rows = told(started("read_file"), finished(succeeded("", {"files": files}), "read_file"))
    assert rows[1:-1] == [("file.read", {"path": "a", "lines": 3})]


def test_changes_are_told_and_summed_up_per_call() -> None:
    """[T2-50, T2-56]"""
    made = FileChanged(path="a", kind="created", added=2, removed=0, by="t1.c1")
    gone = FileChanged(path="b", kind="deleted", by="t1.c1")
    back = FileChanged(path="c", kind="restored", by="t1")
    rows = told(
        asked("write_file"), started("write_file"), made, gone, finished(succeeded("")), back
    )
    assert [row for row in rows if row[0].startswith("file")] == [
        ("file.diff.computed", {"path": "a", "kind": "created", "added": 2, "removed": 0}),
        ("file.diff.computed", {"path": "b", "kind": "deleted"}),
        ("files_touched.updated", {"paths": ["a", "b"]}),
        ("file.diff.computed", {"path": "c", "kind": "restored"}),
    ]


@pytest.mark.parametrize(
    ("given", "paths"),
    [
        ({"path": ".env"}, [".env"]),
        ({"path": "a/.ENV.local"}, ["a/.ENV.local"]),
        ({"path": "a/my-Secrets.txt"}, ["a/my-Secrets.txt"]),
        ({"path": "credentials/"}, ["credentials/"]),
        ({"path": "k/id_rsa"}, ["k/id_rsa"]),
        ({"path": "id_ed25519"}, ["id_ed25519"]),
        ({"path": ".netrc"}, [".netrc"]),
        ({"path": ".npmrc"}, [".npmrc"]),
        ({"path": ".pypirc"}, [".pypirc"]),
        ({"path": "a.pem"}, ["a.pem"]),
        ({"path": "a.key"}, ["a.key"]),
        ({"files": [{"path": "x.key"}, "y.key", "x.key", 7]}, ["x.key", "y.key"]),
        ({"edits": [{"path": ".env"}], "path": "plain"}, [".env"]),
        ({"path": "monkey.py"}, []),
        ({"path": "id_rsa.pub"}, []),
        ({"path": "environment"}, []),
        ({"path": 7, "files": {"a": 1}}, []),
    ],
)
def test_a_path_that_holds_secrets_is_told(given: dict[str, Any], paths: list[str]) -> None:
    """[H-42]"""
    rows = told(asked("read_file", **given), judged("read_file"))
    found = [row for name, row in rows if name == "sensitive_operation.detected"]
    assert found == [{"tool": "read_file", "path": path} for path in paths]


def test_what_hooks_made_of_a_call_is_what_an_observer_hears_of_it() -> None:
    """[H-20, H-42, H-60] The request is the model's; what runs is what hooks left."""
    chain = ({"by": "plugin:a", "before": "1", "after": "2"},)
    rows = told(asked(command="ls"), judged(chain=chain, given={"command": "ls -a"}), started())
    assert rows[0] == ("tool.call.requested", {"tool": "bash", "input": {"command": "ls"}})
    assert rows[-1] == ("command.started", {"command": "ls -a", "cwd": "/w"})
    rows = told(
        asked("read_file", path="a.pem"),
        judged("read_file", chain=chain, given={"files": [{"path": "a.pem"}, {"path": ".env"}]}),
    )
    found = [row["path"] for name, row in rows if name == "sensitive_operation.detected"]
    assert found == ["a.pem", ".env"]


def bound(**signals: bool) -> PipelineBound:
    member = BoundMember(name="judge", wrapper="judge", grade="arbiter", digest="", rule_sha256="")
    return PipelineBound(
        variant="judge", members=(member,), rule=VerdictRule(), max_holds=2, signals=dict(signals)
    )


def baselined(baseline: TestBaseline, code: int | None = None) -> Baselined:
    return Baselined(
        program="p",
        args=(),
        baseline=baseline,
        reason="why",
        exit_code=code,
        duration_ms=1,
        watched=(),
        complete=True,
    )


@pytest.mark.parametrize(
    ("fact", "end"),
    [
        (
            baselined(TestBaseline.PASSED, 0),
            ("test.completed", {"side": "baseline", "exit_code": 0, "reason": "why"}),
        ),
        (
            baselined(TestBaseline.FAILED, 1),
            ("test.completed", {"side": "baseline", "exit_code": 1, "reason": "why"}),
        ),
        (
            baselined(TestBaseline.UNOBSERVED),
            ("test.failed", {"side": "baseline", "reason": "why"}),
        ),
    ],
)
def test_the_granted_test_begins_and_ends(fact: Baselined, end: tuple[str, Any]) -> None:
    """[G-20]"""
    assert told(bound(**{"test-command": True}), fact) == [
        ("extension.loaded", {"kind": "plugin", "name": "judge"}),
        ("test.started", {"side": "baseline"}),
        end,
    ]


def test_without_a_test_none_begins() -> None:
    """[G-12]"""
    rows = told(bound(**{"test-command": False}), baselined(TestBaseline.NOT_RUN))
    assert [name for name, _ in rows] == ["extension.loaded"]
