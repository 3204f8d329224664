"""What a plugin may say, row by row: each bad answer is one fault that names what it must [W-50].

These are the rows about what was said. How a process fails is proved with processes, in
tests/wrapper and tests/zoo.
"""

import pytest

from stella.process.ending import Completed
from stella.process.ending import Ending
from stella.wire.after_turn import AfterTurnAnswer
from stella.wire.after_turn import AfterTurnRequest
from stella.wire.after_turn import TurnOutcome
from stella.wire.envelope import PointAnswer
from stella.wire.envelope import read_message
from stella.wire.host_call import HostCall
from stella.wire.host_result import HostResult
from stella.wire.host_result import RecallOk
from stella.wire.host_result import write_result
from stella.wire.silence import Silence
from stella.wrapper.exchange import Exchange
from stella.wrapper.framing import Scanner

REQUEST = AfterTurnRequest(
    protocol_version=1, wrapper="w", round=0, goal="g", turn=TurnOutcome(completed=True)
)
EVIDENCE = b'"evidence":{"flip":"achieved"}'
ANSWER = b'{"point":"after_turn","body":{"protocol_version":1,%s}}' % EVIDENCE
FINE = Completed(ending=Ending.EXITED, code=0)
STOPPED = Completed(ending=Ending.STOPPED, signal=9)


def body(text: bytes) -> bytes:
    return b'{"point":"after_turn","body":{%s}}' % text


def heard(done: Completed, *chunks: bytes) -> AfterTurnAnswer | Silence:
    exchange = Exchange(plugin="p", request=REQUEST)
    for chunk in chunks:
        exchange.receive(chunk)
    found = exchange.conclude(done, 5)
    assert isinstance(found, AfterTurnAnswer | Silence)
    return found


@pytest.mark.parametrize(
    ("said", "code", "words"),
    [
        (b"INFO starting\n" + ANSWER, "Decode", ("INFO starting",)),
        (b"\xef\xbb\xbf\xef\xbb\xbf" + ANSWER, "Decode", ()),
        (b'"after_turn"', "Decode", ("after_turn",)),
        (b"[1]", "Decode", ("wrong-type", "[1]")),
        (b"{}", "Decode", ("missing-key", "{}")),
        (b"{'point':1}", "Decode", ("syntax", "{'point':1}")),
        (
            body(b'"protocol_version":1,"evidence":{"flip":"done"}'),
            "Decode",
            ("unknown-token", "body.evidence.flip", '"done"'),
        ),
        (
            body(b'"protocol_version":1,"evidence":{"flip":"achieved","tamper":"clean"}'),
            "Decode",
            ("unknown-key", "body.evidence.tamper"),
        ),
        (
            body(b'"protocol_version":1,"verdict":"met",%s' % EVIDENCE),
            "Decode",
            ("unknown-key", "body.verdict"),
        ),
        (
            body(b'"protocol_version":1,"evidence":{"flip":"achieved","measurements":{"p50":1.5}}'),
            "Decode",
            ("not-an-integer", "body.evidence.measurements.p50"),
        ),
        (body(EVIDENCE), "Decode", ("missing-key", "body.protocol_version")),
        (
            b'{"point":"before_turn","body":{"protocol_version":1}}',
            "PointMismatch",
            ("after_turn", "before_turn"),
        ),
        (body(b'"protocol_version":99,%s' % EVIDENCE), "ProtocolVersion", ("99", "1")),
        (
            body(b'"protocol_version":2,"verdict":"met",%s' % EVIDENCE),
            "ProtocolVersion",
            ("2", "1"),
        ),
        (b'{"point":"mid_turn","body":{"protocol_version":2}}', "ProtocolVersion", ("2", "1")),
        (b"", "NoResponse", ()),
        (ANSWER[:-1], "NoResponse", ("cut off",)),
        (b'{"call":"recall","id":1,"args":{"goal":"g"}}', "UnannouncedCall", ("recall",)),
        (b'{"call":"recal","id":1,"args":{"goal":"g"}}', "Decode", ("unknown-token", "call")),
        (
            b'{"call":"recall","id":1,"args":{"goal":"g","most":1}}',
            "Decode",
            ("unknown-key", "args.most"),
        ),
    ],
)
@pytest.mark.behaviour("W-50")
def test_a_bad_answer_is_one_fault_that_names_what_it_must(
    said: bytes, code: str, words: tuple[str, ...]
) -> None:
    done = STOPPED if code in {"Decode", "UnannouncedCall"} else FINE
    found = heard(done, said)
    assert isinstance(found, Silence)
    assert found.code.value == code
    assert found.message.startswith("p after_turn: ")
    for word in words:
        assert word in found.message


@pytest.mark.parametrize("later", [b"\n{}", b"garbage", b"\n" + ANSWER, b"\xff\x00", b"]]]"])
@pytest.mark.behaviour("W-54")
def test_what_follows_an_answer_is_ignored(later: bytes) -> None:
    for chunks in ((ANSWER + later,), (ANSWER, later)):
        assert isinstance(heard(FINE, *chunks), AfterTurnAnswer)


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.behaviour("W-11", "K-30")
def test_a_lower_version_is_accepted(version: int) -> None:
    found = heard(FINE, body(b'"protocol_version":%d,%s' % (version, EVIDENCE)))
    assert isinstance(found, AfterTurnAnswer)


@pytest.mark.behaviour("K-33")
def test_two_calls_in_one_write_are_two_messages_and_each_result_is_one_line() -> None:
    """[T-19] In the order asked, and the answer behind them."""
    calls = (
        b'{"call":"recall","id":2,"args":{"goal":"a"}}{"call":"recall","id":1,"args":{"goal":"b"}}'
    )
    documents, broken = Scanner().feed(calls + b"\n" + ANSWER)
    assert broken is None
    first, second, last = map(read_message, documents)
    assert isinstance(first, HostCall)
    assert isinstance(second, HostCall)
    assert isinstance(last, PointAnswer)
    lines = [write_result(HostResult(id=it.id, outcome=RecallOk())) for it in (first, second)]
    assert b"".join(lines) == b'{"result":2,"ok":{}}\n{"result":1,"ok":{}}\n'
