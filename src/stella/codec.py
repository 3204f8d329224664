"""The one door for outside data: text in, frozen values out, every fault with its place.

`parse` turns text into plain data [W-7]; `decode` turns plain data into a declared type and
gathers all faults; `encode` writes a value back as one compact line [W-2]. Every table denies
keys it does not declare [W-4, M-2]. Nothing else in the package reads JSON or TOML.
"""

from collections.abc import Callable
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum
from functools import cache
from types import UnionType
from typing import Annotated
from typing import Any
from typing import Final
from typing import TypeVar
from typing import Union
from typing import cast
from typing import get_args
from typing import get_origin

import msgspec
from msgspec import inspect

from stella import limits
from stella.escape import cut
from stella.escape import visible
from stella.near import clause
from stella.near import near
from stella.strict import Fault
from stella.strict import JsonFault
from stella.strict import Refused
from stella.strict import parse
from stella.strict import parse_toml

__all__ = [
    "U8",
    "U32",
    "U64",
    "Fault",
    "JsonFault",
    "Refused",
    "Word",
    "canonical",
    "decode",
    "encode",
    "parse",
    "parse_toml",
    "plain",
    "read",
]

T = TypeVar("T")

U8 = Annotated[int, msgspec.Meta(ge=0, le=limits.U8_MAX)]
U32 = Annotated[int, msgspec.Meta(ge=0, le=limits.U32_MAX)]
# msgspec cannot state a bound above int64, so the width travels as extra data.
U64 = Annotated[int, msgspec.Meta(ge=0, extra={"le": limits.U64_MAX})]


class Word(Enum):
    """A closed vocabulary: each member's value is its spelling in outside data."""


# ── shape ─────────────────────────────────────────────────────────────────────────────

Path = tuple[str | int, ...]
_WRONG: Final = object()


def decode(kind: type[T], tree: object, most: int = limits.FAULTS_TOLD) -> T:
    """Return `tree` as a `kind`, or raise `Refused` with every fault in it, at most `most`.

    `kind` is a struct or anything msgspec can describe. A null for an optional key is the
    same as its absence, and for a required one the same as a missing key [W-5].
    """
    reader = _Reader(most)
    value: object = None
    with suppress(_Enough):
        value = reader.read(_described(cast("Any", kind)), tree, ())
    if reader.faults:
        raise Refused(*reader.faults)
    return cast("T", value)


def read(kind: type[T], data: bytes) -> T:
    """Return one JSON document as a `kind`; `parse` and `decode` in one step."""
    return decode(kind, parse(data))


@cache
def _described(kind: Any) -> inspect.Type:
    try:
        return inspect.type_info(kind)
    except TypeError:  # msgspec describes no union of several tables; the reader tries its arms
        return _described_by_part(kind)


def _described_by_part(kind: Any) -> inspect.Type:
    if get_origin(kind) in (Union, UnionType):
        return inspect.UnionType(tuple(map(_described, get_args(kind))))
    if get_origin(kind) is tuple:
        return inspect.VarTupleType(_described(get_args(kind)[0]))
    return inspect.StructType(
        kind,
        tuple(
            inspect.Field(field.name, field.encode_name, _described(field.type), field.required)
            for field in msgspec.structs.fields(kind)
        ),
    )


class _Enough(Exception):
    """As many faults as anybody wants to read were found."""


