import hashlib
from base64 import b64decode
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stella import codec
from stella import limits
from stella.errors import JournalError
from stella.journal.entry import GENESIS
from stella.journal.entry import Record
from stella.journal.entry import compose
from stella.journal.entry import digest
from stella.journal.entry import read
from stella.message import Output
from stella.message import Role
from stella.message import succeeded
from stella.redact import REDACTED
from stella.redact import Redactor
from tests.making.planted import BODY

PLAIN = Redactor()


def draft(kind: str, data: dict[str, Any], turn: str | None = None) -> Record:
    return Record(
        seq=7, ts="2026-08-11T14:22:43.120Z", type=kind, turn=turn, data=data, prev=GENESIS
    )


def composed(kind: str, data: dict[str, Any]) -> tuple[Record, bytes]:
    return compose(draft(kind, data), PLAIN)


def noted(text: str) -> tuple[Record, bytes]:
    return composed("notice", {"code": "c", "text": text})


def test_a_line_is_compact_and_in_the_written_order() -> None:
    """[J2-10] the example of the rule."""
    data = {"read_only": False, "tool": "bash", "call_id": "t1.c2"}
    _, line = compose(draft("tool_started", data, turn="t1"), PLAIN)
    assert line == (
        b'{"seq":7,"ts":"2026-08-11T14:22:43.120Z","type":"tool_started","turn":"t1",'
        b'"data":{"call_id":"t1.c2","tool":"bash","read_only":false},"prev":"' + b"0" * 64 + b'"}'
    )


@pytest.mark.behaviour("L307")
def test_one_record_is_one_line_whatever_its_text_holds() -> None:
    """[J2-10] control characters are escaped, other characters stay as they are."""
    record, line = noted("a\nb\r\x00\x1b[31m \u2028\u202e ü")
    assert b"\n" not in line
    assert b"\r" not in line
    assert b"\x1b" not in line
    assert "\u2028\u202e ü".encode() in line
    assert read(line) == record
    assert b'"turn":null' in line


def test_the_digest_is_of_the_line_without_its_newline() -> None:
    _, line = noted("x")
    assert digest(line) == hashlib.sha256(line).hexdigest()


def test_values_of_the_program_are_written_as_plain_data() -> None:
    output: Output = succeeded("done", {"n": 1})
    data = {"call_id": "t1.c1", "tool": "t", "input": {"r": (Role.USER,)}, "output": output}
    record, _ = composed("tool_finished", data)
    assert record.data["input"] == {"r": ["user"]}
    assert record.data["output"] == {"ok": {"content": "done", "data": {"n": 1}}}


def test_a_record_that_lost_secrets_counts_them() -> None:
    """[J2-20, J2-23]"""
    secret = f"ghp_{BODY}"
    record, line = noted(f"{secret} and {secret}")
    assert record.data == {"code": "c", "text": f"{REDACTED} and {REDACTED}", "redacted": 2}
    assert secret.encode() not in line
    assert "redacted" not in noted("nothing")[0].data


def faulted(raw: bytes) -> dict[str, Any]:
    record, line = composed("plugin_fault", {"fault": "Decode", "stdout_b64": raw})
    assert read(line) == record
    return record.data


@pytest.mark.behaviour("C13")
def test_bytes_that_are_no_text_are_kept_as_base64() -> None:
    """[J2-13] without secrets, and counted."""
    raw = b'{"a":"\xff"}'
    assert b64decode(faulted(raw)["stdout_b64"]) == raw
    data = faulted(b"\xff" + f"ghp_{BODY}".encode())
    assert b64decode(data["stdout_b64"]) == b"\xff" + REDACTED.encode()
    assert data["redacted"] == 1


def test_at_most_so_many_raw_bytes_are_kept() -> None:
    """[J2-13] limits.RAW_BYTES, at the limit and one past it."""
    for size in (limits.RAW_BYTES, limits.RAW_BYTES + 1):
        kept = b64decode(faulted(b"\xff" * size)["stdout_b64"])
        assert kept == b"\xff" * limits.RAW_BYTES


