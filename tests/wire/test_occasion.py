"""The payloads of hooks: one line each, keys in one order, nothing that is null [W-38, H-58]."""

import json
from typing import Any

import pytest

from stella.codec import JsonFault
from stella.codec import Refused
from stella.codec import decode
from stella.wire.occasion import OCCASIONS
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
from stella.wire.occasion import read_payload
from stella.wire.occasion import write_payload
from stella.wire.points import Hook

BASH = Called(name="bash", input={"command": "git push"}, read_only=False)
FULL: tuple[tuple[Occasion, str], ...] = (
    (SessionStart(source="new"), "source"),
    (SessionEnd(status="met", turns=1, cost_usd=0.5), "status turns cost_usd"),
    (UserPromptSubmit(prompt="go"), "prompt"),
    (TurnStart(round=0, prompt="go"), "round prompt"),
    (
        TurnEnd(
            final_text="x",
            status="stopped",
            cause="step_limit",
            steps=2,
            cost_usd=0.0,
            changed_files=(),
        ),
        "finalText status cause steps cost_usd changed_files",
    ),
    (
        TurnError(cause="provider", error="x", steps=1, cost_usd=0.1),
        "cause error steps cost_usd",
    ),
    (PreToolUse(tool=BASH), "tool"),
    (
        PostToolUse(
            tool=BASH,
            tool_result="x",
            ok=False,
            error_class="timeout",
            duration_ms=3,
            input_before={"command": "git"},
        ),
        "tool toolResult ok error_class duration_ms input_before",
    ),
    (
        SubagentStart(parent_id="t1", depth=1, access="read", instruction="look"),
        "parent_id depth access instruction",
    ),
    (
        SubagentStop(status="completed", steps=1, cost_usd=0.0, report="x"),
        "status steps cost_usd report",
    ),
    (
        Stop(final_text="x", holds_spent=0, holds_allowed=2, last=False),
        "finalText holds_spent holds_allowed last",
    ),
    (
        PreCompact(estimate_tokens=9, budget_tokens=5, span_messages=4),
        "estimate_tokens budget_tokens span_messages",
    ),
)
SCENE = Scene(cwd="/w", session_id="s", turn_id="t1", call_id="t1.c1", agent_id="t1.a1")
IN_FRONT = ("tool", "toolResult", "finalText")


def written(occasion: Occasion, scene: Scene = SCENE) -> dict[str, Any]:
    line = write_payload(scene, occasion)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    found: dict[str, Any] = json.loads(line)
    return found


def test_there_is_a_payload_for_each_of_the_twelve_events() -> None:
    """[H-58]"""
    assert tuple(each.event for each in OCCASIONS) == tuple(Hook)
    assert [type(occasion) for occasion, _ in FULL] == list(OCCASIONS)


@pytest.mark.parametrize(("occasion", "own"), FULL, ids=lambda v: type(v).__name__)
def test_the_keys_stand_in_their_order(occasion: Occasion, own: str) -> None:
    """[W-38, H-58]"""
    first = [key for key in own.split() if key in IN_FRONT]
    rest = [key for key in own.split() if key not in IN_FRONT]
    assert list(written(occasion)) == [
        "event",
        "cwd",
        *first,
        "session_id",
        "turn_id",
        "call_id",
        "agent_id",
        *rest,
    ]


def test_what_is_absent_is_omitted_and_text_is_not_escaped() -> None:
    """[W-2, Q-6]"""
    scene = Scene(cwd="/w", session_id="s")
    occasion = SessionEnd(status="failed", turns=0)
    assert list(written(occasion, scene)) == ["event", "cwd", "session_id", "status", "turns"]
    line = write_payload(scene, UserPromptSubmit(prompt="\N{CHECK MARK} a\nb"))
    assert line.decode() == (
        '{"event":"UserPromptSubmit","cwd":"/w","session_id":"s","prompt":"\N{CHECK MARK} a\\nb"}\n'
    )


def test_the_line_of_the_contract_is_written_byte_for_byte() -> None:
    """[W-38]"""
    scene = Scene(cwd="/home/dev/shop", session_id="ses-1", turn_id="t1", call_id="t1.c4")
    assert write_payload(scene, PreToolUse(tool=BASH)).decode() == (
        '{"event":"PreToolUse","cwd":"/home/dev/shop","tool":{"name":"bash","input":'
        '{"command":"git push"},"read_only":false},"session_id":"ses-1","turn_id":"t1",'
        '"call_id":"t1.c4"}\n'
    )


@pytest.mark.parametrize("kind", OCCASIONS)
def test_a_payload_denies_a_foreign_key(kind: type[Occasion]) -> None:
    """[W-4]"""
    with pytest.raises(Refused, match='unknown key "foreign"'):
        decode(kind, {"foreign": 1})


@pytest.mark.parametrize("scene", [SCENE, Scene(cwd="/w", session_id="s")])
@pytest.mark.parametrize(("occasion", "own"), FULL, ids=lambda v: type(v).__name__)
def test_a_payload_reads_back(occasion: Occasion, own: str, scene: Scene) -> None:
    """[W-38, K-203]"""
    assert read_payload(write_payload(scene, occasion)) == (scene, occasion)


@pytest.mark.parametrize(
    ("data", "token"),
    [
        (b"[]", JsonFault.WRONG_TYPE),
        (b'{"cwd":"/w","session_id":"s","source":"new"}', JsonFault.MISSING_KEY),
        (b'{"event":"Start","cwd":"/w","session_id":"s"}', JsonFault.UNKNOWN_TOKEN),
        (b'{"event":"TurnStart","cwd":"/w","session_id":"s","round":0}', JsonFault.MISSING_KEY),
        (
            b'{"event":"SessionStart","cwd":"/w","session_id":"s","source":"new","steps":1}',
            JsonFault.UNKNOWN_KEY,
        ),
    ],
)
def test_what_is_no_payload_is_refused(data: bytes, token: JsonFault) -> None:
    """[W-4, W-38]"""
    with pytest.raises(Refused) as refused:
        read_payload(data)
    assert refused.value.reasons[0].token is token
