"""The schema the model sees and the check of what it sends: one truth."""

from typing import Annotated
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stella import codec
from stella.tools.all import TOOLS
from stella.tools.schema import Schema
from stella.tools.schema import accept
from stella.tools.schema import one_form
from stella.tools.schema import schema_of


class Item(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Not for the model."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=3)]
    count: Annotated[int, msgspec.Meta(ge=1, le=9)] | None = None


class Shape(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Not for the model."""

    text: Annotated[str, msgspec.Meta(description="some text")]
    flag: bool = False
    items: Annotated[
        Annotated[tuple[Item, ...], msgspec.Meta(min_length=1, max_length=2)] | None,
        msgspec.Meta(description="some items"),
    ] = None


SCHEMA = schema_of(Shape)


def test_a_schema_is_self_contained_closed_and_says_where_null_is_taken() -> None:
    """T2-11, E-25."""
    assert SCHEMA == {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "some text"},
            "flag": {"type": ["boolean", "null"]},
            "items": {
                "type": ["array", "null"],
                "items": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "minLength": 1, "maxLength": 3},
                        "count": {"type": ["integer", "null"], "minimum": 1, "maximum": 9},
                    },
                    "required": ["name"],
                    "additionalProperties": False,
                },
                "minItems": 1,
                "maxItems": 2,
                "description": "some items",
            },
        },
        "required": ["text"],
        "additionalProperties": False,
    }


def faults(tree: object) -> list[str]:
    with pytest.raises(codec.Refused) as raised:
        accept(Shape, SCHEMA, tree)
    return [str(fault) for fault in raised.value.reasons]


def test_what_fits_is_accepted() -> None:
    value = accept(
        Shape, SCHEMA, {"text": "a", "flag": None, "items": [{"name": "abc", "count": 9}]}
    )
    assert value == Shape(text="a", items=(Item(name="abc", count=9),))
    assert accept(Shape, SCHEMA, {"text": ""}).text == ""


def test_every_fault_is_told_and_not_only_the_first() -> None:
    """E-25: nested ones, wrong types, lengths, bounds, unknown and missing keys."""
    tree = {
        "flag": "yes",
        "itms": [],
        "items": [{"name": "", "count": 0}, {"name": "abcd"}, {"extra": 1, "name": None}],
    }
    found = faults(tree)
    assert [fault.partition(":")[0] for fault in found] == [
        "flag",
        "itms",
        "items[0].count",
        "items[2].extra",
        "items[2].name",
        "text",
        "items",
        "items[0].name",
        "items[1].name",
    ]
    assert "did you mean items?" in found[1]
    assert found[6] == "items: expected 1 to 2 entries, got 3"
    assert found[7] == "items[0].name: expected 1 to 3 characters, got 0"


def test_a_length_alone_is_a_fault() -> None:
    assert faults({"text": "a", "items": []}) == ["items: expected 1 to 2 entries, got 0"]


def test_a_bound_without_an_end_is_told_as_such() -> None:
    class Least(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
        text: Annotated[str, msgspec.Meta(min_length=2)]

    with pytest.raises(codec.Refused, match="expected 2 or more characters, got 1"):
        accept(Least, schema_of(Least), {"text": "a"})


@pytest.mark.parametrize("tree", [None, [], "x", 1, True])
def test_what_is_no_table_is_refused(tree: object) -> None:
    assert len(faults(tree)) == 1


@pytest.mark.parametrize(
    ("many", "single", "fault"),
    [
        (None, {"a": 1, "b": 2, "c_": None}, ""),
        (None, {"a": 1, "b": 2, "c_": 3}, ""),
        ((1,), {"a": None, "b": None, "c_": None}, ""),
        ((), {"a": None, "b": None, "c_": None}, ""),
        (None, {"a": 1, "b": None, "c_": 3}, 'expected "a" and "b", or "files"'),
        (None, {"a": None, "b": None, "c_": None}, 'expected "a" and "b", or "files"'),
        ((1,), {"a": 1, "b": 2, "c_": None}, 'expected "a" and "b", or "files", not both'),
        ((1,), {"a": None, "b": None, "c_": 3}, 'expected "a" and "b", or "files", not both'),
    ],
)
def test_the_two_forms_exclude_each_other(
    many: object, single: dict[str, object], fault: str
) -> None:
    """T2-11."""
    try:
        one_form("files", many, **single)
    except ValueError as error:
        assert str(error) == fault  # noqa: PT017 - the case without a fault is a case too
    else:
        assert fault == ""


# ── for every tool ────────────────────────────────────────────────────────────────────


def every_table(schema: Schema) -> list[Schema]:
    found = [schema] if "properties" in schema else []
    for child in (*schema.get("properties", {}).values(), schema.get("items")):
        if child is not None:
            found += every_table(child)
    return found


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.contract.name)
def test_every_table_of_every_tool_is_closed_and_described(tool: Any) -> None:
    """T2-11."""
    schema = tool.contract.input_schema
    assert "$ref" not in str(schema)
    tables = every_table(schema)
    assert tables
    assert all(table["additionalProperties"] is False for table in tables)
    assert tool.contract.description


def samples(schema: Schema) -> st.SearchStrategy[Any]:
    """Values a schema admits or, now and then, just does not."""
    kind = schema["type"]
    kinds = kind if isinstance(kind, list) else [kind]
    bounds = [schema.get("minimum", 0) - 1, schema.get("maximum", 5) + 1]
    arms: dict[str, st.SearchStrategy[Any]] = {
        "string": st.text(alphabet="a.", max_size=3),
        "boolean": st.booleans(),
        "integer": st.integers(*bounds),
        "null": st.none(),
    }
    if "array" in kinds:
        arms["array"] = st.lists(samples(schema["items"]), max_size=3)
    if "object" in kinds:
        keys = {name: samples(child) for name, child in schema["properties"].items()}
        arms["object"] = st.fixed_dictionaries({}, optional=keys)
    return st.one_of(*(arms[name] for name in kinds), st.sampled_from([1.5, {}]))


def admits(schema: Schema, tree: object) -> bool:
    """The schema's own reading of a value, by the keywords of E-25."""
    kind = schema["type"]
    names = {bool: "boolean", int: "integer", str: "string", list: "array", dict: "object"}
    found = "null" if tree is None else names.get(type(tree), "number")
    if found not in (kind if isinstance(kind, list) else [kind]):
        return False
    if isinstance(tree, dict):
        known = schema["properties"]
        # A null for a required key is a missing one [W-5].
        return (
            set(tree) <= set(known)
            and all(tree.get(key) is not None for key in schema.get("required", ()))
            and all(admits(known[key], value) for key, value in tree.items())
        )
    if isinstance(tree, list):
        fits = schema.get("minItems", 0) <= len(tree) <= schema.get("maxItems", len(tree))
        return fits and all(admits(schema["items"], item) for item in tree)
    if isinstance(tree, str):
        return bool(len(tree) >= schema.get("minLength", 0))
    if type(tree) is int:
        return bool(schema.get("minimum", tree) <= tree <= schema.get("maximum", tree))
    return True


@given(st.data())
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.contract.name)
def test_the_decoder_takes_what_the_schema_admits(tool: Any, data: st.DataObject) -> None:
    """E-25: for every tool, but for the rule over its two forms, which no schema states."""
    schema = tool.contract.input_schema
    tree = data.draw(samples(schema))
    reasons: tuple[codec.Fault, ...] = ()
    try:
        accept(tool.shape, schema, tree)
    except codec.Refused as refused:
        reasons = refused.reasons
    assert all('expected "' in fault.message for fault in reasons) == admits(schema, tree)
