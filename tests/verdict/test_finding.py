from typing import Any

import pytest

from stella import codec
from stella.codec import Refused
from stella.verdict.finding import Clause
from stella.verdict.finding import Credited
from stella.verdict.finding import MeasurementMissing
from stella.verdict.finding import Met
from stella.verdict.finding import Unchecked
from stella.verdict.finding import Undecidable
from stella.verdict.finding import Unknowable
from stella.verdict.finding import Unread
from stella.verdict.finding import UnreadableCheck
from stella.verdict.finding import Unreported
from stella.verdict.finding import Verdict
from stella.verdict.finding import undecided
from stella.wire.evidence import Flip
from stella.wire.evidence import Provenance
from tests.making.verdicts import clause
from tests.making.verdicts import no_flip
from tests.making.verdicts import over_budget
from tests.making.verdicts import tampered
from tests.making.verdicts import unmet

CLAUSE = b'{"requirement":"a","statement":"a holds","because":'
FORMS: list[tuple[Verdict, bytes]] = [
    (
        Met(met=Credited(evidence=Provenance.PLUGIN_REPORTED)),
        b'{"met":{"evidence":"plugin-reported"}}',
    ),
    (
        Met(met=Credited(evidence=Provenance.HOST_OBSERVED)),
        b'{"met":{"evidence":"host-observed"}}',
    ),
    (
        unmet(clause(because=no_flip(Flip.NOT_ACHIEVED))),
        b'{"unmet":{"unmet":[' + CLAUSE + b'{"no_flip":{"observed":"not-achieved"}}}]}}',
    ),
    (
        unmet(clause(because=over_budget("x <= 0", 2**64 - 1))),
        b'{"unmet":{"unmet":['
        + CLAUSE
        + b'{"budget":{"check":"x <= 0","reported":18446744073709551615}}}]}}',
    ),
    (
        unmet(clause(because=tampered("tests/é.py"))),
        b'{"unmet":{"unmet":[' + CLAUSE + b'{"tampered":{"artifact":"tests/\xc3\xa9.py"}}}]}}',
    ),
    (undecided(Unknowable.NO_ORACLE), b'{"undecided":{"reason":"no_oracle"}}'),
    (undecided(Unknowable.FLIP_UNOBSERVABLE), b'{"undecided":{"reason":"flip_unobservable"}}'),
    (
        undecided(Unknowable.WITNESS_UNSATISFIABLE),
        b'{"undecided":{"reason":"witness_unsatisfiable"}}',
    ),
    (undecided(Unknowable.TAMPER_UNCHECKED), b'{"undecided":{"reason":"tamper_unchecked"}}'),
    (
        undecided(Undecidable(undecidable=Unchecked(requirement="a"))),
        b'{"undecided":{"reason":{"undecidable":{"requirement":"a"}}}}',
    ),
    (
        undecided(
            MeasurementMissing(measurement_missing=Unreported(requirement="a", measurement="x"))
        ),
        b'{"undecided":{"reason":{"measurement_missing":{"requirement":"a","measurement":"x"}}}}',
    ),
    (
        undecided(UnreadableCheck(unreadable_check=Unread(requirement="a", reason="no spaces"))),
        b'{"undecided":{"reason":{"unreadable_check":{"requirement":"a","reason":"no spaces"}}}}',
    ),
]


@pytest.mark.behaviour("J-50")
@pytest.mark.parametrize(("verdict", "text"), FORMS)
def test_a_verdict_is_written_exactly_so_and_reads_back(verdict: Verdict, text: bytes) -> None:
    """[J-50]"""
    kind: Any = Verdict
    assert codec.encode(verdict) == text
    assert codec.read(kind, text) == verdict


@pytest.mark.behaviour("J-50")
@pytest.mark.parametrize(
    "text",
    [
        b'{"met":{"evidence":"plugin-reported","by":"me"}}',
        b'{"met":{"evidence":"plugin-reported"},"unmet":{"unmet":[]}}',
        b'{"met":{"evidence":"hearsay"}}',
        b'{"met":{}}',
        b"{}",
        b'"met"',
        b'{"unmet":{"unmet":[' + CLAUSE + b'{"no_flip":{"observed":"flipped"}}}]}}',
        b'{"unmet":{"unmet":[' + CLAUSE + b'{"budget":{"check":"x","reported":-1}}}]}}',
        b'{"unmet":{"unmet":['
        + CLAUSE
        + b'{"budget":{"check":"x","reported":18446744073709551616}}}]}}',
        b'{"unmet":{"unmet":[' + CLAUSE + b'{"tampered":{}}}]}}',
        b'{"unmet":{"unmet":[' + CLAUSE + b'"clean"}]}}',
        b'{"undecided":{"reason":"undecidable"}}',
        b'{"undecided":{"reason":{"no_oracle":{}}}}',
    ],
)
def test_a_verdict_with_a_foreign_key_or_word_is_refused(text: bytes) -> None:
    """[J-50]"""
    kind: Any = Verdict
    with pytest.raises(Refused):
        codec.read(kind, text)


def test_a_refused_clause_says_where_and_names_each_kind_once() -> None:
    """[J-50]"""
    with pytest.raises(Refused, match=r"^because: expected a table, got a string$"):
        codec.read(Clause, b'{"requirement":"a","statement":"b","because":"tampered"}')


@pytest.mark.behaviour("J-4")
def test_a_verdict_is_read_through_its_one_key() -> None:
    """[J-4]"""
    assert Met(met=Credited(evidence=Provenance.HOST_OBSERVED)).evidence is Provenance.HOST_OBSERVED
    assert unmet(clause("a"), clause("b")).clauses == (clause("a"), clause("b"))
    assert undecided(Unknowable.NO_ORACLE).reason is Unknowable.NO_ORACLE
