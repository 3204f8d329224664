"""An exchange without a process: bytes in, an answer or one named silence out [W-50, W-52]."""

import pytest

from stella import limits
from stella.process.ending import Completed
from stella.process.ending import Ending
from stella.wire.after_turn import AfterTurnAnswer
from stella.wire.after_turn import AfterTurnRequest
from stella.wire.after_turn import TurnOutcome
from stella.wire.envelope import write_request
from stella.wire.points import Point
from stella.wire.silence import FaultCode
from stella.wire.silence import Silence
from stella.wrapper.exchange import Exchange
from tests.making.plugins import ACHIEVED

REQUEST = AfterTurnRequest(
    protocol_version=1, wrapper="w", round=0, goal="g", turn=TurnOutcome(completed=True)
)
ANSWER = ACHIEVED.encode()
WRONG_VERSION = ANSWER.replace(b'_version":1', b'_version":2')
WRONG_POINT = b'{"point":"before_turn","body":{"protocol_version":1}}'
BOTH_WRONG = b'{"point":"before_turn","body":{"protocol_version":2}}'
FINE = Completed(ending=Ending.EXITED, code=0)


def exchange(*chunks: bytes) -> Exchange:
    made = Exchange(plugin="p\n", request=REQUEST)
    for chunk in chunks:
        made.receive(chunk)
    return made


def code(done: Completed, *chunks: bytes) -> str:
    found = exchange(*chunks).conclude(done, 5)
    return found.code.value if isinstance(found, Silence) else "answered"


def test_the_line_is_the_request() -> None:
    made = exchange()
    assert made.line == write_request(REQUEST)
    assert made.point is Point.AFTER_TURN
    assert (made.over, made.broken) == (False, False)


@pytest.mark.parametrize(
    ("done", "chunks", "outcome"),
    [
        (FINE, (ANSWER,), "answered"),
        (FINE, (ANSWER[:9], ANSWER[9:], b"\n"), "answered"),
        (FINE, (ANSWER, b"anything"), "answered"),
        (Completed(ending=Ending.NOT_STARTED, reason="x"), (), "Spawn"),
        (Completed(ending=Ending.TIMED_OUT), (ANSWER,), "Timeout"),
        (Completed(ending=Ending.OVERFLOWED, overflowed="stderr"), (ANSWER,), "OutputCap"),
        (Completed(ending=Ending.LOST, reason="x"), (ANSWER,), "Transport"),
        (Completed(ending=Ending.EXITED, code=0, stdin_broken="EIO"), (ANSWER,), "Transport"),
        (Completed(ending=Ending.EXITED, code=3), (ANSWER,), "Exit"),
        (Completed(ending=Ending.SIGNALLED, signal=11), (ANSWER,), "Exit"),
        (FINE, (), "NoResponse"),
        (FINE, (ANSWER[:-1],), "NoResponse"),
        (FINE, (WRONG_VERSION,), "ProtocolVersion"),
        (FINE, (WRONG_POINT,), "PointMismatch"),
        (FINE, (b"oops",), "Decode"),
        (FINE, (b"{}",), "Decode"),
        (FINE, (b'{"call":"recall","id":1,"args":{"goal":"x"}}',), "UnannouncedCall"),
    ],
)
@pytest.mark.behaviour("W-50")
def test_every_end_has_its_one_outcome(
    done: Completed, chunks: tuple[bytes, ...], outcome: str
) -> None:
    assert code(done, *chunks) == outcome


@pytest.mark.behaviour("W-52")
@pytest.mark.parametrize(
    ("done", "chunks", "first"),
    [
        (Completed(ending=Ending.EXITED, code=3, stdin_broken="EIO"), (BOTH_WRONG,), "Transport"),
        (Completed(ending=Ending.EXITED, code=3), (BOTH_WRONG,), "Exit"),
        (Completed(ending=Ending.EXITED, code=3), (), "Exit"),
        (FINE, (BOTH_WRONG,), "ProtocolVersion"),
    ],
)
@pytest.mark.behaviour("W-52")
def test_of_several_faults_the_first_of_the_list_is_told(
    done: Completed, chunks: tuple[bytes, ...], first: str
) -> None:
    """[W-52]"""
    assert code(done, *chunks) == first


def test_what_broke_at_once_is_told_whatever_the_end_was() -> None:
    """[W-50] The host ended the plugin, so its exit says nothing."""
    stopped = Completed(ending=Ending.STOPPED, signal=9)
    assert code(stopped, b"garbage") == FaultCode.DECODE.value


