"""The identity of one watched file: what it is now, and how that differs from what it was.

A file is opened without following a link and must be where its path says before and after
it is read [G-36]. Identity is kind, mode, link count and content, never a time [G-35].
"""

import errno
import hashlib
import os
import stat
import struct
from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from enum import Enum
from pathlib import Path
from typing import Final

from stella import limits
from stella.codec import Refused
from stella.codec import Word
from stella.codec import parse_toml
from stella.files.write import READ

_BLOCK: Final = limits.MIB
_REGULAR: Final = b"regular"
_PROGRAM: Final = b"program"


class ChangeKind(Word):
    """How an artifact changed, or why it cannot be observed [G-37]."""

    EDITED = "edited"
    MODE_CHANGED = "mode-changed"
    DELETED = "deleted"
    SYMLINKED = "symlinked"
    HARD_LINKED = "hard-linked"
    REPLACED = "replaced"
    UNREADABLE = "unreadable"
    ADDED = "added"


class Form(Enum):
    """What of a file makes its identity."""

    WHOLE = "whole"
    """Mode, link count and every byte [G-35]."""
    PYTEST_TABLES = "pytest-tables"
    """The `[tool.pytest*]` tables of a `pyproject.toml` and nothing else [G-31, G-35]."""
    PROGRAM = "program"
    """The text of the link, the file it resolves to, its mode and every byte [Q-28]."""
    SHARED = "shared"
    """Mode and every byte; an installer linked the file from its cache (docs/adr/0004)."""


