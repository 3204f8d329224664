import pytest

from stella import codec
from stella.turn.facts import Cause
from stella.turn.facts import RunStatus
from stella.turn.facts import TurnEnded
from stella.turn.facts import TurnStatus
from stella.turn.facts import UsageTotal


def test_statuses_and_causes_are_spelled_as_the_contract_spells_them() -> None:
    """[E-120, E-122]"""
    assert [word.value for word in TurnStatus] == ["completed", "stopped", "failed", "cancelled"]
    assert [word.value for word in RunStatus] == [
        "met", "completed", "unmet", "undecided", "stopped", "failed", "cancelled",
    ]  # fmt: skip
    assert [word.value for word in Cause] == [
        "step_limit", "money_limit", "token_limit", "time_limit", "stuck_loop", "soft_stop",
        "hook_refused", "provider", "empty_reply", "content_filter", "journal", "internal",
        "cancel",
    ]  # fmt: skip


@pytest.mark.parametrize("changed", [None, (), ("a",)])
def test_unmeasured_changes_are_an_absent_key(changed: tuple[str, ...] | None) -> None:
    """[T2-53]"""
    fact = TurnEnded(
        status=TurnStatus.COMPLETED,
        stop_gate="not_asked",
        steps=1,
        usage=UsageTotal(),
        changed_files=changed,
        text="x",
    )
    plain = codec.plain(fact)
    assert ("changed_files" in plain) is (changed is not None)
    assert plain["cost_usd"] is None
