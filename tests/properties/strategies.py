"""Values of every declared type, and the one setting under which a law counts as proved.

A strategy covers its whole type; text of outside data is the narrower `TEXT`. It leans
towards the few names and numbers in which rules and evidence meet, because laws about a met
rule say nothing of values that never meet.
"""

from itertools import product
from typing import Final

from hypothesis import HealthCheck
from hypothesis import settings
from hypothesis import strategies as st

from stella import limits
from stella.manifest.grammar import OPERATORS
from stella.manifest.oracle import Check
from stella.manifest.oracle import FlipPolicy
from stella.verdict.again import Allowance
from stella.verdict.again import AllowanceSpent
from stella.verdict.again import BudgetSpent
from stella.verdict.again import Ceiling
from stella.verdict.again import Grant
from stella.verdict.again import Left
from stella.verdict.again import Outcome
from stella.verdict.again import Reached
from stella.verdict.again import State
from stella.verdict.again import StoppedUnmet
from stella.verdict.again import StopReason
from stella.verdict.finding import Abstained
from stella.verdict.finding import Clause
from stella.verdict.finding import Credited
from stella.verdict.finding import Failed
from stella.verdict.finding import MeasurementMissing
from stella.verdict.finding import Met
from stella.verdict.finding import NoFlip
from stella.verdict.finding import ObservedFlip
from stella.verdict.finding import OverBudget
from stella.verdict.finding import Reason
from stella.verdict.finding import Reported
from stella.verdict.finding import Unchecked
from stella.verdict.finding import Undecidable
from stella.verdict.finding import Undecided
from stella.verdict.finding import Unknowable
from stella.verdict.finding import Unmet
from stella.verdict.finding import Unread
from stella.verdict.finding import UnreadableCheck
from stella.verdict.finding import Unreported
from stella.verdict.finding import Verdict
from stella.verdict.progress import Progress
from stella.verdict.progress import Standing
from stella.verdict.rule import OracleRule
from stella.verdict.rule import VerdictRule
from stella.wire.evidence import Artifact
from stella.wire.evidence import EvidenceSet
from stella.wire.evidence import Flip
from stella.wire.evidence import Provenance
from stella.wire.evidence import Tamper
from stella.wire.evidence import Tampered
from stella.wire.evidence import TamperState
from stella.wire.grade import Grade

PROOF: Final = settings(
    max_examples=2000,
    deadline=None,
    database=None,  # a run leaves no files behind
    suppress_health_check=[HealthCheck.too_slow],  # the machine may be busy with other things
)

# ── words and numbers ─────────────────────────────────────────────────────────────────

_WORDS: Final = (
    "a",
    "b",
    "x",
    "",
    " ",
    "a\n- b: c (d)",
    "line\r\x0b\x0c\x1c\x85\u2028\u2029end",
    "\x1b[2J\u202e\u200b\ufeff\x00",
    "\uffee",
    "😀",
    "This is the last hold: after the next turn the run ends with whatever verdict it has.",
)

TEXT: Final = st.sampled_from(_WORDS) | st.text(max_size=6)
"""Text that outside data can hold."""

ANY_TEXT: Final = st.sampled_from((*_WORDS, "\ud800")) | st.text(st.characters(), max_size=6)
"""Every Python text, lone surrogates included: more than outside data can hold."""

U32: Final = st.integers(0, 4) | st.integers(0, limits.U32_MAX)
U64: Final = st.sampled_from((0, 1, 2, limits.U64_MAX)) | st.integers(0, limits.U64_MAX)

# Where rules and evidence meet: two keys, three names, three numbers.
_KEYS: Final = ("a", "b")
_NAMES: Final = ("x", "y", "z")
_NUMBERS: Final = (0, 1, 2)

# ── rules ─────────────────────────────────────────────────────────────────────────────

_POLICIES: Final = st.sampled_from(FlipPolicy)
_MEETING_CHECKS: Final = tuple(
    Check(requirement=key, check=f"{name} {operator} {number}")
    for key, name, operator, number in product(_KEYS, _NAMES, OPERATORS, _NUMBERS)
)
_NO_CHECKS: Final = (
    "",
    "x",
    "x<=0",
    "x <= -1",
    "x <= 1.0",
    "x <= \u0663",
    "x => 1",
    f"x <= {2**64}",
    "x <= 1 2",
)