LINKED = frozenset({Form.PROGRAM, Form.SHARED})
"""The forms in which the number of hard links says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """One observation of a file that could be observed.

    `content` is a SHA-256 in hex. `tables` maps each pytest table to its canonical text and
    is None where the whole file counts. `link` is where a program word leads.
    """

    mode: int
    links: int
    content: str
    tables: Mapping[str, str] | None = None
    link: str = ""
    fingerprint: str = field(compare=False)


def identify(descriptor: int, opened: os.stat_result, form: Form) -> Identity:
    """Return the identity of an open regular file, read to its end [G-35]."""
    mode, links = stat.S_IMODE(opened.st_mode), opened.st_nlink
    tables = None
    if form is Form.PYTEST_TABLES and opened.st_size <= limits.TOML_CONFIG_BYTES:
        tables = pytest_tables(_bytes(descriptor, limits.TOML_CONFIG_BYTES))
        os.lseek(descriptor, 0, os.SEEK_SET)
    if tables is not None:
        whole = hashlib.sha256("".join(f"{k!r}={v}\n" for k, v in tables.items()).encode())
        shown = whole.copy()
    else:
        shown = hashlib.sha256(_REGULAR + struct.pack("<IQ", mode, links))
        whole = hashlib.sha256()
        while block := os.read(descriptor, _BLOCK):
            whole.update(block)
            shown.update(block)
    return Identity(
        mode=mode,
        links=links,
        content=whole.hexdigest(),
        tables=tables,
        fingerprint=f"sha256:{shown.hexdigest()}",
    )


def read(place: Path, form: Form) -> tuple[os.stat_result, Identity]:
    """Open a file without following a link and return what was opened, with its identity.

    Raises OSError, also for what is no regular file; a pipe is not waited for.
    """
    descriptor = os.open(place, READ)
    try:
        opened = os.fstat(descriptor)
        if not stat.S_ISREG(opened.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        return opened, identify(descriptor, opened, form)
    finally:
        os.close(descriptor)


Read = Callable[[Path, Form], tuple[os.stat_result, Identity]]


def observe(
    root: Path, path: str, form: Form = Form.WHOLE, reading: Read = read
) -> Identity | ChangeKind:
    """Return the identity of the file at `path` beneath the canonical `root`.

    A `ChangeKind` says why there is none: deleted, symlinked, replaced or unreadable. A
    program is followed through links; it is the person's word and not the worker's [Q-28].
    """
    if form is Form.PROGRAM:
        return _program(root, path)
    before = locate(root, path)
    if isinstance(before, ChangeKind):
        return before
    if not stat.S_ISREG(before.st_mode):
        return ChangeKind.REPLACED
    try:
        opened, identity = reading(root / path, form)
    except OSError:
        return ChangeKind.UNREADABLE
    same = _same(before, opened) and _same(opened, locate(root, path))
    return identity if same else ChangeKind.UNREADABLE


def locate(root: Path, path: str) -> os.stat_result | ChangeKind:
    """Return what stands at `path` beneath `root`, following no link on the way [G-36].

    Deleted: nothing is there. Symlinked: a link is, or a parent became one [G-37].
    """
    here, found = str(root), None
    for part in path.split("/"):
        if found is not None and not stat.S_ISDIR(found.st_mode):
            return ChangeKind.DELETED
        here = f"{here}/{part}"
        try:
            found = os.lstat(here)
        except FileNotFoundError:
            return ChangeKind.DELETED
        except OSError:
            return ChangeKind.UNREADABLE
        if stat.S_ISLNK(found.st_mode):
            return ChangeKind.SYMLINKED
    assert found is not None  # noqa: S101  # splitting gives at least one part
    return found


def readable(path: str) -> str:
    """Return a path as text that can be written down: bytes that are no UTF-8 become U+FFFD."""
    return os.fsencode(path).decode("utf-8", "replace")


def differences(pinned: Identity, now: Identity | ChangeKind, form: Form) -> tuple[ChangeKind, ...]:
    """Return how `now` differs from what was pinned, in the order of the list [G-37].

    Empty: the artifact is unchanged, whatever its times and inode say.
    """
    if isinstance(now, ChangeKind):
        return (now,)
    found: list[ChangeKind] = []
    if form is Form.PYTEST_TABLES:
        found += _table_differences(pinned, now)
    else:
        if (pinned.content, pinned.link) != (now.content, now.link):
            found.append(ChangeKind.EDITED)
        if pinned.mode != now.mode:
            found.append(ChangeKind.MODE_CHANGED)
    if form not in LINKED and now.links != 1:
        found.append(ChangeKind.HARD_LINKED)
    return tuple(found)


def _table_differences(pinned: Identity, now: Identity) -> list[ChangeKind]:
    if pinned.tables is None or now.tables is None:
        return [] if pinned.content == now.content else [ChangeKind.EDITED]
    kept = {name: now.tables.get(name) for name in pinned.tables}
    found = [ChangeKind.EDITED] if kept != pinned.tables else []
    return found + ([ChangeKind.ADDED] if now.tables.keys() - pinned.tables.keys() else [])


def _bytes(descriptor: int, most: int) -> bytes:
    parts = []
    while most > 0 and (block := os.read(descriptor, most)):
        parts.append(block)
        most -= len(block)
    return b"".join(parts)


def pytest_tables(data: bytes) -> Mapping[str, str] | None:
    """Return each `[tool.pytest*]` table in canonical form, None when it is no TOML [G-35]."""
    try:
        tool = parse_toml(data.decode()).get("tool")
        found = tool.items() if isinstance(tool, dict) else ()
        named = sorted((name, value) for name, value in found if name.startswith("pytest"))
        return {name: _canonical(value) for name, value in named}
    except (Refused, UnicodeDecodeError, RecursionError):
        return None


def _canonical(value: object) -> str:
    # Not JSON: its writer has no word for nan, infinity and numbers above 64 bits.
    if isinstance(value, dict):
        rows = (f"{key!r}:{_canonical(item)}" for key, item in sorted(value.items()))
        return f"{{{','.join(rows)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_canonical, value))}]"
    return repr(value)


def _program(root: Path, path: str) -> Identity | ChangeKind:
    place = root / path
    try:
        link = str(place.readlink()) if place.is_symlink() else ""
        real = place.resolve(strict=True)
        if not stat.S_ISREG(real.lstat().st_mode):
            return ChangeKind.REPLACED
        _, plain = read(real, Form.PROGRAM)
    except (FileNotFoundError, NotADirectoryError):
        return ChangeKind.UNREADABLE if os.path.lexists(place) else ChangeKind.DELETED
    except (OSError, RuntimeError):  # RuntimeError: links that lead to each other
        return ChangeKind.UNREADABLE
    text = f"{link}\0{real}"
    whole = hashlib.sha256(_PROGRAM + os.fsencode(text) + bytes.fromhex(plain.content))
    return Identity(
        mode=plain.mode,
        links=plain.links,
        content=plain.content,
        link=text,
        fingerprint=f"sha256:{whole.hexdigest()}",
    )


def _same(left: os.stat_result, right: os.stat_result | ChangeKind) -> bool:
    if isinstance(right, ChangeKind):
        return False
    return (left.st_dev, left.st_ino) == (right.st_dev, right.st_ino)
