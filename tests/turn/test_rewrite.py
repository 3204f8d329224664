"""What hooks do around one call: the rewrite chain, the opinions, the end of it [H-60]."""

import pytest

from stella.authority.decision import Contribution
from stella.message import Asked
from stella.message import ErrorClass
from stella.message import failed
from stella.message import succeeded
from stella.turn.facts import Noticed
from stella.turn.hooks import Hooks
from stella.turn.hooks import Where
from stella.turn.questions import AskHook
from stella.turn.questions import CheckCall
from stella.turn.rewrite import Considered
from stella.turn.rewrite import Ended
from stella.turn.rewrite import considered
from stella.turn.rewrite import reported
from stella.wire.hook import HookResult
from stella.wire.occasion import PostToolUse
from stella.wire.occasion import PreToolUse
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

CALL = Asked(call_id="t1.c1", name="bash", input={"command": "git push"})
WHERE = Where(turn="t1", call="t1.c1")
DRY = {"command": "git push --dry-run"}


def went(host: Host, *names: str, call: Asked = CALL) -> Considered:
    return host.play(considered(listening(Hook.PRE_TOOL_USE, names=names), call, WHERE))


def test_without_a_listener_nothing_is_asked() -> None:
    host = Host()
    assert host.play(considered(Hooks(), CALL, WHERE)) == Considered(call=CALL)
    assert host.asked == []


@pytest.mark.parametrize(
    ("call", "fits"),
    [(Asked(call_id="t1.c1", name="bash", input="{no"), True), (CALL, False)],
)
def test_a_call_that_does_not_fit_meets_no_hook(call: Asked, fits: bool) -> None:
    """[E-23 items 1 to 3]"""
    host = Host(fits=lambda _: fits)
    assert went(host, "a", call=call) == Considered(call=call)
    assert not any(isinstance(question, AskHook) for question in host.asked)


@pytest.mark.parametrize(
    ("result", "contribution", "cause", "words"),
    [
        (NOTHING, Contribution.NONE, "", ""),
        (ALLOW, Contribution.ALLOW, "", ""),
        (deny("no\nway"), Contribution.DENY, "plugin", "The plugin a denies this call: no way"),
        (
            wish(),
            Contribution.REQUIRE_APPROVAL,
            "no_terminal",
            (
                "The plugin a wants a person to approve this call and there is no way to ask "
                "one, so the call was not made: ask first"
            ),
        ),
        (
            FAILED,
            Contribution.DENY,
            "hook_failure",
            (
                "A guard could not answer, so the call was not made: the PreToolUse hook of "
                "plugin a failed."
            ),
        ),
    ],
)
def test_each_answer_is_an_opinion_and_each_refusal_has_its_sentence(
    result: HookResult, contribution: Contribution, cause: str, words: str
) -> None:
    """[A-8, A-51, A-52, H-54]"""
    (opinion,) = went(Host(hook=answering({"a": result})), "a").opinions
    assert (opinion.contribution, opinion.cause) == (contribution, cause)
    assert opinion.sentence == words
    assert (opinion.source, opinion.rule) == ("plugin:a", "PreToolUse")


def test_each_sees_what_the_ones_before_left_and_an_earlier_word_still_counts() -> None:
    """[H-60 step 1, H-62, D-63]"""
    results: dict[str, HookResult] = {
        "a": wish(),
        "b": modify(input=DRY),
        "c": modify(input={"command": "true"}),
    }
    host = Host(hook=answering(results))
    found = went(host, "a", "b", "c")
    inputs = [
        q.occasion.tool.input
        for q in host.asked
        if isinstance(q, AskHook) and isinstance(q.occasion, PreToolUse)
    ]
    assert inputs == [CALL.input, CALL.input, DRY]
    assert found.call == Asked(call_id="t1.c1", name="bash", input={"command": "true"})
    assert [row["by"] for row in found.chain] == ["plugin:b", "plugin:c"]
    assert found.chain[0]["after"] == found.chain[1]["before"]
    assert [o.contribution.value for o in found.opinions] == ["require_approval", "none", "none"]
    checked = [q.call for q in host.asked if isinstance(q, CheckCall)]
    assert checked == [CALL, found.call]


def test_a_rewrite_that_does_not_fit_refuses_the_call_and_names_the_last_who_wrote() -> None:
    """[H-60 step 2]"""
    host = Host(
        hook=answering({"a": modify(input={"x": 1}), "b": modify(input={"y": 1}), "c": ALLOW}),
        fits=lambda call: call == CALL,
    )
    found = went(host, "a", "b", "c")
    assert (found.call, found.chain) == (CALL, ())
    last = found.opinions[-1]
    assert (last.source, last.cause) == ("plugin:b", "hook_failure")
    assert "the plugin b rewrote its input into one that does not fit" in last.sentence
    (notice,) = host.facts(Noticed)
    assert notice.text.startswith(f"plugin b, PreToolUse rewrite of {CALL.name}: ")


def test_a_rewrite_into_the_same_is_none_for_the_call() -> None:
    given = dict(CALL.input) if isinstance(CALL.input, dict) else {}
    found = went(Host(hook=answering({"a": modify(input=given)})), "a")
    assert found.call == CALL
    assert len(found.chain) == 1


@pytest.mark.parametrize("ok", [True, False])
def test_the_end_of_a_call_is_told_with_the_input_that_ran(ok: bool) -> None:
    """[H-59]"""
    output = succeeded("done") if ok else failed(ErrorClass.TIMEOUT, "too slow")
    ended = Ended(call=CALL, read_only=False, output=output, duration_ms=4, input_before=DRY)
    host = Host()
    host.play(reported(Hooks(), ended, WHERE))
    assert host.asked == []
    host.play(reported(listening(Hook.POST_TOOL_USE), ended, WHERE))
    (question,) = (q for q in host.asked if isinstance(q, AskHook))
    told = question.occasion
    assert isinstance(told, PostToolUse)
    assert told.tool.input == CALL.input
    assert (told.tool_result, told.ok) == ("done" if ok else "too slow", ok)
    assert told.error_class == (None if ok else "timeout")
    assert (told.duration_ms, told.input_before) == (4, DRY)


@pytest.mark.parametrize(("before", "after"), [(True, 1), (1, True), (0, False), (1, 1.0)])
def test_a_rewrite_that_only_python_takes_for_the_same_is_checked_and_used(
    before: object, after: object
) -> None:
    """[H-60 steps 1 and 2] What later guards saw is what is checked, and what runs."""
    call = Asked(call_id="t1.c1", name="tool", input={"all": before})
    host = Host(hook=answering({"a": modify(input={"all": after})}))
    found = went(host, "a", call=call)
    assert isinstance(found.call.input, dict)
    assert type(found.call.input["all"]) is type(after)
    host = Host(
        fits=lambda asked: asked is call,
        hook=answering({"a": modify(input={"all": after})}),
    )
    found = went(host, "a", call=call)
    assert [each.cause for each in found.opinions] == ["", "hook_failure"]
