from collections.abc import Iterator

import pytest

from stella import codec
from stella.manifest.grammar import Condition
from stella.manifest.grammar import parse_condition
from stella.manifest.stages import Step
from stella.message import Message
from stella.message import ModelFault
from stella.message import NoReply
from stella.message import Role
from stella.turn.ask import Ask
from stella.turn.facts import Baselined
from stella.turn.facts import BoundMember
from stella.turn.facts import Cause
from stella.turn.facts import ChangedArtifact
from stella.turn.facts import Continued
from stella.turn.facts import Judged
from stella.turn.facts import MessageAppended
from stella.turn.facts import Noticed
from stella.turn.facts import PipelineBound
from stella.turn.facts import RunStatus
from stella.turn.facts import TamperFound
from stella.turn.facts import TurnEnded
from stella.turn.hold import CEILINGS
from stella.turn.hold import RunEnd
from stella.turn.hold import RunSetup
from stella.turn.hold import run
from stella.turn.loop import Transcript
from stella.turn.plugin_facts import Exchanged
from stella.turn.plugin_facts import PluginFaulted
from stella.turn.questions import AskHook
from stella.turn.questions import AskModel
from stella.turn.questions import AskPlugin
from stella.turn.questions import Change
from stella.turn.questions import Granted
from stella.turn.questions import Inspect
from stella.turn.questions import Inspection
from stella.turn.questions import TakeBaseline
from stella.turn.stages import Composition
from stella.turn.stages import Member
from stella.verdict.again import AllowanceSpent
from stella.verdict.again import Stop
from stella.verdict.again import StoppedUnmet
from stella.verdict.again import StopReason
from stella.verdict.finding import Met
from stella.verdict.finding import Undecided
from stella.verdict.finding import Unknowable
from stella.wire.after_turn import AfterTurnAnswer
from stella.wire.after_turn import AfterTurnRequest
from stella.wire.before_turn import BeforeTurnAnswer
from stella.wire.before_turn import ContextEntry
from stella.wire.before_turn import PublishedSignal
from stella.wire.before_turn import SignalValue
from stella.wire.envelope import Answer
from stella.wire.envelope import Request
from stella.wire.evidence import Artifact
from stella.wire.evidence import Flip
from stella.wire.evidence import ObservedEvidence
from stella.wire.evidence import Provenance
from stella.wire.evidence import Tampered
from stella.wire.evidence import TamperState
from stella.wire.grant import TestBaseline
from stella.wire.hook import HookResult
from stella.wire.points import Hook
from stella.wire.points import Point
from stella.wire.points import Signal
from stella.wire.silence import Silence
from tests.making.listening import answering
from tests.making.listening import deny
from tests.making.listening import listening
from tests.making.listening import wish
from tests.making.members import BUDGET
from tests.making.members import arbiter
from tests.making.members import composed
from tests.making.members import steering
from tests.making.playing import GRANT
from tests.making.playing import NOBODY
from tests.making.playing import Host
from tests.making.playing import calls
from tests.making.playing import says

EDITED = Inspection(
    finding=Tampered(tampered=Artifact(artifact="tests/t.py")),
    artifacts=(ChangedArtifact(path="tests/t.py", kinds=("edited",)),),
    digest="sha256:1",
)
UNCHECKED = Inspection(finding=TamperState.NOT_CHECKED, artifacts=(), digest=None)
BOUND = PipelineBound(
    variant="verify",
    members=(
        BoundMember(name="verify", wrapper="verify", grade="arbiter", digest="d", rule_sha256="r"),
    ),
    rule=BUDGET,
    max_holds=2,
    signals={},
)


def setup(composition: Composition | None, **more: object) -> RunSetup:
    given: dict[str, object] = {"host_max_holds": 2, "max_steps": 9} | more
    return RunSetup(
        goal="[time] go",
        source="run",
        first_turn=1,
        principal="user",
        model="script",
        concurrent=frozenset(),
        tools_sha256="0",
        composition=composition,
        **given,  # type: ignore[arg-type]  # the builder's own keywords
    )


