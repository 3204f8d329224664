"""What a person accepted, kept where no repository and no model can write [I-26 to I-29].

One file for each tier, in the person's home, never in a workspace. It is read strictly: what
is not exactly a record counts as no record and is left for repair, never believed in part.
"""

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any
from typing import Final

import msgspec
import tomli_w

from stella import codec
from stella import limits
from stella.codec import Word
from stella.consent.answer import digest_of
from stella.errors import RosterError
from stella.errors import ShapeError
from stella.escape import visible
from stella.roster.entries import by_key
from stella.roster.private import Unreadable
from stella.roster.private import come_back
from stella.roster.private import contents_of
from stella.roster.private import delete_private
from stella.roster.private import read_private
from stella.roster.private import write_private
from stella.roster.scope import Scope
from stella.roster.scope import Tier

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)


class AcceptedBy(Word):
    """How a person said yes [I-26, I-34]."""

    TTY = "tty"
    YES = "yes"
    TRUST = "trust"
    ENV = "env"


class Record(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One plugin's bytes and the words a person was shown when they accepted them [I-26].

    `digest` is the installed tree's [I-28]; `consent` is that of `consent_text`; `files` has
    each file's own. All are `sha256:` and 64 hex digits, else the record is none [I-27].
    `program` is what the process is started from, absent when nothing was found or none runs.
    """

    name: str
    version: str | None = None
    digest: str
    consent: str
    consent_text: str
    accepted_at: str
    accepted_by: AcceptedBy
    source: str
    program: str | None = None
    files: dict[str, str]

    def __post_init__(self) -> None:
        """Refuse what a person cannot have accepted: `ValueError` with the key [I-27]."""
        for key, value in (("digest", self.digest), ("consent", self.consent), *self.files.items()):
            if not _DIGEST.fullmatch(value):
                raise ValueError(f"{visible(key)}: expected sha256: and 64 hex digits")
        if self.consent != digest_of(self.consent_text):
            raise ValueError("consent: is not the digest of consent_text")
        if not _MOMENT.fullmatch(self.accepted_at):
            raise ValueError("accepted_at: expected a time such as 2025-03-04T10:11:12Z")
        if self.program is not None and not PurePosixPath(self.program).is_absolute():
            raise ValueError("program: expected an absolute path")


class _Schema(Word):
    V1 = "plugin-lock/v1"


class Anchor(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which workspace a file is about; all three must match [I-26]."""

    path: str
    device: int
    inode: int


class _File(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The whole file, its records still plain, so that one faulty record hides no other."""

    schema: _Schema
    workspace: Anchor | None = None
    plugin: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """What holds in one tier, and what to tell about the rest.

    `tables` are all records of the file as they stand, faulty ones too. `damaged` is true for
    a file that is there and cannot be used at all; `unreadable` says why the system did not
    give its bytes, so that nobody writes in place of what they did not see.
    """

    by_name: Mapping[str, Record]
    tables: tuple[dict[str, Any], ...] = ()
    notices: tuple[str, ...] = ()
    damaged: bool = False
    unreadable: str | None = None

    def has(self, name: str) -> bool:
        """Return whether the file has a record of that name, a faulty one included."""
        return any(table.get("name") == name for table in self.tables)


def accepted_at(moment: datetime) -> str:
    """Return a moment in UTC as a record writes it, in whole seconds [I-26]."""
    return f"{moment:%Y-%m-%dT%H:%M:%S}Z"


def read_records(tier: Tier) -> Records:
    """Return what was accepted for a tier; nothing that is wrong with the file is an error.

    A file that is no file of ours alone, or is not about this very workspace, holds no record
    [I-26, I-27, S2-42].
    """
    try:
        found = read_private(tier.home, tier.record_path, limits.LOCK_BYTES)
        if found is None:
            return Records(by_name={})
        here = place_of(tier)
        file = codec.decode(_File, codec.parse_toml(found.data.decode()))
    except (ShapeError, RosterError, UnicodeDecodeError) as error:
        notices = (_notice(tier, str(error)),)
        if isinstance(error, Unreadable):
            return Records(by_name={}, notices=notices, unreadable=str(error))
        return Records(by_name={}, notices=notices, damaged=True)
    if file.workspace != here:
        other = "the file is about another directory or an earlier one of this path"
        return Records(by_name={}, notices=(_notice(tier, other),))
    return _sorted_out(tier, file.plugin)


def put(tier: Tier, record: Record, *, mark: str) -> None:
    """Keep a record in place of the one of that name; the caller holds the tier alone.

    Written whole to a temporary file, synced and renamed [I-26]. Raises `RosterError`.
    """
    replace(tier, with_record(tier, record), mark=mark)


def contents(tier: Tier) -> bytes | None:
    """Return the bytes of the file as they are, None without one or when it is not ours alone.

    Raises `RosterError` when the system does not give them.
    """
    return contents_of(tier.home, tier.record_path, limits.LOCK_BYTES)


def put_back(tier: Tier, data: bytes | None, written: str, *, mark: str) -> bool:
    """Return whether the file is what it was: `data`, None for no file; writes it if need be.

    `written` is the digest of what came in its place; a file that is neither is left alone. One
    that was put aside as damaged comes back. The caller holds the tier alone.
    """
    if come_back(tier.home, tier.record_path, mark=mark):
        return True
    now = contents(tier)
    if now == data:
        return True
    if now is None or digest(now) != written:
        return False
    token = f"{tier.key}-{mark}"
    if data is None:
        delete_private(tier.home, tier.record_path)
    else:
        write_private(tier.home, tier.record_path, data, token=token, damaged=False)
    return True


def digest(data: bytes | None) -> str:
    """Return what tells the bytes of a file from others; empty when there is no file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def with_record(tier: Tier, record: Record) -> bytes:
    """Return the bytes that `put` would write now. Raises `RosterError`."""
    return _rendered(tier, seen(tier), record.name, (codec.plain(record),))


def without_record(tier: Tier, name: str) -> bytes:
    """Return the bytes of the file once a name is forgotten. Raises `RosterError`."""
    return _rendered(tier, seen(tier), name, ())


def seen(tier: Tier) -> Records:
    """Return the records for somebody who will write them. Raises `RosterError` when unreadable."""
    records = read_records(tier)
    if records.unreadable is not None:
        raise RosterError(f"{visible(str(tier.record_path))}: {records.unreadable}")
    return records


def _sorted_out(tier: Tier, tables: tuple[dict[str, Any], ...]) -> Records:
    def wrong(record: Record) -> str | None:
        # Neither kind ever stands in for the other.
        if (record.accepted_by is AcceptedBy.ENV) is tier.by_variable:
            return None
        return f"made by {record.accepted_by.value}, which belongs into another file"

    found, said = by_key(tables, Record, lambda each: each.name, called="plugin", wrong=wrong)
    notices = tuple(_notice(tier, line) for line in said)
    return Records(by_name=found, tables=tables, notices=notices)


def _notice(tier: Tier, why: str) -> str:
    return (
        f"{visible(str(tier.record_path))}: {why}; this counts as nothing accepted: "
        "`stella plugin accept NAME` asks anew about a plugin of it, `stella plugin remove NAME` "
        "takes one away"
    )


def place_of(tier: Tier) -> Anchor | None:
    """Return which workspace stands at the path of a tier now, None for the person's own tier.

    Raises `RosterError` when the system does not say.
    """
    if tier.scope is Scope.USER:
        return None
    try:
        found = tier.anchor.stat()
    except OSError as error:
        raise Unreadable(f"{visible(str(tier.anchor))}: {error.strerror or error}") from error
    path = os.fsencode(tier.anchor).decode(errors="replace")
    return Anchor(path=path, device=found.st_dev, inode=found.st_ino)


def refuse_other(tier: Tier, anchor: Anchor | None) -> None:
    """Raise `RosterError` when the workspace is not the one a person was asked about [I-26]."""
    if place_of(tier) != anchor:
        where = visible(str(tier.anchor))
        raise RosterError(
            f"another directory took the place of {where} while the question was open"
        )


def _rendered(tier: Tier, old: Records, name: str, new: tuple[dict[str, Any], ...]) -> bytes:
    """Return the file with `new` where the records of that name were, else at its end."""
    at = next((at for at, table in enumerate(old.tables) if table.get("name") == name), None)
    before = old.tables[:at]
    after = () if at is None else old.tables[at:]
    tables = (
        *before,
        *new,
        *(table for table in after if table.get("name") != name),
    )
    place = place_of(tier)
    file: dict[str, Any] = {"schema": _Schema.V1.value}
    if place is not None:
        file["workspace"] = msgspec.structs.asdict(place)
    return tomli_w.dumps(file | {"plugin": tables}).encode()


def replace(tier: Tier, data: bytes, *, mark: str) -> None:
    """Put bytes of `with_record` or `without_record` into the file; a damaged one goes aside.

    The caller holds the tier alone. Raises `RosterError`.
    """
    damaged = seen(tier).damaged
    write_private(tier.home, tier.record_path, data, token=f"{tier.key}-{mark}", damaged=damaged)
