"""A rules file in its typed form: what is read, what is passed over, what is a fault."""

from typing import Any

import pytest

from stella import limits
from stella.content.record import Force
from stella.content.record import Mode
from stella.content.record import OnExpiry
from stella.content.record import Origin
from stella.content.record import ProbeKind
from stella.content.record import Record
from stella.content.record import Relation
from stella.content.record import Sharing
from stella.content.record import Status
from stella.content.record import Tier
from stella.content.record import read_rules
from tests.making.records import one
from tests.making.records import record
from tests.making.records import rules
from tests.making.records import rules_file

FULL = b"""\
schema = "context-record/v0.1"
set_id = "house"
ingest_run_id = "run-1"

[defaults]
sharing_scope = "organization"
origin = "system"
status = "archived"
review_every = "90d"
[defaults.provenance]
repo = "shop"
commit = "abc"

[[record]]
lineage_id = "style.print"
kind = "constraint"
statement = "Use the logger, never print."
record_id = "rec_x"
record_hash = "sha256:x"
tags = ["style"]
origin = "user"
sharing_scope = "personal"
status = "active"
supersedes_record_id = "rec_y"
[record.provenance]
source_kind = "file"
source_uri = "docs/style.md"
source_digest = "sha256:y"
source_lines = [3, 4]
commit = "def"
ingest_run_id = "run-0"
extracted_at = 2026-01-02T03:04:05Z
extractor = "hand"
[record.steering]
force = "must"
precedence = 7
tier = "pinned"
[record.steering.applies_to]
paths = ["src/*"]
tasks = ["lint"]
keywords = ["log line"]
[record.enforcement]
mode = "hard"
guard_tool = "bash"
guard_deny_command = "rm -rf"
guard_deny_path = "secrets/*"
severity = "high"
on_violation = "deny"
check = "grep"
rubric = "none"
[record.truth]
basis = "decree"
confidence = 1
verified_by = "me"
verified_at = 2026-01-02
valid_from = "2026"
ttl = 30
on_expiry = "stale"
[record.truth.probe]
kind = "file_contains"
path = "a"
pattern = "b"
expect = true
note = "c"
[[record.link]]
relation = "refines"
target = "style"

[[record]]
lineage_id = "bare"
kind = "memory"
statement = "It was so."

[[proposal]]
anything = [1, { at = "all" }]
"""


@pytest.mark.behaviour("P-45")
def test_every_key_of_a_rules_file_is_read_and_defaults_are_filled_in() -> None:
    """[P-45] A key of the record goes before the file's default."""
    found = read_rules(b"\xef\xbb\xbf" + FULL)
    assert found.notes == ()
    assert found.value is not None
    full, bare = found.value.records
    assert (full.origin, full.sharing_scope, full.active) == (Origin.USER, Sharing.PERSONAL, True)
    assert full.provenance is not None
    assert (full.provenance.repo, full.provenance.commit) == ("shop", "def")
    assert full.provenance.extracted_at == "2026-01-02T03:04:05+00:00"
    assert full.provenance.source_lines == (3, 4)
    assert full.steering is not None
    assert (full.steering.force, full.precedence, full.steering.tier) == (
        Force.MUST,
        7,
        Tier.PINNED,
    )
    assert full.steering.applies_to.populated
    assert full.guard == ("bash", "rm -rf", "secrets/*")
    assert full.truth is not None
    assert (full.truth.verified_at, full.truth.on_expiry) == ("2026-01-02", OnExpiry.STALE)
    assert (full.truth.review_every, full.truth.ttl) == ("90d", 30)
    assert full.truth.probe is not None
    assert full.truth.probe.kind is ProbeKind.FILE_CONTAINS
    assert full.link is not None
    assert full.link[0].relation is Relation.REFINES
    assert (bare.origin, bare.sharing_scope, bare.status) == (
        Origin.SYSTEM,
        Sharing.ORGANIZATION,
        Status.ARCHIVED,
    )
    assert bare.provenance == found.value.defaults.provenance
    assert (bare.truth, bare.guard, bare.precedence, bare.active) == (None, None, 0, False)
    assert found.value.proposal == ({"anything": [1, {"at": "all"}]},)


def test_what_says_nothing_has_no_default() -> None:
    """[P-45] Without a word of its own or of the file, a record is active and nobody's word."""
    plain = one(record())
    assert (plain.active, plain.origin, plain.provenance) == (True, None, None)
    measured = one(record(truth={"basis": "measured", "review_every": 3}))
    assert measured.truth is not None
    assert measured.truth.review_every == 3
    own = one(record(provenance={"repo": "r"}))
    assert own.provenance is not None
    assert own.provenance.repo == "r"


