"""What a person accepted, kept where no repository and no model can write [I-26 to I-29].

One file for each tier, in the person's home, never in a workspace. It is read strictly: what
is not exactly a record counts as no record and is left for repair, never believed in part.
"""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any
from typing import Final

import msgspec
import tomli_w

from stella import codec
from stella import limits
from stella.codec import Refused
from stella.codec import Word
from stella.consent.answer import digest_of
from stella.errors import RosterError
from stella.errors import ShapeError
from stella.escape import visible
from stella.files import tree
from stella.files.write import TEMPORARY
from stella.files.write import sync_directory
from stella.files.write import write_atomic
from stella.roster.private import read_private
from stella.roster.scope import CONSENT
from stella.roster.scope import Scope
from stella.roster.scope import Tier
from stella.roster.scope import kept
from stella.roster.scope import naming

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_MODE: Final = 0o600


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


class _Place(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which workspace a file is about; all three must match [I-26]."""

    path: str
    device: int
    inode: int


class _File(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The whole file, its records still plain, so that one faulty record hides no other."""

    schema: _Schema
    workspace: _Place | None = None
    plugin: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """What holds in one tier, and what to tell about the rest.

    `tables` are all records of the file as they stand, faulty ones too. `damaged` is true for
    a file that is there and cannot be used at all.
    """

    by_name: Mapping[str, Record]
    tables: tuple[dict[str, Any], ...] = ()
    notices: tuple[str, ...] = ()
    damaged: bool = False


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
        here = _place(tier)
        file = codec.decode(_File, codec.parse_toml(found.data.decode()))
    except (ShapeError, RosterError, UnicodeDecodeError) as error:
        return Records(by_name={}, notices=(_notice(tier, str(error)),), damaged=True)
    if file.workspace != here:
        other = "the file is about another directory or an earlier one of this path"
        return Records(by_name={}, notices=(_notice(tier, other),))
    return _sorted_out(tier, file.plugin)


def put(tier: Tier, record: Record, *, mark: str) -> None:
    """Keep a record in place of the one of that name; the caller holds the tier alone.

    Written whole to a temporary file, synced and renamed [I-26]. Raises `RosterError`.
    """
    table = codec.plain(record)
    _write(tier, read_records(tier), record.name, (table,), mark)


def drop(tier: Tier, name: str, *, mark: str) -> bool:
    """Forget a plugin's record and return whether there was one; the caller holds the tier alone.

    Raises `RosterError`.
    """
    records = read_records(tier)
    if not any(table.get("name") == name for table in records.tables):
        return False
    _write(tier, records, name, (), mark)
    return True


def _sorted_out(tier: Tier, tables: tuple[dict[str, Any], ...]) -> Records:
    by_name: dict[str, Record] = {}
    notices: list[str] = []
    twice: set[str] = set()
    for number, table in enumerate(tables, 1):
        try:
            record = codec.decode(Record, table)
        except Refused as error:
            notices.append(_notice(tier, f"[[plugin]] entry {number}: {error}"))
            continue
        if record.name in by_name:
            twice.add(record.name)
        by_name[record.name] = record
    for name in sorted(twice):
        del by_name[name]
        notices.append(_notice(tier, f'"{visible(name)}" has two records, so it has none'))
    return Records(by_name=by_name, tables=tables, notices=tuple(notices))


def _notice(tier: Tier, why: str) -> str:
    return (
        f"{visible(str(tier.record_path))}: {why}; this counts as nothing accepted: remove the "
        "plugins it was about with `stella plugin remove NAME` and install them again"
    )


def _place(tier: Tier) -> _Place | None:
    if tier.scope is Scope.USER:
        return None
    with naming(tier.anchor):
        found = tier.anchor.stat()
    path = os.fsencode(tier.anchor).decode(errors="replace")
    return _Place(path=path, device=found.st_dev, inode=found.st_ino)


def _write(tier: Tier, old: Records, name: str, new: tuple[dict[str, Any], ...], mark: str) -> None:
    others = tuple(table for table in old.tables if table.get("name") != name)
    place = _place(tier)
    file: dict[str, Any] = {"schema": _Schema.V1.value}
    if place is not None:
        file["workspace"] = msgspec.structs.asdict(place)
    data = tomli_w.dumps(file | {"plugin": (*others, *new)}).encode()
    path = tier.record_path
    if len(data) > limits.LOCK_BYTES:
        raise RosterError(
            f"{visible(str(path))}: would have {len(data)} bytes, the limit is {limits.LOCK_BYTES}"
        )
    below = () if tier.scope is Scope.USER else (CONSENT,)
    with kept(tier.home, *below) as directory, naming(path):
        _clear(directory, tier)
        if old.damaged:
            os.rename(
                path.name,
                f"{path.name}.damaged-{mark}",
                src_dir_fd=directory,
                dst_dir_fd=directory,
            )
            sync_directory(directory)
        write_atomic(directory, path.name, data, _MODE, token=f"{tier.key}-{mark}")


def _clear(directory: int, tier: Tier) -> None:
    """Take away what a killed writer left; only this tier's, whose other writers wait for us."""
    for name in tree.names_in(directory):
        if name.startswith(f"{TEMPORARY}{tier.key}-"):
            with suppress(IsADirectoryError):
                os.unlink(name, dir_fd=directory)
