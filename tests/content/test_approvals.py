"""Grants of guards: strict, and nothing when they are wrong."""

import pytest
import tomli_w

from stella import limits
from stella.content.approvals import NO_APPROVALS
from stella.content.approvals import Schema
from stella.content.approvals import read_approvals

GOOD = {
    "schema": "rule-approvals/v1",
    "grant": [{"lineage_id": "a", "record_hash": "sha256:1"}],
}


def test_a_grant_holds_for_one_text_of_one_lineage() -> None:
    """[P-65] By bytes, not by name."""
    found = read_approvals(b"\xef\xbb\xbf" + tomli_w.dumps(GOOD).encode(), Schema.APPROVALS).value
    assert found is not None
    assert found.holds("a", "sha256:1")
    assert not found.holds("a", "sha256:2")
    assert not found.holds("b", "sha256:1")
    assert not NO_APPROVALS.holds("a", "sha256:1")


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"\xff", "byte 0 is not UTF-8"),
        (b"a =", "Invalid value (at end of document)"),
        (b"", 'schema: the required key "schema" is missing'),
        (tomli_w.dumps({**GOOD, "more": 1}).encode(), 'more: unknown key "more"'),
        (
            tomli_w.dumps({**GOOD, "schema": "rule-promotions/v1"}).encode(),
            'schema: expected "rule-approvals/v1", got "rule-promotions/v1"',
        ),
    ],
)
def test_a_file_that_is_wrong_grants_nothing(data: bytes, fault: str) -> None:
    """[P-65] Strict: an unknown key might have meant less."""
    found = read_approvals(data, Schema.APPROVALS)
    assert found.value is None
    assert found.faults[0].startswith(fault)


def test_the_bytes_of_approvals_are_bounded() -> None:
    whole = tomli_w.dumps(GOOD).encode()
    whole += b"#" * (limits.CONTENT_BYTES - len(whole))
    assert read_approvals(whole, Schema.APPROVALS).value is not None
    assert read_approvals(whole + b"#", Schema.APPROVALS).value is None
