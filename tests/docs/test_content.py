"""The page about content: its examples are read by the host, its words are the code's."""

import re
from pathlib import Path

import pytest

from stella import limits
from stella.content import record
from stella.content.approvals import Schema
from stella.content.approvals import read_approvals
from stella.content.findings import TASKS
from stella.content.findings import Level
from stella.content.findings import findings
from stella.content.identity import identity
from stella.content.skill import Context
from stella.content.skill import Effort
from stella.content.skill import Origin
from stella.content.skill import read_skill
from stella.content.tool import read_tool

TEXT = (Path(__file__).parents[2] / "docs" / "content.md").read_text("utf-8")
FENCE = re.compile(r"^```\w+ ([^\n]+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
EXAMPLES = {kind: body.encode() for kind, body in FENCE.findall(TEXT)}
TABLES = (
    record.Record,
    record.Provenance,
    record.Steering,
    record.AppliesTo,
    record.Enforcement,
    record.Truth,
    record.Probe,
    record.Link,
    record.Defaults,
)
WORDS = (
    record.Kind,
    record.Origin,
    record.Sharing,
    record.Status,
    record.Force,
    record.Tier,
    record.Mode,
    record.Basis,
    record.OnExpiry,
    record.ProbeKind,
    record.Relation,
    Context,
    Effort,
    Origin,
)


def test_the_tool_is_read_without_a_word() -> None:
    """[P-10]"""
    reading = read_tool(EXAMPLES["tool"])
    assert reading.value is not None
    assert reading.notes == ()


def test_the_skill_is_one() -> None:
    """[P-30]"""
    reading = read_skill(EXAMPLES["skill release-notes"], "release-notes")
    assert reading.value is not None
    assert reading.notes == ()


def test_the_records_steer_without_a_warning() -> None:
    """[P-45, P-48]"""
    reading = record.read_rules(EXAMPLES["rules"])
    assert reading.value is not None
    assert reading.notes == ()
    for each in reading.value.records:
        found = findings(each, identity(each), plugin=False)
        assert [finding.level for finding in found] == [Level.NOTE]
    assert [each.pinned for each in reading.value.records] == [True, False]


@pytest.mark.parametrize(
    ("kind", "schema"), [("approvals", Schema.APPROVALS), ("promotions", Schema.PROMOTIONS)]
)
def test_the_grants_are_read(kind: str, schema: Schema) -> None:
    """[P-65]"""
    found = read_approvals(EXAMPLES[kind], schema).value
    assert found is not None
    assert len(found.grant) == 1


def test_every_key_and_every_word_of_a_record_is_on_the_page() -> None:
    """[P-45, P-46, P-49]"""
    keys = {
        key for table in TABLES for key in table.__struct_fields__ if table is not record.Record
    }
    keys |= {key for key in record.Record.__struct_fields__ if key != "link"}
    spelled = {member.value for words in WORDS for member in words} | keys | set(TASKS)
    known = set(re.findall(r"[\w-]+", "\n".join(re.findall(r"`([^`\n]+)`", TEXT))))
    assert sorted(spelled - known) == []


def test_the_numbers_of_the_page_are_the_limits() -> None:
    """[P-34, P-35, P-48, E-130]"""
    for number in (
        limits.SKILL_TOKENS,
        limits.SKILL_TOKENS * limits.TOKEN_CHARS,
        limits.SKILLS_TOKENS,
        limits.STATEMENT_CHARS,
        limits.RECORDS_CHARS,
        limits.AGENTS_CHARS,
        limits.MATCHED_CHARS,
        limits.PLUGIN_GLOBS,
    ):
        assert f"{number:,}" in TEXT
    assert f"at most {limits.CONTENT_BYTES // limits.KIB} KiB, all of one" in TEXT
    assert f"together {limits.CONTENT_TOTAL_BYTES // limits.MIB} MiB" in TEXT