def played(host: Host, composition: Composition | None, **more: object) -> RunEnd:
    return host.play(run(setup(composition, **more), Transcript()))


def pipeline(*members: Member) -> Composition:
    return composed(*(members or (arbiter(),)))


def evidence(flip: Flip, **numbers: int) -> AfterTurnAnswer:
    return AfterTurnAnswer(
        protocol_version=1, evidence=ObservedEvidence(flip=flip, measurements=numbers)
    )


GOOD = evidence(Flip.ACHIEVED, code=0)
BAD = evidence(Flip.NOT_ACHIEVED, code=1)


def trees() -> Iterator[Inspection]:
    """A tree that changes every round; each round looks at it twice."""
    for number in range(99):
        seen = Inspection(finding=TamperState.CLEAN, artifacts=(), digest=f"sha256:{number}")
        yield from (seen, seen)


@pytest.mark.behaviour("D-6")
def test_without_a_pipeline_one_turn_is_the_run() -> None:
    """[D-6]"""
    host = Host(replies=[says("ok")])
    end = played(host, None)
    assert (end.status, end.rounds, end.verdict, end.outcome) == (
        RunStatus.COMPLETED,
        1,
        None,
        None,
    )
    assert host.order() == ["prompt", "turn_started", "model_request", "model_reply", "turn_ended"]
    assert host.models()[0] == (Message(role=Role.USER, content="\\[time] go"),)


def test_a_met_rule_ends_the_run_met() -> None:
    host = Host(replies=[says()], plugin=lambda _m, _r: GOOD)
    end = played(host, pipeline(), bound=BOUND)
    assert end.status is RunStatus.MET
    assert isinstance(end.outcome, Met)
    assert host.order()[:2] == ["prompt", "pipeline_bound"]
    assert host.order()[-3:] == ["tamper", "verdict", "continuation"]
    durable = [fact.type for _, fact, durable in host.told if durable]
    assert durable == ["turn_ended", "verdict", "continuation"]


@pytest.mark.behaviour("G-20", "D-13")
def test_the_baseline_is_told_and_every_request_carries_the_grant() -> None:
    """[D-13, G-20]"""
    baseline = Baselined(
        program="pytest",
        args=(),
        baseline=TestBaseline.FAILED,
        reason="exit-nonzero",
        duration_ms=3,
        watched=(),
        complete=True,
    )
    granted = Granted(candidate=GRANT.candidate, baseline=baseline)
    host = Host(
        replies=[says()] * 3, granted=granted, plugin=lambda _m, _r: BAD, inspections=trees()
    )
    played(host, pipeline())
    assert [(fact, durable) for _, fact, durable in host.told if isinstance(fact, Baselined)] == [
        (baseline, True)
    ]
    requests = [q.request for q in host.asked if isinstance(q, AskPlugin)]
    assert len(requests) == 3
    assert all(request.candidate == GRANT.candidate for request in requests)
    assert {request.goal for request in requests} == {"[time] go"}
    assert [request.round for request in requests] == [0, 1, 2]


@pytest.mark.behaviour("J-31")
@pytest.mark.behaviour("K-56", "A1")
def test_a_failing_budget_is_held_to_the_bound_and_the_correction_comes_last() -> None:
    """[J-25, D-16]"""
    composition = pipeline(arbiter(rule=BUDGET, max_holds=7))
    host = Host(
        replies=[says("a"), says("b"), says("c")],
        plugin=lambda _m, _r: evidence(Flip.NOT_ATTEMPTED, x=1),
        inspections=trees(),
    )
    end = played(host, composition)
    assert (end.status, end.rounds) == (RunStatus.UNMET, 3)
    last = host.facts(Continued)[-1]
    assert last.stop is not None
    assert isinstance(last.stop.outcome, StoppedUnmet)
    assert last.state.holds_spent == 2
    for messages in host.models()[1:]:
        text = messages[-1].content or ""
        assert text.startswith("## wrapper-verdict\n\nThe turn ended, but")
    assert "last hold" not in (host.models()[1][-1].content or "")
    assert "last hold" in (host.models()[2][-1].content or "")


