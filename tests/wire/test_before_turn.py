import pytest

from stella import codec
from stella.codec import Refused
from stella.wire.before_turn import BeforeTurnAnswer
from stella.wire.before_turn import SignalValue


@pytest.mark.parametrize("data", [b"{}", b'{"boolean":true,"count":1}'])
@pytest.mark.behaviour("W-24")
def test_a_value_is_exactly_one_of_a_boolean_and_a_count(data: bytes) -> None:
    """[W-24]"""
    with pytest.raises(Refused, match="exactly one"):
        codec.read(SignalValue, data)


def test_false_and_zero_are_values() -> None:
    assert codec.read(SignalValue, b'{"boolean":false}').boolean is False
    assert codec.read(SignalValue, b'{"count":0}').count == 0


@pytest.mark.behaviour("W-25")
def test_the_empty_contribution_is_the_version_alone() -> None:
    """[W-25]"""
    assert codec.encode(BeforeTurnAnswer(protocol_version=1)) == b'{"protocol_version":1}'
