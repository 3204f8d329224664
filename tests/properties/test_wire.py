"""The laws of the wire's codec, each over all tables it declares [W-1 to W-8, W-31]."""

import re
from collections.abc import Callable
from enum import Enum
from typing import Annotated
from typing import Any
from typing import get_args
from typing import get_origin

import msgspec
import pytest
from hypothesis import assume
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from stella import codec
from stella import limits
from stella.codec import JsonFault
from stella.codec import Refused
from stella.wire.after_turn import AfterTurnAnswer
from stella.wire.after_turn import AfterTurnRequest
from stella.wire.before_turn import BeforeTurnAnswer
from stella.wire.before_turn import BeforeTurnRequest
from stella.wire.driver import read_drive
from stella.wire.driver import read_driver_message
from stella.wire.driver import read_driver_result
from stella.wire.envelope import LaterAnswer
from stella.wire.envelope import PointAnswer
from stella.wire.envelope import Request
from stella.wire.envelope import read_message
from stella.wire.envelope import read_request
from stella.wire.envelope import write_request
from stella.wire.evidence import EvidenceSet
from stella.wire.grant import TestPlan
from stella.wire.host_call import HostCall
from stella.wire.host_result import HostResult
from stella.wire.host_result import read_result
from stella.wire.host_result import write_result
from stella.wire.points import HOST_STAGES
from stella.wire.points import Call
from stella.wire.points import Point
from tests.making import corpus
from tests.properties import messages as some
from tests.properties.manifests import PROOF

TABLES = some.tables()
EACH = settings(PROOF, max_examples=30)
"""For laws that are proved table by table."""

# Their arms are read through the message, or told as one fault of the whole [J-50].
UNIONS = {HostCall, EvidenceSet}
KEYED = [kind for kind in TABLES if kind is not HostCall and msgspec.structs.fields(kind)]
REQUESTS = some.values(BeforeTurnRequest) | some.values(AfterTurnRequest)
ANSWERS = (some.values(BeforeTurnAnswer) | some.values(AfterTurnAnswer)).map(
    lambda body: msgspec.structs.replace(body, protocol_version=min(body.protocol_version, 1))
)
CALLS = some.values(HostCall)


def name_of(kind: type) -> str:
    return kind.__name__


def answered(body: Any) -> bytes:
    return codec.encode(corpus.answer(body))


def token_of(reader: Callable[[bytes], object], data: bytes) -> JsonFault:
    with pytest.raises(Refused) as refused:
        reader(data)
    return refused.value.reasons[0].token


# ── reading back ──────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", TABLES, ids=name_of)
@EACH
@given(st.data())
def test_what_was_written_is_read_back(kind: type[msgspec.Struct], data: st.DataObject) -> None:
    """Equal as a value, and equal as text: 1 is neither 1.0 nor true there."""
    value = data.draw(some.values(kind))
    line = codec.encode(value)
    if kind is HostCall:
        again: object = read_message(line)
    else:
        again = codec.read(kind, line)
    assert again == value
    assert codec.encode(again) == line


@PROOF
@given(REQUESTS)
def test_a_request_is_one_line_and_reads_back(request: Request) -> None:
    line = write_request(request)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert read_request(line) == request


@PROOF
@given(ANSWERS)
def test_an_answer_reads_back(body: BeforeTurnAnswer | AfterTurnAnswer) -> None:
    read = read_message(answered(body))
    assert isinstance(read, PointAnswer)
    assert read.body == body


@PROOF
@given(st.sampled_from(Call).flatmap(lambda call: st.tuples(st.just(call), some.results(call))))
def test_a_result_is_one_line_and_reads_back(pair: tuple[Call, HostResult]) -> None:
    call, result = pair
    line = write_result(result)
    assert line.count(b"\n") == 1
    assert read_result(line, call) == result