class _Reader:
    """Walks one value beside its type and gathers faults instead of stopping at the first."""

    def __init__(self, most: int) -> None:
        self.faults: list[Fault] = []
        self.most = most
        self.lookups = 0

    def _near(self, word: str, legal: tuple[str, ...]) -> tuple[str, ...]:
        """Return the near words of the first few unknown ones: looking is quadratic in a word."""
        self.lookups += 1
        if self.lookups > limits.NEAR_LOOKUPS or len(word) > limits.NEAR_CHARS:
            return ()
        return near(word, legal)

    def read(self, kind: inspect.Type, tree: object, path: Path) -> object:
        return _READERS[type(kind)](self, kind, tree, path)

    def fault(
        self, token: JsonFault, path: Path, message: str, found: object, *words: str
    ) -> object:
        self.faults.append(Fault(token=token, path=path, message=message, found=found, near=words))
        if len(self.faults) >= self.most:
            raise _Enough
        return _WRONG

    def wrong(self, expected: str, tree: object, path: Path) -> object:
        message = f"expected {expected}, got {_kind_of(tree)}"
        return self.fault(JsonFault.WRONG_TYPE, path, message, tree)

    def metadata(self, kind: Any, tree: object, path: Path) -> object:
        value = self.read(kind.type, tree, path)
        top = (kind.extra or {}).get("le")
        if top is not None and isinstance(value, int) and value > top:
            return self._range(path, tree, f"0 to {top}")
        return value

    def integer(self, kind: Any, tree: object, path: Path) -> object:
        # `type is`, not isinstance: a bool is an int in Python and is none in outside data.
        if type(tree) is not int:
            message = f"expected an integer, got {_kind_of(tree)}"
            return self.fault(JsonFault.NOT_AN_INTEGER, path, message, tree)
        low, high = kind.ge, kind.le
        if (low is not None and tree < low) or (high is not None and tree > high):
            bounds = f"{low} or more" if high is None else f"{low} to {high}"
            return self._range(path, tree, bounds)
        return tree

    def _range(self, path: Path, tree: object, bounds: str) -> object:
        # A number of thousands of digits is not printed: str() of it is quadratic and capped.
        shown = tree if isinstance(tree, int) and tree.bit_length() <= 128 else "a huge number"  # noqa: PLR2004
        message = f"expected {bounds}, got {shown}"
        return self.fault(JsonFault.INTEGER_OUT_OF_RANGE, path, message, tree)

    def real(self, kind: Any, tree: object, path: Path) -> object:
        del kind
        if type(tree) not in (int, float):
            return self.wrong("a number", tree, path)
        return tree

    def boolean(self, kind: Any, tree: object, path: Path) -> object:
        del kind
        return tree if type(tree) is bool else self.wrong("true or false", tree, path)

    def text(self, kind: Any, tree: object, path: Path) -> object:
        del kind
        return tree if type(tree) is str else self.wrong("a string", tree, path)

    def anything(self, kind: Any, tree: object, path: Path) -> object:
        """Take free-form data; its integers must fit a signed 64-bit number [W-8]."""
        if type(tree) is int and not -limits.I64_MAX - 1 <= tree <= limits.I64_MAX:
            return self._range(path, tree, f"{-limits.I64_MAX - 1} to {limits.I64_MAX}")
        if isinstance(tree, dict):
            return {key: self.anything(kind, value, (*path, key)) for key, value in tree.items()}
        if isinstance(tree, list):
            return [self.anything(kind, value, (*path, i)) for i, value in enumerate(tree)]
        return tree

    def nothing(self, kind: Any, tree: object, path: Path) -> object:
        del kind
        return None if tree is None else self.wrong("null", tree, path)

    def word(self, kind: Any, tree: object, path: Path) -> object:
        if type(tree) is not str:
            return self.wrong("a string", tree, path)
        legal = tuple(member.value for member in kind.cls)
        if tree in legal:
            return kind.cls(tree)
        message = f'"{_shown(tree)}" is not one of the words allowed here'
        return self._unknown(JsonFault.UNKNOWN_TOKEN, path, message, tree, legal)

    def row(self, kind: Any, tree: object, path: Path) -> object:
        if type(tree) is not list:
            return self.wrong("a list", tree, path)
        items = [self.read(kind.item_type, v, (*path, i)) for i, v in enumerate(tree)]
        return _WRONG if _WRONG in items else tuple(items)

    def mapping(self, kind: Any, tree: object, path: Path) -> object:
        if type(tree) is not dict:
            return self.wrong("a table", tree, path)
        return {k: self.read(kind.value_type, v, (*path, k)) for k, v in tree.items()}

    def union(self, kind: Any, tree: object, path: Path) -> object:
        arms = [arm for arm in kind.types if not isinstance(arm, inspect.NoneType)]
        if tree is None and len(arms) < len(kind.types):
            return None
        if len(arms) == 1:
            return self.read(arms[0], tree, path)
        for arm in arms:
            with suppress(_Enough):
                return _Reader(1).read(arm, tree, path)
        names = " or ".join(dict.fromkeys(_NAMES.get(type(arm), "a table") for arm in arms))
        return self.wrong(names, tree, path)

    def table(self, kind: Any, tree: object, path: Path) -> object:
        if type(tree) is not dict:
            return self.wrong("a table", tree, path)
        before = len(self.faults)
        fields = {field.encode_name: field for field in kind.fields}
        given: dict[str, object] = {}
        for key, value in tree.items():
            field = fields.get(key)
            if field is None:
                message = f'unknown key "{_shown(key)}"'
                self._unknown(JsonFault.UNKNOWN_KEY, (*path, key), message, value, tuple(fields))
            elif value is None and not field.required:
                continue
            elif value is not None:
                given[field.name] = self.read(field.type, value, (*path, key))
        for key, field in fields.items():
            if field.required and tree.get(key) is None:
                message = f'the required key "{key}" is missing'
                self.fault(JsonFault.MISSING_KEY, (*path, key), message, None)
        if len(self.faults) > before:
            return _WRONG
        try:
            return kind.cls(**given)
        except ValueError as error:  # a rule over several keys, stated by the type itself
            return self.fault(JsonFault.WRONG_TYPE, path, str(error), tree)

    def _unknown(
        self, token: JsonFault, path: Path, message: str, found: object, legal: tuple[str, ...]
    ) -> object:
        """Tell of a word that is none of `legal`; a key is the last step of its path [M-8]."""
        word = found if token is JsonFault.UNKNOWN_TOKEN else path[-1]
        words = self._near(str(word), legal)
        if hint := clause(words, legal):
            message = f"{message}; {hint}"
        return self.fault(token, path, message, found, *words)


