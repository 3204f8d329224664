"""A tool's typed input: the schema the model sees and the check of what it sends are one truth.

The schema is made from the struct; what the codec does not check of it (how long a text or a
list may be) is checked against the schema itself, so neither can promise what the other
does not hold [T2-11, E-25].
"""

from typing import Any
from typing import TypeVar

import msgspec

from stella import codec
from stella.codec import Fault
from stella.codec import JsonFault

S = TypeVar("S", bound=msgspec.Struct)

Schema = dict[str, Any]


def schema_of(shape: type[msgspec.Struct]) -> Schema:
    """Return the JSON schema of a struct: self-contained, closed, null listed where it is taken.

    The codec reads null for an optional key as its absence [W-5]; the schema says so.
    """
    made = msgspec.json.schema(shape)
    return _plain(made, made["$defs"])


def accept(shape: type[S], schema: Schema, tree: object) -> S:
    """Return `tree` as a `shape`, or raise `codec.Refused` with every fault in it [E-25]."""
    lengths = list(_lengths(schema, tree, ()))
    try:
        value = codec.decode(shape, tree)
    except codec.Refused as refused:
        raise codec.Refused(*refused.reasons, *lengths) from refused
    if lengths:
        raise codec.Refused(*lengths)
    return value


def _plain(node: Schema, named: dict[str, Schema]) -> Schema:
    """Return a schema node without references, titles, defaults and wrappers for null."""
    if "$ref" in node:
        return _plain(named[node["$ref"].rpartition("/")[2]], named)
    if "anyOf" in node:
        [kind] = [kind for kind in node["anyOf"] if kind != {"type": "null"}]
        words = {key: node[key] for key in ("description",) if key in node}
        return _nullable(_plain(kind, named)) | words
    plain = {key: value for key, value in node.items() if key not in ("title", "default")}
    if node["type"] == "object":
        plain.pop("description", None)  # the docstring of the struct speaks to its reader
        required = node["required"]
        plain["properties"] = {
            key: _plain(value, named) if key in required else _nullable(_plain(value, named))
            for key, value in node["properties"].items()
        }
        if not required:
            del plain["required"]
    if "items" in node:
        plain["items"] = _plain(node["items"], named)
    return plain


def _nullable(node: Schema) -> Schema:
    kinds = node["type"] if isinstance(node["type"], list) else [node["type"]]
    return node | {"type": [*kinds, *(() if "null" in kinds else ("null",))]}


def _lengths(node: Schema, tree: object, path: codec.Path) -> list[Fault]:
    """Return a fault for each text and list that is shorter or longer than its schema says."""
    faults: list[Fault] = []
    if isinstance(tree, str | list):
        size = "Length" if isinstance(tree, str) else "Items"
        least, most = node.get(f"min{size}", 0), node.get(f"max{size}", len(tree))
        if not least <= len(tree) <= most:
            faults.append(_length(least, node.get(f"max{size}"), tree, path))
    if isinstance(tree, list) and "items" in node:
        for number, item in enumerate(tree):
            faults += _lengths(node["items"], item, (*path, number))
    if isinstance(tree, dict):
        for key, value in node.get("properties", {}).items():
            if key in tree:
                faults += _lengths(value, tree[key], (*path, key))
    return faults


def _length(least: int, most: int | None, tree: str | list[object], path: codec.Path) -> Fault:
    what = "characters" if isinstance(tree, str) else "entries"
    bounds = f"{least} or more" if most is None else f"{least} to {most}"
    message = f"expected {bounds} {what}, got {len(tree)}"
    return Fault(token=JsonFault.WRONG_TYPE, path=path, message=message, found=tree)


def one_form(batch: str, many: object, **single: object) -> None:
    """Refuse, with `ValueError`, an input that is both or neither of a tool's two forms [T2-11].

    `many` is the value of the batch field named `batch`; `single` are the fields of the single
    form that it needs, with the ones it may leave out named with a trailing underscore.
    """
    needed = {key: value for key, value in single.items() if not key.endswith("_")}
    names = " and ".join(f'"{key}"' for key in needed)
    if many is not None and any(value is not None for value in single.values()):
        message = f'expected {names}, or "{batch}", not both'
        raise ValueError(message)
    if many is None and any(value is None for value in needed.values()):
        message = f'expected {names}, or "{batch}"'
        raise ValueError(message)