@PROOF
@given(ANSWERS, st.randoms(use_true_random=False))
def test_the_order_of_keys_and_white_space_mean_nothing(
    body: BeforeTurnAnswer | AfterTurnAnswer, chance: Any
) -> None:
    """[W-2, W-3]"""

    def shuffled(tree: Any) -> Any:
        if isinstance(tree, dict):
            keys = list(tree)
            chance.shuffle(keys)
            return {key: shuffled(tree[key]) for key in keys}
        return [shuffled(item) for item in tree] if isinstance(tree, list) else tree

    spread = msgspec.json.format(codec.encode(shuffled(corpus.answer(body))), indent=3)
    read = read_message(b"\r\n\t " + spread)
    assert isinstance(read, PointAnswer)
    assert read.body == body


# ── foreign keys, null, widths ────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", TABLES, ids=name_of)
@pytest.mark.behaviour("W-4")
@EACH
@given(st.data())
def test_a_foreign_key_is_refused_at_every_depth_of_every_table(
    kind: type[msgspec.Struct], data: st.DataObject
) -> None:
    """Law 2."""
    value = data.draw(some.values(kind))
    tree = codec.plain(value)
    path = data.draw(st.sampled_from(list(some.closed(value))))
    assume(some.spoiled(tree, path))
    reader = read_message if kind is HostCall else lambda line: codec.read(kind, line)
    with pytest.raises(Refused) as refused:
        reader(codec.encode(tree))
    fault = refused.value.reasons[0]
    if kind not in UNIONS:
        assert (fault.token, fault.path) == (JsonFault.UNKNOWN_KEY, (*path, some.FOREIGN))


@PROOF
@given(st.data())
def test_a_foreign_key_beside_the_envelope_is_refused(data: st.DataObject) -> None:
    """[W-4, W-12] Also inside the body, at the version this host speaks and below it."""
    request, body, call = data.draw(REQUESTS), data.draw(ANSWERS), data.draw(CALLS)
    lines: list[tuple[Callable[[bytes], object], bytes]] = [
        (read_request, write_request(request)),
        (read_message, answered(body)),
        (read_message, codec.encode(call)),
    ]
    reader, line = data.draw(st.sampled_from(lines))
    tree = codec.parse(line)
    assert isinstance(tree, dict)
    tree[some.FOREIGN] = data.draw(some.FREE.filter(lambda value: value is not None))
    assert token_of(reader, codec.encode(tree)) is JsonFault.UNKNOWN_KEY


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.behaviour("W-12")
def test_a_key_that_is_unknown_at_an_accepted_version_is_a_mistake(version: int) -> None:
    body = b'{"protocol_version":%d,"newer":1}' % version
    line = b'{"point":"before_turn","body":%s}' % body
    assert token_of(read_message, line) is JsonFault.UNKNOWN_KEY


@PROOF
@given(ANSWERS, st.integers(2, limits.U32_MAX), some.FREE)
def test_an_answer_of_a_later_version_is_one_whatever_else_it_says(
    body: BeforeTurnAnswer | AfterTurnAnswer, version: int, more: object
) -> None:
    """[W-11, W-12]"""
    tree = corpus.answer(body)
    tree["body"] |= {some.FOREIGN: more, "protocol_version": version}
    assert read_message(codec.encode(tree)) == LaterAnswer(version=version)


@pytest.mark.parametrize("kind", KEYED, ids=name_of)
@pytest.mark.behaviour("W-5")
@EACH
@given(st.data())
def test_null_is_absence(kind: type[msgspec.Struct], data: st.DataObject) -> None:
    """For an optional key as for a required one; there it is a missing key."""
    tree = codec.plain(data.draw(some.values(kind)))
    fields = msgspec.structs.fields(kind)
    field = data.draw(st.sampled_from(fields))
    key = field.encode_name

    def read(changed: dict[str, Any]) -> object:
        try:
            return codec.read(kind, codec.encode(changed))
        except Refused as refused:
            return [(fault.token, fault.path) for fault in refused.reasons]

    absent = read({name: value for name, value in tree.items() if name != key})
    assert read({**tree, key: None}) == absent
    if field.required:
        assert absent == [(JsonFault.MISSING_KEY, (key,))]


def widths() -> list[tuple[type[msgspec.Struct], str, int]]:
    """Every integer key of every table with the largest value it takes."""
    return [
        (kind, field.encode_name, some.top_of(part))
        for kind in TABLES
        for field in msgspec.structs.fields(kind)
        for part in (field.type, *get_args(field.type))
        if get_origin(part) is Annotated
    ]


