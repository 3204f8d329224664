import pytest

from stella import limits
from stella.message import Asked
from stella.message import ErrorClass
from stella.message import failed
from stella.turn.ask import Ask
from stella.turn.ask import Cancelled
from stella.turn.calls import Dispatch
from stella.turn.calls import groups
from stella.turn.changes import ChangeBook
from stella.turn.facts import CallJudged
from stella.turn.facts import CallRequested
from stella.turn.facts import ToolFinished
from stella.turn.hooks import Hooks
from stella.turn.questions import AskGate
from stella.turn.questions import AskHook
from stella.turn.questions import Change
from stella.turn.questions import Ruling
from stella.turn.questions import RunTools
from stella.wire.points import Hook
from tests.making.listening import answering
from tests.making.listening import listening
from tests.making.listening import modify
from tests.making.playing import Host

READS = frozenset({"read_file", "search"})


def asked(*names: str) -> tuple[Asked, ...]:
    return tuple(Asked(call_id=f"t1.c{n}", name=name, input={}) for n, name in enumerate(names, 1))


def dispatch(*names: str) -> Dispatch:
    return Dispatch(turn="t1", calls=asked(*names), concurrent=READS, book=ChangeBook())


def judged(call_id: str, decision: str) -> CallJudged:
    return CallJudged(
        call_id=call_id,
        tool="x",
        principal="user",
        risk="low",
        decision=decision,
        chain=(),
        trace=(),
    )


def test_reads_in_a_row_form_a_group_and_everything_else_stands_alone() -> None:
    """[E-20]"""
    found = groups(asked("read_file", "search", "bash", "bash", "read_file"), READS)
    assert [[call.name for call in group] for group in found] == [
        ["read_file", "search"],
        ["bash"],
        ["bash"],
        ["read_file"],
    ]


@pytest.mark.parametrize(("count", "sizes"), [(8, [8]), (9, [8, 1])])
def test_at_most_eight_run_side_by_side(count: int, sizes: list[int]) -> None:
    """[E-21] limits.GROUP_WIDTH, at the limit and one past it."""
    assert limits.GROUP_WIDTH == 8
    host = Host()
    host.play(dispatch(*["read_file"] * count).run())
    assert [len(q.calls) for q in host.asked if isinstance(q, RunTools)] == sizes


def test_the_records_of_one_call_come_in_the_order_of_its_life() -> None:
    """[E-23]"""
    change = Change(path="a", kind="created", before=None, after="1")
    host = Host(
        rulings={"bash": Ruling(refusal=None, judged=judged("t1.c1", "allow"))}, changes=[(change,)]
    )
    host.play(dispatch("bash").run())
    assert host.order() == [
        "call_requested",
        "authz",
        "tool_started",
        "file_change",
        "tool_finished",
    ]
    assert [durable for _, _, durable in host.told] == [False, False, True, False, True]


def test_a_read_is_not_made_durable() -> None:
    """[J2-30]"""
    host = Host(rulings={"search": Ruling(refusal=None, judged=None, read_only=True)})
    host.play(dispatch("search").run())
    assert not any(durable for _, _, durable in host.told)


def test_a_refused_call_never_runs_and_the_rest_of_its_group_does() -> None:
    """[E-28, J2-44]"""
    refusal = failed(ErrorClass.REFUSED_BY_POLICY, "no", cause="mode")
    host = Host(rulings={"search": Ruling(refusal=refusal, judged=judged("t1.c1", "deny"))})
    doing = dispatch("search", "read_file")
    host.play(doing.run())
    ran = [q for q in host.asked if isinstance(q, RunTools)]
    assert [call.name for call in ran[0].calls] == ["read_file"]
    assert [answer.output.ok is None for answer in doing.answers] == [True, False]


def test_a_group_of_refused_calls_runs_nothing() -> None:
    refusal = failed(ErrorClass.NOT_FOUND, "no such tool")
    host = Host(rulings={"ghost": Ruling(refusal=refusal, judged=None)})
    host.play(dispatch("ghost").run())
    assert not [q for q in host.asked if isinstance(q, RunTools)]
    assert host.order() == ["call_requested", "tool_finished"]


def test_arguments_that_are_no_object_are_kept_raw() -> None:
    call = Asked(call_id="t1.c1", name="bash", input="{oops")
    doing = Dispatch(turn="t1", calls=(call,), concurrent=READS, book=ChangeBook())
    host = Host()
    host.play(doing.run())
    requested = host.facts(CallRequested)[0]
    assert (requested.raw, requested.input) == ("{oops", None)