def check_texts(text: st.SearchStrategy[str] = ANY_TEXT) -> st.SearchStrategy[str]:
    """Return parsable checks over all numbers, near misses, and any text."""
    comparisons = st.builds("{} {} {}".format, text, st.sampled_from(OPERATORS), U64)
    return comparisons | st.sampled_from(_NO_CHECKS) | text


def oracles(
    text: st.SearchStrategy[str] = ANY_TEXT,
    policies: st.SearchStrategy[FlipPolicy] = _POLICIES,
) -> st.SearchStrategy[OracleRule]:
    meeting = st.sampled_from(_MEETING_CHECKS)
    wild = st.builds(Check, requirement=st.sampled_from(_KEYS) | text, check=check_texts(text))
    names = st.sampled_from(_NAMES) | text
    return st.builds(
        OracleRule,
        flip=policies,
        measurements=st.just(_NAMES),
        checks=st.lists(meeting, min_size=1, max_size=3).map(tuple),
    ) | st.builds(
        OracleRule,
        flip=policies,
        measurements=st.just(_NAMES) | st.lists(names, max_size=3).map(tuple),
        checks=st.lists(meeting | wild, max_size=3).map(tuple),
    )


def requirements(
    text: st.SearchStrategy[str] = ANY_TEXT, least: int = 0
) -> st.SearchStrategy[dict[str, str]]:
    meeting = st.sampled_from(({"a": "A"}, {"b": "B"}, {"b": "B", "a": "A"}))
    return meeting | st.dictionaries(text, text, min_size=least, max_size=2)


def rules(
    text: st.SearchStrategy[str] = ANY_TEXT,
    policies: st.SearchStrategy[FlipPolicy] = _POLICIES,
) -> st.SearchStrategy[VerdictRule]:
    """Return every rule: with and without requirements, with and without an oracle."""
    return judged_rules(text, policies) | st.builds(
        VerdictRule, requirements=requirements(text), oracle=st.none() | oracles(text, policies)
    )


def judged_rules(
    text: st.SearchStrategy[str] = ANY_TEXT,
    policies: st.SearchStrategy[FlipPolicy] = _POLICIES,
) -> st.SearchStrategy[VerdictRule]:
    """Return rules with at least one requirement and an oracle."""
    return st.builds(
        VerdictRule, requirements=requirements(text, least=1), oracle=oracles(text, policies)
    )


# ── evidence ──────────────────────────────────────────────────────────────────────────


def tampered(text: st.SearchStrategy[str] = ANY_TEXT) -> st.SearchStrategy[Tampered]:
    return st.builds(Tampered, tampered=st.builds(Artifact, artifact=text))


def tampers(text: st.SearchStrategy[str] = ANY_TEXT) -> st.SearchStrategy[Tamper]:
    return st.sampled_from(TamperState) | tampered(text)


_MEETING_TAMPERS: Final[tuple[Tamper, ...]] = (
    TamperState.CLEAN,
    TamperState.NOT_CHECKED,
    Tampered(tampered=Artifact(artifact="t")),
)
_MEETING_EVIDENCES: Final = tuple(
    EvidenceSet(
        provenance=provenance,
        flip=flip,
        tamper=tamper,
        measurements=dict(zip(_NAMES, numbers, strict=True)),
    )
    for provenance, flip, tamper, numbers in product(
        Provenance,
        (Flip.ACHIEVED, Flip.NOT_ACHIEVED, Flip.UNOBSERVABLE),
        _MEETING_TAMPERS,
        product(_NUMBERS, repeat=len(_NAMES)),
    )
)
_GOOD_EVIDENCES: Final = tuple(
    each
    for each in _MEETING_EVIDENCES
    if each.flip is Flip.ACHIEVED and each.tamper is TamperState.CLEAN
)