@pytest.mark.behaviour("W-9")
def test_a_message_names_plugin_point_place_and_excerpt_on_one_line() -> None:
    """[W-9, C-5] limits.EXCERPT_CHARS and limits.STDERR_CHARS."""
    data = b'{"point":"after_turn","body":{"protocol_version":1,"evidence":{"flip":"\\u001b"}}}'
    found = exchange(data).conclude(FINE, 5)
    assert isinstance(found, Silence)
    assert found.message.startswith("p after_turn: unknown-token: body.evidence.flip: ")
    assert "\n" not in found.message
    loud = Completed(ending=Ending.EXITED, code=1, stderr=b"e" * (limits.STDERR_CHARS + 1))
    told = exchange().conclude(loud, 5)
    assert isinstance(told, Silence)
    assert told.message.count("e" * limits.STDERR_CHARS) == 1
    assert "e" * (limits.STDERR_CHARS + 1) not in told.message


def test_a_silent_failure_says_how_long_it_ran() -> None:
    """[D4]"""
    found = exchange().conclude(Completed(ending=Ending.EXITED, code=7, duration_ms=42), 5)
    assert isinstance(found, Silence)
    assert "code 7" in found.message
    assert "42 ms" in found.message


CALL = b'{"call":"recall","id":1,"args":{"goal":"x"}}\n'


@pytest.mark.parametrize(
    ("channel", "chunk", "words"),
    [
        (False, b"", "5 s of its start; it wrote nothing; stderr: slow"),
        (True, b"", "it wrote nothing: read one line, since stdin stays open"),
        (True, CALL, 'the last it wrote was the call "recall"; stderr: slow'),
        (False, b'{"point":', "the beginning of a document and not its end; stderr: slow"),
        (False, ANSWER, "it had answered and did not exit, so the answer is not used"),
    ],
)
def test_a_timeout_says_how_far_it_had_come(channel: bool, chunk: bytes, words: str) -> None:
    """[T-22, T-27, W-50]"""
    made = Exchange(plugin="verify", request=REQUEST, channel=channel)
    made.receive(chunk)
    found = made.conclude(Completed(ending=Ending.TIMED_OUT, stderr=b"slow\n"), 5)
    assert isinstance(found, Silence)
    assert words in found.message


@pytest.mark.parametrize(
    ("chunk", "words"),
    [
        (CALL, "list it in calls, below [loop] of plugin.toml"),
        (b"starting up\n", "stdout is for messages, anything else belongs on stderr"),
    ],
)
def test_a_message_tells_the_way_out(chunk: bytes, words: str) -> None:
    """[T-14, T-18]"""
    found = exchange(chunk).conclude(FINE, 5)
    assert isinstance(found, Silence)
    assert words in found.message


def test_an_answer_is_the_body() -> None:
    assert isinstance(exchange(ANSWER).conclude(FINE, 5), AfterTurnAnswer)


SECRET = "sk-0123456789abcdefghij"


def cleaned(text: str) -> str:
    return text.replace(SECRET, "[redacted]")


@pytest.mark.parametrize("shown", range(1, len(SECRET)))
def test_a_secret_that_the_cut_would_halve_is_gone_before_the_cut(shown: int) -> None:
    """[H-41, J2-21] limits.STDERR_CHARS, limits.EXCERPT_CHARS and limits.RAW_BYTES."""
    made = Exchange(plugin="p", request=REQUEST, clean=cleaned)
    said = f"{SECRET}{'.' * (limits.STDERR_CHARS - shown)}".encode()
    told = made.conclude(Completed(ending=Ending.EXITED, code=1, stderr=said), 5)
    assert isinstance(told, Silence)
    assert SECRET[-shown:] not in told.message
    made = Exchange(plugin="p", request=REQUEST, clean=cleaned)
    made.receive(f"oops{SECRET}{'.' * (limits.EXCERPT_CHARS - shown)}\n".encode())
    told = made.conclude(FINE, 5)
    assert isinstance(told, Silence)
    assert f"{SECRET[-shown:]}." not in told.message
    made = Exchange(plugin="p", request=REQUEST, clean=cleaned)
    head = b"\xff" + b'{"x":"' + b"." * (limits.RAW_BYTES - shown - 7)
    made.receive(head + SECRET.encode() + b'"}\n')
    told = made.conclude(FINE, 5)
    assert isinstance(told, Silence)
    assert told.raw.startswith(b"\xff")
    assert not told.raw.endswith(SECRET[:shown].encode())
