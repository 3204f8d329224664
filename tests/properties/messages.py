"""Values of every table of the wire, drawn from its own declaration.

A strategy follows the types of a struct, so a new key or a new table is drawn without a word
here. Only what a type cannot say is written down: which arguments and which result belong to a
call.
"""

import importlib
import pkgutil
from collections.abc import Iterator
from enum import Enum
from functools import cache
from types import NoneType
from types import UnionType
from typing import Annotated
from typing import Any
from typing import Final
from typing import Union
from typing import get_args
from typing import get_origin

import msgspec
from hypothesis import assume
from hypothesis import strategies as st

from stella import limits
from stella import wire
from stella.wire.host_call import ARGS
from stella.wire.host_call import HostCall
from stella.wire.host_result import OK
from stella.wire.host_result import HostResult
from stella.wire.host_result import RefusedCall
from stella.wire.points import Call
from tests.properties.strategies import TEXT

Place = tuple[str | int, ...]

FOREIGN: Final = "a_key_of_a_newer_host"

_NUMBERS: Final = st.integers(-limits.I64_MAX - 1, limits.I64_MAX) | st.floats(
    allow_nan=False, allow_infinity=False
)
FREE: Final = st.recursive(
    st.none() | st.booleans() | _NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
"""Free-form data [W-8]."""


def tables() -> tuple[type[msgspec.Struct], ...]:
    """Return every public table that a module of the wire declares."""
    found: list[type[msgspec.Struct]] = []
    for module in pkgutil.iter_modules(wire.__path__, "stella.wire."):
        for name, kind in vars(importlib.import_module(module.name)).items():
            is_table = isinstance(kind, type) and issubclass(kind, msgspec.Struct)
            if is_table and kind.__module__ == module.name and not name.startswith("_"):
                found.append(kind)
    assert found
    return tuple(found)


@cache
def values(kind: Any) -> st.SearchStrategy[Any]:
    """Return the values of a type that may stand in a table of the wire."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        low, top = least_of(kind), top_of(kind)
        return st.sampled_from((low, low + 1, top)) | st.integers(low, top)
    if origin in (Union, UnionType):
        return st.one_of(*map(values, args))
    if origin is tuple:
        return st.lists(values(args[0]), max_size=3).map(tuple)
    if origin is dict:
        return st.dictionaries(TEXT, values(args[1]), max_size=3)
    if kind is HostCall:
        return st.sampled_from(Call).flatmap(calls)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _built(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(kind)
    simple = {
        str: TEXT,
        bool: st.booleans(),
        float: st.floats(0, 1e12, allow_nan=False),
        object: FREE,
        Any: FREE,
        NoneType: st.none(),
    }
    return simple[kind]


def top_of(kind: Any) -> int:
    """Return the largest integer of a width."""
    meta = get_args(kind)[1]
    return int(meta.le if meta.le is not None else meta.extra["le"])


def least_of(kind: Any) -> int:
    """Return the smallest integer of a width."""
    return int(get_args(kind)[1].ge)


@st.composite
def _built(draw: st.DrawFn, kind: type[msgspec.Struct]) -> msgspec.Struct:
    given: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        if field.required or draw(st.booleans()):
            given[field.name] = draw(values(field.type))
    try:
        return kind(**given)
    except ValueError:  # a rule over several keys, stated by the type itself
        assume(condition=False)
        raise


def calls(call: Call) -> st.SearchStrategy[HostCall]:
    """Return calls of one kind."""
    return st.builds(
        HostCall,
        call=st.just(call),
        id=st.integers(0, limits.U32_MAX),
        args=values(ARGS[call]),
    )


def results(call: Call) -> st.SearchStrategy[HostResult]:
    """Return results of one kind of call, refusals among them."""
    return st.builds(
        HostResult,
        id=st.integers(0, limits.U32_MAX),
        outcome=values(OK[call]) | values(RefusedCall),
    )


def closed(value: object, path: Place = ()) -> Iterator[Place]:
    """Yield the place of every table with keys of its own in a value, the outermost first.

    A table that was left out because it says nothing has a place too.
    """
    if isinstance(value, msgspec.Struct):
        yield path
        for field in msgspec.structs.fields(value):
            yield from closed(getattr(value, field.name), (*path, field.encode_name))
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from closed(item, (*path, number))


def spoiled(tree: Any, path: Place) -> bool:
    """Put a foreign key into the table at a path; False when it is not written there."""
    for step in path:
        if isinstance(tree, dict) and step not in tree:
            return False
        tree = tree[step]
    tree[FOREIGN] = 1
    return True