@pytest.mark.behaviour("A17")
def test_a_held_round_that_is_mended_ends_met() -> None:
    answers = iter([BAD, GOOD])
    host = Host(replies=[says(), says()], plugin=lambda _m, _r: next(answers), inspections=trees())
    end = played(host, pipeline())
    assert (end.status, end.rounds) == (RunStatus.MET, 2)


@pytest.mark.behaviour("K-57")
def test_an_unwatched_flip_is_undecided_after_one_round() -> None:
    """[J-9]"""
    host = Host(replies=[says()], plugin=lambda _m, _r: GOOD, inspections=[UNCHECKED, UNCHECKED])
    end = played(host, pipeline())
    assert (end.status, end.rounds) == (RunStatus.UNDECIDED, 1)
    assert isinstance(end.verdict, Undecided)
    assert end.verdict.reason is Unknowable.TAMPER_UNCHECKED


@pytest.mark.behaviour("K-58")
def test_an_edited_test_is_held_and_named() -> None:
    """[J-9, G-40]"""
    host = Host(replies=[says()] * 2, plugin=lambda _m, _r: GOOD, inspections=[EDITED] * 4)
    end = played(host, pipeline())
    assert end.status is RunStatus.UNMET
    assert "tests/t.py was changed during the run" in (host.models()[1][-1].content or "")
    found = host.facts(TamperFound)[0]
    assert (found.artifacts[0].path, found.artifacts[0].kinds) == ("tests/t.py", ("edited",))


@pytest.mark.behaviour("K-115")
def test_a_round_that_moved_nothing_ends_the_run() -> None:
    """[J-21, D-44]"""
    host = Host(replies=[says()] * 2, plugin=lambda _m, _r: GOOD, inspections=[EDITED] * 4)
    end = played(host, pipeline())
    assert end.rounds == 2
    assert isinstance(end.outcome, StoppedUnmet)
    assert end.outcome.stopped is StopReason.NO_PROGRESS


@pytest.mark.behaviour("Q-27")
def test_a_change_made_while_the_plugins_test_ran_is_seen() -> None:
    clean = Inspection(finding=TamperState.CLEAN, artifacts=(), digest="sha256:1")
    host = Host(replies=[says()] * 3, plugin=lambda _m, _r: GOOD, inspections=[clean, EDITED] * 3)
    assert played(host, pipeline()).status is RunStatus.UNMET


def test_what_the_first_look_found_stays_found() -> None:
    clean = Inspection(finding=TamperState.CLEAN, artifacts=(), digest=None)
    looks = [EDITED, clean, UNCHECKED, clean]
    answers = iter([GOOD, GOOD])
    host = Host(replies=[says()] * 2, plugin=lambda _m, _r: next(answers), inspections=looks)
    end = played(host, pipeline())
    assert [fact.finding for fact in host.facts(TamperFound)] == [
        EDITED.finding,
        TamperState.NOT_CHECKED,
    ]
    assert end.status is RunStatus.UNDECIDED


@pytest.mark.behaviour("J-8", "D-77")
@pytest.mark.behaviour("K-53")
def test_a_steering_plugin_that_crashes_leaves_the_turn_alone() -> None:
    """[D-77, J-8]"""
    host = Host(replies=[says("ok")])
    end = played(host, pipeline(steering()))
    assert end.status is RunStatus.COMPLETED
    assert isinstance(end.verdict, Met)
    assert end.verdict.evidence is Provenance.HOST_OBSERVED
    assert [fact.point.value for fact in host.facts(PluginFaulted)] == ["before_turn"]


@pytest.mark.behaviour("D-77")
@pytest.mark.behaviour("K-60", "A2")
def test_an_arbiter_that_falls_silent_is_undecided_and_never_held() -> None:
    """[D-41, J-12]"""
    host = Host(replies=[says()])
    end = played(host, pipeline())
    assert (end.status, end.rounds) == (RunStatus.UNDECIDED, 1)