def closed(host: Host, doing: Dispatch) -> dict[str, tuple[str, object]]:
    with pytest.raises(Cancelled):
        host.play(doing.run())
    finished = host.facts(ToolFinished)
    return {
        fact.call_id: (fact.output.error.kind.value, (fact.output.error.data or {}).get("effect"))
        for fact in finished
        if fact.output.error is not None
    }


def test_a_cancel_closes_every_open_call_once_and_claims_nothing() -> None:
    """[E-15, E-113]"""
    host = Host(cancel=lambda question: isinstance(question, RunTools))
    doing = dispatch("bash", "read_file")
    assert closed(host, doing) == {
        "t1.c1": ("cancelled", "unknown"),
        "t1.c2": ("not_executed", None),
    }
    assert doing.book.paths is None, "what a cancelled call changed was not measured"
    assert [fact.call_id for fact in host.facts(CallRequested)] == ["t1.c1", "t1.c2"]


def test_a_cancelled_read_had_no_effect() -> None:
    host = Host(
        rulings={"search": Ruling(refusal=None, judged=None, read_only=True)},
        cancel=lambda question: isinstance(question, RunTools),
    )
    doing = dispatch("search")
    assert closed(host, doing) == {"t1.c1": ("cancelled", "none")}
    assert doing.book.paths == ()


def test_a_cancel_at_the_gate_requests_no_call_twice() -> None:
    seen: list[Ask[object]] = []

    def second_gate(question: Ask[object]) -> bool:
        seen.append(question)
        return isinstance(question, AskGate) and question.call.call_id == "t1.c2"

    host = Host(cancel=second_gate)
    assert closed(host, dispatch("bash", "bash")) == {"t1.c2": ("not_executed", None)}
    assert [fact.call_id for fact in host.facts(CallRequested)] == ["t1.c1", "t1.c2"]


def heard(*names: str, hooks: Hooks) -> Dispatch:
    return Dispatch(
        turn="t1", calls=asked(*names), concurrent=READS, book=ChangeBook(), hooks=hooks
    )


def test_the_gate_hears_what_hooks_said_of_the_call_as_it_would_run() -> None:
    """[H-60]"""
    rewrite = modify(input={"x": 1})
    host = Host(hook=answering({"a": rewrite}))
    dispatch_ = heard("bash", hooks=listening(Hook.PRE_TOOL_USE))
    host.play(dispatch_.run())
    (gate,) = (q for q in host.asked if isinstance(q, AskGate))
    assert (gate.call.input, [o.source for o in gate.opinions]) == ({"x": 1}, ["plugin:a"])
    (ran,) = (q for q in host.asked if isinstance(q, RunTools))
    assert ran.calls[0].input == {"x": 1}
    (finished,) = host.facts(ToolFinished)
    assert (finished.input, finished.input_before) == ({"x": 1}, {})
    assert [answer.call_id for answer in dispatch_.answers] == ["t1.c1"]


def test_hooks_hear_of_calls_that_ran_in_call_order_before_their_record() -> None:
    """[E-23 item 7, E-24, H-59] A refused call is not reported."""
    no = Ruling(refusal=failed(ErrorClass.REFUSED_BY_POLICY, "no", "mode"), judged=None)
    host = Host(rulings={"bash": no})
    host.play(heard("read_file", "search", "bash", hooks=listening(Hook.POST_TOOL_USE)).run())
    order = [kind for kind in host.order() if kind in {"hook_run", "tool_finished"}]
    assert order == ["hook_run", "tool_finished", "hook_run", "tool_finished", "tool_finished"]
    reported = [q.call for q in host.asked if isinstance(q, AskHook)]
    assert reported == ["t1.c1", "t1.c2"]


def test_a_cancel_while_hooks_hear_of_calls_keeps_what_these_gave() -> None:
    """[E-15, H-56] Both have run, so neither is said to be of unknown effect."""
    change = Change(path="a", kind="created", before=None, after="1")
    for names, changes in ((("read_file", "search"), [(), ()]), (("bash",), [(change,)])):
        host = Host(changes=changes, cancel=lambda question: isinstance(question, AskHook))
        made = heard(*names, hooks=listening(Hook.POST_TOOL_USE))
        with pytest.raises(Cancelled):
            host.play(made.run())
        assert [f.output.text for f in host.facts(ToolFinished)] == list(names)
        assert made.book.measured
        assert made.book.actions == (names == ("bash",))


def test_a_cancel_while_a_guard_thinks_leaves_the_call_unmade() -> None:
    """[H-56]"""
    host = Host(cancel=lambda question: isinstance(question, AskHook))
    with pytest.raises(Cancelled):
        host.play(heard("bash", hooks=listening(Hook.PRE_TOOL_USE)).run())
    (finished,) = host.facts(ToolFinished)
    assert finished.output.error is not None
    assert finished.output.error.kind is ErrorClass.NOT_EXECUTED