@pytest.mark.behaviour("W-6")
def test_every_integer_has_the_width_of_the_contract() -> None:
    u32 = {
        "protocol_version",
        "round",
        "id",
        "limit",
        "width",
        "requested",
        "files_changed",
        "lines_changed",
        "secs",
    }
    wide = {key: top for _, key, top in widths()}
    assert {key for key, top in wide.items() if top == limits.U32_MAX} >= u32
    assert wide["exit_code"] == limits.U8_MAX
    assert {wide["count"], wide["duration_ms"], wide["measurements"]} == {limits.U64_MAX}
    assert set(wide.values()) == {limits.U8_MAX, limits.U32_MAX, limits.U64_MAX}


@pytest.mark.parametrize("written", ["1.0", "1e2", "-0", "true", '"1"', "-1", "{}", "[1]"])
@EACH
@given(st.data())
def test_an_integer_is_digits_and_fits(written: str, data: st.DataObject) -> None:
    """[W-6] limits.U8_MAX, limits.U32_MAX and limits.U64_MAX, at the limit and one past it."""
    places = [(kind, key, top) for kind, key, top in widths() if key != "measurements"]
    kind, key, top = data.draw(st.sampled_from(places))
    assume(kind is not HostCall)
    tree = codec.plain(data.draw(some.values(kind)))
    assume(key in tree)

    def with_number(text: str) -> bytes:
        tree[key] = "here"
        return codec.encode(tree).replace(b'"here"', text.encode(), 1)

    def read(line: bytes) -> object:
        return codec.read(kind, line)

    assume(codec.encode(tree).count(b'"here"') == 0)
    assert getattr(codec.read(kind, with_number(str(top))), key) == top
    assert token_of(read, with_number(str(top + 1))) is JsonFault.INTEGER_OUT_OF_RANGE
    number = re.fullmatch(r"-[1-9]", written)
    expected = JsonFault.INTEGER_OUT_OF_RANGE if number else JsonFault.NOT_AN_INTEGER
    assert token_of(read, with_number(written)) is expected


# ── every malformed document by its name ──────────────────────────────────────────────

_MARK = b"\xef\xbb\xbf"
_FIRST = re.compile(rb'\{("\w+":"?\w+"?),')


def spoilers(base: bytes) -> dict[JsonFault, bytes]:
    """One document per name that does not hang on what the document is about [W-7]."""
    head, deep = base[:-1], limits.JSON_DEPTH
    pair = _FIRST.match(base)
    assert pair is not None
    return {
        JsonFault.NOT_UTF8: head + b',"\xff":1}',
        JsonFault.MISPLACED_BOM: _MARK + _MARK + base,
        JsonFault.SYNTAX: head,
        JsonFault.DUPLICATE_KEY: b"{" + pair[1] + b"," + base[1:],
        JsonFault.NON_FINITE_NUMBER: head + b',"x":NaN}',
        JsonFault.LONE_SURROGATE: head + b',"\\ud800":1}',
        JsonFault.TOO_DEEP: head + b',"x":' + b"[" * deep + b"]" * deep + b"}",
        JsonFault.UNKNOWN_KEY: head + b',"x":1}',
        JsonFault.MISSING_KEY: b"{}",
        JsonFault.WRONG_TYPE: b"[]",
    }


def changed(base: bytes, number: bytes, word: bytes, mixed: bytes) -> dict[JsonFault, bytes]:
    """The names that need a number, a word and another kind of message in the document."""
    assert base.count(number) == base.count(word) == 1
    return {
        JsonFault.NOT_AN_INTEGER: base.replace(number, number + b".0"),
        JsonFault.INTEGER_OUT_OF_RANGE: base.replace(number, b"99999999999999999999"),
        JsonFault.UNKNOWN_TOKEN: base.replace(word, b'"nonsense"'),
        JsonFault.MIXED_MESSAGE: base[:-1] + mixed,
    }


