"""A JSON Schema that an author wrote: whether it is one, and what a value makes of it [P-10].

A tool's input is held to a small part of the schema, its output to all of it [E-25, P-19].
Nothing outside the schema is looked up. Reading one compiles no expression in it and takes no
more than the square of its size; applying one may take for ever and is for a process of its own.
"""

import math
import re
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from typing import Any
from typing import Final

from stella import limits
from stella.codec import Fault
from stella.codec import JsonFault
from stella.codec import Path
from stella.escape import brief
from stella.escape import listed

Schema = dict[str, Any]

_CHECKED: Final = frozenset(
    (
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "additionalProperties",
    )
)
# Words for the reader of a schema, which ask nothing of a value.
_TELLING: Final = frozenset(
    (
        "$comment",
        "$id",
        "$schema",
        "default",
        "deprecated",
        "description",
        "examples",
        "readOnly",
        "title",
        "writeOnly",
    )
)
_REFERENCES: Final = frozenset(("$ref", "$dynamicRef", "$recursiveRef"))
_KINDS: Final[tuple[tuple[str, type | tuple[type, ...]], ...]] = (
    ("null", type(None)),
    ("boolean", bool),
    ("string", str),
    ("array", list),
    ("object", dict),
    ("number", (int, float)),
)


def invalid(schema: Schema) -> str | None:
    """Return why this is no JSON Schema that the host can use, None when it is one [P-10]."""
    if why := next(_not_json(schema), None) or next(_leading_out(schema), None):
        return why
    library = import_module("jsonschema")
    dialect = schema.get("$schema", library.Draft202012Validator.META_SCHEMA["$id"])
    known = isinstance(dialect, str)
    kind = known and library.validators.validator_for({"$schema": dialect}, default=None)
    if not kind:
        return f"$schema: {brief(str(dialect))} is no dialect that is known here"
    try:
        # Without a checker of formats, which would compile the expressions.
        kind.check_schema(schema, format_checker=None)
    except library.SchemaError as error:
        at = "".join(f".{brief(str(step))}" for step in error.absolute_path)
        return f"{at.lstrip('.')}: {brief(error.message)}" if at else brief(error.message)
    except RecursionError:
        return "it is nested more deeply than can be checked from here"
    return None


def unmet(schema: Schema, value: object) -> str | None:
    """Return what in `value` does not satisfy a schema that is one, None when all does [P-19].

    How long it takes is up to the schema.
    """
    library, referencing = import_module("jsonschema"), import_module("referencing")
    checker = library.validators.validator_for(schema)(schema, registry=referencing.Registry())
    try:
        found = islice(checker.iter_errors(value), limits.VOCABULARY_SHOWN + 1)
        said = [brief(f"{error.json_path}: {error.message}") for error in found]
    except referencing.exceptions.Unresolvable as error:
        return f"a reference in the schema leads nowhere: {brief(str(error))}"
    except RecursionError:
        return "the schema refers to itself without end"
    except (re.error, OverflowError) as error:
        return f"an expression in the schema is none: {brief(str(error))}"
    more = ", and more" if len(said) > limits.VOCABULARY_SHOWN else ""
    return f"{', '.join(said[: limits.VOCABULARY_SHOWN])}{more}" or None


def unchecked(schema: Schema) -> tuple[str, ...]:
    """Return the keywords of an input's schema that no call is checked for, sorted [E-25]."""
    found: set[str] = set()
    for node in _nodes(schema):
        found |= node.keys() - _CHECKED - _TELLING
        if isinstance(node.get("additionalProperties"), dict):
            found.add("additionalProperties")
    return tuple(sorted(found))


def misfits(schema: object, value: object, path: Path = ()) -> Iterator[Fault]:
    """Yield every way in which an input does not fit its schema [E-25].

    What E-25 does not list is not looked at, so a call costs no more than its own size.
    """
    if not isinstance(schema, dict):
        if schema is False:
            yield _fault(path, "expected nothing here", value)
        return
    kinds = _listed(schema.get("type"))
    if value is None and "null" not in kinds:
        yield _fault(path, "null is not taken here; leave it out", value)
        return
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield _fault(path, f"expected {' or '.join(kinds)}, got {_kind_of(value)}", value)
        return
    yield from _bounds(schema, value, path)
    if isinstance(value, list):
        for at, item in enumerate(value):
            yield from misfits(schema.get("items", True), item, (*path, at))
    if isinstance(value, dict):
        yield from _table(schema, value, path)


