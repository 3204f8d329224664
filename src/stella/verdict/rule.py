"""What a person accepted at install as "done": requirements, flip policy, checks [J-4, J-50].

A rule is data. It is built from a manifest's plain values by the session, crosses into the
journal, and holds nothing that could run [J-2].
"""

import hashlib
from collections.abc import Iterable
from collections.abc import Mapping

import msgspec

from stella import codec
from stella.manifest.oracle import Check
from stella.manifest.oracle import FlipPolicy


class OracleRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The flip policy, the names that may be reported, and the checks in declared order."""

    flip: FlipPolicy
    measurements: tuple[str, ...]
    checks: tuple[Check, ...]


class VerdictRule(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """All that judge knows of a plugin's wishes [J-4]; no requirements and no oracle is legal."""

    requirements: dict[str, str] = {}
    oracle: OracleRule | None = None


def rule_of(
    *,
    requirements: Mapping[str, str],
    flip: str | None = None,
    measurements: Iterable[str] = (),
    checks: Iterable[tuple[str, str]] = (),
) -> VerdictRule:
    """Return the rule of a manifest's plain values.

    `flip` is the oracle's policy word, None when there is no oracle; `checks` are pairs of
    requirement key and check text. Raises `ValueError` for a policy word that is none.
    """
    if flip is None:
        return VerdictRule(requirements=dict(requirements))
    oracle = OracleRule(
        flip=FlipPolicy(flip),
        measurements=tuple(measurements),
        checks=tuple(Check(requirement=key, check=text) for key, text in checks),
    )
    return VerdictRule(requirements=dict(requirements), oracle=oracle)


def reduced(rule: VerdictRule, requirement: str) -> VerdictRule:
    """Return the rule with one requirement: its checks and the flip policy stay [S-43].

    Raises `KeyError` for a requirement the rule does not have: a rule without requirements
    is met, so an empty answer here would turn a misspelling into a success.
    """
    requirements = {requirement: rule.requirements[requirement]}
    if rule.oracle is None:
        return VerdictRule(requirements=requirements)
    kept = tuple(check for check in rule.oracle.checks if check.requirement == requirement)
    oracle = msgspec.structs.replace(rule.oracle, checks=kept)
    return VerdictRule(requirements=requirements, oracle=oracle)


def rule_digest(rule: VerdictRule) -> str:
    """Return the lower-case hex SHA-256 of the rule's canonical JSON, `rule_sha256` [J2-40].

    The order in which requirement keys were inserted does not count; the order of checks does.
    """
    return hashlib.sha256(codec.canonical(rule)).hexdigest()
