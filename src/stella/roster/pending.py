"""How to take back a change that has begun and not ended, as a note in the person's home [Q-12]."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from stella import codec
from stella import limits
from stella.codec import Word
from stella.files import tree
from stella.files.write import READ
from stella.files.write import write_atomic
from stella.roster import lock
from stella.roster.lock import digest
from stella.roster.scope import CONSENT
from stella.roster.scope import Tier
from stella.roster.scope import kept
from stella.roster.scope import naming

_MODE: Final = 0o600
_ESCAPED: Final = 6
"""How many bytes of JSON one byte of a text can become."""
_TEXTS: Final = 2
"""Two files of records at most, and the settings before and after."""
_BYTES: Final = _ESCAPED * _TEXTS * (limits.LOCK_BYTES + limits.SETTINGS_BYTES) + limits.MIB


class Schema(Word):
    """The version of a note."""

    V1 = "plugin-change/v1"


class Moved(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rename and what it moves, so that nothing else is ever moved back."""

    before: str
    after: str
    device: int
    inode: int


class Before(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A file before the change, and the digest of what comes in its place."""

    text: str | None = None
    mode: int
    written: str


class SettingsBefore(
    Before, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A settings file; `after` is what comes in its place, None for no file."""

    after: str | None = None


class RecordsBefore(
    Before, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A file of records; `by_variable` says which of a tier's two it is [Q-3]."""

    by_variable: bool = False


class Pending(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """How to take a change back."""

    schema: Schema
    name: str
    mark: str
    moves: tuple[Moved, ...]
    settings: SettingsBefore | None = None
    records: tuple[RecordsBefore, ...] = ()


def records_before(kind: Tier, data: bytes) -> RecordsBefore:
    """Return how to put back a file of records that is to become `data`."""
    before, text = lock.contents(kind), None
    with suppress(UnicodeDecodeError):  # what is no text is put aside whole
        text = None if before is None else before.decode()
    return RecordsBefore(text=text, mode=_MODE, written=digest(data), by_variable=kind.by_variable)


def pending_path(tier: Tier) -> Path:
    """Return where the note of a tier stands while a change of it has begun and not ended."""
    return tier.home / CONSENT / f"{tier.key}.change.json"


def write_pending(tier: Tier, note: Pending) -> None:
    """Keep a note, whole and synced. Raises `RosterError`."""
    path = pending_path(tier)
    with kept(tier.home, CONSENT) as home, naming(path):
        token = f"{tier.key}-{note.mark}"
        write_atomic(home, path.name, codec.encode(note), _MODE, token=token)


def read_pending(path: Path) -> Pending | None:
    """Return a note, None without one. Raises `ShapeError` and the system's `OSError`."""
    try:
        file = os.open(path, READ)
    except FileNotFoundError:
        return None
    with tree.held(file):
        return codec.read(Pending, tree.content(file, _BYTES))
