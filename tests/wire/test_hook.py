"""What a hook may answer, read as strictly as the rest of the wire [W-39 to W-42]."""

import json
from typing import Any

import pytest

from stella.codec import JsonFault
from stella.codec import Refused
from stella.wire.hook import ACTIONS
from stella.wire.hook import Action
from stella.wire.hook import Allow
from stella.wire.hook import Deny
from stella.wire.hook import DenyEvidence
from stella.wire.hook import Modify
from stella.wire.hook import NoOpinion
from stella.wire.hook import RequireApproval
from stella.wire.hook import SeenFlip
from stella.wire.hook import is_decision_shaped
from stella.wire.hook import read_decision
from stella.wire.points import Hook

DENY = {"action": "deny", "reason": "no"}
EVIDENCE = {
    "witness": "tests/test_week.py",
    "command": ["pytest", "-q"],
    "flip": "not_achieved",
    "digest": "sha256:9f2c",
}
DECIDING = tuple(hook for hook in Hook if ACTIONS[hook])
ASKED_ALL = (Hook.PRE_TOOL_USE, Hook.STOP, Hook.PRE_COMPACT)
PAYLOADS: dict[Hook, dict[str, Any]] = {
    Hook.PRE_TOOL_USE: {"input": {"command": "git push --dry-run"}},
    Hook.PRE_COMPACT: {"instructions": "keep the names"},
    Hook.STOP: {"anything": 1.5},
}


def line(value: object) -> bytes:
    return json.dumps(value).encode()


def refused(event: Hook, data: bytes) -> tuple[JsonFault, str]:
    with pytest.raises(Refused) as caught:
        read_decision(event, data)
    (fault,) = caught.value.reasons
    return fault.token, fault.at


@pytest.mark.behaviour("W-48")
def test_the_words_are_spelled_as_the_contract_spells_them() -> None:
    """[W-48, W-39]"""
    assert [action.value for action in Action] == ["allow", "modify", "deny", "require_approval"]
    assert {hook.value for hook in DECIDING} == {
        "PreToolUse",
        "Stop",
        "PreCompact",
        "UserPromptSubmit",
        "TurnStart",
        "SubagentStart",
    }
    two = [hook for hook in DECIDING if hook not in ASKED_ALL]
    assert {ACTIONS[hook] for hook in two} == {(Action.ALLOW, Action.DENY)}
    assert {ACTIONS[hook] for hook in ASKED_ALL} == {tuple(Action)}


@pytest.mark.parametrize("event", DECIDING)
def test_allow_and_deny_are_taken_everywhere(event: Hook) -> None:
    """[W-39]"""
    assert read_decision(event, line({"action": "allow"})) == Allow(action=Action.ALLOW)
    assert read_decision(event, line(DENY)) == Deny(action=Action.DENY, reason="no")


@pytest.mark.parametrize("event", ASKED_ALL)
def test_a_rewrite_and_a_wish_for_approval_are_taken_where_they_mean_something(
    event: Hook,
) -> None:
    """[W-39, W-41] What else stands in the payload is free-form [W-4]."""
    payload = PAYLOADS[event] | {"more": {"x": 1.5}}
    modify = read_decision(event, line({"action": "modify", "payload": payload}))
    assert modify == Modify(action=Action.MODIFY, payload=payload)
    wish = read_decision(event, line({"action": "require_approval", "reason": "ask"}))
    assert wish == RequireApproval(action=Action.REQUIRE_APPROVAL, reason="ask")


@pytest.mark.parametrize("data", [b"", b"\n", b" \r\n\t"])
def test_nothing_is_no_opinion(data: bytes) -> None:
    """[W-39, W-42]"""
    assert read_decision(Hook.PRE_TOOL_USE, data) == NoOpinion()


def test_a_deny_of_a_stop_may_bring_evidence() -> None:
    """[W-40, Q-23] Each key may be absent; null is absent [W-5]."""
    decision = read_decision(Hook.STOP, line(DENY | {"evidence": EVIDENCE}))
    assert isinstance(decision, Deny)
    assert decision.evidence == DenyEvidence(
        witness="tests/test_week.py",
        command=("pytest", "-q"),
        flip=SeenFlip.NOT_ACHIEVED,
        digest="sha256:9f2c",
    )
    empty = read_decision(Hook.STOP, line(DENY | {"evidence": {"flip": None}}))
    assert empty == Deny(action=Action.DENY, reason="no", evidence=DenyEvidence())


def test_a_document_may_be_spread_over_lines_and_begin_with_a_mark() -> None:
    """[W-1, W-3]"""
    data = b"\xef\xbb\xbf" + json.dumps(DENY, indent=2).encode()
    assert read_decision(Hook.PRE_TOOL_USE, data) == Deny(action=Action.DENY, reason="no")