_READERS: Final[Mapping[type, Callable[[_Reader, Any, object, Path], object]]] = {
    inspect.Metadata: _Reader.metadata,
    inspect.IntType: _Reader.integer,
    inspect.FloatType: _Reader.real,
    inspect.BoolType: _Reader.boolean,
    inspect.StrType: _Reader.text,
    inspect.AnyType: _Reader.anything,
    inspect.CustomType: _Reader.anything,  # how msgspec describes `object`
    inspect.NoneType: _Reader.nothing,
    inspect.EnumType: _Reader.word,
    inspect.VarTupleType: _Reader.row,
    inspect.DictType: _Reader.mapping,
    inspect.UnionType: _Reader.union,
    inspect.StructType: _Reader.table,
}
_NAMES: Final[Mapping[type, str]] = {
    inspect.IntType: "an integer",
    inspect.FloatType: "a number",
    inspect.BoolType: "true or false",
    inspect.StrType: "a string",
    inspect.VarTupleType: "a list",
}
_KINDS: Final = {
    bool: "true or false",
    int: "an integer",
    float: "a fraction",
    str: "a string",
    list: "a list",
    dict: "a table",
    type(None): "null",
}


def _shown(text: str) -> str:
    return cut(visible(text), limits.FAULT_VALUE_CHARS)


def _kind_of(tree: object) -> str:
    return _KINDS.get(type(tree), "a date or time")


# ── writing ───────────────────────────────────────────────────────────────────────────


def plain(value: object) -> Any:
    """Return a value as plain data of lists and tables: absent optional keys stay absent."""
    return msgspec.json.decode(msgspec.json.encode(value))


def encode(value: object) -> bytes:
    """Return a value as one compact JSON line without its newline [W-2]."""
    return msgspec.json.encode(value)


def canonical(value: object) -> bytes:
    """Return a value as compact JSON with sorted keys, for digests and comparison."""
    return msgspec.json.encode(value, order="sorted")
