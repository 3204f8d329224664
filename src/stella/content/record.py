"""A rules file: statements that steer matching turns [P-45]."""

from dataclasses import dataclass

from stella import codec
from stella.content.reading import Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One statement and which one it is."""

    lineage_id: str
    statement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """The records of one file."""

    records: tuple[Record, ...] = ()


def read_rules(data: bytes) -> Reading[RuleSet]:
    """Return the records in the bytes of a file [P-45]."""
    try:
        rows = codec.parse_toml(data.decode("utf-8", "replace")).get("record", [])
    except codec.Refused as error:
        return Reading(value=None, faults=(str(error),))
    records = (Record(lineage_id=row["lineage_id"], statement=row["statement"]) for row in rows)
    return Reading(value=RuleSet(records=tuple(records)))
