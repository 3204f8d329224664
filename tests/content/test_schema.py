"""A schema of an author: whether it is one, and what a value makes of it."""

import inspect
import sys
from datetime import date
from typing import Any

import pytest

from stella import limits
from stella.content.schema import invalid
from stella.content.schema import misfits
from stella.content.schema import unchecked
from stella.content.schema import unmet


def nested(depth: int) -> dict[str, Any]:
    """A table in a table, `depth` of them."""
    found: dict[str, Any] = {}
    for _ in range(depth - 1):
        found = {"default": found}
    return found


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object", "properties": {"a": {"type": ["string", "null"]}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "string"},
        {"$defs": {"a": {"type": "string"}}, "$ref": "#/$defs/a"},
        {"pattern": "^(a+)+$"},
        {"pattern": "(" * 5000 + "a{99999999999}" + ")" * 5000},
        {"enum": list(range(limits.SCHEMA_VALUES - 2))},
        nested(limits.JSON_DEPTH),
    ],
)
def test_a_schema_is_taken(schema: dict[str, Any]) -> None:
    assert invalid(schema) is None


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "strange"}, "type: "),
        ({"properties": {"a": {"minLength": -1}}}, "properties.a.minLength: -1 is less than"),
        ({"required": "a"}, "required: 'a' is not of type 'array'"),
        ({"$schema": "https://host.example/own"}, "$schema: https://host.example/own is no"),
        ({"$ref": "https://host.example/s"}, '$ref: expected a place in this schema, got "https'),
        ({"items": [{"$dynamicRef": "other"}]}, "$dynamicRef: expected a place"),
        ({"minimum": float("inf")}, "inf is no JSON number"),
        ({"default": date(2020, 1, 1)}, "2020-01-01 is a date or time"),
        ({"$schema": 3}, "$schema: 3 is no dialect"),
        ({"enum": list(range(limits.SCHEMA_VALUES - 1))}, "it has more than 1000 values"),
        (nested(limits.JSON_DEPTH + 1), f"more than {limits.JSON_DEPTH} tables"),
    ],
)
def test_a_schema_is_refused_with_the_place(schema: dict[str, Any], said: str) -> None:
    found = invalid(schema)
    assert found is not None
    assert found.startswith(said), found


def from_below(steps: int, schema: dict[str, Any]) -> str | None:
    return from_below(steps - 1, schema) if steps else invalid(schema)


def test_a_schema_that_is_too_deep_for_where_it_is_read_is_refused() -> None:
    """A stack that is nearly full is no reason to end the host."""
    deep: dict[str, Any] = {}
    for _ in range(limits.JSON_DEPTH - 1):
        deep = {"not": deep}
    left = sys.getrecursionlimit() - len(inspect.stack())
    assert invalid(deep) is None
    said = from_below(left - 200, deep)
    assert said == "it is nested more deeply than can be checked from here"


def test_a_value_satisfies_a_schema_or_every_reason_is_told() -> None:
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    assert unmet(schema, {"n": 1}) is None
    assert unmet(schema, []) == "$: [] is not of type 'object'"
    assert unmet(schema, {"n": "x"}) == "$.n: 'x' is not of type 'integer'"
    assert unmet({"items": {"type": "null"}}, [1, None, 2]) == (
        "$[0]: 1 is not of type 'null', $[2]: 2 is not of type 'null'"
    )


def test_the_whole_of_a_schema_counts_for_an_output() -> None:
    """P-19."""
    assert unmet({"pattern": "^a$"}, "b") == "$: 'b' does not match '^a$'"
    assert unmet({"$defs": {"a": {"const": 1}}, "$ref": "#/$defs/a"}, 2) == "$: 1 was expected"


def test_the_first_of_many_reasons_are_told() -> None:
    most = limits.VOCABULARY_SHOWN
    schema = {"items": {"type": "null"}}
    for number, end in ((most, f"$[{most - 1}]: 1 is not of type 'null'"), (most + 1, "and more")):
        said = unmet(schema, [1] * number)
        assert said is not None
        assert said.endswith(end)
        assert said.count("$[") == most


@pytest.mark.parametrize("pattern", ["(", "a{99999999999}"])
def test_an_expression_that_is_none_satisfies_nothing(pattern: str) -> None:
    said = unmet({"pattern": pattern}, "a")
    assert said is not None
    assert said.startswith("an expression in the schema is none: ")