_REQUEST = (
    b'{"point":"before_turn","body":{"protocol_version":1,"wrapper":"w","stage":"s",'
    b'"round":77,"goal":"g"}}'
)
_ANSWER = (
    b'{"point":"before_turn","body":{"protocol_version":1,"publish":'
    b'[{"signal":"questions","value":{"count":77}}]}}'
)
_CALL = b'{"call":"recall","id":77,"args":{"goal":"g"}}'
_RESULT = b'{"result":77,"err":{"refusal":"failed","detail":"d"}}'
_DRIVE = b'{"point":"drive","body":{"session":"s"}}'
_ASK = b'{"call":"work_start","id":77}'
_END = b'{"point":"drive","body":{"next":{"sleep":{"secs":77}}}}'
_KINDS: dict[str, tuple[Callable[[bytes], object], bytes, dict[JsonFault, bytes]]] = {
    "request": (read_request, _REQUEST, changed(_REQUEST, b"77", b'"before_turn"', b"}")),
    "answer": (read_message, _ANSWER, changed(_ANSWER, b"77", b'"before_turn"', b',"id":1}')),
    "call": (read_message, _CALL, changed(_CALL, b"77", b'"recall"', b',"body":{}}')),
    "result": (
        lambda data: read_result(data, Call.RECALL),
        _RESULT,
        changed(_RESULT, b"77", b'"failed"', b',"ok":{}}'),
    ),
    "drive": (
        read_drive,
        _DRIVE,
        {JsonFault.UNKNOWN_TOKEN: _DRIVE.replace(b'"drive"', b'"judge"')},
    ),
    "ask": (read_driver_message, _ASK, changed(_ASK, b"77", b'"work_start"', b',"body":{}}')),
    "end": (read_driver_message, _END, changed(_END, b"77", b'"drive"', b',"id":1}')),
    "driver result": (
        read_driver_result,
        _RESULT,
        changed(_RESULT, b"77", b'"failed"', b',"ok":{}}'),
    ),
}
_MALFORMED = [
    pytest.param(reader, token, data, id=f"{kind}-{token.value}")
    for kind, (reader, base, more) in _KINDS.items()
    for token, data in (spoilers(base) | more).items()
    # A request has no second kind beside it, so no two can be mixed.
    if (kind, token) != ("request", JsonFault.MIXED_MESSAGE)
]


@pytest.mark.parametrize(("reader", "token", "data"), _MALFORMED)
@pytest.mark.behaviour("W-7", "K-151", "K-152")
def test_every_kind_of_malformed_message_is_refused_by_name(
    reader: Callable[[bytes], object], token: JsonFault, data: bytes
) -> None:
    assert token_of(reader, data) is token


@pytest.mark.parametrize("kind", _KINDS)
def test_the_message_that_was_spoiled_is_a_good_one(kind: str) -> None:
    """Without this the table above would say nothing."""
    reader, base, more = _KINDS[kind]
    reader(base)
    if kind not in {"drive", "request"}:
        assert set(spoilers(base) | more) == set(JsonFault)


@pytest.mark.parametrize(
    ("payload", "token"),
    [
        (b'{"f":1.5,"i":9223372036854775807,"j":-9223372036854775808}', None),
        (b'{"a":' + b"[" * 61 + b"]" * 61 + b"}", None),
        (b'{"a":' + b"[" * 62 + b"]" * 62 + b"}", JsonFault.TOO_DEEP),
        (b'{"i":9223372036854775808}', JsonFault.INTEGER_OUT_OF_RANGE),
        (b'{"i":-9223372036854775809}', JsonFault.INTEGER_OUT_OF_RANGE),
        (b'{"f":1e999}', JsonFault.NON_FINITE_NUMBER),
        (b'{"a":{"k":1,"k":1}}', JsonFault.DUPLICATE_KEY),
        (b'{"a":["\\udfff"]}', JsonFault.LONE_SURROGATE),
        (b"[]", JsonFault.WRONG_TYPE),
    ],
)
@pytest.mark.behaviour("W-8", "K-153")
def test_free_data_may_hold_fractions_and_keeps_every_other_rule(
    payload: bytes, token: JsonFault | None
) -> None:
    """limits.I64_MAX and limits.JSON_DEPTH, at the limit and one past it."""
    line = b'{"call":"emit","id":1,"args":{"name":"n","payload":%s}}' % payload
    if token is None:
        assert isinstance(read_message(line), HostCall)
    else:
        assert token_of(read_message, line) is token


