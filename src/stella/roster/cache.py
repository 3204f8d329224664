"""What was seen of accepted trees, so that reading commands need not read them again [I-29].

For each directory of a tier the state that the system told of all its entries, and the tree
digest that reading them gave. It stands in for reading as long as that state is the same. Kept
in `<home>/cache`, written when a session starts; reading commands write nothing [Q-12].

A file counts as settled when its times lie well before it was read: then a later change gets
another time, even through a mapping that was made before.
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from stella import codec
from stella import limits
from stella.clock import Clock
from stella.codec import Word
from stella.errors import RosterError
from stella.errors import ShapeError
from stella.files import tree
from stella.files.tree import Package
from stella.files.write import TEMPORARY
from stella.files.write import write_atomic
from stella.roster.private import read_private
from stella.roster.scope import Tier
from stella.roster.scope import kept

CACHE: Final = "cache"

_MODE: Final = 0o600
_MARK: Final = "abcdefghijklmnopqrstuvwxyz234567"
_MARK_CHARS: Final = 16
_SECOND: Final = 1_000_000_000


class Noted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One directory: what the system said of its entries, and the tree digest they had [I-28]."""

    state: str
    digest: str


class _Schema(Word):
    V1 = "digest-cache/v1"


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    schema: _Schema
    plugins: dict[str, Noted]


def cache_path(tier: Tier) -> Path:
    """Return the file that holds what was seen of a tier."""
    return tier.home / CACHE / f"{tier.key}.digests.json"


def read_noted(tier: Tier) -> Mapping[str, Noted]:
    """Return what is noted, by directory name; nothing when the file must not be used [I-29].

    That is one that is missing, damaged, not the person's alone, or not newer than the record of
    what was accepted.
    """
    try:
        found = read_private(tier.home, cache_path(tier), limits.CACHE_BYTES)
        if found is None or found.written <= _record_written(tier):
            return {}
        return codec.read(_File, found.data).plugins
    except (ShapeError, RosterError, OSError):
        return {}


def note(tier: Tier, seen: Mapping[str, Package], began: datetime, clock: Clock) -> None:
    """Keep what was seen of the accepted trees of a tier, by directory name. Raises nothing.

    `began` is a moment before the first of them was read. A tree that is not settled, and a
    cache that cannot be written, cost the next command a reading and nothing else.
    """
    settled = int(began.timestamp() - limits.CACHE_SETTLED_SECS) * _SECOND
    plugins = {
        name: Noted(state=package.state, digest=package.digest)
        for name, package in sorted(seen.items())
        if package.newest < settled and name.isascii()
    }
    if not plugins or plugins == read_noted(tier):
        return
    data = codec.encode(_File(schema=_Schema.V1, plugins=plugins))
    if len(data) > limits.CACHE_BYTES:
        return
    path, mark = cache_path(tier), clock.letters(_MARK, _MARK_CHARS)
    with suppress(OSError, RosterError), kept(tier.home, CACHE) as directory:
        for name in tree.names_in(directory):
            # What a killed session left; a living one that loses its file loses a cache.
            if name.startswith(f"{TEMPORARY}{tier.key}-"):
                (path.parent / name).unlink()
        write_atomic(directory, path.name, data, _MODE, token=f"{tier.key}-{mark}")


def _record_written(tier: Tier) -> int:
    return tier.record_path.lstat().st_mtime_ns
