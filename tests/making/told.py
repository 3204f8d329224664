"""Examples of what is told without being asked: hooks, what they decide, and events.

Every hook and every kind of line once at least, with all its keys; the corpus holds them.
"""

from typing import Any
from typing import Final

from stella import limits
from stella.wire.event import Dropped
from stella.wire.event import Event
from stella.wire.event import EventLine
from stella.wire.hook import Action
from stella.wire.hook import Allow
from stella.wire.hook import Decision
from stella.wire.hook import Deny
from stella.wire.hook import DenyEvidence
from stella.wire.hook import Modify
from stella.wire.hook import RequireApproval
from stella.wire.hook import SeenFlip
from stella.wire.occasion import Called
from stella.wire.occasion import Occasion
from stella.wire.occasion import PostToolUse
from stella.wire.occasion import PreCompact
from stella.wire.occasion import PreToolUse
from stella.wire.occasion import Scene
from stella.wire.occasion import SessionEnd
from stella.wire.occasion import SessionStart
from stella.wire.occasion import Stop
from stella.wire.occasion import SubagentStart
from stella.wire.occasion import SubagentStop
from stella.wire.occasion import TurnEnd
from stella.wire.occasion import TurnError
from stella.wire.occasion import TurnStart
from stella.wire.occasion import UserPromptSubmit

_SCENE: Final = Scene(cwd="/home/dev/shop", session_id="ses-1")
_TURN: Final = Scene(cwd="/home/dev/shop", session_id="ses-1", turn_id="t1")
_CALL: Final = Scene(cwd="/home/dev/shop", session_id="ses-1", turn_id="t1", call_id="t1.c4")
_CHILD: Final = Scene(cwd="/home/dev/shop", session_id="ses-1", turn_id="t1.a1", agent_id="t1.a1")
_PUSH: Final = Called(name="bash", input={"command": "git push"}, read_only=False)


OCCASIONS: Final[dict[str, tuple[Scene, Occasion]]] = {
    "SessionStart": (_SCENE, SessionStart(source="new")),
    "SessionEnd": (_SCENE, SessionEnd(status="met", turns=2, cost_usd=0.25)),
    "SessionEnd of unknown cost": (_SCENE, SessionEnd(status="cancelled", turns=0)),
    "UserPromptSubmit": (_SCENE, UserPromptSubmit(prompt="make the date parser accept ISO weeks")),
    "TurnStart": (_TURN, TurnStart(round=0, prompt="make the date parser accept ISO weeks")),
    "TurnEnd": (
        _TURN,
        TurnEnd(
            final_text="Weeks parse now.",
            status="stopped",
            cause="step_limit",
            steps=7,
            cost_usd=0.25,
            changed_files=("src/week.py",),
        ),
    ),
    "TurnEnd that was not measured": (
        _TURN,
        TurnEnd(final_text="", status="completed", steps=1),
    ),
    "TurnError": (
        _TURN,
        TurnError(cause="provider", error="the model gave no reply", steps=1, cost_usd=0.0),
    ),
    "PreToolUse": (_CALL, PreToolUse(tool=_PUSH)),
    "PostToolUse": (
        _CALL,
        PostToolUse(
            tool=Called(name="bash", input={"command": "git push --dry-run"}, read_only=False),
            tool_result="exit 1",
            ok=False,
            error_class="tool_failed",
            duration_ms=412,
            input_before={"command": "git push"},
        ),
    ),
    "PostToolUse that went well": (
        _CALL,
        PostToolUse(tool=_PUSH, tool_result="", ok=True, duration_ms=limits.U64_MAX),
    ),
    "SubagentStart": (
        _CHILD,
        SubagentStart(parent_id="t1", depth=1, access="read", instruction="List the steps."),
    ),
    "SubagentStop": (
        _CHILD,
        SubagentStop(status="completed", steps=3, cost_usd=0.01, report="1. read 2. edit"),
    ),
    "Stop": (
        _TURN,
        Stop(final_text="Weeks parse now.", holds_spent=1, holds_allowed=2, last=False),
    ),
    "PreCompact": (
        _TURN,
        PreCompact(estimate_tokens=190_000, budget_tokens=180_000, span_messages=64),
    ),
}
"""Every hook with all its keys, and some with the least."""

_DENY: Final[dict[str, Any]] = {"action": Action.DENY, "reason": "the witness still fails"}
DECISIONS: Final[dict[str, Decision]] = {
    "decision PreToolUse allow": Allow(action=Action.ALLOW),
    "decision PreToolUse modify": Modify(
        action=Action.MODIFY, payload={"input": {"command": "git push --dry-run"}}
    ),
    "decision PreToolUse deny": Deny(action=Action.DENY, reason="pushes need a review"),
    "decision PreToolUse require_approval": RequireApproval(
        action=Action.REQUIRE_APPROVAL, reason="this reaches a remote"
    ),
    "decision PreCompact modify": Modify(
        action=Action.MODIFY, payload={"instructions": "keep the names"}
    ),
    **{
        f"decision Stop deny {flip.value}": Deny(
            **_DENY,
            evidence=DenyEvidence(
                witness="tests/test_week.py",
                command=("pytest", "-q"),
                flip=flip,
                digest="sha256:9f2c",
            ),
        )
        for flip in SeenFlip
    },
    "decision Stop deny without its evidence": Deny(**_DENY, evidence=DenyEvidence()),
}
"""What a hook may answer; a case names the hook that is answered."""

_EVENT: Final[dict[str, Any]] = {
    "id": "evt_ses-1_42",
    "timestamp": "2025-03-04T10:11:12.345Z",
    "session_id": "ses-1",
}
EVENTS: Final[dict[str, EventLine]] = {
    "event": Event(
        **_EVENT,
        name="tool.call.completed",
        turn_id="t1",
        sequence=42,
        payload={"tool": "bash", "ok": True, "share": 1.5},
    ),
    "event of an agent": Event(
        **_EVENT, name="x", turn_id="t1.a1", agent_id="t1.a1", sequence=1, payload={}
    ),
    "event outside turns": Event(
        **_EVENT, name="session.started", sequence=limits.U64_MAX, payload={}
    ),
    "dropped": Dropped(dropped=3),
}
