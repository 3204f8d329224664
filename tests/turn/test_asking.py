from dataclasses import replace

import pytest

from stella import limits
from stella.manifest.grammar import parse_condition
from stella.manifest.stages import Step
from stella.message import Role
from stella.turn.ask import Cancelled
from stella.turn.asking import Asking
from stella.turn.asking import folded
from stella.turn.asking import path_denied
from stella.turn.changes import ChangeBook
from stella.turn.facts import Cause
from stella.turn.facts import MessageAppended
from stella.turn.facts import Noticed
from stella.turn.facts import TurnStatus
from stella.turn.loop import ToolUse
from stella.turn.loop import TurnEnd
from stella.turn.plugin_facts import Exchanged
from stella.turn.plugin_facts import PluginFaulted
from stella.turn.plugin_facts import ServedCall
from stella.turn.prelude import Prelude
from stella.turn.questions import AskPlugin
from stella.turn.questions import Change
from stella.turn.questions import Served
from stella.turn.stages import Member
from stella.turn.tally import Tally
from stella.wire.after_turn import AfterTurnAnswer
from stella.wire.after_turn import AfterTurnRequest
from stella.wire.before_turn import BeforeTurnAnswer
from stella.wire.before_turn import BeforeTurnRequest
from stella.wire.before_turn import ContextEntry
from stella.wire.before_turn import PublishedSignal
from stella.wire.before_turn import SignalValue
from stella.wire.envelope import Answer
from stella.wire.envelope import Request
from stella.wire.evidence import Flip
from stella.wire.evidence import ObservedEvidence
from stella.wire.points import COUNTS
from stella.wire.points import Call
from stella.wire.points import Signal
from stella.wire.silence import FaultCode
from stella.wire.silence import Silence
from tests.making.members import arbiter
from tests.making.members import composed
from tests.making.members import steering
from tests.making.playing import GRANT
from tests.making.playing import Host
from tests.making.playing import says

NOTHING = BeforeTurnAnswer(protocol_version=1)
END = TurnEnd(
    status=TurnStatus.COMPLETED,
    cause=None,
    text="done",
    answer="done",
    truncated=False,
    steps=1,
    tally=Tally(),
    uses=(ToolUse(name="bash", ok=True), ToolUse(name="bash", ok=False)),
    changes=ChangeBook(),
)


def publishes(
    signal: Signal, *, count: int | None = None, boolean: bool | None = None
) -> PublishedSignal:
    return PublishedSignal(signal=signal, value=SignalValue(count=count, boolean=boolean))


def asking(*members: Member) -> Asking:
    return Asking(
        composition=composed(*members),
        goal="go",
        candidate=GRANT.candidate,
        test_command=True,
        tally=Tally(),
        book=ChangeBook(),
    )


def observed(flip: Flip = Flip.ACHIEVED, **numbers: int) -> AfterTurnAnswer:
    return AfterTurnAnswer(
        protocol_version=1, evidence=ObservedEvidence(flip=flip, measurements=numbers)
    )


def requests(host: Host) -> list[Request]:
    return [question.request for question in host.asked if isinstance(question, AskPlugin)]


def conditional(name: str, text: str) -> Step:
    return Step(name=name, condition=parse_condition(text))  # type: ignore[arg-type]  # it parses


@pytest.mark.behaviour("D-30")
def test_context_becomes_messages_in_the_order_of_arrival() -> None:
    """[D-30]"""
    answer = BeforeTurnAnswer(
        protocol_version=1,
        context=(ContextEntry(label="map", text="a"), ContextEntry(label="", text="[time] b")),
    )
    host = Host(plugin=lambda _member, _request: answer)
    prelude: Prelude = host.play(asking(steering()).before("t1", 0))
    assert [message.content for message in prelude.messages] == ["## map\n\na", "\\[time] b"]
    assert {message.role for message in prelude.messages} == {Role.USER}, "no system prompt"
    assert [fact.origin for fact in host.facts(MessageAppended)] == ["plugin:guide"] * 2


