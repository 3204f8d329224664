"""The driver channel as shapes: what is read, what is refused, and no end that is guessed."""

from pathlib import Path

import pytest

import stella
from stella.codec import JsonFault
from stella.codec import Refused
from stella.wire.driver import Drive
from stella.wire.driver import DriverAsk
from stella.wire.driver import DriverEnd
from stella.wire.driver import DriverResult
from stella.wire.driver import Halt
from stella.wire.driver import Next
from stella.wire.driver import NoNext
from stella.wire.driver import Served
from stella.wire.driver import Sleep
from stella.wire.driver import after
from stella.wire.driver import read_drive
from stella.wire.driver import read_driver_message
from stella.wire.driver import read_driver_result
from stella.wire.driver import write_drive
from stella.wire.driver import write_driver_result
from stella.wire.host_result import RefusedCall
from stella.wire.points import DriverVerb
from stella.wire.points import Refusal


@pytest.mark.behaviour("W-81")
def test_a_session_opens_without_a_version_and_reads_back() -> None:
    line = write_drive(Drive(session="ses-1"))
    assert line == b'{"point":"drive","body":{"session":"ses-1"}}\n'
    assert read_drive(line) == Drive(session="ses-1")


@pytest.mark.parametrize(
    ("data", "token", "at"),
    [
        (b"[]", JsonFault.WRONG_TYPE, ""),
        (b'{"point":"drive"}', JsonFault.MISSING_KEY, "body"),
        (b'{"body":{"session":"s"}}', JsonFault.MISSING_KEY, "point"),
        (b'{"point":1,"body":{"session":"s"}}', JsonFault.WRONG_TYPE, "point"),
        (b'{"point":"after_turn","body":{}}', JsonFault.UNKNOWN_TOKEN, "point"),
        (
            b'{"point":"drive","body":{"protocol_version":1,"session":"s"}}',
            JsonFault.UNKNOWN_KEY,
            "body.protocol_version",
        ),
    ],
)
def test_an_opening_of_another_shape_is_refused(data: bytes, token: JsonFault, at: str) -> None:
    """[W-81]"""
    with pytest.raises(Refused) as refused:
        read_drive(data)
    fault = refused.value.reasons[0]
    assert (fault.token, fault.at) == (token, at)


@pytest.mark.parametrize("verb", DriverVerb)
@pytest.mark.behaviour("W-82")
def test_every_verb_is_asked_without_arguments(verb: DriverVerb) -> None:
    asked = read_driver_message(b'{"call":"%s","id":7}' % verb.value.encode())
    assert asked == DriverAsk(call=verb, id=7)


@pytest.mark.parametrize(
    ("data", "token", "at"),
    [
        (b'{"call":"backlog_next","id":1,"args":{}}', JsonFault.UNKNOWN_KEY, "args"),
        (b'{"call":"backlog_nex","id":1}', JsonFault.UNKNOWN_TOKEN, "call"),
        (b'{"call":"recall","id":1}', JsonFault.UNKNOWN_TOKEN, "call"),
        (b'{"call":"release","id":1}', JsonFault.UNKNOWN_TOKEN, "call"),
    ],
)
@pytest.mark.behaviour("K-51")
def test_an_ask_with_arguments_or_of_no_such_verb_is_refused(
    data: bytes, token: JsonFault, at: str
) -> None:
    """[W-82]"""
    with pytest.raises(Refused) as refused:
        read_driver_message(data)
    fault = refused.value.reasons[0]
    assert (fault.token, fault.at) == (token, at)


