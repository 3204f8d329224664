"""Bytes made worse: what files and pipes do to a document, and what somebody does on purpose."""

from collections.abc import Callable
from collections.abc import Sequence
from random import Random
from typing import Final

HIDDEN: Final = (
    "\u0000",
    "\u001b[2J",
    "\u0085",
    "\u00a0",
    "\u200b",
    "\u202e",
    "\u2028",
    "\ufeff",
    "\ufffe",
    "😀",
    "e\u0301",
    "\u017f",
)
RAW: Final = (
    b"\xff",
    b"\xc0\xaf",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xef\xbb\xbf",
    b"\x00",
    b"\r",
    b"\\ud800",
    b"\\u0000",
    b"\\",
    b'"',
    b"'",
)
NUMBERS: Final = (
    b"-0",
    b"-1",
    b"1.0",
    b"1e2",
    b"1e999",
    b"-1e-999",
    b"NaN",
    b"nan",
    b"Infinity",
    b"inf",
    b"255",
    b"256",
    b"4294967295",
    b"4294967296",
    b"9223372036854775808",
    b"18446744073709551615",
    b"18446744073709551616",
    b"0x7f",
    b"1_000",
    b"00",
)


def _place(chance: Random, data: bytes) -> int:
    return chance.randrange(len(data) + 1)


def _piece(chance: Random, data: bytes, most: int = 64) -> tuple[int, int]:
    start = _place(chance, data)
    return start, min(len(data), start + chance.randrange(most))


def _flip(chance: Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    if not data:
        return data
    made = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 8))):
        made[chance.randrange(len(made))] ^= 1 << chance.randrange(8)
    return bytes(made)


def _cut(chance: Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    return data[: _place(chance, data)]


def _remove(chance: Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    start, end = _piece(chance, data)
    return data[:start] + data[end:]


def _double(chance: Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    start, end = _piece(chance, data)
    times = chance.choice((2, 2, 3, 20, 100))
    return data[:start] + data[start:end] * times + data[end:]


def _splice(chance: Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    other = chance.choice(pool)
    start, end = _piece(chance, other, 200)
    at = _place(chance, data)
    return data[:at] + other[start:end] + data[at:]


def _join(chance: Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    other = chance.choice(pool)
    return data[: _place(chance, data)] + other[_place(chance, other) :]


def _twice(chance: Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    """Repeat one pair of a key and its value, or one line."""
    mark = b"\n" if b"\n" in data.rstrip() else b","
    parts = data.split(mark)
    at = chance.randrange(len(parts))
    parts.insert(chance.randrange(len(parts) + 1), parts[at])
    return mark.join(parts)


def _swap(chance: Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    mark = b"\n" if b"\n" in data.rstrip() else b","
    parts = data.split(mark)
    one, two = chance.randrange(len(parts)), chance.randrange(len(parts))
    parts[one], parts[two] = parts[two], parts[one]
    return mark.join(parts)


def _nest(chance: Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    deep = chance.choice((1, 15, 16, 17, 63, 64, 65, 500, 5000))
    left, right = chance.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"{a=", b"}"), (b"a.", b"")))
    start, end = _piece(chance, data, 8)
    closed = right * deep if chance.random() < 0.7 else b""
    return data[:start] + left * deep + data[start:end] + closed + data[end:]


def _number(chance: Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    digits = b"9" * chance.choice((20, 160, 161, 4300, 9000))
    number = digits if chance.random() < 0.2 else chance.choice(NUMBERS)
    start, end = _piece(chance, data, 4)
    return data[:start] + number + data[end:]


def _hide(chance: Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    at = _place(chance, data)
    raw = chance.random() < 0.4
    made = chance.choice(RAW) if raw else chance.choice(HIDDEN).encode()
    return data[:at] + made * chance.choice((1, 1, 1, 30)) + data[at:]


CHANGES: Final[tuple[Callable[[Random, bytes, Sequence[bytes]], bytes], ...]] = (
    _flip,
    _cut,
    _remove,
    _double,
    _splice,
    _join,
    _twice,
    _swap,
    _nest,
    _number,
    _hide,
)


def mutated(chance: Random, data: bytes, pool: Sequence[bytes], most: int) -> bytes:
    """Return `data` after one to four changes, at most `most` bytes of it.

    `pool` are documents from which pieces are taken.
    """
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        data = chance.choice(CHANGES)(chance, data, pool)[:most]
    return data
