"""A table without the keys its type does not declare, for the one format that ignores them [P-45].

The codec refuses unknown keys everywhere; what is left here is what it then judges.
"""

import datetime as dt
from typing import Annotated
from typing import Any

import msgspec
from msgspec import inspect

from stella import limits
from stella.codec import Path
from stella.escape import brief
from stella.near import near
from stella.strict import Fault
from stella.strict import JsonFault

Moment = Annotated[str, msgspec.Meta(extra={"moment": True})]
"""A date or a time as text; TOML may write it bare."""


def known(kind: type, tree: object) -> tuple[object, tuple[Fault, ...]]:
    """Return plain data with what `kind` declares, and a fault for each key that was left out.

    A date or time becomes its text where a `Moment` is declared. Nothing else is changed: what
    has the wrong type still has it.
    """
    foreign: list[Fault] = []
    return _kept(inspect.type_info(kind), tree, (), foreign), tuple(foreign)


def _kept(kind: Any, tree: object, path: Path, foreign: list[Fault]) -> object:
    if isinstance(kind, inspect.UnionType):
        # At most one arm of a type here is a table, and no other arm changes anything.
        for arm in kind.types:
            tree = _kept(arm, tree, path, foreign)
        return tree
    if isinstance(kind, inspect.Metadata):
        moment = (kind.extra or {}).get("moment")
        return _moment(tree) if moment else tree
    if isinstance(kind, inspect.VarTupleType) and isinstance(tree, list):
        return [_kept(kind.item_type, item, (*path, at), foreign) for at, item in enumerate(tree)]
    if not isinstance(kind, inspect.StructType) or not isinstance(tree, dict):
        return tree
    fields = {field.encode_name: field.type for field in kind.fields}
    for key in tree:
        if key not in fields:
            # Nobody reads a thousand hints, and each costs a look at every word.
            legal = tuple(fields) if len(foreign) < limits.IGNORED_SHOWN else ()
            foreign.append(_fault(key, legal, path))
    return {
        key: _kept(fields[key], value, (*path, key), foreign)
        for key, value in tree.items()
        if key in fields
    }


def _moment(tree: object) -> object:
    if isinstance(tree, dt.date | dt.time):  # a datetime is a date
        return tree.isoformat()
    return tree


def _fault(key: str, legal: tuple[str, ...], path: Path) -> Fault:
    meant = near(key[: limits.NEAR_CHARS], legal)
    hint = f"; did you mean {' or '.join(meant)}?" if meant else ""
    message = f'the key "{brief(key)}" is not known and passed over{hint}'
    return Fault(token=JsonFault.UNKNOWN_KEY, path=path, message=message, near=meant)