@pytest.mark.behaviour("K-62")
def test_only_an_arbiter_may_hold() -> None:
    """[J-21] With one member below arbiter there is no rule, so nothing is held either."""
    member = steering("s", after=True)
    host = Host(
        replies=[says()], plugin=lambda _m, _r: BAD if isinstance(_r, AfterTurnRequest) else NOBODY
    )
    end = played(host, pipeline(member))
    assert (end.status, end.rounds) == (RunStatus.COMPLETED, 1)


@pytest.mark.behaviour("D-18", "D-84")
def test_the_step_limit_ends_the_run_stopped_whatever_the_verdict() -> None:
    """[D-18, D-84]"""
    host = Host(replies=[calls("bash")], plugin=lambda _m, _r: GOOD)
    end = played(host, pipeline(), max_steps=1)
    assert end.status is RunStatus.STOPPED
    assert isinstance(end.verdict, Met)


@pytest.mark.behaviour("D-18")
def test_an_unmet_turn_cut_by_a_limit_buys_no_round() -> None:
    """[D-18]"""
    host = Host(replies=[calls("bash")], plugin=lambda _m, _r: BAD)
    end = played(host, pipeline(), max_steps=1)
    assert (end.status, end.rounds) == (RunStatus.STOPPED, 1)
    stop = host.facts(Continued)[0]
    assert stop.state.ceiling is not None
    assert stop.state.ceiling.value == "steps"


@pytest.mark.behaviour("D-18", "D-77", "D-84")
def test_a_failed_turn_is_judged_and_not_continued() -> None:
    """[D-18]"""
    host = Host(
        replies=[NoReply(kind=ModelFault.TERMINAL, message="gone")], plugin=lambda _m, _r: GOOD
    )
    end = played(host, pipeline())
    assert (end.status, end.outcome) == (RunStatus.FAILED, None)
    assert host.facts(Judged)
    assert not host.facts(Continued)


@pytest.mark.behaviour("D-14")
@pytest.mark.parametrize("kind", [TakeBaseline, AskModel, AskPlugin])
def test_a_cancel_ends_the_run_without_a_verdict(kind: type[Ask[object]]) -> None:
    """[D-14]"""
    host = Host(
        replies=[says()],
        plugin=lambda _m, _r: GOOD,
        cancel=lambda question: isinstance(question, kind),
    )
    end = played(host, pipeline())
    assert end.status is RunStatus.CANCELLED
    assert end.verdict is None
    assert not host.facts(Judged)


def test_a_cancel_in_a_plain_run_is_the_turns_own_end() -> None:
    host = Host(cancel=lambda question: isinstance(question, AskModel))
    end = played(host, None)
    assert (end.status, end.cancelled_by) == (RunStatus.CANCELLED, "test")
    assert end.turn is not None


@pytest.mark.behaviour("J-31", "D-16")
def test_contributions_stand_between_the_prompt_and_the_correction() -> None:
    """[E-132]"""
    guide, judge = steering("guide"), arbiter("verify")

    def answers(member: str, request: Request) -> Answer | Silence:
        if member == "verify":
            return BAD if request.round == 0 else GOOD
        return context(request.round)

    host = Host(replies=[says("a"), says("b")], plugin=answers, inspections=trees())
    end = played(host, pipeline(guide, judge))
    assert end.status is RunStatus.MET
    texts = [message.content for message in host.models()[1]]
    assert texts[:3] == ["\\[time] go", "## round\n\n0", "a"]
    assert texts[3] == "## round\n\n1"
    assert (texts[4] or "").startswith("## wrapper-verdict")


def context(number: int) -> BeforeTurnAnswer:
    entry = ContextEntry(label="round", text=str(number))
    return BeforeTurnAnswer(protocol_version=1, context=(entry,))


