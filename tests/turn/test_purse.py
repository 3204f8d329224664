from decimal import Decimal

import msgspec
import pytest

from stella.turn.purse import Purse
from stella.turn.tally import Tally
from tests.making.playing import says


def tally(*costs: float | None) -> Tally:
    """What calls of these costs come to."""
    found = Tally()
    for cost in costs:
        found.charge(msgspec.structs.replace(says(), cost_usd=cost))
    return found


@pytest.mark.behaviour("E-81")
@pytest.mark.parametrize(
    ("costs", "crosses"), [((), False), ((1.0, 1.5), False), ((1.0, 1.51), True)]
)
def test_a_turn_stops_when_more_was_spent_than_there_was(
    costs: tuple[float, ...], crosses: bool
) -> None:
    """[E-81]"""
    said = Purse.of(Decimal("2.5")).crossed(tally(*costs))
    assert said == ("the run reached its limit of 2.5 USD" if crosses else None)


def test_a_further_round_is_forbidden_as_soon_as_nothing_is_left() -> None:
    """[Q-4]"""
    full = Purse.of(Decimal(1))
    assert not full.after(tally(0.99)).empty
    assert full.after(tally(1.0)).empty
    assert full.after(tally(1.5)).empty


def test_a_call_without_a_price_ends_the_turn_under_a_limit() -> None:
    """[E-84]"""
    said = Purse.of(Decimal(1)).crossed(tally(0.1, None))
    assert said == "a call has no known cost, and the run has a limit of 1 USD"


def test_without_a_limit_nothing_is_ever_crossed_or_empty() -> None:
    """[E-80]"""
    none = Purse()
    assert none.crossed(tally(1e9, None)) is None
    assert none.after(tally(1e9)) is none.share(3) is none
    assert not none.empty


def test_turns_that_begin_together_share_what_is_left() -> None:
    """[D-54, E-94]"""
    purse = Purse.of(Decimal(3)).after(tally(1.5))
    assert purse.share(3) == Purse(limit=Decimal(3), left=Decimal("0.5"))
    assert Purse.of(Decimal(1)).after(tally(2.0)).share(2).left == 0