@pytest.mark.behaviour("D-24")
@pytest.mark.behaviour("K-55")
def test_a_later_stage_is_told_what_an_earlier_one_published_and_a_new_round_starts_empty() -> None:
    """[D-24]"""
    member = steering("s", (Step(name="triage"), Step(name="plan")))

    def answers(_member: str, request: Request) -> Answer:
        first = isinstance(request, BeforeTurnRequest) and request.stage == "triage"
        plans = publishes(Signal.PLANS, boolean=True)
        return BeforeTurnAnswer(protocol_version=1, publish=(plans,) if first else ())

    host = Host(plugin=answers)
    doing = asking(member)
    host.play(doing.before("t1", 0))
    host.play(doing.before("t2", 1))
    lists = [
        request.published for request in requests(host) if isinstance(request, BeforeTurnRequest)
    ]
    assert [[p.signal for p in published] for published in lists] == [
        [],
        [Signal.PLANS],
        [],
        [Signal.PLANS],
    ]


@pytest.mark.behaviour("D-24")
@pytest.mark.behaviour("K-127", "K-128")
def test_a_published_count_starts_a_later_stage_in_this_round_and_the_next() -> None:
    """[D-20, D-24]"""
    member = steering("s", (Step(name="triage"), conditional("research", "questions > 0")))
    counts = iter([(publishes(Signal.QUESTIONS, count=2),), (), (), ()])
    host = Host(
        plugin=lambda _member, _request: BeforeTurnAnswer(protocol_version=1, publish=next(counts))
    )
    doing = asking(member)
    host.play(doing.before("t1", 0))
    host.play(doing.before("t2", 1))
    asked = [request for request in requests(host) if isinstance(request, BeforeTurnRequest)]
    assert [request.stage for request in asked] == ["triage", "research", "triage", "research"]
    assert asked[3].published == ()


@pytest.mark.behaviour("D-25")
@pytest.mark.behaviour("K-129")
def test_a_fact_of_the_host_is_forwarded_and_keeps_the_hosts_value() -> None:
    """[D-25]"""
    lie = publishes(Signal.TEST_COMMAND, boolean=False)
    host = Host(plugin=lambda _m, _r: BeforeTurnAnswer(protocol_version=1, publish=(lie,)))
    doing = asking(steering())
    host.play(doing.before("t1", 0))
    assert doing.table[Signal.TEST_COMMAND] is True
    assert doing.published == [lie]
    assert [fact.code for fact in host.facts(Noticed)] == ["host_signal"]


@pytest.mark.behaviour("D-29", "K-54", "M-31", "W-51")
def test_an_undeclared_role_drops_the_whole_contribution() -> None:
    """[D-29, W-51]"""
    answer = BeforeTurnAnswer(
        protocol_version=1, role="plannr", context=(ContextEntry(label="x", text="y"),)
    )
    host = Host(plugin=lambda _m, _r: answer)
    prelude: Prelude = host.play(asking(steering(roles={"planner": "plan"})).before("t1", 0))
    assert prelude == Prelude()
    fault = host.facts(PluginFaulted)[0]
    assert fault.fault == "UndeclaredRole"
    assert "planner" in fault.message
    assert host.facts(Exchanged)[0].response is None


def test_a_role_where_none_is_declared_says_so() -> None:
    host = Host(plugin=lambda _m, _r: BeforeTurnAnswer(protocol_version=1, role="x"))
    host.play(asking(steering()).before("t1", 0))
    assert "the manifest declares no role" in host.facts(PluginFaulted)[0].message


