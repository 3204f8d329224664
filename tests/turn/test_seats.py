import pytest

from stella import limits
from stella.turn.seats import TIERS
from stella.turn.seats import Seat
from stella.turn.seats import Seating
from stella.turn.seats import undeclared_role
from stella.wire.host_result import RefusedCall
from stella.wire.points import Refusal

ROLES = {"planner": "plan", "judge": "verifier", "sage": "oracle"}


@pytest.mark.behaviour("D-50")
def test_the_tiers_that_need_no_binding_lead_to_the_seats() -> None:
    """[D-50]"""
    assert dict(TIERS) == {
        "worker": "worker",
        "triage": "triage",
        "research": "research",
        "plan": "plan",
        "verifier": "verdict",
    }
    assert set(TIERS.values()) == {seat.value for seat in Seat}


def test_a_person_s_table_replaces_and_adds_rows() -> None:
    """[D-50]"""
    seating = Seating(seats={**TIERS, "oracle": "research", "plan": "triage"})
    assert seating.seat("sage", ROLES) == "research"
    assert seating.seat("planner", ROLES) == "triage"
    assert seating.seat("judge", ROLES) == "verdict"


@pytest.mark.behaviour("W-36")
def test_an_undeclared_role_is_refused_with_the_declared_ones() -> None:
    """[D-52, W-36]"""
    refused = Seating().seat("plannr", ROLES)
    assert isinstance(refused, RefusedCall)
    assert refused.refusal is Refusal.UNDECLARED
    assert refused.detail == (
        'role "plannr" is not declared; did you mean planner?; declared roles: judge, planner, sage'
    )
    far = undeclared_role("zzzzzzzzzz", ROLES).detail
    assert far == 'role "zzzzzzzzzz" is not declared; declared roles: judge, planner, sage'
    assert "declares no role" in undeclared_role("x", {}).detail


@pytest.mark.parametrize("over", [0, 1])
@pytest.mark.behaviour("W-36")
def test_a_value_is_named_by_its_head(over: int) -> None:
    """[W-36, C-3] limits.FAULT_VALUE_CHARS; what a plugin says is no longer than a person reads."""
    role = "x" * (limits.FAULT_VALUE_CHARS + over)
    ends = f'{"x" * limits.FAULT_VALUE_CHARS}{" [1 more characters]" * over}" is not declared'
    assert ends in undeclared_role(role, ROLES).detail
    assert ends in undeclared_role(role, {}).detail


@pytest.mark.behaviour("W-36")
def test_an_unbound_tier_is_unavailable_with_the_bound_ones() -> None:
    """[D-52, W-36]"""
    refused = Seating().seat("sage", ROLES)
    assert isinstance(refused, RefusedCall)
    assert refused.refusal is Refusal.UNAVAILABLE
    assert refused.detail == (
        'tier "oracle" of role "sage" is not bound; '
        "bound tiers: worker, triage, research, plan, verifier"
    )
