"""What a record is called and what it says, derived from its contents [P-47].

The canonical form is RFC 8785, so every program that reads the record finds the same two words.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Any
from typing import Final

import msgspec
import rfc8785

from stella import codec
from stella.content.record import Record

_HEX: Final = 12
_SLUG_CHARS: Final = 48
_NO_SLUG: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The derived name of a record and the digest of what it says [P-47].

    `filled` is true where the file stored neither; `differs` names the stored ones that are not
    the derived ones: the text was changed after they were written, so it is a new revision.
    """

    record_id: str
    record_hash: str
    filled: bool
    differs: tuple[str, ...] = ()


def identity(record: Record) -> Identity:
    """Return the identity of a record, its file's defaults included; raises nothing [P-47].

    The id is that of a pass without both identity fields, the hash that of a second one with the
    id set.
    """
    tree = codec.plain(msgspec.structs.replace(record, record_id=None, record_hash=None))
    bare = _without_nulls(tree)
    record_id = f"rec_{_slug(record.lineage_id)}_{_digest(bare)[:_HEX]}"
    record_hash = f"sha256:{_digest({**bare, 'record_id': record_id})}"
    stored = (("record_id", record.record_id), ("record_hash", record.record_hash))
    derived = (record_id, record_hash)
    return Identity(
        record_id=record_id,
        record_hash=record_hash,
        filled=record.record_id is None or record.record_hash is None,
        differs=tuple(
            name
            for (name, was), now in zip(stored, derived, strict=True)
            if was is not None and was != now
        ),
    )


def _digest(tree: object) -> str:
    return hashlib.sha256(rfc8785.dumps(tree)).hexdigest()  # type: ignore[arg-type]  # plain JSON


def _slug(lineage: str) -> str:
    return _NO_SLUG.sub("-", lineage.lower())[:_SLUG_CHARS].strip("-")


def _without_nulls(tree: Any) -> Any:
    """Return plain data without nulls at any depth [P-47]."""
    if isinstance(tree, dict):
        return {key: _without_nulls(value) for key, value in tree.items() if value is not None}
    if isinstance(tree, list):
        return [_without_nulls(item) for item in tree if item is not None]
    return tree
