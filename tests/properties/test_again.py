"""The laws of again and progress [J-60, J-61, J-72 to J-76] and of every form [J-77]."""

import json
from itertools import product
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from stella import codec
from stella import limits
from stella.codec import Refused
from stella.verdict.again import Another
from stella.verdict.again import Ceiling
from stella.verdict.again import Continuation
from stella.verdict.again import Correction
from stella.verdict.again import Ended
from stella.verdict.again import Grant
from stella.verdict.again import Held
from stella.verdict.again import State
from stella.verdict.again import Stop
from stella.verdict.again import StoppedUnmet
from stella.verdict.again import again
from stella.verdict.again import allowed
from stella.verdict.finding import Clause
from stella.verdict.finding import Unmet
from stella.verdict.finding import Verdict
from stella.verdict.guidance import LAST_HOLD
from stella.verdict.guidance import Guidance
from stella.verdict.guidance import guidance
from stella.verdict.progress import Progress
from stella.verdict.progress import Standing
from stella.verdict.progress import progress
from stella.verdict.rule import VerdictRule
from stella.wire.evidence import EvidenceSet
from stella.wire.grade import Grade
from tests.making.verdicts import Round
from tests.making.verdicts import held_run
from tests.properties import strategies as some

replace = msgspec.structs.replace


@pytest.mark.behaviour("J-1", "J-60")
@some.PROOF
@given(verdict=some.verdicts(), state=some.STATES, grant=some.GRANTS)
def test_again_is_total(verdict: Verdict, state: State, grant: Grant) -> None:
    """[J-60, J-1]"""
    assert isinstance(again(verdict, state, grant), Continuation)


@pytest.mark.behaviour("J-19", "J-60")
@some.PROOF
@given(previous=st.none() | some.STANDINGS, current=some.STANDINGS)
def test_progress_is_total_and_keeps_to_its_table(
    previous: Standing | None, current: Standing
) -> None:
    """[J-60, J-19]"""
    word = progress(previous, current)
    assert (word is Progress.FIRST) == (previous is None)
    if previous is not None:
        measured = previous.tree_digest is not None and current.tree_digest is not None
        equal = previous.unmet == current.unmet and previous.tree_digest == current.tree_digest
        assert (word is Progress.UNMEASURED) == (not measured)
        assert (word is Progress.UNCHANGED) == (measured and equal)
        if measured:
            assert progress(current, current) is Progress.UNCHANGED


@pytest.mark.behaviour("J-61")
@some.PROOF
@given(verdict=some.verdicts(some.TEXT), state=some.STATES, grant=some.GRANTS)
def test_again_is_deterministic(verdict: Verdict, state: State, grant: Grant) -> None:
    """[J-61] Equal values, not the same object, give equal answers."""
    kind: Any = Verdict
    same = codec.read(kind, codec.encode(verdict))
    assert again(same, replace(state), replace(grant)) == again(verdict, state, grant)


# ── the end of a run ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.behaviour("J-21", "J-22", "J-72")
@some.PROOF
@given(
    verdict=some.unmets() | some.verdicts(),
    state=some.STATES,
    grant=some.ARBITERS | some.GRANTS,
)
def test_again_continues_only_for_an_arbiter_with_a_hold_left_that_moved(
    verdict: Verdict, state: State, grant: Grant
) -> None:
    """[J-72, J-22] And a stop keeps all there was to say."""
    said = again(verdict, state, grant)
    assert isinstance(said, Another) == (
        isinstance(verdict, Unmet)
        and grant.participation is Grade.ARBITER
        and state.ceiling is None
        and state.holds_spent < allowed(state, grant)
        and state.progress is not Progress.UNCHANGED
    )
    if isinstance(said, Another):
        assert isinstance(verdict, Unmet)
        assert said.correction.unmet == verdict.clauses
    elif isinstance(verdict, Unmet):
        assert isinstance(said.outcome, StoppedUnmet)
        assert said.outcome.clauses == verdict.clauses
    else:
        assert said.outcome == verdict


ROUNDS = st.builds(
    Round,
    verdict=some.unmets() | some.verdicts(),
    tree_digest=st.none() | st.sampled_from(("d", "e", "f")),
    ceiling=st.none() | st.none() | st.none() | st.sampled_from(Ceiling),
)


@pytest.mark.behaviour("J-23", "J-73")
@some.PROOF
@given(
    grant=some.ARBITERS | some.GRANTS,
    host_max_holds=st.integers(0, 8),
    cycle=st.lists(ROUNDS, min_size=1, max_size=3),
    trees=st.sampled_from(("as drawn", "always another")),
)
def test_a_run_ends_after_one_round_more_than_allowed(
    grant: Grant, host_max_holds: int, cycle: list[Round], trees: str
) -> None:
    """[J-73, J-23] Whatever the rounds bring, for longer than any run may last."""
    rounds = [
        Round(
            verdict=each.verdict,
            tree_digest=each.tree_digest if trees == "as drawn" else f"d{i}",
            ceiling=each.ceiling,
        )
        for i, each in zip(range(12), cycle * 12, strict=False)
    ]
    bound = allowed(State(holds_spent=0, host_max_holds=host_max_holds), grant)
    assert bound <= host_max_holds
    assert grant.max_holds is None or bound <= grant.max_holds
    said = held_run(grant, host_max_holds, rounds)
    assert len(said) <= bound + 1
    assert isinstance(said[-1], Stop)


