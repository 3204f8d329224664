"""Bounds on TOML text; tests/manifest/test_scan.py has every way to write a key and a number."""

import pytest

from stella import limits
from stella.strict import JsonFault
from stella.strict import Refused
from stella.strict import parse_toml
from stella.toml_bounds import Beyond
from stella.toml_bounds import Bound
from stella.toml_bounds import beyond


@pytest.mark.parametrize("depth", [limits.TOML_DEPTH, limits.JSON_DEPTH])
def test_the_depth_is_the_callers(depth: int) -> None:
    """[M-1, M-3] Exactly so many parts and levels, and one more is told with its place."""
    parts, nested = ".".join("a" * depth), "[" * depth
    assert beyond(f"\n{parts} = 1", depth) is None
    assert beyond(f"\n{parts}.a = 1", depth) == Beyond(at=1, bound=Bound.PARTS, number=depth + 1)
    assert beyond(f"a = {nested}", depth) is None
    found = beyond(f"a = {nested}[", depth)
    assert found == Beyond(at=4 + depth, bound=Bound.NESTED, number=depth + 1)


def test_an_integer_has_a_number_of_characters() -> None:
    """[B47]"""
    most = limits.TOML_INTEGER_CHARS
    assert beyond("a = " + "1" * most, 1) is None
    assert beyond("a = 1" + "1" * most, 1) == Beyond(at=4, bound=Bound.DIGITS, number=most + 1)


PARTS = ".".join("a" * limits.JSON_DEPTH)
NESTED = f"{'[' * limits.JSON_DEPTH}{']' * limits.JSON_DEPTH}"


@pytest.mark.parametrize(
    ("text", "token", "says"),
    [
        (
            f"x = 1\n{PARTS}.a = 1",
            JsonFault.TOO_DEEP,
            "a key of 65 parts; at most 64 are read (at line 2)",
        ),
        (f"x = [{NESTED}]", JsonFault.TOO_DEEP, "more than 64 nested lists and tables (at line 1)"),
        (
            f"\n\nx = {'1' * 161}",
            JsonFault.INTEGER_OUT_OF_RANGE,
            "an integer of 161 characters (at line 3)",
        ),
        (
            f"a{'.a' * 130_000} = 1",
            JsonFault.TOO_DEEP,
            "a key of 130001 parts; at most 64 are read (at line 1)",
        ),
    ],
)
def test_no_text_reaches_the_reader_beyond_a_bound(text: str, token: JsonFault, says: str) -> None:
    """[B46, B47] A file of 256 KiB with one dotted key took all of the memory there is."""
    with pytest.raises(Refused) as refused:
        parse_toml(text)
    (fault,) = refused.value.reasons
    assert (fault.token, fault.message) == (token, says)


def test_what_is_at_the_bounds_is_read() -> None:
    """[M-3]"""
    assert list(parse_toml(f"{PARTS} = 1\nx = {NESTED}\ny = {'1' * 160}\n")) == ["a", "x", "y"]
