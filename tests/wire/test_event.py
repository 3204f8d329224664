import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from stella import codec
from stella import limits
from stella.codec import JsonFault
from stella.codec import Refused
from stella.wire.event import Dropped
from stella.wire.event import Event
from stella.wire.event import EventLine
from stella.wire.event import read_event
from stella.wire.event import write_event

SAMPLE = Event(
    id="evt_ses-1_42",
    name="tool.call.completed",
    timestamp="2025-03-04T10:11:12.345Z",
    session_id="ses-1",
    turn_id="t-3",
    sequence=42,
    payload={"tool": "bash", "ok": True},
)
LINE = (
    b'{"id":"evt_ses-1_42","name":"tool.call.completed","timestamp":"2025-03-04T10:11:12.345Z",'
    b'"session_id":"ses-1","turn_id":"t-3","sequence":42,"payload":{"tool":"bash","ok":true}}\n'
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-limits.I64_MAX, limits.I64_MAX)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
PAYLOADS = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text("ab"), inner)),
)
EVENTS = st.builds(
    Event,
    id=st.text("abc_1"),
    name=st.text("abc."),
    timestamp=st.text("0123Z"),
    session_id=st.text("abc"),
    turn_id=st.none() | st.text("t1", min_size=1),
    agent_id=st.none() | st.text("ta.1", min_size=1),
    sequence=st.integers(1, limits.U64_MAX),
    payload=PAYLOADS,
)


@pytest.mark.behaviour("W-44")
def test_the_line_of_the_contract_is_written_byte_for_byte() -> None:
    """[W-44] Keys in their order, absent ones left out."""
    assert write_event(SAMPLE) == LINE
    assert read_event(LINE) == SAMPLE


def test_an_agent_stands_behind_its_turn() -> None:
    """[W-44, H-2]"""
    plain = codec.plain(codec.read(Event, LINE)) | {"agent_id": "t-3.a1"}
    event = codec.decode(Event, plain)
    assert list(codec.plain(event)) == [
        "id",
        "name",
        "timestamp",
        "session_id",
        "turn_id",
        "agent_id",
        "sequence",
        "payload",
    ]


@pytest.mark.behaviour("W-45")
def test_a_loss_is_a_line_of_its_own() -> None:
    """[W-45]"""
    assert write_event(Dropped(dropped=7)) == b'{"dropped":7}\n'
    assert read_event(b'{"dropped":7}\n') == Dropped(dropped=7)


@given(EVENTS | st.builds(Dropped, dropped=st.integers(1, limits.U64_MAX)))
@settings(deadline=None, database=None)
def test_what_is_written_reads_back(line: EventLine) -> None:
    data = write_event(line)
    assert data.count(b"\n") == 1
    assert read_event(data) == line


@pytest.mark.behaviour("W-47")
def test_unknown_names_and_payload_keys_are_no_fault() -> None:
    """[W-47]"""
    read = read_event(LINE.replace(b"tool.call.completed", b"x.y").replace(b'"ok"', b'"new"'))
    assert isinstance(read, Event)
    assert (read.name, read.payload) == ("x.y", {"tool": "bash", "new": True})


@pytest.mark.parametrize(
    ("line", "token"),
    [
        (b"[]", JsonFault.WRONG_TYPE),
        (b"7", JsonFault.WRONG_TYPE),
        (b"{}", JsonFault.MISSING_KEY),
        (b'{"dropped":0}', JsonFault.INTEGER_OUT_OF_RANGE),
        (b'{"dropped":18446744073709551616}', JsonFault.INTEGER_OUT_OF_RANGE),
        (b'{"dropped":true}', JsonFault.NOT_AN_INTEGER),
        (b'{"dropped":1,"sequence":1}', JsonFault.UNKNOWN_KEY),
        (LINE.replace(b":42,", b":0,"), JsonFault.INTEGER_OUT_OF_RANGE),
        (LINE.replace(b'"name"', b'"nme"'), JsonFault.UNKNOWN_KEY),
        (LINE.replace(b'{"tool":"bash","ok":true}', b"[]"), JsonFault.WRONG_TYPE),
    ],
)
def test_another_line_is_refused(line: bytes, token: JsonFault) -> None:
    """[W-4, W-14]"""
    with pytest.raises(Refused) as refused:
        read_event(line)
    assert refused.value.reasons[0].token is token