def _table(schema: Schema, value: dict[str, object], path: Path) -> Iterator[Fault]:
    declared = schema.get("properties", {})
    for key in schema.get("required", ()):
        if key not in value:
            yield Fault(
                token=JsonFault.MISSING_KEY, path=(*path, key), message="is required and missing"
            )
    for key, item in value.items():
        if key in declared:
            yield from misfits(declared[key], item, (*path, key))
        elif schema.get("additionalProperties") is False:
            legal = listed(tuple(declared), limits.VOCABULARY_SHOWN) or "none"
            said = f"is no key of the input; legal here: {legal}"
            yield Fault(token=JsonFault.UNKNOWN_KEY, path=(*path, key), message=said, found=item)


def _bounds(schema: Schema, value: object, path: Path) -> Iterator[Fault]:
    if "enum" in schema and not any(_same(value, each) for each in schema["enum"]):
        legal = listed([str(each) for each in schema["enum"]], limits.VOCABULARY_SHOWN)
        yield _fault(path, f"expected one of {legal}", value)
    size, noun, ends = _measured(value)
    if size is None:
        return
    least, most = (schema.get(f"{end}{ends}") for end in ("min", "max"))
    if least is not None and size < least:
        yield _fault(path, f"expected {least} or more{noun}, got {size}", value)
    if most is not None and size > most:
        yield _fault(path, f"expected at most {most}{noun}, got {size}", value)


def _measured(value: object) -> tuple[float | None, str, str]:
    """Return what bounds are compared with, its noun, and how their keywords end."""
    if isinstance(value, str):
        return len(value), " characters", "Length"
    if isinstance(value, list):
        return len(value), " entries", "Items"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value, "", "imum"
    return None, "", ""


def _same(left: object, right: object) -> bool:
    """Return whether two JSON values are equal; true is not 1."""
    return left == right and isinstance(left, bool) is isinstance(right, bool)


def _listed(kinds: object) -> tuple[str, ...]:
    if isinstance(kinds, str):
        return (kinds,)
    return tuple(kinds) if isinstance(kinds, list) else ()


def _is(value: object, kind: str) -> bool:
    if kind == "integer":
        whole = isinstance(value, float) and value.is_integer()
        return whole or (isinstance(value, int) and not isinstance(value, bool))
    return _kind_of(value) == kind


def _kind_of(value: object) -> str:
    # A bool is an int to Python, and stands before it in the table.
    return next(name for name, kind in _KINDS if isinstance(value, kind))


def _fault(path: Path, message: str, value: object) -> Fault:
    return Fault(token=JsonFault.WRONG_TYPE, path=path, message=message, found=value)


def _not_json(schema: Schema) -> Iterator[str]:
    """Yield each thing that no JSON document can hold, or that nobody could check in time."""
    for number, (depth, value) in enumerate(_values(schema), 1):
        if number > limits.SCHEMA_VALUES:
            yield f"it has more than {limits.SCHEMA_VALUES} values"
        elif depth > limits.JSON_DEPTH:
            yield f"more than {limits.JSON_DEPTH} tables and lists are nested"
        elif isinstance(value, float) and not math.isfinite(value):
            yield f"{value} is no JSON number"
        elif not isinstance(value, bool | int | float | str | list | dict):
            yield f"{brief(str(value))} is a date or time, which JSON does not have"


def _leading_out(schema: Schema) -> Iterator[str]:
    """Yield each reference to something that is not in the schema itself."""
    for _, value in _values(schema):
        if isinstance(value, dict):
            for key in _REFERENCES & value.keys():
                if not str(value[key]).startswith("#"):
                    yield f'{key}: expected a place in this schema, got "{brief(str(value[key]))}"'


def _values(schema: Schema) -> Iterator[tuple[int, object]]:
    """Yield every value in a schema with its depth, however deep it is."""
    left: list[tuple[int, object]] = [(1, schema)]
    while left:
        depth, value = left.pop()
        yield depth, value
        if isinstance(value, dict):
            left += ((depth + 1, each) for each in value.values())
        elif isinstance(value, list):
            left += ((depth + 1, each) for each in value)


def _nodes(schema: object) -> Iterator[Schema]:
    """Yield the schemas that an input is held against, the whole one first."""
    if not isinstance(schema, dict):
        return
    yield schema
    for inner in (*schema.get("properties", {}).values(), schema.get("items")):
        yield from _nodes(inner)