T = JsonFault
ROWS: tuple[tuple[Hook, bytes, JsonFault, str], ...] = (
    (Hook.PRE_TOOL_USE, b"ok", T.SYNTAX, ""),
    (Hook.PRE_TOOL_USE, b"INFO starts\n" + line(DENY), T.SYNTAX, ""),
    (Hook.PRE_TOOL_USE, line(DENY) + b"\n" + line(DENY), T.SYNTAX, ""),
    (Hook.PRE_TOOL_USE, line(DENY)[:-1], T.SYNTAX, ""),
    (Hook.PRE_TOOL_USE, b"\xff", T.NOT_UTF8, ""),
    (Hook.PRE_TOOL_USE, b"\xef\xbb\xbf\xef\xbb\xbf{}", T.MISPLACED_BOM, ""),
    (Hook.PRE_TOOL_USE, b'{"action":"allow","action":"deny"}', T.DUPLICATE_KEY, ""),
    (Hook.PRE_TOOL_USE, b"[]", T.WRONG_TYPE, ""),
    (Hook.PRE_TOOL_USE, b'"allow"', T.WRONG_TYPE, ""),
    (Hook.PRE_TOOL_USE, b"{}", T.MISSING_KEY, "action"),
    (Hook.PRE_TOOL_USE, b'{"action":null}', T.MISSING_KEY, "action"),
    (Hook.PRE_TOOL_USE, b'{"action":"dney"}', T.UNKNOWN_TOKEN, "action"),
    (Hook.PRE_TOOL_USE, b'{"action":"Deny"}', T.UNKNOWN_TOKEN, "action"),
    (Hook.PRE_TOOL_USE, b'{"action":1}', T.WRONG_TYPE, "action"),
    (Hook.PRE_TOOL_USE, b'{"action":"allow","reason":"x"}', T.UNKNOWN_KEY, "reason"),
    (Hook.PRE_TOOL_USE, b'{"action":"deny"}', T.MISSING_KEY, "reason"),
    (Hook.PRE_TOOL_USE, b'{"action":"deny","reason":" \\n"}', T.WRONG_TYPE, ""),
    (Hook.PRE_TOOL_USE, b'{"action":"deny","reason":7}', T.WRONG_TYPE, "reason"),
    (Hook.PRE_TOOL_USE, b'{"action":"require_approval"}', T.MISSING_KEY, "reason"),
    (Hook.PRE_TOOL_USE, line(DENY | {"evidence": EVIDENCE}), T.UNKNOWN_KEY, "evidence"),
    (Hook.PRE_TOOL_USE, line(DENY | {"tool": "bash"}), T.UNKNOWN_KEY, "tool"),
    (Hook.PRE_TOOL_USE, b'{"action":"modify"}', T.MISSING_KEY, "payload"),
    (Hook.PRE_TOOL_USE, b'{"action":"modify","payload":[]}', T.WRONG_TYPE, "payload"),
    (Hook.PRE_TOOL_USE, b'{"action":"modify","payload":{}}', T.MISSING_KEY, "payload.input"),
    (
        Hook.PRE_TOOL_USE,
        b'{"action":"modify","payload":{"input":[]}}',
        T.WRONG_TYPE,
        "payload.input",
    ),
    (
        Hook.PRE_TOOL_USE,
        b'{"action":"modify","payload":{"input":{"n":9223372036854775808}}}',
        T.INTEGER_OUT_OF_RANGE,
        "payload.input.n",
    ),
    (
        Hook.PRE_COMPACT,
        b'{"action":"modify","payload":{"input":{}}}',
        T.MISSING_KEY,
        "payload.instructions",
    ),
    (
        Hook.PRE_COMPACT,
        b'{"action":"modify","payload":{"instructions":1}}',
        T.WRONG_TYPE,
        "payload.instructions",
    ),
    (Hook.STOP, line(DENY | {"evidence": {"verdict": 1}}), T.UNKNOWN_KEY, "evidence.verdict"),
    (
        Hook.STOP,
        line(DENY | {"evidence": {"flip": "not-achieved"}}),
        T.UNKNOWN_TOKEN,
        "evidence.flip",
    ),
    (Hook.STOP, line(DENY | {"evidence": {"command": "x"}}), T.WRONG_TYPE, "evidence.command"),
    (Hook.TURN_START, b'{"action":"modify","payload":{}}', T.UNKNOWN_TOKEN, "action"),
    (
        Hook.USER_PROMPT_SUBMIT,
        b'{"action":"require_approval","reason":"x"}',
        T.UNKNOWN_TOKEN,
        "action",
    ),
    (Hook.SUBAGENT_START, b'{"action":"modify","payload":{}}', T.UNKNOWN_TOKEN, "action"),
)


@pytest.mark.behaviour("W-40", "W-41", "W-42")
@pytest.mark.parametrize(("event", "data", "token", "place"), ROWS)
def test_what_is_no_decision_is_one_named_refusal(
    event: Hook, data: bytes, token: JsonFault, place: str
) -> None:
    """[W-39 to W-42, Q-23, H-61]"""
    assert refused(event, data) == (token, place)


def test_a_slip_gets_the_near_word_and_a_wrong_event_the_legal_ones() -> None:
    """[M-8]"""
    with pytest.raises(Refused, match="did you mean deny"):
        read_decision(Hook.STOP, b'{"action":"dney"}')
    with pytest.raises(Refused, match="no answer to TurnStart; legal are allow, deny"):
        read_decision(Hook.TURN_START, b'{"action":"require_approval","reason":"x"}')


@pytest.mark.parametrize(
    ("data", "shaped"),
    [(b'{"action":"dney"}', True), (b'{"x":1}', False), (b"[]", False), (b"Traceback", False)],
)
def test_what_looks_like_an_answer_is_known_as_one(data: bytes, shaped: bool) -> None:
    """[H-51]"""
    assert is_decision_shaped(data) is shaped