@pytest.mark.parametrize(
    ("args", "token"),
    [
        (b'{"name":"a.*","payload":{}}', None),
        (b'{"name":"%s","payload":{}}' % (b"n" * 65), None),
        (b'{"name":"n","payload":{"x":"%s"}}' % (b"x" * 65536), None),
        (b'{"name":1,"payload":{}}', JsonFault.WRONG_TYPE),
        (b'{"name":"n","payload":"x"}', JsonFault.WRONG_TYPE),
    ],
)
@pytest.mark.behaviour("W-32")
def test_an_emit_of_the_right_types_decodes_whatever_its_limits_say(
    args: bytes, token: JsonFault | None
) -> None:
    """What breaks a limit is refused by the host as a result, not as a fault."""
    line = b'{"call":"emit","id":1,"args":%s}' % args
    if token is None:
        assert isinstance(read_message(line), HostCall)
    else:
        assert token_of(read_message, line) is token


# ── what a message can be about ───────────────────────────────────────────────────────


@pytest.mark.behaviour("W-10")
def test_the_version_stands_in_the_bodies_of_points_and_nowhere_else() -> None:
    holding = {
        kind.__name__
        for kind in TABLES
        if "protocol_version" in {field.encode_name for field in msgspec.structs.fields(kind)}
    }
    assert holding == {
        "BeforeTurnRequest",
        "AfterTurnRequest",
        "BeforeTurnAnswer",
        "AfterTurnAnswer",
    }


@pytest.mark.parametrize("point", ["judge", "again", "drive", "verdict", "Before_turn", ""])
@pytest.mark.behaviour("W-16")
def test_there_are_two_points_and_no_judge(point: str) -> None:
    assert [it.value for it in Point] == ["before_turn", "after_turn"]
    for reader in (read_request, read_message):
        line = b'{"point":"%s","body":{"protocol_version":1}}' % point.encode()
        assert token_of(reader, line) is JsonFault.UNKNOWN_TOKEN


@pytest.mark.behaviour("W-23")
def test_a_plan_says_nothing_of_the_hosts_own_data() -> None:
    fields = [field.encode_name for field in msgspec.structs.fields(TestPlan)]
    assert fields == ["program", "args", "baseline"]


@pytest.mark.parametrize("stage", [*HOST_STAGES, "triage-lite", "x"])
@pytest.mark.behaviour("W-49")
def test_the_stages_are_an_open_vocabulary(stage: str) -> None:
    request = BeforeTurnRequest(protocol_version=1, wrapper="w", stage=stage, round=0, goal="g")
    read = read_request(write_request(request))
    assert read.stage == stage


@PROOF
@given(some.values(EvidenceSet))
@pytest.mark.behaviour("W-55")
def test_no_plugin_can_send_what_the_host_decides(evidence: EvidenceSet) -> None:
    """Evidence with a finding has a JSON form for the journal; as an answer it is refused."""
    body = {"protocol_version": 1, "evidence": codec.plain(evidence)}
    line = codec.encode({"point": "after_turn", "body": body})
    assert token_of(read_message, line) is JsonFault.UNKNOWN_KEY


def test_every_vocabulary_of_a_table_is_closed() -> None:
    """[W-48] A word in another case is none."""
    vocabularies: set[type[Enum]] = set()
    for kind in TABLES:
        for field in msgspec.structs.fields(kind):
            for part in (field.type, *get_args(field.type)):
                if isinstance(part, type) and issubclass(part, Enum):
                    vocabularies.add(part)
    assert vocabularies
    for vocabulary in vocabularies:
        for word in vocabulary:
            for wrong in (word.value.upper(), word.value.title().swapcase(), f"{word.value} "):
                if wrong != word.value:
                    with pytest.raises(Refused) as refused:
                        codec.decode(vocabulary, wrong)
                    assert refused.value.reasons[0].token is JsonFault.UNKNOWN_TOKEN
