from dataclasses import replace
from decimal import Decimal

import msgspec
import pytest

from stella import limits
from stella.message import ErrorClass
from stella.message import FinishReason
from stella.message import Message
from stella.message import ModelFault
from stella.message import NoReply
from stella.message import Reply
from stella.message import Role
from stella.message import failed
from stella.turn.facts import Cause
from stella.turn.facts import FileChanged
from stella.turn.facts import ModelFailed
from stella.turn.facts import ModelReplied
from stella.turn.facts import ToolFinished
from stella.turn.facts import TurnEnded
from stella.turn.facts import TurnStarted
from stella.turn.facts import TurnStatus
from stella.turn.hook_facts import GateEnd
from stella.turn.hooks import Hooks
from stella.turn.loop import ToolUse
from stella.turn.loop import Transcript
from stella.turn.loop import TurnEnd
from stella.turn.loop import TurnSetup
from stella.turn.loop import turn
from stella.turn.prompt import CONTINUE
from stella.turn.purse import Purse
from stella.turn.questions import AskHook
from stella.turn.questions import AskModel
from stella.turn.questions import Change
from stella.turn.questions import RunTools
from stella.wire.occasion import Stop
from stella.wire.points import Hook
from tests.making.listening import answering
from tests.making.listening import deny
from tests.making.listening import listening
from tests.making.playing import Host
from tests.making.playing import calls
from tests.making.playing import says


def setup(max_steps: int = limits.STEPS_DEFAULT) -> TurnSetup:
    return TurnSetup(
        turn="t1",
        round=0,
        principal="user",
        model="script",
        max_steps=max_steps,
        concurrent=frozenset({"read_file"}),
        tools_sha256="0" * 64,
    )


def played(host: Host, max_steps: int = limits.STEPS_DEFAULT) -> tuple[TurnEnd, Transcript]:
    transcript = Transcript([Message(role=Role.USER, content="go")])
    return host.play(turn(setup(max_steps), transcript)), transcript


def test_a_reply_without_calls_ends_the_turn_with_its_text() -> None:
    host = Host(replies=[says("all done")])
    end, transcript = played(host)
    assert (end.status, end.cause, end.text, end.steps) == (
        TurnStatus.COMPLETED,
        None,
        "all done",
        1,
    )
    assert [message.role for message in transcript.messages] == [Role.USER, Role.ASSISTANT]
    assert host.order() == ["turn_started", "model_request", "model_reply", "turn_ended"]


def test_calls_run_and_the_model_is_asked_again_with_their_results() -> None:
    host = Host(replies=[calls("bash", text="look"), says()])
    end, transcript = played(host)
    assert [message.role for message in transcript.messages] == [
        Role.USER,
        Role.ASSISTANT,
        Role.TOOL,
        Role.ASSISTANT,
    ]
    assert host.models()[1][2].tool_results[0].call_id == "t1.c1"
    assert end.uses == (ToolUse(name="bash", ok=True),)
    assert end.text == "done"


def test_call_ids_count_through_the_turn() -> None:
    """[E-2]"""
    host = Host(replies=[calls("a", "b"), calls("c"), says()])
    _, transcript = played(host)
    asked = [call.call_id for message in transcript.messages for call in message.tool_calls]
    assert asked == ["t1.c1", "t1.c2", "t1.c3"]


def test_the_turn_end_is_durable_and_told_last() -> None:
    """[E-14, J2-30]"""
    host = Host(replies=[says()])
    played(host)
    turn_id, fact, durable = host.told[-1]
    assert (turn_id, fact.type, durable) == ("t1", "turn_ended", True)


@pytest.mark.parametrize(("limit", "asked"), [(1, 1), (3, 3)])
def test_the_step_limit_ends_a_turn_that_still_wants_tools(limit: int, asked: int) -> None:
    """[E-11]"""
    host = Host(replies=[calls("bash")] * 9)
    end, transcript = played(host, limit)
    assert (end.status, end.cause) == (TurnStatus.STOPPED, Cause.STEP_LIMIT)
    assert end.text == f"the turn reached its limit of {limit} steps"
    assert len(host.models()) == asked
    assert transcript.messages[-1].role is Role.TOOL, "every call has its result [E-15]"