def test_a_stop_carries_its_outcome() -> None:
    host = Host(replies=[says()], plugin=lambda _m, _r: GOOD)
    end = played(host, pipeline())
    last = host.facts(Continued)[-1]
    assert last.stop is not None
    assert Stop(stop=last.stop).outcome == end.outcome


def hooked(*events: Hook) -> dict[str, object]:
    return {"hooks": listening(*events).listeners}


def test_a_prompt_that_a_hook_refuses_ends_the_run_before_anything_else() -> None:
    """[H-59, E-10] The reason is a notice for the person."""
    host = Host(hook=answering({"a": deny("not\nnow")}))
    end = played(host, pipeline(), bound=BOUND, **hooked(Hook.USER_PROMPT_SUBMIT))
    assert (end.status, end.rounds, end.turn) == (RunStatus.STOPPED, 0, None)
    assert (end.cause, end.refusal) == (Cause.HOOK_REFUSED, "plugin a refused: not now")
    assert host.order() == ["prompt", "hook_run", "notice"]
    assert [n.text for n in host.facts(Noticed)] == ["plugin a refused: not now"]


@pytest.mark.parametrize("composition", [None, pipeline(steering())])
def test_a_turn_that_a_hook_refuses_asks_neither_model_nor_plugin(
    composition: Composition | None,
) -> None:
    """[E-10, H-58] `TurnStart` comes before `before_turn`; nothing is judged after it."""
    host = Host(hook=answering({"a": deny()}))
    end = played(host, composition, **hooked(Hook.TURN_START))
    assert (end.status, end.rounds) == (RunStatus.STOPPED, 1)
    assert host.models() == []
    assert not any(isinstance(question, AskPlugin) for question in host.asked)
    assert host.facts(Judged) == []
    (ended,) = host.facts(TurnEnded)
    assert ended.cause is Cause.HOOK_REFUSED


def test_the_start_of_every_round_is_told_and_the_prompt_once() -> None:
    """[H-58, H-59]"""
    answers = iter([BAD, GOOD])
    host = Host(
        replies=[says(), says()],
        inspections=trees(),
        plugin=lambda _member, _request: next(answers),
    )
    end = played(host, pipeline(), **hooked(Hook.USER_PROMPT_SUBMIT, Hook.TURN_START))
    assert end.rounds == 2
    asked = [(q.occasion.event.value, q.turn) for q in host.asked if isinstance(q, AskHook)]
    assert asked == [("UserPromptSubmit", None), ("TurnStart", "t1"), ("TurnStart", "t2")]


@pytest.mark.parametrize(
    ("plugin", "hook", "status"),
    [
        (GOOD, deny(), RunStatus.UNMET),
        (GOOD, wish(), RunStatus.UNDECIDED),
        (NOBODY, deny(), RunStatus.UNMET),
        (NOBODY, wish(), RunStatus.UNDECIDED),
        (None, deny(), RunStatus.UNMET),
        (None, wish(), RunStatus.UNDECIDED),
    ],
)
def test_the_worst_of_verdict_and_gate_is_the_status(
    plugin: Answer | Silence | None, hook: HookResult, status: RunStatus
) -> None:
    """[E-40, E-42, E-122, D-84]"""
    host = Host(
        replies=[says()] * 3,
        plugin=lambda _member, _request: plugin or NOBODY,
        hook=answering({"a": hook}),
    )
    end = played(host, pipeline() if plugin else None, **hooked(Hook.STOP))
    assert end.status is status


def test_the_holds_of_a_gate_count_through_the_rounds_of_a_run() -> None:
    """[D-68, D-19]"""
    answers = iter([BAD, GOOD])
    host = Host(
        replies=[says()] * 4,
        inspections=trees(),
        plugin=lambda _member, _request: next(answers),
        hook=answering({"a": deny()}),
    )
    end = played(host, pipeline(), **hooked(Hook.STOP))
    assert (end.rounds, end.status) == (2, RunStatus.UNMET)
    assert len([q for q in host.asked if isinstance(q, AskHook)]) == 2


def parsed(text: str) -> Condition:
    condition = parse_condition(text)
    assert isinstance(condition, Condition)
    return condition