def test_a_schema_that_leads_nowhere_or_in_a_ring_satisfies_nothing() -> None:
    nowhere = unmet({"$ref": "#/$defs/none"}, 1)
    assert nowhere is not None
    assert nowhere.startswith("a reference in the schema leads nowhere: ")
    assert unmet({"$ref": "#"}, 1) == "the schema refers to itself without end"


def faults(schema: object, value: object) -> list[str]:
    return [str(fault) for fault in misfits(schema, value)]


PROPERTIES: dict[str, Any] = {
    "path": {"type": "string", "minLength": 1, "maxLength": 3},
    "count": {"type": "integer", "minimum": 1, "maximum": 2},
    "names": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
    "mode": {"enum": ["a", 1, None]},
    "maybe": {"type": ["null", "number"]},
    "free": {},
    "open": True,
    "never": False,
}
OBJECT: dict[str, Any] = {
    "type": "object",
    "required": ["path"],
    "additionalProperties": False,
    "properties": PROPERTIES,
}


@pytest.mark.parametrize(
    "value",
    [
        {"path": "a"},
        {"path": "abc", "count": 1, "names": ["x"], "mode": "a", "maybe": None},
        {"path": "abc", "count": 2.0, "names": ["x", "y"], "mode": 1, "maybe": 1.5},
        {"path": "abc", "free": [{"x": 1}], "open": {}},
    ],
)
def test_an_input_fits(value: dict[str, Any]) -> None:
    assert faults(OBJECT, value) == []


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], ["expected object, got array"]),
        ({}, ["path: is required and missing"]),
        ({"path": 1}, ["path: expected string, got number"]),
        ({"path": None}, ["path: null is not taken here; leave it out"]),
        ({"path": ""}, ["path: expected 1 or more characters, got 0"]),
        ({"path": "abcd"}, ["path: expected at most 3 characters, got 4"]),
        ({"path": "a", "count": True}, ["count: expected integer, got boolean"]),
        ({"path": "a", "count": 1.5}, ["count: expected integer, got number"]),
        ({"path": "a", "count": 0}, ["count: expected 1 or more, got 0"]),
        ({"path": "a", "count": 3}, ["count: expected at most 2, got 3"]),
        ({"path": "a", "names": []}, ["names: expected 1 or more entries, got 0"]),
        (
            {"path": "a", "names": ["x", 1, None]},
            [
                "names: expected at most 2 entries, got 3",
                "names[1]: expected string, got number",
                "names[2]: null is not taken here; leave it out",
            ],
        ),
        ({"path": "a", "mode": True}, ["mode: expected one of a, 1, None"]),
        ({"path": "a", "mode": None}, ["mode: null is not taken here; leave it out"]),
        ({"path": "a", "maybe": "x"}, ["maybe: expected null or number, got string"]),
        ({"path": "a", "free": None}, ["free: null is not taken here; leave it out"]),
        ({"path": "a", "never": 1}, ["never: expected nothing here"]),
    ],
)
def test_every_way_in_which_an_input_does_not_fit_is_told(value: object, said: list[str]) -> None:
    """E-25."""
    assert faults(OBJECT, value) == said


def test_faults_of_several_keys_are_told_together() -> None:
    """E-25."""
    found = faults(OBJECT, {"pth": "a", "count": "x"})
    assert found == [
        "path: is required and missing",
        f"pth: is no key of the input; legal here: {', '.join(PROPERTIES)}",
        "count: expected integer, got string",
    ]
    assert faults({"additionalProperties": False}, {"x": 1}) == [
        "x: is no key of the input; legal here: none"
    ]


def test_what_no_call_is_checked_for_is_named_at_every_depth() -> None:
    """E-25: words for a reader are no keywords that ask for anything."""
    schema = {
        "title": "T",
        "description": "D",
        "oneOf": [],
        "properties": {
            "a": {"pattern": "x", "default": 1},
            "b": {"items": {"format": "uri", "examples": []}},
            "c": True,
        },
        "additionalProperties": {"const": 1},
    }
    assert unchecked(schema) == ("additionalProperties", "format", "oneOf", "pattern")
    assert unchecked(OBJECT) == ()
    assert faults(schema, {"a": "y", "z": 2}) == []
