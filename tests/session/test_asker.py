from stella.session.asker import Bill
from stella.session.asker import failed
from stella.session.asker import unavailable
from stella.turn.tally import Tally
from stella.wire.points import Refusal
from tests.making.playing import says


def test_a_bill_adds_up_and_knows_no_steps_before_the_first_turn() -> None:
    """[J2-40]"""
    assert Bill().steps is None
    bill = Bill()
    used = Tally()
    used.charge(says())
    bill.charge(used, 2)
    bill.charge(used, 0)
    assert bill.steps == 2
    assert bill.spent.usage.model_calls == 2


def test_the_two_refusals_of_a_plane_bear_their_word() -> None:
    """[W-35]"""
    assert failed("a").refusal is Refusal.FAILED
    assert unavailable("b").refusal is Refusal.UNAVAILABLE
