"""Messages as whole documents: a request written, an answer or a call read [W-16, W-31].

One decoder reads answers and calls, and refuses whatever is both or neither.
"""

from codecs import BOM_UTF8
from dataclasses import dataclass
from typing import Any
from typing import TypeVar
from typing import assert_never

import msgspec

from stella import codec
from stella import limits
from stella.codec import Fault
from stella.codec import JsonFault
from stella.codec import Refused
from stella.wire.after_turn import AfterTurnAnswer
from stella.wire.after_turn import AfterTurnRequest
from stella.wire.before_turn import BeforeTurnAnswer
from stella.wire.before_turn import BeforeTurnRequest
from stella.wire.host_call import ARGS
from stella.wire.host_call import HostCall
from stella.wire.points import PROTOCOL_VERSION
from stella.wire.points import Call
from stella.wire.points import Point

T = TypeVar("T")

Request = BeforeTurnRequest | AfterTurnRequest
Answer = BeforeTurnAnswer | AfterTurnAnswer


class _BeforeTurn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    point: Point
    body: BeforeTurnAnswer


class _AfterTurn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    point: Point
    body: AfterTurnAnswer


class _AskedBeforeTurn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    point: Point
    body: BeforeTurnRequest


class _AskedAfterTurn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    point: Point
    body: AfterTurnRequest


class _Called(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    call: Call
    id: codec.U32
    args: dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class PointAnswer:
    """An answer as it came: which point it answers, and with what."""

    point: Point
    body: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterAnswer:
    """An answer of a version this host does not speak: nothing else in it is read [W-11, W-12]."""

    version: int


def point_of(request: Request) -> Point:
    """Return the point a request belongs to [W-16]."""
    match request:
        case BeforeTurnRequest():
            return Point.BEFORE_TURN
        case AfterTurnRequest():
            return Point.AFTER_TURN
        case _:
            assert_never(request)


def write_request(request: Request) -> bytes:
    """Return a request as one compact line with its newline, keys in wire order [W-2]."""
    return codec.encode({"point": point_of(request).value, "body": request}) + b"\n"


def read_request(data: bytes) -> Request:
    """Return the request in `data`, as a plugin reads it, or raise `Refused` [K-203]."""
    tree = as_object(codec.parse(data))
    if _word(Point, "point", tree) is Point.BEFORE_TURN:
        return codec.decode(_AskedBeforeTurn, tree).body
    return codec.decode(_AskedAfterTurn, tree).body


def read_message(data: bytes, *, first: bool = True) -> PointAnswer | LaterAnswer | HostCall:
    """Return the answer or the host call in one document, or raise `Refused` [W-31].

    The version comes before the keys: what a later one may mean is not judged by this one [W-12].
    A byte-order mark is tolerated at the very start of the stream only, that is when
    `first` is true [W-1].
    """
    if first:
        data = data.removeprefix(BOM_UTF8)
    tree = as_object(codec.parse(data))
    unmixed(tree)
    if "call" in tree:
        return _read_call(tree)
    later = _later(tree)
    if later is not None:
        return later
    if _word(Point, "point", tree) is Point.BEFORE_TURN:
        before = codec.decode(_BeforeTurn, tree, most=1)
        return PointAnswer(point=before.point, body=before.body)
    after = codec.decode(_AfterTurn, tree, most=1)
    return PointAnswer(point=after.point, body=after.body)


def _read_call(tree: dict[str, Any]) -> HostCall:
    called = codec.decode(_Called, tree, most=1)
    return HostCall(
        call=called.call, id=called.id, args=within("args", ARGS[called.call], called.args)
    )


def _later(tree: dict[str, Any]) -> LaterAnswer | None:
    body = tree.get("body")
    version = body.get("protocol_version") if isinstance(body, dict) else None
    # `type is`, not isinstance: a bool is an int in Python and is none in outside data.
    if type(version) is int and PROTOCOL_VERSION < version <= limits.U32_MAX:
        return LaterAnswer(version=version)
    return None


def within(key: str, kind: type[T], tree: object) -> T:
    """Return what stands under `key`, or raise `Refused` with every fault placed there."""
    try:
        return codec.decode(kind, tree)
    except Refused as refused:
        raise Refused(*(_beneath(key, fault) for fault in refused.reasons)) from refused


def as_object(tree: object) -> dict[str, Any]:
    """Return a document that is an object, or raise `Refused`: every message is one [W-4]."""
    if not isinstance(tree, dict):
        raise _refused(JsonFault.WRONG_TYPE, "expected an object")
    return tree


def unmixed(tree: dict[str, Any]) -> None:
    """Raise `Refused` for keys of an answer and of a call together, or of neither [W-31]."""
    asks, answers = "call" in tree, "point" in tree
    if not asks and not answers:
        if not tree:
            raise _refused(JsonFault.MISSING_KEY, 'expected "point" or "call"')
        raise _refused(JsonFault.MIXED_MESSAGE, 'neither "point" nor "call" is there')
    if asks and answers:
        raise _refused(JsonFault.MIXED_MESSAGE, '"point" and "call" stand together')
    foreign = ("body",) if asks else ("id", "args")
    if mixed := [key for key in foreign if key in tree]:
        kind = "call" if asks else "answer"
        raise _refused(JsonFault.MIXED_MESSAGE, f'"{mixed[0]}" does not belong to a {kind}')


def _word(kind: type[Point], key: str, tree: dict[str, Any]) -> Point:
    if tree.get(key) is None:
        missing = f'the required key "{key}" is missing'
        raise Refused(Fault(token=JsonFault.MISSING_KEY, path=(key,), message=missing))
    return within(key, kind, tree[key])


def _beneath(key: str, fault: Fault) -> Fault:
    return Fault(
        token=fault.token,
        path=(key, *fault.path),
        message=fault.message,
        found=fault.found,
        near=fault.near,
    )


def _refused(token: JsonFault, message: str) -> Refused:
    return Refused(Fault(token=token, path=(), message=message))
