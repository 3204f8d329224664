"""Requests written, answers and calls read, and everything else refused [W-16 to W-31]."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stella import codec
from stella import limits
from stella.codec import JsonFault
from stella.codec import Refused
from stella.wire.after_turn import AfterTurnAnswer
from stella.wire.after_turn import AfterTurnRequest
from stella.wire.after_turn import TurnOutcome
from stella.wire.before_turn import BeforeTurnAnswer
from stella.wire.before_turn import BeforeTurnRequest
from stella.wire.before_turn import PublishedSignal
from stella.wire.before_turn import SignalValue
from stella.wire.envelope import LaterAnswer
from stella.wire.envelope import PointAnswer
from stella.wire.envelope import Request
from stella.wire.envelope import point_of
from stella.wire.envelope import read_message
from stella.wire.envelope import read_request
from stella.wire.envelope import write_request
from stella.wire.evidence import Flip
from stella.wire.grant import CandidateGrant
from stella.wire.grant import TestBaseline
from stella.wire.grant import TestPlan
from stella.wire.host_call import HostCall
from stella.wire.points import Call
from stella.wire.points import Point
from stella.wire.points import Signal

GRANT = CandidateGrant(
    handle="host-tree",
    root="/home/dev/shop",
    test=TestPlan(
        program="pytest", args=("-q", "tests/test_week.py"), baseline=TestBaseline.FAILED
    ),
)
BEFORE = BeforeTurnRequest(
    protocol_version=1,
    wrapper="survey-v1",
    stage="recall",
    round=0,
    goal="make the date parser accept ISO weeks",
    candidate=GRANT,
    published=(PublishedSignal(signal=Signal.QUESTIONS, value=SignalValue(count=2)),),
)
AFTER = AfterTurnRequest(
    protocol_version=1,
    wrapper="verify",
    stage="execute",
    round=0,
    goal="Wochen: 週 😀",
    candidate=GRANT,
    turn=TurnOutcome(
        completed=True, answer="Weeks parse now.", tools=("read_file",), changed_files=("a.py",)
    ),
)


@pytest.mark.behaviour("W-2", "W-17")
def test_a_before_turn_request_has_its_keys_in_wire_order() -> None:
    """[W-2, W-17]"""
    assert write_request(BEFORE) == (
        b'{"point":"before_turn","body":{"protocol_version":1,"wrapper":"survey-v1",'
        b'"stage":"recall","round":0,"goal":"make the date parser accept ISO weeks",'
        b'"candidate":{"handle":"host-tree","root":"/home/dev/shop","test":{"program":"pytest",'
        b'"args":["-q","tests/test_week.py"],"baseline":"failed"}},'
        b'"published":[{"signal":"questions","value":{"count":2}}]}}\n'
    )


@pytest.mark.behaviour("C1", "C2", "W-2", "W-18")
def test_an_after_turn_request_has_its_keys_in_wire_order_and_no_escapes() -> None:
    """[W-2, W-18]"""
    assert (
        write_request(AFTER)
        == (
            '{"point":"after_turn","body":{"protocol_version":1,"wrapper":"verify",'
            '"stage":"execute","round":0,"goal":"Wochen: 週 😀",'
            '"candidate":{"handle":"host-tree","root":"/home/dev/shop","test":{"program":"pytest",'
            '"args":["-q","tests/test_week.py"],"baseline":"failed"}},'
            '"turn":{"completed":true,"answer":"Weeks parse now.","tools":["read_file"],'
            '"changed_files":["a.py"]}}}\n'
        ).encode()
    )


@pytest.mark.behaviour("K-27")
def test_no_candidate_and_nothing_published_leave_no_key() -> None:
    """[W-17]"""
    request = BeforeTurnRequest(protocol_version=1, wrapper="w", stage="s", round=0, goal="g")
    assert write_request(request) == (
        b'{"point":"before_turn","body":{"protocol_version":1,"wrapper":"w","stage":"s",'
        b'"round":0,"goal":"g"}}\n'
    )


@pytest.mark.behaviour("K-28", "W-19")
def test_not_measured_is_an_absent_key_and_none_an_empty_list() -> None:
    """[W-19]"""
    assert codec.encode(TurnOutcome(completed=False)) == b'{"completed":false}'
    assert codec.encode(TurnOutcome(completed=True, tools=(), changed_files=())) == (
        b'{"completed":true,"tools":[],"changed_files":[]}'
    )


@pytest.mark.behaviour("K-29", "W-22")
def test_a_plan_without_arguments_still_says_its_baseline() -> None:
    """[W-22]"""
    assert codec.encode(TestPlan(program="make")) == b'{"program":"make","baseline":"not-run"}'
    assert codec.read(TestPlan, b'{"program":"make"}').baseline is TestBaseline.NOT_RUN


@pytest.mark.parametrize("request_", [BEFORE, AFTER])
def test_a_request_reads_back(request_: Request) -> None:
    """[K-203]"""
    assert read_request(write_request(request_)) == request_


def test_each_request_belongs_to_its_point() -> None:
    assert (point_of(BEFORE), point_of(AFTER)) == (Point.BEFORE_TURN, Point.AFTER_TURN)


@pytest.mark.behaviour("W-26")
def test_answers_are_read() -> None:
    """[W-25, W-26]"""
    before = read_message(b'{"point":"before_turn","body":{"protocol_version":1}}')
    assert before == PointAnswer(point=Point.BEFORE_TURN, body=BeforeTurnAnswer(protocol_version=1))
    after = read_message(
        b'{"point":"after_turn","body":{"protocol_version":1,"evidence":{"flip":"achieved",'
        b'"measurements":{"test-command-exit-code":0}}}}'
    )
    assert isinstance(after, PointAnswer)
    assert isinstance(after.body, AfterTurnAnswer)
    assert after.body.evidence.flip is Flip.ACHIEVED


@pytest.mark.behaviour("K-31", "W-3")
def test_an_answer_over_several_lines_is_read() -> None:
    """[W-3]"""
    message = read_message(b'{\n"point"\n:\n"before_turn",\n"body":{"protocol_version":\n1}}')
    assert isinstance(message, PointAnswer)


@pytest.mark.parametrize(
    ("call", "args"),
    [
        ("recall", b'{"goal":"x","limit":8}'),
        ("recall", b'{"goal":"x"}'),
        ("child_turn", b'{"role":"planner","instruction":"x"}'),
        ("run_test", b'{"candidate":"host-tree"}'),
        ("candidate_fanout", b'{"role":"b","instruction":"x","width":3}'),
        ("adopt_candidate", b'{"candidate":"c-1"}'),
        ("emit", b'{"name":"a","payload":{"f":1.5}}'),
    ],
)
@pytest.mark.behaviour("K-153", "W-30")
def test_every_call_is_read(call: str, args: bytes) -> None:
    """[W-30, W-8]"""
    message = read_message(b'{"call":"%s","id":7,"args":%s}' % (call.encode(), args))
    assert isinstance(message, HostCall)
    assert (message.call, message.id) == (Call(call), 7)


ANSWER = b'"point":"after_turn","body":{"protocol_version":1,"evidence":{"flip":"achieved"}}'


@pytest.mark.parametrize(
    ("data", "token", "at"),
    [
        (b"[]", JsonFault.WRONG_TYPE, ""),
        (b"null", JsonFault.WRONG_TYPE, ""),
        (b"{}", JsonFault.MISSING_KEY, ""),
        (b'{"x":1}', JsonFault.MIXED_MESSAGE, ""),
        (b'{"call":"recall",%s}' % ANSWER, JsonFault.MIXED_MESSAGE, ""),
        (b'{%s,"id":1}' % ANSWER, JsonFault.MIXED_MESSAGE, ""),
        (b'{%s,"args":{}}' % ANSWER, JsonFault.MIXED_MESSAGE, ""),
        (b'{"call":"recall","id":1,"args":{},"body":{}}', JsonFault.MIXED_MESSAGE, ""),
        (b'{"point":"after_turn"}', JsonFault.MISSING_KEY, "body"),
        (b'{"point":null,"body":{}}', JsonFault.MISSING_KEY, "point"),
        (b'{"call":"recall","args":{"goal":"x"}}', JsonFault.MISSING_KEY, "id"),
        (b'{"call":"recall","id":1}', JsonFault.MISSING_KEY, "args"),
        (b'{"call":"recal","id":1,"args":{}}', JsonFault.UNKNOWN_TOKEN, "call"),
        (b'{"call":"recall","id":1,"args":{"gaol":"x"}}', JsonFault.UNKNOWN_KEY, "args.gaol"),
        (b'{"call":"recall","id":-1,"args":{}}', JsonFault.INTEGER_OUT_OF_RANGE, "id"),
        (b'{"point":"judge","body":{}}', JsonFault.UNKNOWN_TOKEN, "point"),
        (b'{"point":1,"body":{}}', JsonFault.WRONG_TYPE, "point"),
        (b'{%s,"extra":1}' % ANSWER, JsonFault.UNKNOWN_KEY, "extra"),
        (
            b'{"point":"after_turn","body":{"evidence":{"flip":"achieved"}}}',
            JsonFault.MISSING_KEY,
            "body.protocol_version",
        ),
    ],
)
@pytest.mark.behaviour("K-34", "C5", "F158", "W-31")
def test_whatever_is_both_or_neither_is_refused(data: bytes, token: JsonFault, at: str) -> None:
    """[W-31]"""
    with pytest.raises(Refused) as refused:
        read_message(data)
    fault = refused.value.reasons[0]
    assert (fault.token, fault.at) == (token, at)


@pytest.mark.parametrize("key", ["tamper", "verdict", "met"])
@pytest.mark.behaviour("K-35", "W-27")
def test_evidence_has_no_tamper_and_no_verdict(key: str) -> None:
    """[W-27]"""
    evidence = b'{"flip":"achieved","%s":"clean"}' % key.encode()
    data = b'{"point":"after_turn","body":{"protocol_version":1,"evidence":%s}}' % evidence
    with pytest.raises(Refused) as refused:
        read_message(data)
    assert refused.value.reasons[0].at == f"body.evidence.{key}"


@pytest.mark.behaviour("K-152", "W-1")
def test_one_mark_at_the_very_start_is_tolerated_and_no_other() -> None:
    """[W-1, Q-18]"""
    mark = b"\xef\xbb\xbf"
    data = b"{%s}" % ANSWER
    assert isinstance(read_message(mark + data), PointAnswer)
    for late in (mark + mark + data, mark + data):
        with pytest.raises(Refused) as refused:
            read_message(late, first=late.count(mark) == 2)
        assert refused.value.reasons[0].token is JsonFault.MISPLACED_BOM


def tables(tree: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The places of all closed tables of a message."""
    found: list[tuple[str | int, ...]] = []
    if isinstance(tree, dict):
        if path[-1:] not in {("measurements",), ("payload",)}:
            found.append(path)
        for key, value in tree.items():
            found += tables(value, (*path, key))
    elif isinstance(tree, list):
        for number, value in enumerate(tree):
            found += tables(value, (*path, number))
    return found