def steps(host: Host) -> list[str]:
    """What was asked of the host, in order, without what it was only told."""
    found = []
    for question in host.asked:
        if isinstance(question, AskPlugin):
            request = question.request
            point = "after" if isinstance(request, AfterTurnRequest) else "before"
            found.append(f"{question.member} {point} {request.stage}")
        elif isinstance(question, TakeBaseline | AskModel | Inspect):
            found.append(type(question).__name__)
    return found


@pytest.mark.behaviour("G-30", "D-16")
def test_the_steps_of_a_round_stand_in_their_order() -> None:
    """[D-16, G-30, Q-27] The watch looks before anybody is asked, and once more before judge."""
    guide = steering("guide", (Step(name="execute"), Step(name="verify")), after=True)
    answers = iter([BAD, GOOD])

    def answered(member: str, request: Request) -> Answer | Silence:
        if isinstance(request, AfterTurnRequest):
            return next(answers) if member == "judge" else GOOD
        return BeforeTurnAnswer(protocol_version=1)

    host = Host(replies=[says()] * 2, plugin=answered, inspections=trees())
    assert played(host, pipeline(guide, arbiter("judge"))).status is RunStatus.MET
    one_round = [
        *("guide before execute", "AskModel", "Inspect", "guide before verify"),
        *("guide after verify", "judge after execute", "Inspect"),
    ]
    assert steps(host) == ["TakeBaseline", *one_round, *one_round]


@pytest.mark.behaviour("D-17")
@pytest.mark.parametrize(
    "program",
    [
        (Step(name="triage"),),
        (Step(name="triage"), Step(name="execute", condition=parsed("plans"))),
    ],
    ids=["absent", "skipped"],
)
def test_the_turn_runs_whether_or_not_its_stage_does(program: tuple[Step, ...]) -> None:
    """[D-17]"""
    host = Host(replies=[says("ok")], plugin=lambda _m, _r: BeforeTurnAnswer(protocol_version=1))
    end = played(host, pipeline(steering("guide", program)))
    assert (end.status, end.rounds) == (RunStatus.COMPLETED, 1)
    assert steps(host)[1:3] == ["guide before triage", "AskModel"]


@pytest.mark.behaviour("G-27")
def test_the_baseline_is_taken_once_and_is_no_evidence() -> None:
    """[G-27] However many rounds there are, and whatever it said."""
    host = Host(replies=[says()] * 3, plugin=lambda _m, _r: BAD, inspections=trees())
    assert played(host, pipeline()).rounds == 3
    assert steps(host).count("TakeBaseline") == 1
    passed = Baselined(
        program="pytest",
        args=(),
        baseline=TestBaseline.PASSED,
        reason="exit-zero",
        duration_ms=3,
        watched=(),
        complete=True,
    )
    granted = Granted(candidate=GRANT.candidate, baseline=passed)
    silent = Host(replies=[says()], granted=granted)
    assert played(silent, pipeline()).status is RunStatus.UNDECIDED


def words(host: Host) -> list[str]:
    """How every round stood to the one before it."""
    return [fact.progress.value for fact in host.facts(Judged)]


@pytest.mark.behaviour("J-23", "D-44", "K-117")
def test_only_the_bound_stops_a_run_whose_tree_cannot_be_measured() -> None:
    """[J-23, D-44] Equal clauses are no standstill when nobody saw the tree."""
    unseen = Inspection(finding=TamperState.CLEAN, artifacts=(), digest=None)
    host = Host(replies=[says()] * 3, plugin=lambda _m, _r: BAD, inspections=[unseen] * 6)
    end = played(host, pipeline())
    assert words(host) == ["first", "unmeasured", "unmeasured"]
    assert isinstance(end.outcome, StoppedUnmet)
    assert isinstance(end.outcome.stopped, AllowanceSpent)