@pytest.mark.behaviour("D-29")
@pytest.mark.parametrize(
    ("published", "words"),
    [
        (publishes(Signal.PLANS, count=1), "plans is a boolean, got a count"),
        (publishes(Signal.QUESTIONS, boolean=True), "questions is a count, got a boolean"),
    ],
)
@pytest.mark.behaviour("W-51")
def test_a_mistyped_signal_drops_the_whole_contribution(
    published: PublishedSignal, words: str
) -> None:
    """[D-29]"""
    host = Host(plugin=lambda _m, _r: BeforeTurnAnswer(protocol_version=1, publish=(published,)))
    doing = asking(steering())
    host.play(doing.before("t1", 0))
    assert words in host.facts(PluginFaulted)[0].message
    assert doing.published == []


@pytest.mark.behaviour("D-31")
def test_a_role_moves_the_turn_to_the_seat_of_its_tier_and_the_last_one_wins() -> None:
    """[D-31]"""
    given = iter(("planner", "finder"))
    host = Host(plugin=lambda _m, _r: BeforeTurnAnswer(protocol_version=1, role=next(given)))
    roles = {"planner": "plan", "finder": "research"}
    member = steering(stages=(Step(name="plan"), Step(name="execute")), roles=roles)
    doing = asking(member)
    assert host.play(doing.before("t1", 0)).seat == "research"
    assert [q.seat for q in host.asked if isinstance(q, AskPlugin)] == ["worker", "plan"]
    nothing = Host(plugin=lambda _m, _r: NOTHING)
    assert nothing.play(doing.before("t2", 1)).seat == "worker"


@pytest.mark.behaviour("K-133")
def test_a_role_whose_tier_is_not_bound_leaves_the_model_and_is_told() -> None:
    """[D-31]"""
    host = Host(plugin=lambda _m, _r: BeforeTurnAnswer(protocol_version=1, role="sage"))
    prelude: Prelude = host.play(asking(steering(roles={"sage": "oracle"})).before("t1", 0))
    assert prelude.seat == "worker"
    (notice,) = host.facts(Noticed)
    assert notice.code == "role_unbound"
    assert 'tier "oracle" of role "sage"' in notice.text
    assert "bound tiers: worker, triage, research, plan, verifier" in notice.text


@pytest.mark.behaviour("D-32")
def test_scopes_join_in_first_seen_order_and_become_one_message_of_advice() -> None:
    """[D-32, E-132]"""
    given = iter((("src", "./tests//unit/"), ("tests/unit", "../x", "src")))
    host = Host(
        plugin=lambda _m, _r: BeforeTurnAnswer(
            protocol_version=1, context=(ContextEntry(label="l", text="t"),), scope=next(given)
        ),
        denials={"../x": "traversal"},
    )
    doing = asking(steering(stages=(Step(name="scope"), Step(name="execute"))))
    prelude: Prelude = host.play(doing.before("t1", 0))
    assert prelude.scope == ["src", "tests/unit"]
    assert [m.content for m in prelude.messages[:2]] == ["## l\n\nt"] * 2
    assert str(prelude.messages[2].content).endswith(":\n- src\n- tests/unit")
    assert host.facts(MessageAppended)[-1].origin == "host"
    (notice,) = host.facts(Noticed)
    assert notice.text == 'guide: the path "../x" is denied: traversal'


def test_what_host_calls_use_and_change_is_the_run_s_own() -> None:
    """[D-19, D-49]"""
    served = ServedCall(id=1, call=Call.RECALL, args={"goal": "x"}, ok={})
    spent = Tally()
    spent.charge(says())
    change = Change(path="a", kind="created", before=None, after="1", added=2, removed=0)
    host = Host(
        plugin=lambda _m, _r: NOTHING,
        served=Served(calls=(served,), spent=spent, changes=(change,)),
    )
    doing = asking(steering())
    host.play(doing.before("t1", 0))
    assert host.facts(Exchanged)[0].calls == (served,)
    assert doing.tally.usage.input_tokens == spent.usage.input_tokens
    assert doing.book.paths == ("a",)