def test_a_turn_that_answers_on_its_last_step_completes() -> None:
    """[E-11] at the limit."""
    end, _ = played(Host(replies=[calls("bash"), says()]), 2)
    assert end.status is TurnStatus.COMPLETED


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (says("  \n"), Cause.EMPTY_REPLY),
        (says("half", finish=FinishReason.CONTENT_FILTER), Cause.CONTENT_FILTER),
    ],
)
def test_a_reply_that_is_none_fails_the_turn(reply: Reply, cause: Cause) -> None:
    """[E-30]"""
    end, transcript = played(Host(replies=[reply]))
    assert (end.status, end.cause, end.answer) == (TurnStatus.FAILED, cause, "")
    assert len(transcript.messages) == 1


def test_a_model_without_a_reply_fails_the_turn_and_says_why() -> None:
    """[E-60]"""
    host = Host(replies=[NoReply(kind=ModelFault.AUTH, message="no key")])
    end, _ = played(host)
    assert (end.status, end.cause) == (TurnStatus.FAILED, Cause.PROVIDER)
    assert end.text == "the model gave no reply (auth): no key"
    assert host.facts(ModelFailed)[0].kind == "auth"
    assert end.steps == 0


def test_a_cancelled_model_call_cancels_the_turn() -> None:
    """[E-60]"""
    end, _ = played(Host(replies=[NoReply(kind=ModelFault.CANCELLED, message="by the person")]))
    assert (end.status, end.cause) == (TurnStatus.CANCELLED, Cause.CANCEL)


def test_a_cut_reply_is_continued_and_its_parts_are_joined() -> None:
    """[E-31]"""
    cut = says("one ", finish=FinishReason.LENGTH)
    host = Host(replies=[cut, says("two")])
    end, transcript = played(host)
    assert (end.text, end.truncated) == ("one two", False)
    assert transcript.messages[2].content == CONTINUE


@pytest.mark.parametrize(("cuts", "truncated"), [(4, False), (5, True)])
def test_at_most_four_continuations(cuts: int, truncated: bool) -> None:
    """[E-31] limits.CONTINUATIONS_PER_TURN, at the limit and one past it."""
    assert limits.CONTINUATIONS_PER_TURN == 4
    cut = says("x", finish=FinishReason.LENGTH)
    end, _ = played(Host(replies=[*[cut] * cuts, says("y")]))
    assert end.status is TurnStatus.COMPLETED
    assert end.truncated is truncated
    assert end.text == ("xxxxx" if truncated else "xxxxy")


def test_text_before_tool_calls_is_no_part_of_the_answer() -> None:
    """[E-33]"""
    cut = says("cut ", finish=FinishReason.LENGTH)
    end, _ = played(Host(replies=[cut, calls("bash", text="hm"), says("end")]))
    assert end.text == "end"


def test_a_cancel_while_the_model_thinks_ends_the_turn_cancelled() -> None:
    """[E-113]"""
    host = Host(cancel=lambda question: isinstance(question, AskModel))
    end, _ = played(host)
    assert (end.status, end.cause) == (TurnStatus.CANCELLED, Cause.CANCEL)
    assert end.cancelled_by == "test"
    assert host.facts(TurnEnded)[0].text == "cancelled by test"


def test_usage_and_unknown_prices_are_kept_apart() -> None:
    """[E-82]"""
    unpriced = Reply(
        text="x",
        tool_calls=(),
        usage=says().usage,
        model="m",
        cost_usd=None,
        finish_reason=FinishReason.STOP,
    )
    host = Host(replies=[calls("bash"), unpriced])
    end, _ = played(host)
    fact = host.facts(TurnEnded)[0]
    assert end.tally.cost_usd is None
    assert (fact.cost_usd, fact.usage.unpriced_calls, fact.usage.known_cost_usd) == (None, 1, 0.0)
    assert fact.usage.input_tokens == 20
    assert host.facts(ModelReplied)[1].cost_usd is None


