"""Text alone: what no reader of ours lets through [W-7]. tests/test_codec.py has every row."""

import pytest

from stella import limits
from stella.strict import Fault
from stella.strict import JsonFault
from stella.strict import Refused
from stella.strict import parse
from stella.strict import parse_toml


def test_plain_data_keeps_integers_of_any_size() -> None:
    assert parse(b"[18446744073709551616, 1.5, null, true]") == [2**64, 1.5, None, True]


def test_toml_tables_are_plain_data() -> None:
    assert parse_toml("[a.b]\nc = 1\n") == {"a": {"b": {"c": 1}}}


def test_a_place_reads_as_a_path() -> None:
    fault = Fault(token=JsonFault.SYNTAX, path=("a", 2, "b\n", "c"), message="m")
    assert fault.at == "a[2].b.c"
    assert str(fault) == "a[2].b.c: m"


def test_a_key_of_any_length_has_a_place_of_bounded_length() -> None:
    """[W-9] limits.FAULT_VALUE_CHARS, at the limit and one past it: a message is written down."""
    most = limits.FAULT_VALUE_CHARS
    assert placed("k" * most) == f"body.{'k' * most}[1]"
    assert placed("k" * (most + 1)) == f"body.{'k' * most} [1 more characters][1]"


def placed(key: str) -> str:
    return Fault(token=JsonFault.SYNTAX, path=("body", key, 1), message="m").at


def test_a_refusal_holds_its_faults() -> None:
    with pytest.raises(Refused) as refused:
        parse(b"[1, NaN]")
    assert [fault.token for fault in refused.value.reasons] == [JsonFault.NON_FINITE_NUMBER]
    assert refused.value.faults == refused.value.reasons