def test_a_cancelled_point_keeps_what_was_served_before() -> None:
    """[J2-44, T-23]"""
    served = ServedCall(id=1, call=Call.RECALL, args={"goal": "x"}, ok={})
    host = Host(
        cancel=lambda question: isinstance(question, AskPlugin),
        served=Served(calls=(served,), changes=None),
    )
    doing = asking(arbiter())
    with pytest.raises(Cancelled):
        host.play(doing.after("t1", 0, END))
    assert host.facts(Exchanged)[0].calls == (served,)
    assert doing.book.paths is None


@pytest.mark.behaviour("D-23", "D-37")
def test_a_member_is_asked_only_what_it_declares() -> None:
    """[D-23]"""
    host = Host(plugin=lambda _m, _r: NOTHING)
    host.play(asking(arbiter()).before("t1", 0))
    assert requests(host) == []


def test_after_the_turn_the_member_is_told_what_was_measured() -> None:
    """[W-18, W-19, Q-8]"""
    host = Host(plugin=lambda _m, _r: observed())
    doing = asking(arbiter())
    host.play(doing.before("t1", 0))
    evidence: ObservedEvidence | None = host.play(doing.after("t1", 0, END))
    assert evidence is not None
    assert evidence.flip is Flip.ACHIEVED
    request = requests(host)[0]
    assert isinstance(request, AfterTurnRequest)
    assert request.stage == "execute"
    assert (request.turn.completed, request.turn.answer) == (True, "done")
    assert request.turn.tools == ("bash", "bash")
    assert request.turn.changed_files == ()


@pytest.mark.behaviour("W-20")
def test_an_aborted_turn_is_reported_with_its_reason() -> None:
    """[W-20]"""
    end = TurnEnd(
        status=TurnStatus.STOPPED,
        cause=Cause.STEP_LIMIT,
        text="too many steps",
        answer="",
        truncated=False,
        steps=3,
        tally=Tally(),
        uses=(),
        changes=ChangeBook(measured=False),
    )
    host = Host(plugin=lambda _m, _r: observed())
    host.play(asking(arbiter()).after("t1", 0, end))
    request = requests(host)[0]
    assert isinstance(request, AfterTurnRequest)
    assert (request.turn.completed, request.turn.answer) == (False, "too many steps")
    assert request.turn.changed_files is None
    assert request.stage is None


@pytest.mark.behaviour("K-130")
def test_a_stage_that_reads_the_changes_is_skipped_when_there_are_none() -> None:
    """[D-26, W-18]"""
    member = steering(
        "s", (Step(name="execute"), conditional("verify", "mutating-actions > 0")), after=True
    )
    host = Host(plugin=lambda _m, r: observed() if isinstance(r, AfterTurnRequest) else NOTHING)
    doing = asking(member)
    host.play(doing.before("t1", 0))
    doing.measured(ChangeBook())
    host.play(doing.after("t1", 0, END))
    last = requests(host)[-1]
    assert isinstance(last, AfterTurnRequest)
    assert last.stage == "execute"


@pytest.mark.behaviour("D-26")
def test_an_unmeasured_turn_keeps_the_previous_signals() -> None:
    """[D-26]"""
    doing = asking(steering())
    doing.measured(ChangeBook(actions=2, lines=9))
    doing.measured(ChangeBook(measured=False))
    doing.measured(ChangeBook(actions=2, lines=1, counted=False))
    assert doing.table[Signal.MUTATING_ACTIONS] == 2
    assert doing.table[Signal.DIFF_LINES] == 9


@pytest.mark.behaviour("D-28")
@pytest.mark.behaviour("K-131")
def test_context_after_the_turn_is_dropped_with_a_notice_and_its_publish_counts() -> None:
    """[D-28]"""
    answer = BeforeTurnAnswer(
        protocol_version=1,
        context=(ContextEntry(label="x", text="y"),),
        publish=(publishes(Signal.TESTS_RED, boolean=True),),
    )
    member = steering("s", (Step(name="execute"), Step(name="reflect")))
    host = Host(plugin=lambda _m, r: answer if r.stage == "reflect" else NOTHING)
    doing = asking(member)
    host.play(doing.before("t1", 0))
    host.play(doing.after("t1", 0, END))
    assert doing.table[Signal.TESTS_RED] is True
    assert [fact.code for fact in host.facts(Noticed)] == ["too_late"]
    assert not host.facts(MessageAppended)


