"""The file that says which workspaces a person trusted, and which bytes in each [I-52, I-53].

It lies in the person's home. What is not exactly a record is none, and what is there is kept
for repair: nothing that is wrong with the file ever trusts a workspace [attacks D89].
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from pathlib import PurePosixPath
from typing import Any
from typing import Final

import msgspec
import tomli_w

from stella import codec
from stella import limits
from stella.codec import Word
from stella.errors import RosterError
from stella.errors import ShapeError
from stella.escape import visible
from stella.roster.entries import by_key
from stella.roster.items import Items
from stella.roster.items import digest_of
from stella.roster.lock import accepted_at
from stella.roster.private import Unreadable
from stella.roster.private import read_private
from stella.roster.private import write_private
from stella.roster.scope import claimed
from stella.roster.scope import naming

NAME: Final = "trust.toml"

_KEY: Final = "trust"
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_ITEM: Final = re.compile(r"[0-7]{4} sha256:[0-9a-f]{64}")


class Trusted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One workspace: where it is, what it is, and all that it contributed then [I-53].

    `path` is canonical; `files` are as `Items.files`, and `digest` is the one over them.
    """

    path: str
    device: int
    inode: int
    trusted_at: str
    digest: str
    files: dict[str, str]

    def __post_init__(self) -> None:
        """Refuse what no person can have trusted: `ValueError` with the key."""
        if not PurePosixPath(self.path).is_absolute():
            raise ValueError("path: expected an absolute path")
        if not _MOMENT.fullmatch(self.trusted_at):
            raise ValueError("trusted_at: expected a time such as 2025-03-04T10:11:12Z")
        for path, item in self.files.items():
            if not _ITEM.fullmatch(item):
                raise ValueError(f"{visible(path)}: expected a mode, sha256: and 64 hex digits")
        if self.digest != digest_of(self.files):
            raise ValueError("digest: is not the one over files")


class _Schema(Word):
    V1 = "trust/v1"


class _File(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The whole file, its records still plain, so that one faulty record hides no other."""

    schema: _Schema
    workspace: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustFile:
    """What the file says: records by path, all tables as they stand, and what is to be told.

    `damaged` is true for a file that is there and cannot be used at all; `unreadable` when the
    system did not give its bytes, so that nobody writes in place of what they did not see.
    """

    by_path: Mapping[str, Trusted]
    tables: tuple[dict[str, Any], ...] = ()
    notices: tuple[str, ...] = ()
    damaged: bool = False
    unreadable: bool = False


def path_text(workspace: Path) -> str:
    """Return a path as a record writes it."""
    return os.fsencode(workspace).decode(errors="replace")


def trusted_now(workspace: Path, items: Items, moment: datetime) -> Trusted:
    """Return the record of a yes to `items`. Raises `RosterError` when the workspace is gone."""
    with naming(workspace):
        found = workspace.stat()
    return Trusted(
        path=path_text(workspace),
        device=found.st_dev,
        inode=found.st_ino,
        trusted_at=accepted_at(moment),
        digest=items.digest,
        files=dict(items.files),
    )


def read_trust_file(home: Path) -> TrustFile:
    """Return what was trusted; nothing that is wrong with the file is an error [D89]."""
    try:
        found = read_private(home, home / NAME, limits.LOCK_BYTES)
        if found is None:
            return TrustFile(by_path={})
        file = codec.decode(_File, codec.parse_toml(found.data.decode()))
    except Unreadable as error:
        return TrustFile(by_path={}, notices=(_notice(home, str(error)),), unreadable=True)
    except (ShapeError, RosterError, UnicodeDecodeError) as error:
        said = _notice(home, f"{error}; the file is kept for repair")
        return TrustFile(by_path={}, notices=(said,), damaged=True)
    records, wrong = by_key(file.workspace, Trusted, lambda each: each.path, called="workspace")
    notices = tuple(_notice(home, line) for line in wrong)
    return TrustFile(by_path=records, tables=file.workspace, notices=notices)


def put_trusted(home: Path, record: Trusted, *, mark: str) -> str | None:
    """Keep a record in place of the one of that path [I-52]. Raises `RosterError`.

    Other writers wait, and their records stay [D91]. Returns what to tell about a damaged file
    that was put aside.
    """
    with claimed(home, _KEY, "what is trusted"):
        old = read_trust_file(home)
        if old.unreadable:
            raise RosterError(old.notices[0])
        others = (table for table in old.tables if table.get("path") != record.path)
        _write(home, (*others, codec.plain(record)), mark, damaged=old.damaged)
    if not old.damaged:
        return None
    aside = f"{home / NAME}.damaged-{mark}"
    return f"{old.notices[0]}: it is {visible(aside)} now"


def drop_trusted(home: Path, path: str, *, mark: str) -> bool:
    """Forget every record of a path and return whether there was one [I-57].

    Raises `RosterError`, and for a damaged file too: nobody can tell what is in it.
    """
    with claimed(home, _KEY, "what is trusted"):
        old = read_trust_file(home)
        if old.damaged or old.unreadable:
            raise RosterError(old.notices[0])
        left = tuple(table for table in old.tables if table.get("path") != path)
        if len(left) == len(old.tables):
            return False
        _write(home, left, mark, damaged=False)
    return True


def _notice(home: Path, why: str) -> str:
    return f"{visible(str(home / NAME))}: {why}; this trusts nothing"


def _write(home: Path, tables: tuple[dict[str, Any], ...], mark: str, *, damaged: bool) -> None:
    data = tomli_w.dumps({"schema": _Schema.V1.value, "workspace": tables}).encode()
    write_private(home, home / NAME, data, token=f"{_KEY}-{mark}", damaged=damaged)
