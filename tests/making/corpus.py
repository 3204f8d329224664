"""The message corpus: every kind of message once at least, for codecs in other languages [W-56].

The messages are made from the wire's own values, never written by hand. Keys inside messages are
sorted here; on the wire they have the order of the types.
"""

import json
from typing import Any
from typing import Final

from stella import codec
from stella import limits
from stella.wire.after_turn import AfterTurnAnswer
from stella.wire.after_turn import AfterTurnRequest
from stella.wire.after_turn import TurnOutcome
from stella.wire.before_turn import BeforeTurnAnswer
from stella.wire.before_turn import BeforeTurnRequest
from stella.wire.before_turn import ContextEntry
from stella.wire.before_turn import PublishedSignal
from stella.wire.before_turn import SignalValue
from stella.wire.driver import Drive
from stella.wire.driver import DriverAsk
from stella.wire.driver import DriverEnd
from stella.wire.driver import DriverResult
from stella.wire.driver import Halt
from stella.wire.driver import Next
from stella.wire.driver import Served
from stella.wire.driver import Sleep
from stella.wire.driver import write_drive
from stella.wire.driver import write_driver_result
from stella.wire.envelope import Answer
from stella.wire.envelope import Request
from stella.wire.envelope import write_request
from stella.wire.event import write_event
from stella.wire.evidence import Flip
from stella.wire.evidence import ObservedEvidence
from stella.wire.grant import HOST_TREE
from stella.wire.grant import CandidateGrant
from stella.wire.grant import TestBaseline
from stella.wire.grant import TestPlan
from stella.wire.hook import Action
from stella.wire.host_call import AdoptArgs
from stella.wire.host_call import CallArgs
from stella.wire.host_call import ChildTurnArgs
from stella.wire.host_call import EmitArgs
from stella.wire.host_call import FanoutArgs
from stella.wire.host_call import HostCall
from stella.wire.host_call import RecallArgs
from stella.wire.host_call import RunTestArgs
from stella.wire.host_result import AdoptOk
from stella.wire.host_result import Attempt
from stella.wire.host_result import CallOk
from stella.wire.host_result import ChildTurnOk
from stella.wire.host_result import EmitOk
from stella.wire.host_result import FanoutOk
from stella.wire.host_result import Frame
from stella.wire.host_result import HostResult
from stella.wire.host_result import RecallOk
from stella.wire.host_result import RefusedCall
from stella.wire.host_result import RunTestOk
from stella.wire.host_result import write_result
from stella.wire.occasion import write_payload
from stella.wire.points import COUNTS
from stella.wire.points import HOST_STAGES
from stella.wire.points import PROTOCOL_VERSION
from stella.wire.points import Call
from stella.wire.points import DriverVerb
from stella.wire.points import Hook
from stella.wire.points import Point
from stella.wire.points import Refusal
from stella.wire.points import Signal
from tests.making.told import DECISIONS
from tests.making.told import EVENTS
from tests.making.told import OCCASIONS
from tests.making.vectors import VECTORS

Entry = dict[str, Any]

PLACE: Final = VECTORS / "wire" / "wire-corpus.json"

_GOAL: Final = "make the date parser accept ISO weeks"
_PLAN: Final = TestPlan(
    program="pytest", args=("-q", "tests/test_week.py"), baseline=TestBaseline.FAILED
)
_GRANT: Final = CandidateGrant(handle=HOST_TREE, root="/home/dev/shop", test=_PLAN)
_C7: Final = "c-7d0f2b9a41c84e55a1d3c06e9b7f2a10"
_DONE: Final = TurnOutcome(
    completed=True,
    answer="Weeks parse now.",
    tools=("read_file", "edit_file"),
    changed_files=("src/week.py",),
)


def corpus() -> dict[str, Any]:
    """Return the whole corpus, section by section."""
    return {
        "protocol_version": PROTOCOL_VERSION,
        "vocabulary": _vocabulary(),
        "requests": [_entry(name, _plain(write_request(it))) for name, it in _requests().items()],
        "responses": [_entry(name, answer(it)) for name, it in _responses().items()],
        "parts": [_entry(name, codec.plain(it)) for name, it in _parts().items()],
        "host_calls": [_entry(name, codec.plain(it)) for name, it in _host_calls().items()],
        "host_results": [
            _entry(name, _plain(write_result(it))) for name, it in _host_results().items()
        ],
        "hooks": [
            *(_entry(name, _plain(write_payload(*it))) for name, it in OCCASIONS.items()),
            *(_entry(name, codec.plain(it)) for name, it in DECISIONS.items()),
        ],
        "events": [_entry(name, _plain(write_event(it))) for name, it in EVENTS.items()],
        "driver_session": [_entry(name, it) for name, it in _driver_session().items()],
        "driver_calls": [
            _entry(verb.value, codec.plain(DriverAsk(call=verb, id=number)))
            for number, verb in enumerate(DriverVerb, 1)
        ],
        "driver_results": [
            _entry(name, _plain(write_driver_result(it))) for name, it in _driver_results().items()
        ],
    }