@pytest.mark.behaviour("J-20", "D-44", "K-116")
def test_a_number_that_moves_is_progress_even_in_an_equal_tree() -> None:
    """[J-20, D-44]"""
    same = Inspection(finding=TamperState.CLEAN, artifacts=(), digest="sha256:1")
    host = Host(
        replies=[says()] * 3,
        plugin=lambda _m, request: evidence(Flip.NOT_ATTEMPTED, x=9 - min(request.round, 1)),
        inspections=[same] * 6,
    )
    end = played(host, pipeline(arbiter(rule=BUDGET, max_holds=8)), host_max_holds=8)
    assert words(host) == ["first", "changed", "unchanged"]
    assert (end.status, end.rounds) == (RunStatus.UNMET, 3)


@pytest.mark.behaviour("D-39", "D-41", "K-179")
def test_a_member_below_arbiter_is_heard_and_decides_nothing() -> None:
    """[D-39, D-41] Its perfect answer is told, and the arbiter's silence is what counts."""
    guide = steering("guide", after=True)
    host = Host(replies=[says()], plugin=lambda member, _r: GOOD if member == "guide" else NOBODY)
    end = played(host, pipeline(guide, arbiter("judge")))
    assert end.status is RunStatus.UNDECIDED
    heard = {f.plugin: f.response for f in host.facts(Exchanged) if f.point is Point.AFTER_TURN}
    assert heard["judge"] is None
    assert heard["guide"] is not None
    assert heard["guide"]["evidence"]["flip"] == "achieved"
    (judged,) = host.facts(Judged)
    assert judged.evidence.provenance is Provenance.HOST_OBSERVED
    assert (judged.evidence.flip, judged.evidence.measurements) == (Flip.UNOBSERVABLE, {})


@pytest.mark.behaviour("D-42")
def test_no_request_tells_a_plugin_what_the_watch_found() -> None:
    """[D-42] Not in its own round and not in the next one."""
    host = Host(replies=[says()] * 2, plugin=lambda _m, _r: GOOD, inspections=[EDITED] * 4)
    assert played(host, pipeline()).rounds == 2
    requests = [codec.encode(q.request) for q in host.asked if isinstance(q, AskPlugin)]
    assert len(requests) == 2
    for request in requests:
        assert b"tamper" not in request
        assert b"tests/t.py" not in request


@pytest.mark.behaviour("J-51", "G-40", "K-113")
def test_what_either_look_found_is_one_finding_named_by_its_first_path() -> None:
    """[G-40, J-51, Q-27] The value names one artifact, the record lists all with their kinds."""

    def look(*found: tuple[str, str]) -> Inspection:
        artifacts = tuple(ChangedArtifact(path=path, kinds=(kind,)) for path, kind in found)
        finding = Tampered(tampered=Artifact(artifact=found[0][0]))
        return Inspection(finding=finding, artifacts=artifacts, digest=None)

    looks = [look(("b", "mode-changed")), look(("a", "added"), ("b", "edited"))]
    host = Host(replies=[says()], plugin=lambda _m, _r: GOOD, inspections=looks)
    played(host, pipeline(), host_max_holds=0)
    (found,) = host.facts(TamperFound)
    assert found.finding == Tampered(tampered=Artifact(artifact="a"))
    listed = [(artifact.path, artifact.kinds) for artifact in found.artifacts]
    assert listed == [("a", ("added",)), ("b", ("edited", "mode-changed"))]
    (judged,) = host.facts(Judged)
    assert judged.evidence.tamper == found.finding


@pytest.mark.behaviour("J-5", "J-24", "D-19")
def test_the_bounds_of_a_run_are_the_hosts_whatever_a_plugin_asks_or_says() -> None:
    """[J-5, D-19] The plugin asks for eight holds, and claims signals of every kind."""
    claim = SignalValue(count=8)
    published = PublishedSignal(signal=Signal.CANDIDATES, value=claim)
    guide = steering("guide")

    def answered(member: str, _request: Request) -> Answer:
        if member == "judge":
            return BAD
        return BeforeTurnAnswer(protocol_version=1, publish=(published,))

    host = Host(replies=[says()] * 3, plugin=answered, inspections=trees())
    assert played(host, pipeline(guide, arbiter("judge", max_holds=8))).rounds == 3
    states = [fact.state for fact in host.facts(Continued)]
    assert [(s.holds_spent, s.host_max_holds, s.ceiling) for s in states] == [
        (0, 2, None),
        (1, 2, None),
        (2, 2, None),
    ]