def test_changed_files_are_the_measured_ones_without_the_restored() -> None:
    """[T2-55]"""
    made = Change(path="a", kind="created", before=None, after="1", added=2, removed=0)
    kept = Change(path="b", kind="modified", before="7", after="8", added=1, removed=1)
    gone = Change(path="a", kind="deleted", before="1", after=None, added=0, removed=2)
    host = Host(replies=[calls("bash"), calls("bash"), says()], changes=[(made, kept), (gone,)])
    end, _ = played(host)
    assert end.changes.paths == ("b",)
    assert host.facts(TurnEnded)[0].changed_files == ("b",)
    restored = [fact for fact in host.facts(FileChanged) if fact.kind == "restored"]
    assert [(fact.path, fact.by) for fact in restored] == [("a", "t1")]


def test_a_failed_call_is_used_and_not_ok() -> None:
    host = Host(
        replies=[calls("bash"), says()],
        outputs={"bash": failed(ErrorClass.ENVIRONMENT, "no bash")},
    )
    end, _ = played(host)
    assert end.uses == (ToolUse(name="bash", ok=False),)


HOOKED = listening(Hook.STOP, Hook.TURN_END, Hook.TURN_ERROR)


def went(host: Host, hooks: Hooks, agent: str | None = None) -> tuple[TurnEnd, Transcript]:
    transcript = Transcript([Message(role=Role.USER, content="go")])
    given = replace(setup(), hooks=hooks, agent=agent)
    return host.play(turn(given, transcript)), transcript


def occasions(host: Host) -> list[str]:
    return [q.occasion.event.value for q in host.asked if isinstance(q, AskHook)]


def test_a_hold_goes_on_with_its_message_and_the_text_begins_anew() -> None:
    """[E-35, E-38, E-33]"""
    host = Host(
        replies=[says("one"), calls("bash", text="x"), says("two"), says("three")],
        hook=answering({"a": deny("not yet")}),
    )
    end, transcript = went(host, listening(Hook.STOP))
    assert (end.status, end.text, end.stop_gate) == (
        TurnStatus.COMPLETED,
        "three",
        GateEnd.CAPPED,
    )
    assert len([m for m in transcript.messages if "[stop-hook" in (m.content or "")]) == 2
    (ended,) = host.facts(TurnEnded)
    assert ended.stop_gate == "capped"
    stops = [q.occasion for q in host.asked if isinstance(q, AskHook)]
    assert [stop.final_text for stop in stops if isinstance(stop, Stop)] == ["one", "two"]


def test_the_gate_sees_the_joined_text_of_an_answer_that_was_cut() -> None:
    """[E-31, E-33, E-35] It is not asked until the last part, also when that is cut too."""
    most = limits.CONTINUATIONS_PER_TURN
    parts = [says(str(n), finish=FinishReason.LENGTH) for n in range(most + 1)]
    host = Host(replies=parts)
    end, _ = went(host, listening(Hook.STOP))
    assert (end.truncated, end.stop_gate) == (True, GateEnd.ALLOWED)
    (stop,) = (q.occasion for q in host.asked if isinstance(q, AskHook))
    assert isinstance(stop, Stop)
    assert stop.final_text == "01234"


def test_the_hooks_of_turns_hear_its_end_after_its_record() -> None:
    """[E-14]"""
    host = Host(replies=[says()])
    went(host, HOOKED)
    assert occasions(host) == ["Stop", "TurnEnd"]
    assert host.order()[-2:] == ["turn_ended", "hook_run"]
    failing = Host(replies=[says(" ")])
    went(failing, HOOKED)
    assert occasions(failing) == ["TurnError"]