def test_a_line_may_have_four_mebibytes_and_not_one_byte_more() -> None:
    """[J2-13] limits.RECORD_BYTES, the newline included, at the limit and one past it."""
    room = limits.RECORD_BYTES - len(noted("")[1]) - 1
    whole, line = noted("x" * room)
    assert len(line) + 1 == limits.RECORD_BYTES
    assert "cut" not in whole.data
    record, line = noted("x" * (room + 1))
    assert len(line) + 1 <= limits.RECORD_BYTES
    assert record.data["cut"] is True
    assert read(line) == record


@pytest.mark.parametrize("char", ["x", "ü", "😀", "\x00", "\n"])
def test_the_longest_string_is_cut_and_says_by_how_much(char: str) -> None:
    """[J2-13]"""
    text = char * (5 * limits.MIB // len(char.encode()))
    data = {"input": {"keep": "y" * 1000}, "output": {"ok": {"content": text}}}
    record, line = composed("tool_finished", data)
    assert limits.RECORD_BYTES - 100 < len(line) < limits.RECORD_BYTES
    kept = record.data["output"]["ok"]["content"]
    head, _, marker = kept.partition("[")
    assert head == char * len(head)
    assert marker == f"{(len(text) - len(head)) * len(char.encode())} bytes removed]"
    assert record.data["input"] == {"keep": "y" * 1000}
    assert record.data["cut"] is True
    assert read(line) == record


def test_many_long_strings_are_cut_until_the_line_fits() -> None:
    texts = ["z" * limits.MIB for _ in range(9)]
    record, line = composed("plugin.p.x", {"payload": {"many": texts, "one": "short"}})
    assert len(line) < limits.RECORD_BYTES
    assert record.data["payload"]["one"] == "short"
    assert read(line) == record


NUMBERS = [limits.I64_MAX] * (limits.RECORD_BYTES // 20)
MARKER = f"[{len(codec.encode(NUMBERS))} bytes removed]"


@pytest.mark.parametrize(
    ("payload", "kept"),
    [
        (NUMBERS, MARKER),
        ({"n": NUMBERS, "s": ["a" * 1000]}, {"n": MARKER, "s": ["a" * 1000]}),
        ({"few": [1], "deep": [[NUMBERS], {}]}, {"few": [1], "deep": [[MARKER], {}]}),
        ([NUMBERS[:9], {"n": NUMBERS}, 1], [NUMBERS[:9], {"n": MARKER}, 1]),
    ],
)
def test_where_no_cut_of_strings_is_enough_a_container_goes(payload: object, kept: object) -> None:
    """[J2-13] the smallest that alone is enough; what stands beside it stays."""
    record, line = composed("plugin.p.x", {"payload": payload})
    assert record.data == {"payload": kept, "cut": True}
    assert read(line) == record


def test_where_no_container_alone_is_enough_they_go_one_after_the_other() -> None:
    """[J2-13] the largest first, and strings after them."""
    data = {
        "input": {"n": NUMBERS[:-100]},
        "output": {"n": NUMBERS},
        "tool": "t" * limits.RECORD_BYTES,
        "call_id": "c",
    }
    record, line = composed("tool_finished", data)
    assert len(line) < limits.RECORD_BYTES
    assert read(line) == record
    assert record.data["output"].endswith(" bytes removed]")
    assert record.data["input"] == {"n": NUMBERS[:-100]}
    assert record.data["tool"].endswith(" bytes removed]")
    data["input"] = {"n": NUMBERS * 2}
    record, line = composed("tool_finished", {**data, "tool": "t"})
    assert len(line) < limits.RECORD_BYTES
    assert read(line) == record
    assert record.data["input"] == f"[{len(codec.encode({'n': NUMBERS * 2}))} bytes removed]"
    assert record.data["output"] == {"n": MARKER}


def test_an_answer_with_very_many_measurements_is_recorded() -> None:
    """[W-50, F157] nothing that a plugin answers makes its record fail."""
    measurements = {f"m{number:012}": number for number in range(400_000)}
    response = {"evidence": {"flip": "achieved", "measurements": measurements}}
    record, line = composed("plugin_exchange", {"plugin": "p", "round": 0, "response": response})
    assert record.data["response"]["evidence"] == {
        "flip": "achieved",
        "measurements": f"[{len(codec.encode(measurements))} bytes removed]",
    }
    assert record.data["cut"] is True
    assert read(line) == record


def test_a_record_that_is_too_long_but_for_its_data_is_refused() -> None:
    turn = "t" * limits.RECORD_BYTES
    with pytest.raises(JournalError, match=r"record 7 \(notice\): expected at most"):
        compose(draft("notice", {"code": "c", "text": "x"}, turn), PLAIN)


def test_a_file_name_that_is_no_text_is_written_out() -> None:
    record, line = noted("a\udc80b")
    assert record.data["text"] == "a\\udc80b"
    assert read(line) == record
    record, line = composed("plugin.p.x", {"payload": {"\udc80": ["\ud800"]}})
    assert record.data["payload"] == {"\\udc80": ["\\ud800"]}


def nested(depth: int, innermost: object = "\udc80") -> object:
    value = innermost
    for _ in range(depth):
        value = [value]
    return value


def test_what_nests_deeper_than_a_reader_goes_is_kept_as_text() -> None:
    """limits.JSON_DEPTH, the record and its data included, at the limit and one past it."""
    room = limits.JSON_DEPTH - 2
    record, line = composed("plugin.p.x", {"payload": nested(room)})
    assert read(line) == record
    assert record.data["payload"] == codec.parse(codec.encode(nested(room, "\\udc80")))
    record, line = composed("plugin.p.x", {"payload": nested(room + 1)})
    assert read(line) == record
    innermost: Any = record.data["payload"]
    while isinstance(innermost, list):
        (innermost,) = innermost
    assert innermost == '["\\\\udc80"]'


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
)


@given(JSON)
def test_every_plain_value_reads_back_as_it_was_written(value: object) -> None:
    record, line = composed("plugin.p.x", {"payload": value})
    back = read(line)
    assert back == record
    assert isinstance(back, Record)
    if "redacted" not in record.data and not holds_a_big_number(value):
        assert codec.encode(back.data["payload"]) == codec.encode(value)


def holds_a_big_number(value: object) -> bool:
    if isinstance(value, list | dict):
        return any(map(holds_a_big_number, value.values() if isinstance(value, dict) else value))
    return type(value) is int and abs(value) > limits.I64_MAX


def test_a_number_beyond_sixty_four_bits_is_kept_as_text() -> None:
    """limits.I64_MAX, at the limit and one past it."""
    most = limits.I64_MAX
    record, line = composed("plugin.p.x", {"payload": [most, -most, most + 1, -most - 1, True]})
    assert record.data["payload"] == [most, -most, str(most + 1), str(-most - 1), True]
    assert read(line) == record


LINE = noted("a")[1]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff",
        LINE[:-1],
        LINE + b" ",
        b" " + LINE,
        LINE.replace(b'"seq":7', b'"seq":7.0'),
        LINE.replace(b'"seq":7', b'"seq":"7"'),
        LINE.replace(b'"turn":null,', b""),
        LINE.replace(b'"seq":7,', b"").replace(b"{", b'{"seq":7,"more":1,', 1),
        LINE.replace(b'{"seq":7,', b"{").replace(b'"}', b'","seq":7}'),
        LINE.replace(b'"a"', b'"\\u0061"'),
        LINE.replace(b'"data":{', b'"data":{"code":1,'),
    ],
)
def test_a_line_in_any_other_form_is_no_record(line: bytes) -> None:
    """[J2-10]"""
    assert isinstance(read(line), str)


def test_a_record_is_frozen() -> None:
    record, _ = noted("a")
    with pytest.raises(AttributeError):
        record.seq = 8  # type: ignore[misc]  # that it cannot be set is the point
    assert msgspec.structs.fields(Record)[0].name == "seq"
