"""What a session's own facts are called on the bus [H-20]."""

from typing import Any

import pytest

from stella.manifest.events import CATALOGUE
from stella.session.events import NAMES
from stella.session.events import SessionEvents
from stella.session.events import closing_name
from stella.session.facts import OfferedTool
from stella.session.facts import PromptPart
from stella.session.facts import SessionClosed
from stella.session.facts import SessionOpened
from stella.session.facts import SystemPrompt
from stella.session.facts import ToolsOffered
from stella.turn.facts import CallRequested
from stella.turn.facts import Cause
from stella.turn.facts import Controlled
from stella.turn.facts import Fact
from stella.turn.facts import RunStatus
from stella.turn.facts import ToolStarted
from stella.turn.facts import TurnEnded
from stella.turn.facts import TurnStatus
from stella.turn.facts import UsageTotal

OPENED = SessionOpened(
    schema=1,
    session="ses-1",
    stella="1",
    workspace="/w",
    workspace_id="0",
    surface="cli",
    settings=(),
    model="m",
    model_source="flag",
    tiers={},
    prices={},
    mode="workspace",
    mode_source="default",
    limits={},
    trusted=False,
)
FAILED = TurnEnded(
    status=TurnStatus.FAILED,
    cause=Cause.PROVIDER,
    stop_gate="not_asked",
    steps=1,
    usage=UsageTotal(),
    text="x",
)


def told(*facts: Fact) -> list[tuple[str, dict[str, Any]]]:
    """The events of facts, each told 250 ms after the one before."""
    session = SessionEvents()
    return [
        (each.name, each.payload)
        for number, fact in enumerate(facts)
        for each in session.of(None, fact, f"2026-08-11T14:22:{number // 4:02}.{number % 4 * 25}0Z")
    ]


def closed(status: RunStatus) -> SessionClosed:
    return SessionClosed(status=status, turns=2, usage=UsageTotal(), cost_usd=0.5)


def test_every_name_is_one_of_the_catalogue() -> None:
    """[H-10]"""
    assert set(NAMES) <= set(CATALOGUE)


def test_a_session_opens() -> None:
    prompt = SystemPrompt(sha256="0", text="abc", parts=(PromptPart(name="base", chars=3),))
    tool = OfferedTool(
        name="bash", origin="builtin", risk="high", read_only=False, description="", input_schema={}
    )
    assert told(OPENED, prompt, ToolsOffered(tools=(tool,))) == [
        ("session.created", {"mode": "workspace", "model": "m", "workspace": "/w"}),
        ("workspace.opened", {"root": "/w", "trusted": False}),
        ("transcript.entry.created", {"role": "system", "origin": "system", "chars": 3}),
        ("session.started", {"source": "new"}),
        (
            "tool.registered",
            {"tool": "bash", "provenance": "builtin", "risk": "high", "origin": "builtin"},
        ),
    ]


def test_commands_run_in_the_workspace_of_the_session() -> None:
    call = CallRequested(call_id="t1.c1", tool="bash", input={"command": "ls"})
    rows = told(OPENED, call, ToolStarted(call_id="t1.c1", tool="bash", read_only=False))
    assert rows[-1] == ("command.started", {"command": "ls", "cwd": "/w"})


@pytest.mark.parametrize("status", RunStatus)
def test_a_session_closes_with_one_event(status: RunStatus) -> None:
    ((name, _),) = told(closed(status))
    assert name == closing_name(status)
    special = {RunStatus.FAILED: "failed", RunStatus.CANCELLED: "cancelled"}
    assert name == f"session.{special.get(status, 'completed')}"


def test_a_failed_session_has_the_cause_of_its_last_turn() -> None:
    """[E-120]"""
    assert told(FAILED, closed(RunStatus.FAILED))[-1] == (
        "session.failed",
        {"turns": 2, "cost_usd": 0.5, "cause": "provider"},
    )
    assert told(closed(RunStatus.FAILED))[-1][1] == {"turns": 2, "cost_usd": 0.5}
    assert told(FAILED, closed(RunStatus.MET))[-1][1] == {"turns": 2, "cost_usd": 0.5}
    fine = TurnEnded(
        status=TurnStatus.COMPLETED, stop_gate="not_asked", steps=1, usage=UsageTotal(), text=""
    )
    assert "cause" not in told(FAILED, fine, closed(RunStatus.FAILED))[-1][1]


def test_a_cancelled_session_says_by_whom_and_how_long_it_took() -> None:
    """[E-113]"""
    cancel = Controlled(verb="cancel", by="SIGINT")
    assert told(cancel, FAILED, closed(RunStatus.CANCELLED)) == [
        ("session.cancel_requested", {"by": "SIGINT"}),
        ("agent.error", {"cause": "provider", "message": "x"}),
        (
            "agent.turn.completed",
            {"status": "failed", "cause": "provider", "steps": 1, "cost_usd": None},
        ),
        ("session.cancelled", {"by": "SIGINT", "waited_ms": 500}),
    ]
    assert told(closed(RunStatus.CANCELLED)) == [("session.cancelled", {})]


def test_another_control_is_no_cancel() -> None:
    assert told(Controlled(verb="steer", by="user")) == []