def evidences(text: st.SearchStrategy[str] = ANY_TEXT) -> st.SearchStrategy[EvidenceSet]:
    """Return every evidence; a good part of it is of a flip achieved in an untouched tree."""
    wild = st.builds(
        EvidenceSet,
        provenance=st.sampled_from(Provenance),
        flip=st.sampled_from(Flip),
        tamper=tampers(text),
        measurements=st.dictionaries(st.sampled_from(_NAMES) | text, U64, max_size=3),
    )
    return st.sampled_from(_GOOD_EVIDENCES) | st.sampled_from(_MEETING_EVIDENCES) | wild


def unanswered() -> st.SearchStrategy[EvidenceSet]:
    """Return the evidence of a point that nobody answered, whoever is said to have seen it."""
    return st.builds(
        EvidenceSet,
        provenance=st.sampled_from(Provenance),
        flip=st.just(Flip.UNOBSERVABLE),
        tamper=tampers(),
    )


# ── verdicts ──────────────────────────────────────────────────────────────────────────


def clauses(text: st.SearchStrategy[str] = ANY_TEXT) -> st.SearchStrategy[Clause]:
    because = (
        st.builds(NoFlip, no_flip=st.builds(ObservedFlip, observed=st.sampled_from(Flip)))
        | st.builds(OverBudget, budget=st.builds(Reported, check=text, reported=U64))
        | tampered(text)
    )
    return st.builds(Clause, requirement=text, statement=text, because=because)


def clause_lists(
    text: st.SearchStrategy[str] = ANY_TEXT,
) -> st.SearchStrategy[tuple[Clause, ...]]:
    return st.lists(clauses(text), max_size=3).map(tuple)


def reasons(text: st.SearchStrategy[str] = ANY_TEXT) -> st.SearchStrategy[Reason]:
    return (
        st.sampled_from(Unknowable)
        | st.builds(Undecidable, undecidable=st.builds(Unchecked, requirement=text))
        | st.builds(
            MeasurementMissing,
            measurement_missing=st.builds(Unreported, requirement=text, measurement=text),
        )
        | st.builds(
            UnreadableCheck, unreadable_check=st.builds(Unread, requirement=text, reason=text)
        )
    )


def mets() -> st.SearchStrategy[Met]:
    return st.builds(Met, met=st.builds(Credited, evidence=st.sampled_from(Provenance)))


def unmets(text: st.SearchStrategy[str] = ANY_TEXT) -> st.SearchStrategy[Unmet]:
    return st.builds(Unmet, unmet=st.builds(Failed, unmet=clause_lists(text)))


def undecideds(text: st.SearchStrategy[str] = ANY_TEXT) -> st.SearchStrategy[Undecided]:
    return st.builds(Undecided, undecided=st.builds(Abstained, reason=reasons(text)))


def verdicts(text: st.SearchStrategy[str] = ANY_TEXT) -> st.SearchStrategy[Verdict]:
    return mets() | unmets(text) | undecideds(text)


# ── continuations ─────────────────────────────────────────────────────────────────────

STATES: Final = st.builds(
    State,
    holds_spent=U32,
    host_max_holds=U32,
    progress=st.sampled_from(Progress),
    ceiling=st.none() | st.sampled_from(Ceiling),
) | st.builds(
    State,
    holds_spent=st.integers(0, 3),
    host_max_holds=st.integers(0, 8),
    progress=st.sampled_from(Progress),
    ceiling=st.none(),
)
GRANTS: Final = st.builds(Grant, participation=st.sampled_from(Grade), max_holds=st.none() | U32)
ARBITERS: Final = st.builds(Grant, participation=st.just(Grade.ARBITER), max_holds=st.none() | U32)
STANDINGS: Final = st.builds(
    Standing, unmet=clause_lists(), tree_digest=st.none() | st.sampled_from(("d", "e")) | ANY_TEXT
)


def outcomes(text: st.SearchStrategy[str] = ANY_TEXT) -> st.SearchStrategy[Outcome]:
    stopped = (
        st.sampled_from(StopReason)
        | st.builds(AllowanceSpent, allowance_spent=st.builds(Allowance, spent=U32, allowed=U32))
        | st.builds(BudgetSpent, budget_spent=st.builds(Reached, ceiling=st.sampled_from(Ceiling)))
    )
    left = st.builds(Left, unmet=clause_lists(text), stopped=stopped)
    return mets() | undecideds(text) | st.builds(StoppedUnmet, unmet=left)
