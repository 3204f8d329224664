"""The chain of hooks: in order, one after another, and what all of them come to."""

import pytest

from stella import limits
from stella.turn.ask import Cancelled
from stella.turn.facts import Noticed
from stella.turn.hook_facts import HookRan
from stella.turn.hooks import CLOSED
from stella.turn.hooks import Hooks
from stella.turn.hooks import Listener
from stella.turn.hooks import Where
from stella.turn.hooks import compaction
from stella.turn.hooks import consulted
from stella.turn.hooks import reason
from stella.turn.hooks import refusal
from stella.turn.hooks import session_text
from stella.turn.hooks import subagent_started
from stella.turn.hooks import told_at_the_end
from stella.turn.questions import AskHook
from stella.wire.hook import ACTIONS
from stella.wire.hook import HookResult
from stella.wire.hook import HookText
from stella.wire.occasion import Called
from stella.wire.occasion import Occasion
from stella.wire.occasion import PreCompact
from stella.wire.occasion import PreToolUse
from stella.wire.occasion import SubagentStart
from stella.wire.occasion import SubagentStop
from stella.wire.occasion import TurnEnd
from stella.wire.occasion import TurnStart
from stella.wire.points import Hook
from tests.making.listening import ALLOW
from tests.making.listening import FAILED
from tests.making.listening import NOTHING
from tests.making.listening import answering
from tests.making.listening import deny
from tests.making.listening import listening
from tests.making.listening import modify
from tests.making.listening import wish
from tests.making.playing import Host

START = TurnStart(round=0, prompt="go")
CALL = PreToolUse(tool=Called(name="bash", input={}, read_only=False))
END = TurnEnd(final_text="x", status="completed", steps=1)
COMPACT = PreCompact(estimate_tokens=2, budget_tokens=1, span_messages=4)
T1 = Where(turn="t1")


def asked(host: Host) -> list[str]:
    return [question.by for question in host.asked if isinstance(question, AskHook)]


def test_nobody_is_asked_where_nobody_listens() -> None:
    host = Host()
    assert host.play(refusal(Hooks(), START, T1)) is None
    assert host.asked == []


@pytest.mark.parametrize("occasion", [START, CALL])
@pytest.mark.parametrize(
    ("first", "ends"),
    [
        (NOTHING, False),
        (ALLOW, False),
        (modify(input={}), False),
        (wish(), False),
        (deny(), True),
        (FAILED, None),
    ],
)
def test_only_a_deny_or_a_failure_that_counts_as_one_ends_the_chain(
    occasion: Occasion, first: HookResult, ends: bool | None
) -> None:
    """[H-56, H-61, D-63, D-66]"""
    hooks = listening(occasion.event, names=("a", "b"))
    host = Host(hook=answering({"a": first, "b": ALLOW}))
    said = host.play(consulted(hooks.to(occasion.event), T1, lambda *_: occasion))
    closed = occasion.event in CLOSED if ends is None else ends
    assert asked(host) == (["plugin:a"] if closed else ["plugin:a", "plugin:b"])
    assert [each.result for each in said] == ([first] if closed else [first, ALLOW])


def test_the_call_of_a_tool_alone_fails_closed() -> None:
    """[D-66, H-52]"""
    assert {Hook.PRE_TOOL_USE} == CLOSED
    deciding = {hook for hook in Hook if ACTIONS[hook]}
    assert deciding >= CLOSED


def test_each_run_is_told_and_a_failure_is_a_notice_too() -> None:
    """[H-53] The notice names hook, event, cause, exit code and duration."""
    hooks = listening(Hook.TURN_START, names=("a", "b"))
    host = Host(hook=answering({"a": FAILED, "b": deny()}))
    assert host.play(refusal(hooks, START, T1)) == "plugin b refused: no"
    runs = host.facts(HookRan)
    assert [(r.by, r.cause, r.decision, r.exit_code, r.duration_ms) for r in runs] == [
        ("plugin:a", "timeout", "none", 0, 9),
        ("plugin:b", None, "deny", 0, 9),
    ]
    (notice,) = host.facts(Noticed)
    assert notice.text == (
        "TurnStart hook of plugin a failed (timeout, exit code 0, 9 ms): "
        "no end within 1 s of its start"
    )
    assert {turn for turn, _, _ in host.told} == {"t1"}