def text() -> bytes:
    """Return the bytes of the corpus file; the same ones at every call."""
    return (json.dumps(corpus(), indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def regenerate() -> None:
    """Write the corpus file."""
    PLACE.parent.mkdir(exist_ok=True)
    PLACE.write_bytes(text())


def answer(body: Answer) -> Entry:
    """Return an answer as plain data; the host never writes one."""
    point = Point.BEFORE_TURN if isinstance(body, BeforeTurnAnswer) else Point.AFTER_TURN
    return {"point": point.value, "body": codec.plain(body)}


def _entry(case: str, message: object) -> Entry:
    return {"case": case, "message": message}


def _plain(line: bytes) -> object:
    return codec.parse(line)


def _words(vocabulary: type[codec.Word]) -> list[str]:
    return [word.value for word in vocabulary]


def _vocabulary() -> dict[str, list[str]]:
    return {
        "point": _words(Point),
        "call": _words(Call),
        "refusal": _words(Refusal),
        "flip": _words(Flip),
        "baseline": _words(TestBaseline),
        "signal": _words(Signal),
        "stage": [*HOST_STAGES, "triage-lite"],
        "hook": _words(Hook),
        "action": _words(Action),
        "driver_verb": _words(DriverVerb),
    }


def _value(signal: Signal) -> SignalValue:
    return SignalValue(count=2) if signal in COUNTS else SignalValue(boolean=True)


def _requests() -> dict[str, Request]:
    before: dict[str, Any] = {
        "protocol_version": PROTOCOL_VERSION,
        "wrapper": "survey-v1",
        "goal": _GOAL,
    }
    after: dict[str, Any] = {
        "protocol_version": PROTOCOL_VERSION,
        "wrapper": "verify",
        "goal": _GOAL,
    }
    return {
        "before_turn": BeforeTurnRequest(
            **before,
            stage="recall",
            round=0,
            candidate=_GRANT,
            published=(PublishedSignal(signal=Signal.QUESTIONS, value=SignalValue(count=2)),),
        ),
        "before_turn with the least": BeforeTurnRequest(**before, stage="triage-lite", round=0),
        "before_turn with every signal": BeforeTurnRequest(
            **before,
            stage="complete",
            round=limits.U32_MAX,
            published=tuple(PublishedSignal(signal=it, value=_value(it)) for it in Signal),
        ),
        "after_turn": AfterTurnRequest(
            **after, stage="execute", round=0, candidate=_GRANT, turn=_DONE
        ),
        "after_turn with the least": AfterTurnRequest(
            **after, round=0, turn=TurnOutcome(completed=False)
        ),
        "after_turn that was aborted and measured nothing": AfterTurnRequest(
            **after,
            stage="verify",
            round=1,
            candidate=CandidateGrant(handle=HOST_TREE, root="/home/dev/shop"),
            turn=TurnOutcome(
                completed=False, answer="the model gave no reply", tools=(), changed_files=()
            ),
        ),
    }


def _responses() -> dict[str, Answer]:
    version = PROTOCOL_VERSION
    told: dict[str, Answer] = {
        "before_turn": BeforeTurnAnswer(
            protocol_version=version,
            context=(ContextEntry(label="recall", text="The parser lives in src/week.py."),),
            role="planner",
            scope=("src/week.py", "tests"),
            publish=(PublishedSignal(signal=Signal.PLANS, value=SignalValue(boolean=True)),),
        ),
        "before_turn that contributes nothing": BeforeTurnAnswer(protocol_version=version),
        "before_turn in other scripts": BeforeTurnAnswer(
            protocol_version=version,
            context=(ContextEntry(label="", text="Wochen: 週 😀\n\u202e\u0000"),),
        ),
        "after_turn": AfterTurnAnswer(
            protocol_version=version,
            evidence=ObservedEvidence(
                flip=Flip.ACHIEVED, measurements={"test-command-exit-code": 0}
            ),
        ),
        "after_turn with the widest number": AfterTurnAnswer(
            protocol_version=version,
            evidence=ObservedEvidence(
                flip=Flip.NOT_ACHIEVED, measurements={"p50": limits.U64_MAX, "p99": 0}
            ),
        ),
    }
    flips: dict[str, Answer] = {
        f"after_turn {flip.value}": AfterTurnAnswer(
            protocol_version=version, evidence=ObservedEvidence(flip=flip)
        )
        for flip in Flip
    }
    return told | flips


def _parts() -> dict[str, object]:
    plans = {
        f"TestPlan {it.value}": TestPlan(program="make", args=("test",), baseline=it)
        for it in TestBaseline
    }
    return plans | {
        "TestPlan without args": TestPlan(program="./check.sh"),
        "CandidateGrant": _GRANT,
        "CandidateGrant without a test": CandidateGrant(handle=_C7, root="/home/dev/shop"),
        "TurnOutcome": _DONE,
        "TurnOutcome that was not measured": TurnOutcome(completed=True),
        "TurnOutcome that is measured and empty": TurnOutcome(
            completed=True, tools=(), changed_files=()
        ),
        "PublishedSignal boolean": PublishedSignal(
            signal=Signal.TESTS_GREEN, value=SignalValue(boolean=False)
        ),
        "PublishedSignal count": PublishedSignal(
            signal=Signal.DIFF_LINES, value=SignalValue(count=0)
        ),
        "ContextEntry": ContextEntry(label="recall", text="one\ntwo"),
        "ObservedEvidence": ObservedEvidence(flip=Flip.UNOBSERVABLE),
    }


def _host_calls() -> dict[str, HostCall]:
    args: dict[str, tuple[Call, CallArgs]] = {
        "recall": (Call.RECALL, RecallArgs(goal="ISO weeks", limit=8)),
        "recall without a limit": (Call.RECALL, RecallArgs(goal="ISO weeks")),
        "child_turn": (
            Call.CHILD_TURN,
            ChildTurnArgs(role="planner", instruction="List the steps."),
        ),
        "run_test": (Call.RUN_TEST, RunTestArgs(candidate=HOST_TREE)),
        "candidate_fanout": (
            Call.CANDIDATE_FANOUT,
            FanoutArgs(role="builder", instruction="Smallest change wins.", width=3),
        ),
        "adopt_candidate": (Call.ADOPT_CANDIDATE, AdoptArgs(candidate=_C7)),
        "emit": (
            Call.EMIT,
            EmitArgs(name="flip-seen", payload={"test": "tests/test_week.py"}),
        ),
        "emit with free data": (
            Call.EMIT,
            EmitArgs(
                name="a.b_c-1",
                payload={
                    "share": 1.5,
                    "deep": [{"no": None}, True, []],
                    "low": -limits.I64_MAX - 1,
                    "high": limits.I64_MAX,
                },
            ),
        ),
    }
    return {
        case: HostCall(call=call, id=number, args=given)
        for number, (case, (call, given)) in enumerate(args.items(), 1)
    }


def _host_results() -> dict[str, HostResult]:
    attempt = Attempt(
        candidate=_C7,
        root="/home/dev/shop/.stella/candidates/7d0f",
        report="done",
        completed=True,
        files_changed=1,
        lines_changed=6,
    )
    frame = Frame(
        label="week parser", kind="memory", source="notes", content="Weeks start on Monday."
    )
    file = Frame(
        label="src/week.py:1-9",
        kind="file",
        source="workspace",
        uri="src/week.py",
        content="def week(text):",
    )
    served: dict[str, CallOk] = {
        "recall": RecallOk(frames=(frame, file)),
        "recall that found nothing": RecallOk(),
        "child_turn": ChildTurnOk(
            role="planner", seat="plan", report="1. read 2. edit", completed=True
        ),
        "run_test": _tested(passed=True, code=0, tail="1 passed in 0.31s\n"),
        "run_test that was ended": _tested(passed=False, code=None, tail=""),
        "candidate_fanout": FanoutOk(requested=3, candidates=(attempt,)),
        "adopt_candidate": AdoptOk(adopted=_C7),
        "adopt_candidate with losers": AdoptOk(adopted=_C7, discarded=("c-00", "c-01")),
        "emit": EmitOk(emitted="plugin.verify.flip-seen"),
    }
    refused = {
        f"refused {it.value}": RefusedCall(refusal=it, detail='tier "plan" is not bound')
        for it in Refusal
    }
    return {
        case: HostResult(id=number, outcome=outcome)
        for number, (case, outcome) in enumerate((served | refused).items(), 1)
    }


def _tested(*, passed: bool, code: int | None, tail: str) -> RunTestOk:
    return RunTestOk(
        candidate=HOST_TREE,
        passed=passed,
        exit_code=code,
        baseline=TestBaseline.FAILED,
        duration_ms=412,
        output_tail=tail,
    )


def _driver_session() -> dict[str, object]:
    nexts = {
        "sleep": Next(sleep=Sleep(secs=300)),
        "halt": Next(halt=Halt(reason="the backlog is empty")),
    }
    ends = {
        case: {"point": "drive", "body": codec.plain(DriverEnd(next=following))}
        for case, following in nexts.items()
    }
    return {"opening": _plain(write_drive(Drive(session="ses-1")))} | ends


def _driver_results() -> dict[str, DriverResult]:
    detail = "the manifest allows work_start"
    return {"served": DriverResult(id=1, outcome=Served())} | {
        f"refused {it.value}": DriverResult(id=2, outcome=RefusedCall(refusal=it, detail=detail))
        for it in Refusal
    }