def test_a_silence_is_told_as_an_exchange_without_response_and_a_fault() -> None:
    """[J2-44, C13]"""
    silence = Silence(code=FaultCode.DECODE, message="garbage", raw=b"\xff")
    host = Host(plugin=lambda _m, _r: silence)
    assert host.play(asking(arbiter()).after("t1", 0, END)) is None
    assert host.order() == ["plugin_exchange", "plugin_fault"]
    assert host.facts(Exchanged)[0].response is None
    fault = host.facts(PluginFaulted)[0]
    assert (fault.fault, fault.message) == ("Decode", "garbage")
    assert fault.stdout_b64 == b"\xff"


def test_a_cancelled_point_is_told_as_a_fault_and_ends_the_asking() -> None:
    """[Q-17]"""
    host = Host(cancel=lambda question: isinstance(question, AskPlugin))
    with pytest.raises(Cancelled):
        host.play(asking(arbiter()).after("t1", 0, END))
    assert [fact.fault for fact in host.facts(PluginFaulted)] == ["Cancelled"]


def test_a_plugin_silent_before_and_after_contributes_nothing() -> None:
    host = Host()
    doing = asking(steering("s", (Step(name="execute"), Step(name="verify")), after=True))
    assert host.play(doing.before("t1", 0)) == Prelude()
    assert host.play(doing.after("t1", 0, END)) is None


@pytest.mark.behaviour("D-39")
@pytest.mark.behaviour("K-179")
def test_only_the_arbiters_answer_is_evidence() -> None:
    """[D-39]"""
    composition = composed(steering("s", after=True), arbiter("v"))
    answers = {"s": ObservedEvidence(flip=Flip.ACHIEVED, measurements={"code": 0})}
    assert folded(composition, answers) is None
    own = ObservedEvidence(flip=Flip.NOT_ACHIEVED)
    assert folded(composition, {**answers, "v": own}) == own


@pytest.mark.behaviour("D-40")
def test_without_an_arbiter_answers_fold_in_selection_order() -> None:
    """[D-40]"""
    composition = composed(steering("a"), steering("b"), steering("c"))
    answers = {
        "c": ObservedEvidence(flip=Flip.ACHIEVED, measurements={"x": 3, "z": 9}),
        "b": ObservedEvidence(flip=Flip.UNOBSERVABLE, measurements={"x": 2, "y": 5}),
        "a": ObservedEvidence(flip=Flip.NOT_ATTEMPTED, measurements={"x": 1}),
    }
    merged = folded(composition, answers)
    assert merged is not None
    assert merged.flip is Flip.UNOBSERVABLE
    assert merged.measurements == {"x": 1, "y": 5, "z": 9}


@pytest.mark.behaviour("D-41")
def test_without_an_arbiter_and_without_answers_nobody_answered() -> None:
    """[D-41]"""
    assert folded(composed(steering("a")), {}) is None


def test_asking_is_a_question_for_one_member() -> None:
    host = Host(plugin=lambda _m, _r: observed())
    host.play(asking(arbiter()).after("t1", 0, END))
    asked = [q for q in host.asked if isinstance(q, AskPlugin)]
    assert len(asked) == 1


@pytest.mark.behaviour("D-20")
def test_the_conditions_of_a_stage_are_read_once_before_it() -> None:
    """[D-20] What a member publishes in a stage starts nobody in that same stage."""
    first = steering("a", (Step(name="triage"),))
    second = steering("b", (conditional("triage", "plans"),))
    plans = publishes(Signal.PLANS, boolean=True)
    host = Host(plugin=lambda _m, _r: BeforeTurnAnswer(protocol_version=1, publish=(plans,)))
    doing = asking(first, second)
    host.play(doing.before("t1", 0))
    assert [q.member for q in host.asked if isinstance(q, AskPlugin)] == ["a"]
    host.play(doing.before("t2", 1))
    assert [q.member for q in host.asked if isinstance(q, AskPlugin)] == ["a", "a", "b"]