def test_a_cancel_ends_the_hook_and_skips_the_rest() -> None:
    """[H-56, E-113]"""
    hooks = listening(Hook.TURN_START, names=("a", "b"))
    host = Host(cancel=lambda question: isinstance(question, AskHook))
    with pytest.raises(Cancelled):
        host.play(refusal(hooks, START, T1))
    assert [(r.by, r.cause) for r in host.facts(HookRan)] == [("plugin:a", "cancelled")]
    assert host.facts(Noticed) == []


def test_what_is_over_stays_over_when_a_cancel_comes() -> None:
    """[E-14]"""
    hooks = listening(Hook.TURN_END, names=("a", "b"))
    host = Host(cancel=lambda question: isinstance(question, AskHook))
    host.play(told_at_the_end(hooks, END, T1))
    assert len(host.facts(HookRan)) == 1


def test_a_sub_agent_may_be_refused_and_its_end_is_told() -> None:
    """[H-58, H-59]"""
    where = Where(turn="t1", agent="t1.a1")
    start = SubagentStart(parent_id="t1", depth=1, access="read", instruction="look")
    stop = SubagentStop(status="completed", steps=1, report="x")
    hooks = listening(Hook.SUBAGENT_START, Hook.SUBAGENT_STOP)
    host = Host(hook=answering({"a": deny("not now")}))
    assert host.play(subagent_started(hooks, where, start)) == "plugin a refused: not now"
    host.play(told_at_the_end(hooks, stop, where))
    questions = [q for q in host.asked if isinstance(q, AskHook)]
    assert [(q.occasion, q.agent) for q in questions] == [(start, "t1.a1"), (stop, "t1.a1")]


@pytest.mark.parametrize(
    ("first", "second", "veto", "instructions", "notices"),
    [
        (NOTHING, NOTHING, None, None, 0),
        (modify(instructions="x"), ALLOW, None, "x", 0),
        (modify(instructions="x"), modify(instructions="y"), None, "y", 0),
        (wish(), modify(instructions="y"), None, "y", 1),
        (modify(instructions="x"), deny(), "plugin b: no", None, 0),
        (FAILED, NOTHING, None, None, 1),
    ],
)
def test_a_summary_may_be_vetoed_or_told_what_to_keep(
    first: HookResult,
    second: HookResult,
    veto: str | None,
    instructions: str | None,
    notices: int,
) -> None:
    """[E-75, D-65, D-66]"""
    hooks = listening(Hook.PRE_COMPACT, names=("a", "b"))
    host = Host(hook=answering({"a": first, "b": second}))
    assert host.play(compaction(hooks, T1, COMPACT)) == (veto, instructions)
    assert len(host.facts(Noticed)) == notices


@pytest.mark.parametrize("over", [0, 1])
def test_the_text_of_a_session_has_one_budget(over: int) -> None:
    """[H-70, D-64] limits.SESSION_START_CHARS, at the limit and one past it."""
    heading = len("### plugin a\n")
    text = "x" * (limits.SESSION_START_CHARS - heading + over)
    hooks = listening(Hook.SESSION_START, names=("a", "b"))
    host = Host(hook=answering({"a": HookText(text=text), "b": HookText(text="")}))
    found = host.play(session_text(hooks, "new"))
    assert found.startswith("### plugin a\nxxx")
    whole, _, marker = found.partition("\n[SessionStart text cut: ")
    assert len(whole) == limits.SESSION_START_CHARS
    assert marker == ("1 characters not shown]" if over else "")
    assert len(host.facts(Noticed)) == over


def test_a_cancelled_session_start_gives_no_text() -> None:
    hooks = listening(Hook.SESSION_START)
    host = Host(cancel=lambda question: isinstance(question, AskHook))
    assert host.play(session_text(hooks, "new")) == ""


def test_a_reason_is_one_line_and_bounded() -> None:
    """[A-50] limits.HOOK_REASON_CHARS, at the limit and one past it."""
    most = limits.HOOK_REASON_CHARS
    assert reason(deny("x" * most)) == "x" * most
    assert reason(deny("x" * (most + 1))) == "x" * most + " [1 more characters]"
    assert reason(deny("a\nb\x1b[2J")) == "a b\\u{1B}[2J"


def test_a_listener_is_named_as_people_name_it() -> None:
    plugin, person = Listener(by="plugin:guard"), Listener(by="settings:user")
    assert (plugin.who, plugin.cause) == ("plugin guard", "plugin")
    assert (person.who, person.cause) == ("settings:user", "hook")
