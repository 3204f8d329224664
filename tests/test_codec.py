"""The one door: what is refused, by which name, and at which place [W-1 to W-9]."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stella import codec
from stella import limits
from stella.codec import U8
from stella.codec import U32
from stella.codec import U64
from stella.codec import JsonFault
from stella.codec import Refused
from stella.codec import Word


class Colour(Word):
    RED = "red"
    DARK_BLUE = "dark-blue"


class Inner(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    name: str
    size: U32 = 0


class Odd(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    number: int

    def __post_init__(self) -> None:
        if self.number % 2 == 0:
            message = "expected an odd number"
            raise ValueError(message)


class Outer(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    small: U8 | None = None
    wide: U64 | None = None
    ratio: float | None = None
    flag: bool | None = None
    colour: Colour | None = None
    names: tuple[str, ...] = ()
    table: dict[str, U64] = {}
    inner: Inner | None = None
    many: tuple[Inner, ...] = ()
    free: dict[str, object] = {}
    either: Colour | Inner | None = None
    text_or_table: str | dict[str, object] | None = None
    odd: Odd | None = None
    nothing: None = None


def refusal(data: bytes, kind: type = Outer) -> codec.Fault:
    with pytest.raises(Refused) as refused:
        codec.read(kind, data)
    return refused.value.reasons[0]


@pytest.mark.parametrize(
    ("data", "token"),
    [
        (b"\xff", JsonFault.NOT_UTF8),
        (b"\xef\xbb\xbf{}", JsonFault.MISPLACED_BOM),
        (b'{\xef\xbb\xbf"a":1}', JsonFault.MISPLACED_BOM),
        (b'{"a":1}\xef\xbb\xbf', JsonFault.MISPLACED_BOM),
        (b"", JsonFault.SYNTAX),
        (b'{"a":1,}', JsonFault.SYNTAX),
        (b"{} {}", JsonFault.SYNTAX),
        (b"{'a':1}", JsonFault.SYNTAX),
        (b'{"a":01}', JsonFault.SYNTAX),
        (b'["\\u12"]', JsonFault.SYNTAX),
        (b'["a\nb"]', JsonFault.SYNTAX),
        (b'{"small":1,"small":1}', JsonFault.DUPLICATE_KEY),
        (b'{"small":1,"\\u0073mall":1}', JsonFault.DUPLICATE_KEY),
        (b'{"free":{"x":{"k":1,"k":2}}}', JsonFault.DUPLICATE_KEY),
        (b'{"ratio":NaN}', JsonFault.NON_FINITE_NUMBER),
        (b'{"ratio":Infinity}', JsonFault.NON_FINITE_NUMBER),
        (b'{"ratio":-Infinity}', JsonFault.NON_FINITE_NUMBER),
        (b'{"ratio":1e400}', JsonFault.NON_FINITE_NUMBER),
        (b'{"free":{"x":[0,-1e999]}}', JsonFault.NON_FINITE_NUMBER),
        (b'{"small":1.0}', JsonFault.NOT_AN_INTEGER),
        (b'{"small":true}', JsonFault.NOT_AN_INTEGER),
        (b'{"small":"1"}', JsonFault.NOT_AN_INTEGER),
        (b'{"small":-0}', JsonFault.NOT_AN_INTEGER),
        (b'{"small":1e2}', JsonFault.NOT_AN_INTEGER),
        (b'{"small":256}', JsonFault.INTEGER_OUT_OF_RANGE),
        (b'{"small":-1}', JsonFault.INTEGER_OUT_OF_RANGE),
        (b'{"wide":18446744073709551616}', JsonFault.INTEGER_OUT_OF_RANGE),
        (b'{"wide":-1}', JsonFault.INTEGER_OUT_OF_RANGE),
        (b'{"free":{"x":[9223372036854775808]}}', JsonFault.INTEGER_OUT_OF_RANGE),
        (b'{"free":{"x":-9223372036854775809}}', JsonFault.INTEGER_OUT_OF_RANGE),
        (b'{"names":["\\ud800"]}', JsonFault.LONE_SURROGATE),
        (b'{"names":["\\udc00x"]}', JsonFault.LONE_SURROGATE),
        (b'{"\\ud800":1}', JsonFault.LONE_SURROGATE),
        (b'{"smal":1}', JsonFault.UNKNOWN_KEY),
        (b'{"inner":{"size":1}}', JsonFault.MISSING_KEY),
        (b'{"inner":{"name":null}}', JsonFault.MISSING_KEY),
        (b"[]", JsonFault.WRONG_TYPE),
        (b"null", JsonFault.WRONG_TYPE),
        (b'{"names":"x"}', JsonFault.WRONG_TYPE),
        (b'{"names":[1]}', JsonFault.WRONG_TYPE),
        (b'{"table":[]}', JsonFault.WRONG_TYPE),
        (b'{"flag":1}', JsonFault.WRONG_TYPE),
        (b'{"ratio":"x"}', JsonFault.WRONG_TYPE),
        (b'{"ratio":true}', JsonFault.WRONG_TYPE),
        (b'{"colour":1}', JsonFault.WRONG_TYPE),
        (b'{"either":3}', JsonFault.WRONG_TYPE),
        (b'{"text_or_table":3}', JsonFault.WRONG_TYPE),
        (b'{"odd":{"number":2}}', JsonFault.WRONG_TYPE),
        (b'{"nothing":1}', JsonFault.WRONG_TYPE),
        (b'{"colour":"blue"}', JsonFault.UNKNOWN_TOKEN),
        (b'{"colour":"Red"}', JsonFault.UNKNOWN_TOKEN),
    ],
)
@pytest.mark.behaviour("K-151", "C14", "B43")
def test_outside_data_is_refused_by_name(data: bytes, token: JsonFault) -> None:
    """[W-7]"""
    assert refusal(data).token is token


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"{}", Outer()),
        (b' {\n"small" : 255 }\n', Outer(small=255)),
        (b'{"wide":18446744073709551615}', Outer(wide=limits.U64_MAX)),
        (b'{"ratio":-0}', Outer(ratio=-0.0)),
        (b'{"ratio":3}', Outer(ratio=3)),
        (b'{"flag":false}', Outer(flag=False)),
        (b'{"colour":"dark-blue"}', Outer(colour=Colour.DARK_BLUE)),
        (b'{"names":["\\ud83d\\ude00","-0 [ { NaN"]}', Outer(names=("\U0001f600", "-0 [ { NaN"))),
        (b'{"small":null,"inner":null}', Outer()),
        (b'{"free":{"x":[1.5,null,-9,{"y":-0}]}}', Outer(free={"x": [1.5, None, -9, {"y": -0.0}]})),
        (
            b'{"free":{"x":[9223372036854775807,-9223372036854775808]}}',
            Outer(free={"x": [limits.I64_MAX, -limits.I64_MAX - 1]}),
        ),
        (b'{"either":"red"}', Outer(either=Colour.RED)),
        (b'{"either":{"name":"n"}}', Outer(either=Inner(name="n"))),
        (b'{"text_or_table":{"a":1}}', Outer(text_or_table={"a": 1})),
        (b'{"odd":{"number":3}}', Outer(odd=Odd(number=3))),
        (b'{"nothing":null}', Outer()),
    ],
)
def test_good_data_is_read(data: bytes, value: Outer) -> None:
    assert codec.read(Outer, data) == value


def nested(depth: int) -> bytes:
    return b'{"free":{"x":' + b"[" * (depth - 2) + b"]" * (depth - 2) + b"}}"


def test_nesting_is_bounded() -> None:
    """[W-7] limits.JSON_DEPTH, at the limit and one past it."""
    assert codec.read(Outer, nested(limits.JSON_DEPTH)).free["x"]
    assert refusal(nested(limits.JSON_DEPTH + 1)).token is JsonFault.TOO_DEEP


@pytest.mark.parametrize(
    ("kind", "top"), [(U8, limits.U8_MAX), (U32, limits.U32_MAX), (U64, limits.U64_MAX)]
)
def test_widths_hold_at_their_limit(kind: type[int], top: int) -> None:
    """[W-6] limits.U8_MAX, limits.U32_MAX, limits.U64_MAX."""
    assert codec.decode(kind, top) == top
    with pytest.raises(Refused, match="expected 0 to"):
        codec.decode(kind, top + 1)


def test_a_number_of_thousands_of_digits_is_refused_without_printing_it() -> None:
    fault = refusal(b'{"wide":' + b"9" * 5000 + b"}")
    assert fault.token is JsonFault.INTEGER_OUT_OF_RANGE
    assert len(fault.message) < 200


def test_all_faults_are_told_with_their_places() -> None:
    data = b'{"small":"x","inner":{"nme":"a","size":-1},"many":[{"name":1},{}],"table":{"k":1.5}}'
    with pytest.raises(Refused) as refused:
        codec.read(Outer, data)
    assert [(fault.at, fault.token.value) for fault in refused.value.reasons] == [
        ("small", "not-an-integer"),
        ("inner.nme", "unknown-key"),
        ("inner.size", "integer-out-of-range"),
        ("inner.name", "missing-key"),
        ("many[0].name", "wrong-type"),
        ("many[1].name", "missing-key"),
        ("table.k", "not-an-integer"),
    ]


def test_unknown_words_come_with_near_ones() -> None:
    """[W-7, M-8]"""
    fault = refusal(b'{"colour":"dark_blu"}')
    assert fault.near == ("dark-blue",)
    assert "did you mean dark-blue?" in fault.message
    key = refusal(b'{"inner":{"nam":"x"}}')
    assert key.near == ("name",)


def test_a_message_shows_hidden_characters_and_never_breaks_its_line() -> None:
    """[M-7]"""
    fault = refusal(b'{"a\\u001b[31m\\nb":1}')
    assert "\\u{1B}" in str(fault)
    assert "\n" not in str(fault)


def test_the_whole_document_has_no_place() -> None:
    assert str(refusal(b"[]")) == "expected a table, got a list"
    assert str(refusal(b'{"small":"x"}')).startswith("small: ")


def test_toml_is_read_and_its_syntax_faults_are_told() -> None:
    assert codec.parse_toml('a = 1\n[b]\nc = "x"') == {"a": 1, "b": {"c": "x"}}
    with pytest.raises(Refused) as refused:
        codec.parse_toml("a = \n")
    assert refused.value.reasons[0].token is JsonFault.SYNTAX
    with pytest.raises(Refused) as deep:
        codec.parse_toml("a = " + "[" * 100_000)
    assert deep.value.reasons[0].token is JsonFault.TOO_DEEP


def test_a_date_is_no_string() -> None:
    with pytest.raises(Refused, match="got a date or time"):
        codec.decode(Inner, codec.parse_toml("name = 2026-01-01"))


def test_writing_is_compact_and_leaves_out_what_is_absent() -> None:
    """[W-2, W-5]"""
    value = Outer(inner=Inner(name="ä"), colour=Colour.RED)
    assert codec.encode(value) == '{"colour":"red","inner":{"name":"ä"}}'.encode()
    assert codec.plain(value) == {"colour": "red", "inner": {"name": "ä"}}
    assert codec.canonical({"b": 1, "a": [Inner(name="x")]}) == b'{"a":[{"name":"x"}],"b":1}'


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_parse_reads_whatever_a_json_writer_wrote(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value)
        with pytest.raises(Refused):
            codec.parse(text.encode())
        return
    assert codec.parse(text.encode()) == value


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_a_refusal(data: bytes) -> None:
    refused: Refused | None = None
    try:
        codec.read(Outer, data)
    except Refused as error:
        refused = error
    assert refused is None or refused.reasons


def test_faults_are_told_up_to_a_number() -> None:
    """limits.FAULTS_TOLD, at the limit and one past it."""
    for count in (limits.FAULTS_TOLD, limits.FAULTS_TOLD + 1):
        tree = {"names": [1] * count}
        with pytest.raises(Refused) as refused:
            codec.decode(Outer, tree)
        assert len(refused.value.reasons) == limits.FAULTS_TOLD
    with pytest.raises(Refused) as first:
        codec.decode(Outer, {"names": [1, 2]}, most=1)
    assert len(first.value.reasons) == 1


@pytest.mark.behaviour("F157")
def test_a_million_keys_are_refused_without_looking_each_one_up() -> None:
    """limits.NEAR_LOOKUPS and limits.NEAR_CHARS bound what is looked up."""
    tree = {f"smal{number}": 1 for number in range(1_000_000)}
    with pytest.raises(Refused) as refused:
        codec.decode(Outer, tree)
    near = [fault.near for fault in refused.value.reasons]
    assert near[0] == ("small",)
    assert near[limits.NEAR_LOOKUPS] == ()
    with pytest.raises(Refused) as long:
        codec.decode(Outer, {"x" * (limits.NEAR_CHARS + 1): 1})
    assert long.value.reasons[0].near == ()


def test_a_long_word_is_cut_in_its_message() -> None:
    """limits.FAULT_VALUE_CHARS"""
    with pytest.raises(Refused) as refused:
        codec.decode(Outer, {"colour": "x" * 10_000})
    assert len(refused.value.reasons[0].message) < limits.FAULT_VALUE_CHARS + 200


class Sparse(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    entries: tuple[str | None, ...]


def test_null_in_a_list_that_allows_it_is_a_value() -> None:
    assert codec.read(Sparse, b'{"entries":["a",null]}').entries == ("a", None)
    with pytest.raises(Refused):
        codec.read(Sparse, b'{"entries":[1]}')


def test_a_word_far_from_all_of_a_large_vocabulary_gets_no_hint() -> None:
    """[M-8]"""
    many = msgspec.defstruct(
        "Many",
        [(f"key{n}", int, 0) for n in range(limits.VOCABULARY_SHOWN + 1)],
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
    )
    with pytest.raises(Refused) as refused:
        codec.decode(many, {"zzzzzzzz": 1})
    assert refused.value.reasons[0].message == 'unknown key "zzzzzzzz"'