@pytest.mark.behaviour("D-23", "D-37")
def test_each_member_is_asked_as_itself_and_told_what_came_before_it() -> None:
    """[D-23, D-37] In selection order, also within one stage."""
    members = [replace(steering(name), wrapper=f"{name}-v1") for name in ("b", "a")]
    answers = iter(
        [
            BeforeTurnAnswer(
                protocol_version=1, publish=(publishes(Signal.VERIFIES, boolean=True),)
            ),
            NOTHING,
        ]
    )
    host = Host(plugin=lambda _m, _r: next(answers))
    host.play(asking(*members).before("t1", 0))
    asked = [request for request in requests(host) if isinstance(request, BeforeTurnRequest)]
    assert [request.wrapper for request in asked] == ["b-v1", "a-v1"]
    assert [[p.signal for p in request.published] for request in asked] == [[], [Signal.VERIFIES]]


@pytest.mark.behaviour("D-24", "D-33")
def test_two_values_for_one_signal_both_stand_and_the_later_one_counts() -> None:
    """[D-24, D-33]"""
    counts = [publishes(Signal.QUESTIONS, count=count) for count in (3, 0)]
    host = Host(plugin=lambda _m, _r: BeforeTurnAnswer(protocol_version=1, publish=tuple(counts)))
    doing = asking(steering())
    host.play(doing.before("t1", 0))
    assert doing.published == counts
    assert doing.table[Signal.QUESTIONS] == 0


HOSTS_OWN = {
    *(Signal.TEST_COMMAND, Signal.CANDIDATES, Signal.BUDGET_METERED),
    *(Signal.MUTATING_ACTIONS, Signal.DIFF_LINES),
}


@pytest.mark.behaviour("D-25")
@pytest.mark.parametrize("signal", Signal)
def test_any_member_publishes_any_signal_and_the_hosts_own_stay_the_hosts(signal: Signal) -> None:
    """[D-25]"""
    value = {"count": 7} if signal in COUNTS else {"boolean": signal is not Signal.TEST_COMMAND}
    claim = publishes(signal, **value)
    host = Host(plugin=lambda _m, _r: BeforeTurnAnswer(protocol_version=1, publish=(claim,)))
    doing = asking(steering())
    before = doing.table[signal]
    host.play(doing.before("t1", 0))
    assert doing.published == [claim]
    own = signal in HOSTS_OWN
    assert (doing.table[signal] == before) is own
    assert [fact.code for fact in host.facts(Noticed)] == ["host_signal"] * own


@pytest.mark.behaviour("D-16")
def test_everyone_who_may_is_asked_after_the_turn_whatever_ran() -> None:
    """[D-16 step 6] In selection order, also a member none of whose stages ran."""
    idle = steering("idle", (conditional("execute", "plans"),), after=True)
    host = Host(plugin=lambda _m, _r: observed())
    doing = asking(idle, arbiter())
    host.play(doing.before("t1", 0))
    host.play(doing.after("t1", 0, END))
    asked = [(q.member, q.request.stage) for q in host.asked if isinstance(q, AskPlugin)]
    assert asked == [("idle", None), ("verify", "execute")]


@pytest.mark.behaviour("Q-8")
def test_a_member_none_of_whose_stages_ran_is_told_none() -> None:
    """[Q-8, W-18] What ran in an earlier round is past."""
    once = steering("once", (conditional("triage", "no-plans"),), after=True)
    plans = publishes(Signal.PLANS, boolean=True)

    def answered(_member: str, request: Request) -> Answer:
        if isinstance(request, AfterTurnRequest):
            return observed()
        return BeforeTurnAnswer(protocol_version=1, publish=(plans,))

    host = Host(plugin=answered)
    doing = asking(once)
    for number in (0, 1):
        host.play(doing.before(f"t{number}", number))
        host.play(doing.after(f"t{number}", number, END))
    asked = [r.stage for r in requests(host) if isinstance(r, AfterTurnRequest)]
    assert asked == ["triage", None]


