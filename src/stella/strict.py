"""Text from outside, read strictly: JSON and TOML into plain data, or one named fault [W-7].

It refuses what readers usually let through: duplicate keys, words that are no numbers, halves
of characters, deep nesting. What the data means is the codec's business.
"""

import math
import re
import tomllib
from codecs import BOM_UTF8
from dataclasses import dataclass
from enum import Enum
from typing import Any
from typing import Final
from typing import assert_never

import jiter

from stella import limits
from stella.errors import ShapeError
from stella.escape import brief
from stella.toml_bounds import Beyond
from stella.toml_bounds import Bound
from stella.toml_bounds import beyond


class JsonFault(Enum):
    """Why outside data was refused [W-7]."""

    NOT_UTF8 = "not-utf8"
    MISPLACED_BOM = "misplaced-bom"
    SYNTAX = "syntax"
    DUPLICATE_KEY = "duplicate-key"
    NON_FINITE_NUMBER = "non-finite-number"
    NOT_AN_INTEGER = "not-an-integer"
    INTEGER_OUT_OF_RANGE = "integer-out-of-range"
    LONE_SURROGATE = "lone-surrogate"
    TOO_DEEP = "too-deep"
    UNKNOWN_KEY = "unknown-key"
    MISSING_KEY = "missing-key"
    WRONG_TYPE = "wrong-type"
    UNKNOWN_TOKEN = "unknown-token"  # noqa: S105  # a word of the wire, not a password
    MIXED_MESSAGE = "mixed-message"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong with outside data: the path to it, why, and what was probably meant.

    `path` is a tuple of keys and list positions; `at` renders it as `body.evidence.flip`.
    `found` is the offending value as it came.
    """

    token: JsonFault
    path: tuple[str | int, ...]
    message: str
    found: object = None
    near: tuple[str, ...] = ()

    @property
    def at(self) -> str:
        """The path as text: `candidate.test.args[2]`, empty for the whole document.

        A key is cut as a value is: it may be as long as what came.
        """
        parts: list[str] = []
        for step in self.path:
            if isinstance(step, int):
                parts.append(f"[{step}]")
            else:
                key = brief(step)
                parts.append(f".{key}" if parts else key)
        return "".join(parts)

    def __str__(self) -> str:
        place = self.at
        return f"{place}: {self.message}" if place else self.message


class Refused(ShapeError):
    """Outside data refused by the codec; `faults` are `Fault`s, the first is the headline."""

    def __init__(self, *faults: Fault) -> None:
        self.reasons = faults
        super().__init__(faults)


# ── text ──────────────────────────────────────────────────────────────────────────────

_STRING: Final = rb'"(?:[^"\\]|\\.|(?!))*+"'
_TOKEN: Final = re.compile(
    _STRING + rb"|[\[{]|[\]}]|-0(?![0-9.eE])|NaN|-?Infinity|" + BOM_UTF8, re.DOTALL
)
_JITER: Final = (
    ("Detected duplicate key", JsonFault.DUPLICATE_KEY),
    ("recursion limit exceeded", JsonFault.TOO_DEEP),
    ("number out of range", JsonFault.INTEGER_OUT_OF_RANGE),
    ("lone leading surrogate", JsonFault.LONE_SURROGATE),
    ("unexpected end of hex escape", JsonFault.LONE_SURROGATE),
    ("invalid unicode code point", JsonFault.LONE_SURROGATE),
)


def parse(data: bytes) -> object:
    """Return the plain data of one JSON document, or raise `Refused` with one fault [W-7].

    Integers stay integers of any size; their width is judged where a type asks for one.
    """
    if data.startswith(BOM_UTF8):
        raise _refused(JsonFault.MISPLACED_BOM, "a byte-order mark stands where JSON begins")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refused(
            JsonFault.NOT_UTF8, f"byte {error.start} is not UTF-8; send UTF-8 text"
        ) from error
    try:
        tree = jiter.from_json(_guarded(data), catch_duplicate_keys=True, allow_inf_nan=False)
    except ValueError as error:
        raise _explained(str(error)) from error
    if fault := _first_non_finite(tree, ()):
        raise Refused(fault)
    return tree


def _guarded(data: bytes) -> bytes:
    """Refuse deep nesting, non-finite words and marks, and write `-0` as `-0.0`.

    The JSON reader gives plain 0 for `-0`; as a fraction no integer field takes it [W-6].
    """
    depth = 0

    def seen(match: re.Match[bytes]) -> bytes:
        nonlocal depth
        token = match.group()
        if token in b"[{":
            depth += 1
            if depth > limits.JSON_DEPTH:
                raise _refused(
                    JsonFault.TOO_DEEP,
                    f"more than {limits.JSON_DEPTH} nested containers",
                )
        elif token in b"]}":
            depth -= 1
        elif token == b"-0":
            return b"-0.0"
        elif token == BOM_UTF8:
            raise _refused(JsonFault.MISPLACED_BOM, "a byte-order mark stands inside the document")
        elif not token.startswith(b'"'):
            raise _refused(JsonFault.NON_FINITE_NUMBER, f"{token.decode()} is no JSON number")
        return token

    return _TOKEN.sub(seen, data)


def _explained(detail: str) -> Refused:
    token = next((fault for text, fault in _JITER if text in detail), JsonFault.SYNTAX)
    return _refused(token, detail)


def _first_non_finite(tree: object, path: tuple[str | int, ...]) -> Fault | None:
    if isinstance(tree, float) and not math.isfinite(tree):
        return Fault(
            token=JsonFault.NON_FINITE_NUMBER,
            path=path,
            message="the number is larger than a double can hold",
        )
    if isinstance(tree, dict):
        steps: Any = tree.items()
    elif isinstance(tree, list):
        steps = enumerate(tree)
    else:
        return None
    for step, value in steps:
        if fault := _first_non_finite(value, (*path, step)):
            return fault
    return None


def _refused(token: JsonFault, message: str) -> Refused:
    return Refused(Fault(token=token, path=(), message=message))


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML document, or raise `Refused` with one syntax fault.

    The caller bounds the size first: reading time grows with it, and with nothing else.
    """
    if (found := beyond(text, limits.JSON_DEPTH)) is not None:
        raise _refused(*_overreach(text, found))
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise _refused(JsonFault.SYNTAX, str(error)) from error


def _overreach(text: str, found: Beyond) -> tuple[JsonFault, str]:
    line = text.count("\n", 0, found.at) + 1
    match found.bound:
        case Bound.NESTED:
            most = f"more than {limits.JSON_DEPTH} nested lists and tables"
            return JsonFault.TOO_DEEP, f"{most} (at line {line})"
        case Bound.PARTS:
            most = f"at most {limits.JSON_DEPTH} are read"
            return JsonFault.TOO_DEEP, f"a key of {found.number} parts; {most} (at line {line})"
        case Bound.DIGITS:
            long = f"an integer of {found.number} characters"
            return JsonFault.INTEGER_OUT_OF_RANGE, f"{long} (at line {line})"
        case _:
            assert_never(found.bound)
