from pathlib import Path
from typing import Any

import pytest

from stella import codec
from stella.codec import Refused
from stella.verdict.again import Allowance
from stella.verdict.again import AllowanceSpent
from stella.verdict.again import Another
from stella.verdict.again import Continuation
from stella.verdict.again import Grant
from stella.verdict.again import State
from stella.verdict.again import Stop
from stella.verdict.again import StoppedUnmet
from stella.verdict.again import again
from stella.verdict.again import allowed
from stella.verdict.finding import Undecided
from stella.verdict.finding import Unknowable
from stella.verdict.finding import undecided
from stella.verdict.guidance import LAST_HOLD
from stella.verdict.progress import Progress
from stella.wire.grade import Grade
from tests.making.verdicts import AgainVector
from tests.making.verdicts import Round
from tests.making.verdicts import RunVector
from tests.making.verdicts import as_written
from tests.making.verdicts import clause
from tests.making.verdicts import compact
from tests.making.verdicts import held_run
from tests.making.verdicts import read_vector
from tests.making.verdicts import unmet
from tests.making.verdicts import vector_paths

ARBITER = Grant(participation=Grade.ARBITER)


@pytest.mark.behaviour("J-21", "J-22", "J-28", "J-32", "J-50", "J-52", "J-53")
@pytest.mark.parametrize("path", vector_paths(AgainVector), ids=lambda path: path.stem)
def test_again_gives_the_continuation_of_the_vector(path: Path) -> None:
    """[J-21, J-22, J-23, J-32, J-50, J-53]"""
    vector, written = read_vector(AgainVector, path), as_written(path)
    given = again(vector.verdict, vector.state, vector.grant)
    assert given == vector.continuation
    assert codec.encode(given).decode() == compact(written["continuation"])
    assert codec.encode(vector.state).decode() == compact(written["state"])
    assert codec.encode(vector.grant).decode() == compact(written["grant"])
    assert codec.encode(vector.verdict).decode() == compact(written["verdict"])


@pytest.mark.behaviour("J-20", "J-25", "K-116")
@pytest.mark.parametrize("path", vector_paths(RunVector), ids=lambda path: path.stem)
def test_a_run_holds_as_often_as_the_vector_says(path: Path) -> None:
    """[J-23, J-25, K-56, K-115, K-116, K-117, K-119, A1, H179]"""
    vector = read_vector(RunVector, path)
    assert len(vector.rounds) > vector.happened, "the run would end for want of rounds"
    said = held_run(
        vector.grant,
        vector.host_max_holds,
        (Round(verdict=unmet(*r.unmet), tree_digest=r.tree_digest) for r in vector.rounds),
    )
    assert len(said) == vector.happened
    assert all(isinstance(each, Another) for each in said[:-1])
    last = said[-1]
    assert isinstance(last, Stop)
    assert isinstance(last.outcome, StoppedUnmet)
    assert last.outcome.stopped == vector.stopped
    assert last.outcome.clauses == vector.rounds[vector.happened - 1].unmet


@pytest.mark.behaviour("J-21", "J-25")
@pytest.mark.parametrize(
    ("ask", "host", "bound"),
    [(7, 2, 2), (1, 2, 1), (None, 2, 2), (None, 8, 8), (3, 0, 0), (2, 2, 2), (0, 8, 0)],
)
def test_the_bound_is_the_lower_of_ask_and_ceiling(ask: int | None, host: int, bound: int) -> None:
    """[J-21, J-25, D-45]"""
    grant = Grant(participation=Grade.ARBITER, max_holds=ask)
    assert allowed(State(holds_spent=0, host_max_holds=host), grant) == bound


def test_a_correction_carries_the_clauses_and_their_text() -> None:
    """[J-21 step 7]"""
    clauses = (clause("a"), clause("b"))
    given = again(unmet(*clauses), State(holds_spent=0, host_max_holds=1), ARBITER)
    assert isinstance(given, Another)
    assert given.correction.unmet == clauses
    assert given.correction.guidance.label == "wrapper-verdict"
    assert given.correction.guidance.text.endswith(LAST_HOLD)


@pytest.mark.behaviour("J-24", "D-19")
def test_a_count_of_holds_outlives_whatever_the_model_did_between_rounds() -> None:
    """[D-19, J-24, A4] The counter is the run's; the outcome's word differs from met."""
    rounds = [Round(verdict=unmet(clause()), tree_digest=f"d{i}") for i in range(9)]
    said = held_run(ARBITER, 2, rounds)
    assert len(said) == 3
    spent = AllowanceSpent(allowance_spent=Allowance(spent=2, allowed=2))
    assert isinstance(said[-1], Stop)
    assert isinstance(said[-1].outcome, StoppedUnmet)
    assert said[-1].outcome.stopped == spent
    assert codec.encode(said[-1]).startswith(b'{"stop":{"outcome":{"unmet":')


def test_an_undecided_stop_keeps_its_reason_for_the_exit_code() -> None:
    """[J-21 step 2, H188]"""
    verdict = undecided(Unknowable.FLIP_UNOBSERVABLE)
    given = again(verdict, State(holds_spent=0, host_max_holds=8), ARBITER)
    assert isinstance(given, Stop)
    assert isinstance(given.outcome, Undecided)
    assert given.outcome == verdict


@pytest.mark.behaviour("J-50")
def test_a_state_omits_what_is_as_in_the_first_round() -> None:
    """[J-50]"""
    state = State(holds_spent=0, host_max_holds=2)
    assert codec.encode(state) == b'{"holds_spent":0,"host_max_holds":2}'
    assert codec.read(State, b'{"holds_spent":0,"host_max_holds":2}').progress is Progress.FIRST


@pytest.mark.behaviour("J-50")
@pytest.mark.parametrize(
    "text",
    [
        b'{"again":{"correction":{"unmet":[],"guidance":{"label":"a","text":"b","by":"c"}}}}',
        b'{"again":{"correction":{"unmet":[]}}}',
        b'{"stop":{"outcome":{"unmet":{"unmet":[]}}}}',
        b'{"stop":{"outcome":{"unmet":{"unmet":[],"stopped":"met"}}}}',
        b'{"stop":{"outcome":{"unmet":{"unmet":[],"stopped":{"budget_spent":{"ceiling":"luck"}}}}}}',
        b'{"stop":{"outcome":{"met":{"evidence":"host-observed"}}},"again":{}}',
    ],
)
def test_a_continuation_with_a_foreign_key_or_word_is_refused(text: bytes) -> None:
    """[J-50]"""
    kind: Any = Continuation
    with pytest.raises(Refused):
        codec.read(kind, text)


@pytest.mark.behaviour("J-4")
@pytest.mark.parametrize("number", [-1, 2**32])
def test_a_count_outside_its_width_is_refused(number: int) -> None:
    """[J-4]"""
    with pytest.raises(Refused):
        codec.decode(State, {"holds_spent": number, "host_max_holds": 0})
    widest = codec.decode(State, {"holds_spent": 2**32 - 1, "host_max_holds": 0})
    assert widest.holds_spent == 2**32 - 1