MESSAGES = (
    write_request(BEFORE),
    write_request(AFTER),
    (
        b'{"point":"before_turn","body":{"protocol_version":1,"context":[{"label":"a","text":"b"}],'
        b'"publish":[{"signal":"plans","value":{"boolean":true}}]}}'
    ),
    b'{"point":"after_turn","body":{"protocol_version":1,"evidence":{"flip":"achieved"}}}',
    b'{"call":"recall","id":1,"args":{"goal":"x"}}',
    b'{"call":"emit","id":1,"args":{"name":"x","payload":{}}}',
)


@given(st.sampled_from(MESSAGES), st.data())
def test_a_foreign_key_is_refused_at_every_depth(message: bytes, data: st.DataObject) -> None:
    """[W-4, law 2]"""
    tree = codec.parse(message)
    path = data.draw(st.sampled_from(tables(tree)))
    spot: object = tree
    for step in path:
        spot = spot[step]  # type: ignore[index]  # the path was walked before
    assert isinstance(spot, dict)
    spot["a_key_of_a_newer_host"] = 1
    reader = read_request if message in MESSAGES[:2] else read_message
    with pytest.raises(Refused):
        reader(codec.encode(tree))


@given(st.binary(max_size=120))
def test_no_bytes_raise_anything_but_a_refusal(data: bytes) -> None:
    refusals: list[Refused] = []
    for reader in (read_message, read_request):
        with contextlib.suppress(Refused):
            reader(data)
            refusals.append(Refused())
    assert len(refusals) < 2, "no bytes are both an answer and a request"