@pytest.mark.parametrize(
    ("data", "token", "at"),
    [
        (b"{}", JsonFault.MISSING_KEY, ""),
        (b'{"next":{}}', JsonFault.MIXED_MESSAGE, ""),
        (b'{"point":"drive","call":"work_start","id":1}', JsonFault.MIXED_MESSAGE, ""),
        (b'{"point":"drive","id":1,"body":{}}', JsonFault.MIXED_MESSAGE, ""),
        (b'{"call":"work_start","id":1,"body":{}}', JsonFault.MIXED_MESSAGE, ""),
        (b'{"call":"work_start"}', JsonFault.MISSING_KEY, "id"),
        (b'{"point":"drive"}', JsonFault.MISSING_KEY, "body"),
        (b'{"point":"drive","body":{}}', JsonFault.MISSING_KEY, "body.next"),
        (b'{"point":"before_turn","body":{}}', JsonFault.UNKNOWN_TOKEN, "point"),
        (b'{"point":"drive","body":{"next":{}}}', JsonFault.WRONG_TYPE, "body.next"),
        (
            b'{"point":"drive","body":{"next":{"sleep":{"secs":1},"halt":{"reason":"r"}}}}',
            JsonFault.WRONG_TYPE,
            "body.next",
        ),
        (
            b'{"point":"drive","body":{"next":{"sleep":{"secs":4294967296}}}}',
            JsonFault.INTEGER_OUT_OF_RANGE,
            "body.next.sleep.secs",
        ),
    ],
)
@pytest.mark.behaviour("W-85")
def test_a_message_that_is_mixed_or_incomplete_is_refused(
    data: bytes, token: JsonFault, at: str
) -> None:
    with pytest.raises(Refused) as refused:
        read_driver_message(data)
    fault = refused.value.reasons[0]
    assert (fault.token, fault.at) == (token, at)


@pytest.mark.parametrize(
    ("data", "following"),
    [
        (b'{"point":"drive","body":{"next":{"sleep":{"secs":0}}}}', Sleep(secs=0)),
        (b'{"point":"drive","body":{"next":{"halt":{"reason":""}}}}', Halt(reason="")),
    ],
)
@pytest.mark.behaviour("W-84")
def test_the_last_message_says_what_comes_next(data: bytes, following: Sleep | Halt) -> None:
    end = read_driver_message(data)
    assert isinstance(end, DriverEnd)
    assert after(end) == following


@pytest.mark.behaviour("K-52", "W-86")
def test_a_session_that_ends_without_its_last_message_is_neither_a_sleep_nor_a_halt() -> None:
    assert after(None) == NoNext()
    assert after(DriverEnd(next=Next(halt=Halt(reason="done")))) == Halt(reason="done")


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        (b'{"result":7,"ok":{}}\n', Served()),
        (
            b'{"result":7,"err":{"refusal":"undeclared","detail":"calls: none"}}\n',
            RefusedCall(refusal=Refusal.UNDECLARED, detail="calls: none"),
        ),
    ],
)
@pytest.mark.behaviour("W-83")
def test_an_answer_is_empty_or_a_refusal(line: bytes, outcome: Served | RefusedCall) -> None:
    result = DriverResult(id=7, outcome=outcome)
    assert write_driver_result(result) == line
    assert read_driver_result(line) == result


@pytest.mark.parametrize(
    "data",
    [b'{"result":7}', b'{"result":7,"ok":{},"err":{"refusal":"failed","detail":""}}'],
)
def test_an_answer_is_exactly_one_of_the_two(data: bytes) -> None:
    """[W-83]"""
    with pytest.raises(Refused) as refused:
        read_driver_result(data)
    assert refused.value.reasons[0].token is JsonFault.MIXED_MESSAGE


def test_what_was_served_has_no_key() -> None:
    """[W-83]"""
    with pytest.raises(Refused) as refused:
        read_driver_result(b'{"result":7,"ok":{"item":"b-1"}}')
    assert refused.value.reasons[0].at == "ok.item"


@pytest.mark.behaviour("W-80")
def test_no_room_of_the_host_serves_the_channel() -> None:
    """The block of a manifest loads and is shown [M-48]; here stand its shapes alone."""
    source = Path(stella.__file__).parent
    modules = [path for path in source.rglob("*.py") if path != source / "wire" / "driver.py"]
    assert len(modules) > 100
    assert not [path for path in modules if "stella.wire.driver" in path.read_text("utf-8")]
