"""A limit of money over a whole run: its rounds, its child turns, its candidates [E-80 to E-84]."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from stella import limits
from tests.making.asking import Played
from tests.making.asking import asked
from tests.making.ends import HONEST
from tests.making.ends import granted
from tests.making.ends import place
from tests.making.ends import says as replied
from tests.making.plugins import arbiter
from tests.making.repositories import repository
from tests.making.sessions import Line

DIGITS = "9" * limits.MONEY_DIGITS
ASK = 'ask("child_turn", role="planner", instruction="plan")\n'


def costs(usd: float, text: str = "done") -> Line:
    """A reply of a known price."""
    return {"text": text, "usage": {"cost_usd": usd}}


def limited(folder: Path, program: str, *lines: Line, usd: str = "1", **more: Any) -> Played:
    return asked(folder, program, *lines, spend_limit=Decimal(usd), **more)


@pytest.mark.behaviour("K-118")
def test_an_unmet_verdict_at_the_limit_buys_no_further_round(tmp_path: Path) -> None:
    """[J-21, J-52, Q-4, D-83, D-84]"""
    where = place(tmp_path)
    where.install(arbiter(tmp_path / "judge", HONEST))
    where.scripted(replied("no", usage={"cost_usd": 0.75}), replied("never asked"))
    done = where.run(*granted("judge"), "--spend-limit", "0.75")
    assert done.code == 4
    assert done.result["status"] == "unmet"
    stopped = done.result["outcome"]["stop"]["unmet"]["stopped"]
    assert stopped == {"budget_spent": {"ceiling": "money"}}
    assert done.result["rounds"] == 1
    assert "the limit of money is reached" in done.err
    assert where.told("pipeline_bound")[0]["signals"]["budget-metered"] is True
    assert where.told("session_opened")[0]["limits"] == {"steps": 200, "money_usd": 0.75}


def test_a_turn_that_crosses_the_limit_is_stopped_and_the_verdict_is_there(tmp_path: Path) -> None:
    """[D-18, D-84, E-12]"""
    where = place(tmp_path)
    where.install(arbiter(tmp_path / "judge", HONEST))
    where.scripted(replied("no", usage={"cost_usd": 0.76}))
    done = where.run(*granted("judge"), "--spend-limit", "0.75")
    assert (done.code, done.result["status"]) == (3, "stopped")
    assert "unmet" in done.result["verdict"]
    assert done.result["outcome"]["cause"] == "money_limit"


@pytest.mark.behaviour("E-94")
def test_what_a_child_turn_spends_is_carved_out_of_the_run(tmp_path: Path) -> None:
    """[E-94, D-53]"""
    played = limited(tmp_path, ASK + "answer()\n", costs(0.75), costs(0.25))
    (call,) = played.calls
    assert call.cost_usd == 0.75
    assert (played.done.result.status.value, played.done.result.cost_usd) == ("completed", 1.0)


def test_a_child_turn_is_stopped_where_the_run_would_be(tmp_path: Path) -> None:
    """[E-94, E-81]"""
    played = limited(tmp_path, ASK + "answer()\n", costs(1.5, "dear plan"), costs(0.1))
    (call,) = played.calls
    assert call.ok is not None
    assert call.ok["completed"] is False
    assert played.data("subagent_finished")[0]["cause"] == "money_limit"
    assert played.done.result.outcome.cause == "money_limit"
    assert played.done.result.usage.model_calls == 1


def test_with_nothing_left_no_turn_is_begun_under_a_turn(tmp_path: Path) -> None:
    """[E-94, W-36]"""
    fan = 'ask("candidate_fanout", role="builder", instruction="try", width=1)\n'
    root = repository(tmp_path / "work", {"a.txt": "a\n"})
    program = ASK + ASK + fan + "answer()\n"
    played = limited(tmp_path, program, costs(1.0), costs(0.0), root=root)
    first, *others = played.calls
    assert first.refusal is None
    for call in others:
        assert call.refusal is not None
        assert call.refusal.refusal.value == "allowance-spent"
        assert call.refusal.detail == "nothing is left of the run's limit of 1 USD"


def test_candidates_share_what_is_left(tmp_path: Path) -> None:
    """[D-54]"""
    root = repository(tmp_path / "work", {"a.txt": "a\n"})
    fan = 'ask("candidate_fanout", role="builder", instruction="try", width=2)\nanswer()\n'
    lines = (costs(0.25, "cheap"), costs(0.5, "dear"), costs(0.0))
    played = limited(tmp_path, fan, *lines, usd="0.8", root=root)
    attempts = (played.calls[0].ok or {})["candidates"]
    assert [(each["report"], each["completed"]) for each in attempts] == [
        ("cheap", True),
        ("the run reached its limit of 0.8 USD", False),
    ]


@pytest.mark.parametrize(
    "given", ["0", "-1", "1e3", "x", "1.2.3", DIGITS + "9", "\N{SUPERSCRIPT TWO}"]
)
def test_a_limit_that_is_none_is_a_usage_error(tmp_path: Path, given: str) -> None:
    """[S-7, E-80]"""
    where = place(tmp_path)
    where.scripted(replied())
    for words, env in (((f"--spend-limit={given}",), {}), ((), {"STELLA_SPEND_LIMIT": given})):
        done = where.stella("run", "go", *where.asked, *words, env=env)
        assert (done.code, done.result["error"]["code"]) == (2, "usage")
        assert "--spend-limit: expected USD above 0" in done.result["error"]["message"]


def test_the_variable_holds_where_no_flag_is_given(tmp_path: Path) -> None:
    """[S2-30]"""
    where = place(tmp_path)
    where.scripted(replied(usage={"cost_usd": 0.5}))
    done = where.stella("run", "go", *where.asked, env={"STELLA_SPEND_LIMIT": "0.4"})
    assert (done.code, done.result["outcome"]["cause"]) == (3, "money_limit")
    rich = ("--spend-limit", DIGITS)
    done = where.stella("run", "go", *where.asked, *rich, env={"STELLA_SPEND_LIMIT": "0.4"})
    assert done.code == 0