def made(path: str) -> tuple[Change, ...]:
    return (Change(path=path, kind="created", before=None, after="1", added=2, removed=0),)


@pytest.mark.behaviour("D-20", "D-26")
def test_what_the_turn_changed_starts_the_stages_after_it() -> None:
    """[D-26, D-16 step 4] Measured by the host, read by the conditions of the same round."""
    conditions = [Step(name="verify", condition=parsed("mutating-actions > 0"))]
    conditions.append(Step(name="reflect", condition=parsed("diff-lines > 2")))
    guide = steering("guide", (Step(name="execute"), *conditions))
    host = Host(
        replies=[calls("bash"), says()],
        changes=[made("a")],
        plugin=lambda _m, _r: BeforeTurnAnswer(protocol_version=1),
    )
    played(host, pipeline(guide))
    asked = [step for step in steps(host) if step.startswith("guide")]
    assert asked == ["guide before execute", "guide before verify"]


@pytest.mark.behaviour("D-19")
def test_a_run_adds_up_its_turns_and_numbers_them_on() -> None:
    """[D-19, E-2] Use and changes of every round, and each told under the turn it is of."""
    host = Host(
        replies=[calls("bash"), says(), calls("bash"), says()],
        changes=[made("a"), made("b")],
        plugin=lambda _m, request: GOOD if request.round else BAD,
        inspections=trees(),
    )
    end = played(host, pipeline())
    assert (end.rounds, end.tally.usage.model_calls, end.tally.usage.input_tokens) == (2, 4, 40)
    assert end.changes.paths == ("a", "b")
    for kind in (TamperFound, Judged, Continued):
        assert [turn for turn, fact, _ in host.told if isinstance(fact, kind)] == ["t1", "t2"]
    (correction,) = [fact for fact in host.facts(MessageAppended) if fact.origin == "correction"]
    assert correction.label == "wrapper-verdict"
    assert correction.text == host.models()[-1][-3].content
    first, last = host.facts(Continued)
    assert first.again is not None
    assert first.again.correction.guidance.text in correction.text
    assert (first.stop, last.again) == (None, None)


@pytest.mark.behaviour("D-18")
def test_each_limit_of_a_turn_is_a_ceiling_of_the_run() -> None:
    """[D-18, J-52, E-80]"""
    assert {cause.value: ceiling.value for cause, ceiling in CEILINGS.items()} == {
        "step_limit": "steps",
        "stuck_loop": "steps",
        "money_limit": "money",
        "token_limit": "money",
        "time_limit": "time",
    }


JOINING = MessageAppended(role="user", origin="skills", text="## Skills")


@pytest.mark.behaviour("E-132")
def test_skills_and_records_stand_behind_the_prompt_of_the_first_round_alone() -> None:
    """[E-132] The prompt, then they, then what plugins contribute; a further round has none."""
    answers = iter([BAD, GOOD])
    host = Host(replies=[says(), says()], plugin=lambda _m, _r: next(answers), inspections=trees())
    played(host, pipeline(), joining=JOINING)
    first, second = host.models()
    texts = [message.content for message in first]
    assert texts[:2] == ["\\[time] go", "## Skills"]
    assert [message.content for message in second].count("## Skills") == 1
    told = host.facts(MessageAppended)
    assert told[0] == JOINING
    assert told.count(JOINING) == 1


def test_a_turn_that_may_not_begin_is_given_nothing() -> None:
    """[E-10, E-132]"""
    host = Host(hook=answering({"a": deny()}))
    end = played(host, None, joining=JOINING, **hooked(Hook.TURN_START))
    assert end.turn is not None
    assert JOINING not in host.facts(MessageAppended)