@pytest.mark.parametrize(
    "line",
    [
        b'{"point":"after_turn","body":{"protocol_version":%d}}',
        b'{"point":"before_turn","body":{"newer":1,"protocol_version":%d}}',
        b'{"point":"before_turn","body":{"protocol_version":%d,"context":1}}',
        b'{"point":"before_turn","body":{"protocol_version":%d},"newer":{}}',
        b'{"point":"mid_turn","body":{"protocol_version":%d}}',
    ],
)
@pytest.mark.parametrize("version", [2, limits.U32_MAX])
@pytest.mark.behaviour("W-12")
def test_of_an_answer_of_a_later_version_nothing_else_is_read(line: bytes, version: int) -> None:
    """[W-11, W-12]"""
    assert read_message(line % version) == LaterAnswer(version=version)


@pytest.mark.parametrize(
    "body",
    [
        b'{"protocol_version":%d,"newer":1}' % (limits.U32_MAX + 1),
        b'{"protocol_version":1,"newer":1}',
        b'{"protocol_version":0,"newer":1}',
        b'{"protocol_version":true,"newer":1}',
        b'{"protocol_version":"2","newer":1}',
        b'{"newer":1}',
        b"[2]",
    ],
)
def test_what_is_no_later_version_is_held_to_the_keys_of_this_one(body: bytes) -> None:
    """[W-11, W-12]"""
    with pytest.raises(Refused):
        read_message(b'{"point":"before_turn","body":%s}' % body)
