import hashlib

import pytest

from stella import codec
from stella.codec import Refused
from stella.manifest.oracle import Check
from stella.manifest.oracle import FlipPolicy
from stella.verdict.rule import OracleRule
from stella.verdict.rule import VerdictRule
from stella.verdict.rule import reduced
from stella.verdict.rule import rule_digest
from stella.verdict.rule import rule_of


def verify_rule() -> VerdictRule:
    return rule_of(
        requirements={"flips": "it flips", "passes": "it passes"},
        flip="required",
        measurements=("code",),
        checks=(("passes", "code <= 0"),),
    )


@pytest.mark.behaviour("J-4")
def test_a_rule_is_made_of_plain_values() -> None:
    """[J-4]"""
    assert verify_rule() == VerdictRule(
        requirements={"flips": "it flips", "passes": "it passes"},
        oracle=OracleRule(
            flip=FlipPolicy.REQUIRED,
            measurements=("code",),
            checks=(Check(requirement="passes", check="code <= 0"),),
        ),
    )


def test_a_rule_without_a_flip_policy_has_no_oracle() -> None:
    """[J-4]"""
    assert rule_of(requirements={"a": "b"}) == VerdictRule(requirements={"a": "b"})
    assert rule_of(requirements={}) == VerdictRule()


def test_a_policy_word_that_is_none_is_refused() -> None:
    """[M-23]"""
    with pytest.raises(ValueError, match="optional"):
        rule_of(requirements={}, flip="optional")


@pytest.mark.behaviour("J-1")
def test_the_rule_does_not_change_with_the_table_it_was_made_of() -> None:
    """[J-1] A rule is a value: what a caller does to its own table later is not seen."""
    table = {"a": "b"}
    bare, judged = rule_of(requirements=table), rule_of(requirements=table, flip="required")
    table["c"] = "d"
    assert bare.requirements == judged.requirements == {"a": "b"}


def test_a_rule_is_written_with_its_keys_in_order() -> None:
    """[J-50]"""
    assert codec.encode(verify_rule()) == (
        b'{"requirements":{"flips":"it flips","passes":"it passes"},'
        b'"oracle":{"flip":"required","measurements":["code"],'
        b'"checks":[{"requirement":"passes","check":"code <= 0"}]}}'
    )


@pytest.mark.behaviour("J-50")
def test_what_a_rule_does_not_have_is_omitted() -> None:
    """[J-50]"""
    assert codec.encode(VerdictRule()) == b"{}"
    assert codec.encode(VerdictRule(requirements={"a": "b"})) == b'{"requirements":{"a":"b"}}'
    assert codec.encode(rule_of(requirements={}, flip="not-applicable")) == (
        b'{"oracle":{"flip":"not-applicable","measurements":[],"checks":[]}}'
    )


@pytest.mark.parametrize(
    "text",
    [
        b'{"oracle":{"flip":"required","measurements":[],"checks":[]},"model":"m"}',
        b'{"oracle":{"flip":"required","measurements":[],"checks":[],"tamper":"x"}}',
        b'{"oracle":{"flip":"required","measurements":[],"checks":[{"requirement":"a"}]}}',
        b'{"oracle":{"flip":"required","measurements":[],"checks":[{"check":"a","and":"b"}]}}',
        b'{"oracle":{"flip":"required","measurements":[]}}',
        b'{"oracle":{"flip":"sometimes","measurements":[],"checks":[]}}',
    ],
)
def test_a_rule_with_a_foreign_or_missing_key_is_refused(text: bytes) -> None:
    """[J-50]"""
    with pytest.raises(Refused):
        codec.read(VerdictRule, text)


def test_the_rule_of_one_requirement_keeps_its_checks_and_the_policy() -> None:
    """[S-43]"""
    rule = rule_of(
        requirements={"a": "A", "b": "B"},
        flip="required",
        measurements=("x", "y"),
        checks=(("a", "x <= 0"), ("b", "y <= 0"), ("a", "x >= 0")),
    )
    assert reduced(rule, "a") == rule_of(
        requirements={"a": "A"},
        flip="required",
        measurements=("x", "y"),
        checks=(("a", "x <= 0"), ("a", "x >= 0")),
    )


def test_the_rule_of_one_requirement_without_an_oracle_has_none() -> None:
    """[S-43]"""
    rule = rule_of(requirements={"a": "A", "b": "B"})
    assert reduced(rule, "b") == rule_of(requirements={"b": "B"})


def test_a_misspelt_requirement_is_an_error_and_never_an_empty_rule() -> None:
    """[S-43, J-6]"""
    with pytest.raises(KeyError, match="pases"):
        reduced(verify_rule(), "pases")


def test_the_digest_is_that_of_the_canonical_text() -> None:
    """[J2-40]"""
    text = (
        b'{"oracle":{"checks":[{"check":"code <= 0","requirement":"passes"}],'
        b'"flip":"required","measurements":["code"]},'
        b'"requirements":{"flips":"it flips","passes":"it passes"}}'
    )
    assert rule_digest(verify_rule()) == hashlib.sha256(text).hexdigest()


def test_the_digest_ignores_the_order_of_requirements_and_keeps_that_of_checks() -> None:
    """[J2-40, J-11]"""
    checks = (("a", "x <= 0"), ("a", "x >= 0"))
    one = rule_of(requirements={"a": "A", "b": "B"}, flip="required", checks=checks)
    two = rule_of(requirements={"b": "B", "a": "A"}, flip="required", checks=checks)
    turned = rule_of(requirements={"a": "A", "b": "B"}, flip="required", checks=checks[::-1])
    assert rule_digest(one) == rule_digest(two)
    assert rule_digest(one) != rule_digest(turned)
