"""Manifests and messages built piece by piece from their declarations, right and wrong."""

from enum import Enum
from random import Random
from types import NoneType
from types import UnionType
from typing import Annotated
from typing import Any
from typing import Final
from typing import Union
from typing import get_args
from typing import get_origin

import msgspec

from stella import codec
from stella import limits
from stella.manifest.plugin import PluginManifest
from stella.wire.after_turn import AfterTurnAnswer
from stella.wire.after_turn import AfterTurnRequest
from stella.wire.before_turn import BeforeTurnAnswer
from stella.wire.before_turn import BeforeTurnRequest
from stella.wire.host_call import ARGS
from stella.wire.host_result import OK
from stella.wire.host_result import RefusedCall
from stella.wire.points import Call
from tests.fuzz.mutation import HIDDEN
from tests.making import corpus
from tests.making.manifests import manifest_vectors

MANIFEST_BYTES: Final = 32 * limits.KIB
MESSAGE_BYTES: Final = 64 * limits.KIB
"""How large a fuzzed document is at most: reading time grows with the size, whatever is in it."""

MANIFESTS: Final = tuple(
    path.read_bytes()
    for kind in ("manifest/accepted", "manifest/refused", "consent")
    for path in manifest_vectors(kind)
)
MESSAGES: Final = tuple(
    codec.encode(entry["message"])
    for section, entries in corpus.corpus().items()
    if section not in {"protocol_version", "vocabulary"}
    for entry in entries
)

_TEXTS: Final = (
    "",
    " ",
    "a",
    "x.y",
    "ui.theme",
    "providers.x",
    "tests-pass",
    "p50 <= 5",
    "p50<=5",
    "p50 <= -1",
    "questions > 0",
    "no-plans",
    "plans",
    "plans > 0",
    "triage",
    "execute",
    "context_recall",
    "agent.turn.*",
    "*",
    "a.*",
    "PATH",
    "A=B",
    "${plugin_dir}/main",
    "highh",
    "bash",
    "host-tree",
    "../x",
    *HIDDEN,
)


class Maker:
    """Makes values of a type; every so often one of another type, or a key that is none."""

    def __init__(self, chance: Random, wrong: float) -> None:
        self.chance = chance
        self.wrong = wrong

    def value(self, kind: Any, depth: int = 0) -> Any:
        """Return plain data for a type, right unless chance says otherwise."""
        chance = self.chance
        if chance.random() < self.wrong or depth > 8:
            return self.anything(depth)
        origin, args = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return chance.choice((0, 1, 2, 7, limits.U32_MAX, limits.U64_MAX, 2**64))
        if origin in (Union, UnionType):
            return self.value(chance.choice([arm for arm in args if arm is not NoneType]), depth)
        if origin is tuple:
            return [self.value(args[0], depth + 1) for _ in range(chance.choice((0, 1, 2, 3)))]
        if origin is dict:
            return {self.text(): self.value(args[1], depth + 1) for _ in range(chance.randrange(3))}
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return self.table(kind, depth)
        if isinstance(kind, type) and issubclass(kind, Enum):
            return chance.choice(list(kind)).value
        if kind is str:
            return self.text()
        return chance.random() < 0.5 if kind is bool else self.anything(depth)

    def table(self, kind: type[msgspec.Struct], depth: int) -> dict[str, Any]:
        """Return a table with most of its keys, sometimes with one more."""
        made: dict[str, Any] = {}
        for field in msgspec.structs.fields(kind):
            if self.chance.random() < (1 - self.wrong if field.required else 0.5):
                made[field.encode_name] = self.value(field.type, depth + 1)
        if self.chance.random() < self.wrong:
            made[self.text()] = self.anything(depth)
        return made

    def text(self) -> str:
        """Return a text that means something somewhere, or one that means nothing."""
        if self.chance.random() < 0.85:
            return self.chance.choice(_TEXTS)
        size = self.chance.choice((1, 5, 33, 65, 129, 300))
        points = (self.chance.choice((0x20, 0x61, 0x3B1, 0x4E00, 0x1F600)) for _ in range(size))
        return "".join(chr(point + self.chance.randrange(64)) for point in points)

    def anything(self, depth: int) -> Any:
        """Return plain data of any kind."""
        chance = self.chance
        if depth < 6 and chance.random() < 0.3:
            items = [self.anything(depth + 1) for _ in range(chance.randrange(4))]
            return items if chance.random() < 0.5 else {self.text(): item for item in items}
        return chance.choice((True, False, 0, -1, 2**64, 1.5, 1e300, self.text(), self.text()))


def manifest(chance: Random) -> bytes:
    """Return the text of a manifest built from its declaration, or one of the vectors."""
    if chance.random() < 0.4:
        return chance.choice(MANIFESTS)
    tree = Maker(chance, chance.choice((0.0, 0.02, 0.1))).table(PluginManifest, 0)
    return "".join(_lines(chance, tree, ())).encode()


def _lines(chance: Random, tree: dict[str, Any], path: tuple[str, ...]) -> list[str]:
    """Return a table as TOML: plain keys first, then the tables in it."""
    lines: list[str] = []
    inner: list[str] = []
    for key, value in tree.items():
        place = (*path, key)
        header = ".".join(map(_key, place))
        whole = chance.random() < 0.1
        if isinstance(value, dict) and not whole:
            inner += [f"[{header}]\n", *_lines(chance, value, place)]
        elif value and isinstance(value, list) and isinstance(value[0], dict) and not whole:
            for item in value:
                body = item if isinstance(item, dict) else {"x": item}
                inner += [f"[[{header}]]\n", *_lines(chance, body, place)]
        else:
            lines.append(f"{_key(key)} = {_literal(chance, value)}\n")
    return lines + inner


def _key(key: str) -> str:
    return (
        key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else _quoted(key)
    )


def _quoted(text: str) -> str:
    made = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + "".join(c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}" for c in made) + '"'


def _literal(chance: Random, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, list):
        return f"[{', '.join(_literal(chance, item) for item in value)}]"
    if isinstance(value, dict):
        pairs = (f"{_key(key)} = {_literal(chance, item)}" for key, item in value.items())
        return f"{{ {', '.join(pairs)} }}"
    dates = ("1979-05-27T07:32:00Z", "1979-05-27", "07:32:00", "1979-05-27T07:32:00.999999-07:00")
    return chance.choice(dates) if chance.random() < 0.02 else str(value)


def message(chance: Random) -> bytes:
    """Return a message built from its declaration, or one of the corpus."""
    if chance.random() < 0.4:
        return chance.choice(MESSAGES)
    maker = Maker(chance, chance.choice((0.0, 0.02, 0.1)))
    number = maker.value(codec.U32)
    call = chance.choice(list(Call))
    made: dict[str, Any]
    match chance.randrange(7):
        case 0:
            made = {"point": "before_turn", "body": maker.table(BeforeTurnRequest, 0)}
        case 1:
            made = {"point": "after_turn", "body": maker.table(AfterTurnRequest, 0)}
        case 2:
            made = {"point": "before_turn", "body": maker.table(BeforeTurnAnswer, 0)}
        case 3:
            made = {"point": "after_turn", "body": maker.table(AfterTurnAnswer, 0)}
        case 4:
            made = {"call": call.value, "id": number, "args": maker.table(ARGS[call], 0)}
        case 5:
            made = {"result": number, "ok": maker.table(OK[call], 0)}
        case _:
            made = {"result": number, "err": maker.table(RefusedCall, 0)}
    if chance.random() < 0.05:
        made[chance.choice(("id", "args", "body", "call", "point", "ok", "err"))] = 1
    return msgspec.json.encode(made)
