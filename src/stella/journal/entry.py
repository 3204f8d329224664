"""One record and its line: how it is composed, bounded, written and read back [J2-10 to J2-13].

No file is touched here. A line is compact UTF-8 JSON; its digest is what the next record's
`prev` holds.
"""

import hashlib
from base64 import b64encode
from collections.abc import Iterable
from collections.abc import Mapping
from operator import itemgetter
from typing import Any
from typing import Final

import msgspec

from stella import codec
from stella import limits
from stella.codec import Refused
from stella.errors import JournalError
from stella.journal.kinds import arranged
from stella.redact import Redactor

GENESIS: Final = "0" * 64
# The record and its data are containers themselves.
_ROOM_FOR_VALUES: Final = limits.JSON_DEPTH - 2
_NO_END: Final = -1
_ROOM_FOR_MARKER: Final = 48

# What could be cut: its bytes in the line, its container, and its key or position there.
_Place = tuple[int, Any, Any]


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One record, fields in the order of its line [J2-10].

    `turn` is a turn or agent id, None outside turns; `prev` is the SHA-256 of the line before,
    64 zeros for the first.
    """

    seq: codec.U64
    ts: str
    type: str
    turn: str | None = None
    data: dict[str, Any]
    prev: str


def digest(line: bytes) -> str:
    """Return the SHA-256 of a line without its newline, as `prev` and head hold it [J2-10]."""
    return hashlib.sha256(line).hexdigest()


def compose(record: Record, redactor: Redactor) -> tuple[Record, bytes]:
    """Return a record as it will stand, and its line without the newline.

    `record.data` may hold structs, enums and tuples; at its top, bytes under a key ending in
    `_b64` become base64 of at most 65,536 bytes [J2-13]. The data is arranged by its type,
    cleared of secrets with `redacted` counting them [J2-23], and cut with `cut` when the line
    would be longer than 4 MiB. Raises `ValueError` for data that is not of the type's shape
    and `JournalError` when it is not the data that makes the line too long.
    """
    data, count = _raw(arranged(record.type, record.data), redactor)
    plain, found = redactor.tree(msgspec.to_builtins(data, str_keys=True))
    stored: dict[str, Any] = {
        key: _storable(value, _ROOM_FOR_VALUES) for key, value in plain.items()
    }
    if count + found:
        stored["redacted"] = count + found
    whole = msgspec.structs.replace(record, data=stored)
    line = codec.encode(whole)
    if len(line) >= limits.RECORD_BYTES:  # one byte is the newline's
        line = _cut(whole, len(line))
    return whole, line


def read(line: bytes) -> Record | str:
    """Return the record of a line without its newline, or what is wrong with the line.

    Only a line that is written exactly as `compose` writes is a record.
    """
    try:
        record = codec.read(Record, line)
    except Refused as error:
        return str(error)
    return record if codec.encode(record) == line else "a line that is not in the written form"


def _raw(data: Mapping[str, Any], redactor: Redactor) -> tuple[dict[str, Any], int]:
    kept: dict[str, Any] = {}
    total = 0
    for key, value in data.items():
        if isinstance(value, bytes):
            clean, count = redactor.raw(value)
            kept[key] = b64encode(clean[: limits.RAW_BYTES]).decode("ascii")
            total += count
        else:
            kept[key] = value
    return kept, total


def _storable(value: Any, room: int) -> Any:
    """Return plain data that this journal's own reader will take back.

    Half a surrogate pair, which a file name can hold, is written out; a number beyond 64 bits,
    and what nests deeper than `room` containers, is kept as its JSON text. Containers are new,
    so they may be changed.
    """
    match value:
        case str():
            return _encodable(value)
        case int() if not -limits.I64_MAX <= value <= limits.I64_MAX:
            return str(value)
        case dict() | list() if room == 0:
            return codec.encode(_storable(value, _NO_END)).decode()
        case dict():
            return {_encodable(key): _storable(item, room - 1) for key, item in value.items()}
        case list():
            return [_storable(item, room - 1) for item in value]
        case _:
            return value


def _encodable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _cut(record: Record, size: int) -> bytes:
    """Shorten the data of a record, in place, until its line fits [J2-13].

    The longest strings are cut. Where they are not enough, what holds many short values goes
    first, and the strings beside it stay.
    """
    record.data["cut"] = True
    excess = size + len(b',"cut":true\n') - limits.RECORD_BYTES
    strings = _strings(record.data)
    while sum(before - _ROOM_FOR_MARKER for before, _, _ in strings) < excess:
        place = _to_remove(record.data, excess + _ROOM_FOR_MARKER)
        if place is None:
            raise JournalError(
                f"record {record.seq} ({record.type}): expected at most {limits.RECORD_BYTES}"
                f" bytes, got {size}, and not for its data"
            )
        before, holder, key = place
        holder[key] = f"[{before} bytes removed]"
        excess -= before - _written(holder[key])
        strings = _strings(record.data)
    strings.sort(key=itemgetter(0), reverse=True)
    for before, holder, key in strings:
        if excess <= 0:
            break
        holder[key] = _shortened(holder[key], max(0, before - excess - _ROOM_FOR_MARKER))
        excess -= before - _written(holder[key])
    return codec.encode(record)


def _to_remove(data: dict[str, Any], needed: int) -> _Place | None:
    """Return the smallest container whose going frees `needed` bytes, else the largest.

    At every level only the largest is looked into, so the work is linear for each level.
    """
    best: _Place | None = None
    level: Any = data
    while (found := _largest(level)) is not None and (best is None or found[0] >= needed):
        best = found
        level = found[1][found[2]]
    return best


def _largest(value: Any) -> _Place | None:
    """Return the largest container that stands directly in a container."""
    return max(
        (
            (_written(item), value, key)
            for key, item in _members(value)
            if isinstance(item, dict | list)
        ),
        key=itemgetter(0),
        default=None,
    )


def _strings(value: Any) -> list[_Place]:
    """Return the strings of plain data that are longer than a marker."""
    places: list[_Place] = []
    for key, item in _members(value):
        if isinstance(item, str):
            if (size := _written(item)) > _ROOM_FOR_MARKER:
                places.append((size, value, key))
        elif isinstance(item, dict | list):
            places += _strings(item)
    return places


def _members(value: Any) -> Iterable[tuple[Any, Any]]:
    return value.items() if isinstance(value, dict) else enumerate(value)


def _shortened(text: str, room: int) -> str:
    """Return the longest head of `text` that is written in `room` bytes, and a marker."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _written(text[:middle]) <= room else (low, middle - 1)
    return f"{text[:low]}[{len(text[low:].encode())} bytes removed]"


def _written(value: Any) -> int:
    return len(codec.encode(value))
