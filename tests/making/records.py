"""Rules files and records, written the way an author would, and what became of them."""

from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

import tomli_w

from stella.content.approvals import Approvals
from stella.content.approvals import Grant
from stella.content.approvals import Schema
from stella.content.govern import Governed
from stella.content.govern import Sets
from stella.content.govern import Standing
from stella.content.govern import govern
from stella.content.identity import identity
from stella.content.record import SCHEMA
from stella.content.record import Record
from stella.content.record import RuleSet
from stella.content.record import read_rules

Table = dict[str, Any]


def record(lineage: str = "one", statement: str = "Keep functions short.", **more: Any) -> Table:
    """One `[[record]]`, a rule that should be kept."""
    steering = {"force": "should", **more.pop("steering", {})}
    table = {"lineage_id": lineage, "kind": "rule", "statement": statement, "steering": steering}
    return {**table, **more}


def guarded(lineage: str = "one", mode: str = "hard", **more: Any) -> Table:
    """A record of a person that denies the tool `bash`."""
    enforcement = {"mode": mode, "guard_tool": "bash", **more.pop("enforcement", {})}
    return record(lineage, **{"origin": "user", "enforcement": enforcement, **more})


def rules_file(*records: Table, **more: Any) -> bytes:
    """A rules file of these records."""
    whole = {"schema": SCHEMA, "set_id": "set", "record": list(records), **more}
    return tomli_w.dumps(whole).encode()


def rules(*records: Table, **more: Any) -> RuleSet:
    """The same, read."""
    reading = read_rules(rules_file(*records, **more))
    assert reading.value is not None, reading.faults
    return reading.value


def one(table: Table) -> Record:
    """The record of a file of one."""
    return rules(table).records[0]


def sets(*records: Table, path: str = "rules/a.toml") -> Sets:
    """The rules files of an owner with one of them; none without a record."""
    return ((path, rules(*records)),) if records else ()


def granting(schema: Schema, *tables: Table) -> Approvals:
    """Grants of exactly these records."""
    records = [one(table) for table in tables]
    grants = tuple(
        Grant(lineage_id=each.lineage_id, record_hash=identity(each).record_hash)
        for each in records
    )
    return Approvals(schema=schema, grant=grants)


def governed(
    user: Sequence[Table] = (),
    repository: Sequence[Table] = (),
    plugins: Mapping[str, Sequence[Table]] | None = None,
    *,
    approved: Sequence[Table] = (),
    promoted: Sequence[Table] = (),
) -> Governed:
    """What records come to when exactly these were approved and promoted."""
    return govern(
        sets(*user, path="~/rules/a.toml"),
        sets(*repository, path=".stella/rules/a.toml"),
        [(name, sets(*tables)) for name, tables in (plugins or {}).items()],
        approved=granting(Schema.APPROVALS, *approved),
        promoted=granting(Schema.PROMOTIONS, *promoted),
    )


def steers(found: Governed) -> list[tuple[str, str]]:
    """What steers, in its order: the owner and the lineage."""
    return [(owner(each), each.record.lineage_id) for each in found.steering]


def owner(each: Standing) -> str:
    """The rank of a record's owner, or the plugin."""
    return each.plugin or each.rank.value
