"""What a person approved and a repository promoted: the guards that may act [P-65].

Two files of one shape. They are no rules files, they are read strictly, and one that is missing or
wrong grants nothing.
"""

from codecs import BOM_UTF8
from typing import Final

import msgspec

from stella import codec
from stella import limits
from stella.codec import Word
from stella.content.reading import Reading
from stella.escape import brief

APPROVED: Final = "approved.toml"
"""The person's file in `rules/` of their home."""

PROMOTED: Final = "promoted.toml"
"""The repository's file in its `.stella/rules/`."""


class Schema(Word):
    """Which of the two files it is."""

    APPROVALS = "rule-approvals/v1"
    PROMOTIONS = "rule-promotions/v1"


class Grant(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One guard that may act: the lineage, and the digest of the text that was looked at."""

    lineage_id: str
    record_hash: str


class Approvals(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole file of grants; an empty one is the same as none."""

    schema: Schema
    grant: tuple[Grant, ...] = ()

    def holds(self, lineage: str, digest: str) -> bool:
        """Return whether exactly this text of this lineage may guard."""
        return Grant(lineage_id=lineage, record_hash=digest) in self.grant


NO_APPROVALS: Final = Approvals(schema=Schema.APPROVALS)
NO_PROMOTIONS: Final = Approvals(schema=Schema.PROMOTIONS)


def read_approvals(data: bytes, schema: Schema) -> Reading[Approvals]:
    """Return the grants of a file of this schema, or why it grants nothing [P-65]."""
    if len(data) > limits.CONTENT_BYTES:
        return _nothing(f"the file has more than {limits.CONTENT_BYTES} bytes")
    try:
        tree = codec.parse_toml(data.removeprefix(BOM_UTF8).decode("utf-8"))
        found = codec.decode(Approvals, tree)
    except UnicodeDecodeError as error:
        return _nothing(f"byte {error.start} is not UTF-8")
    except codec.Refused as refused:
        return _nothing(*(brief(str(fault)) for fault in refused.reasons))
    if found.schema is not schema:
        return _nothing(f'schema: expected "{schema.value}", got "{found.schema.value}"')
    return Reading(value=found)


def _nothing(*faults: str) -> Reading[Approvals]:
    return Reading(value=None, faults=faults)