WEAKER = st.fixed_dictionaries(
    {
        "spent": some.U32,
        "host": some.U32,
        "ask": st.none() | some.U32,
        "ceiling": st.none() | st.sampled_from(Ceiling),
        "grade": st.sampled_from(Grade),
        "unchanged": st.booleans(),
    }
)


def least(one: int | None, other: int | None) -> int | None:
    return min((each for each in (one, other) if each is not None), default=None)


@pytest.mark.behaviour("J-74")
@some.PROOF
@given(
    verdict=some.unmets() | some.verdicts(),
    state=some.STATES,
    grant=some.ARBITERS | some.GRANTS,
    by=WEAKER,
)
def test_less_never_turns_a_stop_into_a_continuation(
    verdict: Verdict, state: State, grant: Grant, by: dict[str, Any]
) -> None:
    """[J-74] Each of the six ways to have less, and any of them together."""
    weaker = State(
        holds_spent=min(state.holds_spent + by["spent"], limits.U32_MAX),
        host_max_holds=min(state.host_max_holds, by["host"]),
        progress=Progress.UNCHANGED if by["unchanged"] else state.progress,
        ceiling=state.ceiling or by["ceiling"],
    )
    lower = Grant(
        participation=min(grant.participation, by["grade"], key=lambda grade: grade.rank),
        max_holds=least(grant.max_holds, by["ask"]),
    )
    if isinstance(again(verdict, state, grant), Stop):
        assert isinstance(again(verdict, weaker, lower), Stop)


@pytest.mark.behaviour("J-75")
@some.PROOF
@given(clauses=some.clause_lists(), state=some.STATES, grant=some.ARBITERS)
def test_the_closing_line_tells_the_truth(
    clauses: tuple[Clause, ...], state: State, grant: Grant
) -> None:
    """[J-75, J-29] It is there exactly when the next unmet verdict would stop in any case."""
    verdict: Any = codec.decode(Unmet, {"unmet": {"unmet": []}})
    said = again(replace(verdict, unmet=replace(verdict.unmet, unmet=clauses)), state, grant)
    if not isinstance(said, Another):
        return
    nexts = [
        State(
            holds_spent=state.holds_spent + 1,
            host_max_holds=state.host_max_holds,
            progress=word,
            ceiling=ceiling,
        )
        for word, ceiling in product(Progress, (None, *Ceiling))
    ]
    last = all(isinstance(again(verdict, each, grant), Stop) for each in nexts)
    assert (LAST_HOLD in said.correction.guidance.text.split("\n")) == last


@pytest.mark.behaviour("J-26", "J-76")
@some.PROOF
@given(clauses=some.clause_lists(), spent=some.U32, bound=some.U32)
def test_guidance_has_one_line_for_each_clause(
    clauses: tuple[Clause, ...], spent: int, bound: int
) -> None:
    """[J-76, J-26]"""
    said = guidance(clauses, spent, bound)
    expected = 1 + len(clauses) + (spent + 1 == bound)
    assert len(said.text.split("\n")) == len(said.text.splitlines()) == expected
    assert said.label == "wrapper-verdict"


# ── forms ─────────────────────────────────────────────────────────────────────────────

CORRECTIONS = st.builds(
    Correction,
    unmet=some.clause_lists(some.TEXT),
    guidance=st.builds(Guidance, label=some.TEXT, text=some.TEXT),
)
CONTINUATIONS = st.builds(Another, again=st.builds(Held, correction=CORRECTIONS)) | st.builds(
    Stop, stop=st.builds(Ended, outcome=some.outcomes(some.TEXT))
)
FORMS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "rule": (VerdictRule, some.rules(some.TEXT)),
    "evidence": (EvidenceSet, some.evidences(some.TEXT)),
    "verdict": (Verdict, some.verdicts(some.TEXT)),
    "state": (State, some.STATES),
    "grant": (Grant, some.GRANTS),
    "continuation": (Continuation, CONTINUATIONS),
}


@pytest.mark.behaviour("J-77")
@pytest.mark.parametrize("name", FORMS)
@some.PROOF
@given(data=st.data())
def test_every_form_reads_back_to_an_equal_value(name: str, data: st.DataObject) -> None:
    """[J-77] No two values share a form, since each form gives back the one it came from."""
    kind, strategy = FORMS[name]
    value = data.draw(strategy)
    assert codec.read(kind, codec.encode(value)) == value
    assert codec.read(kind, codec.canonical(value)) == value


def tables(tree: Any) -> list[dict[str, Any]]:
    """Every table of a plain value, itself included."""
    if isinstance(tree, dict):
        return [tree, *(table for value in tree.values() for table in tables(value))]
    return [table for each in tree for table in tables(each)] if isinstance(tree, list) else []


@pytest.mark.behaviour("J-50")
@pytest.mark.parametrize("name", FORMS)
@settings(some.PROOF, max_examples=300)
@given(data=st.data())
def test_no_form_takes_a_foreign_key(name: str, data: st.DataObject) -> None:
    """[J-50] Wherever in the value it stands."""
    kind, strategy = FORMS[name]
    value = data.draw(strategy)
    tree = json.loads(codec.encode(value))
    data.draw(st.sampled_from(tables(tree)))["a key of nobody"] = {}
    with pytest.raises(Refused):
        codec.read(kind, json.dumps(tree).encode())