def test_a_sub_agent_has_no_hooks_of_turns_and_no_gate() -> None:
    """[Q-9, E-35] The hooks of its calls it has."""
    hooks = listening(*Hook)
    host = Host(replies=[calls("bash"), says()])
    end, _ = went(host, hooks, agent="t1.a1")
    assert end.stop_gate is GateEnd.NOT_ASKED
    assert occasions(host) == ["PreToolUse", "PostToolUse"]
    assert {q.agent for q in host.asked if isinstance(q, AskHook)} == {"t1.a1"}
    (started,) = host.facts(TurnStarted)
    assert started.agent == "t1.a1"


@pytest.mark.parametrize("moment", [AskHook, AskModel])
def test_after_a_cancel_no_hook_is_asked(moment: type) -> None:
    """[E-113, H-56]"""
    host = Host(replies=[says()], cancel=lambda question: isinstance(question, moment))
    end, _ = went(host, HOOKED)
    assert end.status is TurnStatus.CANCELLED
    assert occasions(host) == (["Stop"] if moment is AskHook else [])


def test_a_turn_that_may_not_begin_ends_without_a_model_call() -> None:
    """[E-10]"""
    host = Host()
    given = replace(setup(), hooks=HOOKED, refused="plugin a refused: no")
    end = host.play(turn(given, Transcript()))
    assert (end.status, end.cause) == (TurnStatus.STOPPED, Cause.HOOK_REFUSED)
    assert (end.text, end.steps) == ("plugin a refused: no", 0)
    assert host.order() == ["turn_started", "turn_ended", "hook_run"]


def poor(**money: Decimal) -> TurnSetup:
    """A setup that may spend 1 USD."""
    return replace(setup(), purse=Purse.of(money.get("limit", Decimal(1))))


def costing(answer: Reply, usd: float | None) -> Reply:
    return msgspec.structs.replace(answer, cost_usd=usd)


@pytest.mark.behaviour("E-12.14")
def test_the_reply_that_crosses_the_limit_is_kept_and_its_calls_are_not_made() -> None:
    """[E-12 item 14, E-15]"""
    host = Host(replies=[costing(calls("bash", text="I will."), 1.5), says()])
    transcript = Transcript()
    end = host.play(turn(poor(), transcript))
    assert (end.status, end.cause, end.steps) == (TurnStatus.STOPPED, Cause.MONEY_LIMIT, 1)
    assert (end.answer, end.text) == ("I will.", "the run reached its limit of 1 USD")
    (finished,) = host.facts(ToolFinished)
    assert finished.output.error is not None
    assert finished.output.error.kind is ErrorClass.NOT_EXECUTED
    assert finished.output.text == "the run reached its limit of 1 USD before this call started"
    assert len(transcript.messages[-1].tool_results) == 1
    assert not [q for q in host.asked if isinstance(q, RunTools)]


def test_the_text_that_crosses_the_limit_is_delivered() -> None:
    """[E-12 item 14]"""
    host = Host(replies=[costing(says("all of it"), None)])
    transcript = Transcript()
    end = host.play(turn(poor(), transcript))
    assert end.answer == "all of it"
    assert "no known cost" in end.text
    assert transcript.messages[-1].content == "all of it"
    blank = Host(replies=[costing(says(" "), 2.0)]).play(turn(poor(), Transcript()))
    assert (blank.cause, blank.answer) == (Cause.MONEY_LIMIT, " ")


def test_a_turn_that_finds_the_purse_overdrawn_asks_no_model() -> None:
    """[E-12 item 6]"""
    host = Host()
    end = host.play(turn(poor(limit=Decimal(-1)), Transcript()))
    assert (end.cause, end.steps) == (Cause.MONEY_LIMIT, 0)
    assert host.models() == []


def test_what_costs_exactly_the_limit_may_be_spent() -> None:
    """[E-81]"""
    host = Host(replies=[costing(says("done"), 1.0)])
    assert host.play(turn(poor(), Transcript())).status is TurnStatus.COMPLETED