LATE = {
    "context": {"context": (ContextEntry(label="x", text="y"),)},
    "role": {"role": "planner"},
    "scope": {"scope": ("src",)},
    "nothing": {
        "publish": (PublishedSignal(signal=Signal.PLANS, value=SignalValue(boolean=True)),)
    },
}


@pytest.mark.behaviour("D-28")
@pytest.mark.parametrize("late", LATE)
def test_whatever_comes_too_late_is_told_and_what_is_published_is_not(late: str) -> None:
    """[D-28]"""
    answer = BeforeTurnAnswer(protocol_version=1, **LATE[late])  # type: ignore[arg-type]  # by name
    member = steering("s", (Step(name="reflect"),), roles={"planner": "plan"})
    host = Host(plugin=lambda _m, _r: answer)
    host.play(asking(member).after("t1", 0, END))
    assert [fact.code for fact in host.facts(Noticed)] == ["too_late"] * (late != "nothing")


def test_a_fault_without_output_has_none_in_its_record() -> None:
    """[J2-44]"""
    host = Host()
    host.play(asking(arbiter()).after("t1", 0, END))
    assert [fact.stdout_b64 for fact in host.facts(PluginFaulted)] == [None]


def test_a_role_is_shown_as_it_was_given_and_safely() -> None:
    """[D-29, C-3]"""
    answer = BeforeTurnAnswer(protocol_version=1, role="plan\nner")
    host = Host(plugin=lambda _m, _r: answer)
    host.play(asking(steering("s", roles={"planner": "plan"})).before("t1", 0))
    (fault,) = host.facts(PluginFaulted)
    assert fault.message.startswith('s before_turn: role "plan ner" is not declared; ')


def test_calls_refused_without_end_are_a_notice() -> None:
    """[D-49]"""
    host = Host(plugin=lambda _m, _r: NOTHING, served=Served(untold=7))
    host.play(asking(steering()).before("t1", 0))
    assert [notice.text for notice in host.facts(Noticed)] == [
        "guide before_turn: 7 more host calls were refused"
    ]


@pytest.mark.parametrize("more", [0, 1])
def test_paths_denied_without_end_are_counted_after_a_while(more: int) -> None:
    """[D-32]"""
    count = limits.CHANGED_PATHS_SHOWN + more
    paths = tuple(f"../{number}" for number in range(count))
    host = Host(
        plugin=lambda _m, _r: BeforeTurnAnswer(protocol_version=1, scope=paths),
        denials=dict.fromkeys(paths, "traversal"),
    )
    host.play(asking(steering()).before("t1", 0))
    notices = [notice.text for notice in host.facts(Noticed)]
    assert notices[limits.CHANGED_PATHS_SHOWN :] == ["guide: 1 more paths are denied"] * more
    assert len(notices) == count


def test_a_host_s_own_signal_is_noticed_once_an_answer() -> None:
    """[D-25]"""
    many = (PublishedSignal(signal=Signal.CANDIDATES, value=SignalValue(count=3)),) * 100
    host = Host(plugin=lambda _m, _r: BeforeTurnAnswer(protocol_version=1, publish=many))
    doing = asking(steering())
    host.play(doing.before("t1", 0))
    assert [notice.code for notice in host.facts(Noticed)] == ["host_signal"]
    assert len(doing.published) == 100


@pytest.mark.behaviour("G-52")
def test_a_denial_names_plugin_path_and_word_and_hides_nothing() -> None:
    """[G-52, C-3]"""
    line = path_denied("verify", "../x\n\x1b[2K", "traversal")
    assert line == 'verify: the path "../x \\u{1B}[2K" is denied: traversal'
