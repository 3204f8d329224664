import pytest

from stella.turn.ask import Ask
from stella.turn.ask import Cancelled
from stella.turn.ask import Turn
from stella.turn.ask import ask


class Number(Ask[int]):
    pass


def doubled() -> Turn[int]:
    number = yield from ask(Number())
    return number * 2


def test_a_question_is_answered_by_what_is_sent() -> None:
    turn = doubled()
    assert isinstance(next(turn), Number)
    with pytest.raises(StopIteration) as end:
        turn.send(21)
    assert end.value.value == 42


def test_a_cancel_says_who_asked_for_it() -> None:
    assert str(Cancelled("SIGINT")) == "cancelled by SIGINT"
