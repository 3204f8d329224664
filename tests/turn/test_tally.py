from stella.message import FinishReason
from stella.message import Reply
from stella.message import Usage
from stella.turn.tally import Tally


def reply(cost: float | None, *, reported: bool = True) -> Reply:
    return Reply(
        text="",
        tool_calls=(),
        usage=Usage(
            reported=reported,
            input_tokens=5,
            output_tokens=3,
            cached_input_tokens=2,
            cache_write_tokens=1,
            reasoning_tokens=4,
        ),
        model="m",
        cost_usd=cost,
        finish_reason=FinishReason.STOP,
    )


def test_every_count_adds_up() -> None:
    """[E-85]"""
    tally = Tally()
    tally.charge(reply(0.1))
    tally.charge(reply(0.2, reported=False))
    usage = tally.usage
    assert (usage.input_tokens, usage.output_tokens, usage.model_calls) == (10, 6, 2)
    assert (usage.cached_input_tokens, usage.cache_write_tokens, usage.reasoning_tokens) == (
        4,
        2,
        8,
    )
    assert (usage.unreported_calls, usage.unpriced_calls) == (1, 0)
    assert tally.cost_usd == 0.3, "decimals, not floats [M2-63]"


def test_one_unpriced_call_makes_the_cost_unknown_and_keeps_the_known_part() -> None:
    """[E-82]"""
    tally = Tally()
    tally.charge(reply(0.25))
    tally.charge(reply(None))
    assert tally.cost_usd is None
    assert tally.usage.known_cost_usd == 0.25


def test_a_turn_is_added_to_its_run() -> None:
    run, turn = Tally(), Tally()
    turn.charge(reply(0.5))
    run.add(turn)
    run.add(turn)
    assert (run.cost_usd, run.usage.model_calls) == (1.0, 2)