@pytest.mark.parametrize(
    ("steering", "pinned"),
    [
        ({"force": "must"}, True),
        ({"force": "should", "tier": "scoped"}, True),
        ({"force": "may"}, False),
        ({"force": "info", "tier": "retrieved"}, False),
        ({"force": "info", "tier": "pinned"}, True),
    ],
)
def test_force_and_tier_say_where_a_record_stands(steering: dict[str, str], pinned: bool) -> None:
    """[P-51] `must`, `should` or `pinned` is the prefix."""
    assert one(record(steering=steering)).pinned is pinned


def test_a_record_without_steering_is_not_pinned() -> None:
    assert not Record(lineage_id="a", kind=one(record()).kind, statement="It was so.").pinned


def test_only_a_hard_record_has_a_guard() -> None:
    """[P-65] A soft one that names a guard guards nothing, a hard one without any neither."""
    for mode in Mode:
        table = record(enforcement={"mode": mode.value, "guard_deny_path": "a"})
        assert (one(table).guard is not None) is (mode is Mode.HARD)
    assert one(record(enforcement={"mode": "hard"})).guard is None


def test_unknown_keys_are_notes() -> None:
    """[P-45] They refuse nothing, and the first of many are named."""
    table = record() | {f"key{number:03}": 1 for number in range(limits.IGNORED_SHOWN + 2)}
    found = read_rules(rules_file(table))
    assert found.value is not None
    assert len(found.notes) == limits.IGNORED_SHOWN + 1
    assert found.notes[0] == 'record[0]: the key "key000" is not known and passed over'
    assert found.notes[-1] == "2 more keys are not known and passed over"
    exact = record() | {f"key{number:03}": 1 for number in range(limits.IGNORED_SHOWN)}
    assert len(read_rules(rules_file(exact)).notes) == limits.IGNORED_SHOWN


def test_every_fault_of_a_file_is_told_with_its_place() -> None:
    """[P-45] Wrong types, unknown words, missing keys."""
    table = {"lineage_id": 1, "kind": "ruel", "steering": {}, "truth": {"basis": 3}}
    found = read_rules(rules_file(table, set_id=3, extra=1))
    assert found.value is None
    assert set(found.faults) == {
        "record[0].lineage_id: expected a string, got an integer",
        'record[0].kind: "ruel" is not one of the words allowed here; did you mean rule?',
        'record[0].steering.force: the required key "force" is missing',
        "record[0].truth.basis: expected a string, got an integer",
        'record[0].statement: the required key "statement" is missing',
        "set_id: expected a string, got an integer",
    }
    assert found.notes == ('the key "extra" is not known and passed over',)


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"\xff", "byte 0 is not UTF-8"),
        (b"a = ", "Invalid value (at end of document)"),
        (b'schema = "v9"', 'schema: expected "context-record/v0.1", got "v9"'),
        (b'schema = 3\nset_id = "a"', "schema: expected a string, got an integer"),
        (b'set_id = "a"', 'schema: the required key "schema" is missing'),
        (rules_file(set_id=" "), "set_id: it is blank"),
        (rules_file(record(" ")), "record[0]: lineage_id: it is blank"),
        (rules_file(record("a", "\n")), "record[0]: statement: it is blank"),
        (
            rules_file(record(truth={"basis": "decree", "confidence": float("inf")})),
            "record[0].truth: confidence: expected a finite number",
        ),
    ],
)
def test_a_file_that_cannot_be_used_says_why(data: bytes, fault: str) -> None:
    assert read_rules(data).faults == (fault,)


def test_the_bytes_of_a_rules_file_are_bounded() -> None:
    """[P-45] At the limit it is read, one byte more is refused."""
    whole = rules_file(record())
    whole += b"#" * (limits.CONTENT_BYTES - len(whole))
    assert read_rules(whole).value is not None
    assert read_rules(whole + b"#").faults == (
        f"the file has more than {limits.CONTENT_BYTES} bytes",
    )


def test_a_proposal_is_kept_and_is_no_record() -> None:
    """[P-45] Whatever it says, it never steers."""
    proposed: list[dict[str, Any]] = [record("proposed")]
    found = rules(record("real"), proposal=proposed)
    assert [each.lineage_id for each in found.records] == ["real"]
    assert len(found.proposal) == 1
