"""The closed vocabularies as the contract spells them [W-48]: a diff here is a wire change."""

import pytest

from stella.codec import Word
from stella.wire.points import COUNTS
from stella.wire.points import HOST_STAGES
from stella.wire.points import POST_TURN_STAGES
from stella.wire.points import PUBLISHER
from stella.wire.points import Call
from stella.wire.points import DriverVerb
from stella.wire.points import Hook
from stella.wire.points import Point
from stella.wire.points import Refusal
from stella.wire.points import Signal


def words(kind: type[Word]) -> list[str]:
    return [word.value for word in kind]


@pytest.mark.behaviour("W-48", "W-35")
def test_the_vocabularies_are_these() -> None:
    assert words(Point) == ["before_turn", "after_turn"]
    assert words(Call) == [
        "recall", "child_turn", "run_test", "candidate_fanout", "adopt_candidate", "emit",
    ]  # fmt: skip
    assert words(Refusal) == [
        "undeclared", "forbidden", "unsupported", "allowance-spent", "unavailable", "failed",
    ]  # fmt: skip
    assert words(Hook) == [
        "SessionStart", "SessionEnd", "UserPromptSubmit", "TurnStart", "TurnEnd", "TurnError",
        "PreToolUse", "PostToolUse", "SubagentStart", "SubagentStop", "Stop", "PreCompact",
    ]  # fmt: skip
    assert words(Signal) == [
        "test-command", "candidates", "budget-metered", "conversational", "questions", "plans",
        "verifies", "wants-witness", "wants-verifier", "mutating-actions", "diff-lines",
        "witness-authored", "flip-achieved", "tests-red", "tests-green",
    ]  # fmt: skip
    assert len(words(DriverVerb)) == 18
    assert len(HOST_STAGES) == 12


def test_every_signal_has_a_publisher_or_is_a_fact_of_the_host() -> None:
    """[M-41]"""
    assert set(PUBLISHER) == set(Signal)
    assert {s.value for s, publisher in PUBLISHER.items() if publisher is None} == {
        "test-command",
        "candidates",
        "budget-metered",
    }
    assert {publisher for publisher in PUBLISHER.values() if publisher} <= set(HOST_STAGES)
    assert {signal.value for signal in COUNTS} == {
        "candidates",
        "questions",
        "mutating-actions",
        "diff-lines",
    }


@pytest.mark.behaviour("D-22")
def test_the_late_stages_stand_after_execute() -> None:
    """[D-22]"""
    late = HOST_STAGES[HOST_STAGES.index("execute") + 1 :]
    assert set(late) == POST_TURN_STAGES
