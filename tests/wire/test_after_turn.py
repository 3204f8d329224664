import pytest

from stella import codec
from stella.codec import Refused
from stella.wire.after_turn import AfterTurnAnswer


@pytest.mark.parametrize("number", [b"true", b"1.0", b"-0", b'"0"', b"-1", b"18446744073709551616"])
@pytest.mark.behaviour("F148")
def test_a_measurement_is_an_unsigned_number(number: bytes) -> None:
    """[W-6]"""
    data = b'{"protocol_version":1,"evidence":{"flip":"achieved","measurements":{"x":%s}}}' % number
    with pytest.raises(Refused) as refused:
        codec.read(AfterTurnAnswer, data)
    assert refused.value.reasons[0].at == "evidence.measurements.x"


def test_null_inside_measurements_is_a_wrong_type() -> None:
    """[Q-18]"""
    data = b'{"protocol_version":1,"evidence":{"flip":"achieved","measurements":{"x":null}}}'
    with pytest.raises(Refused):
        codec.read(AfterTurnAnswer, data)


@pytest.mark.behaviour("W-28")
def test_undeclared_measurements_are_accepted() -> None:
    """[W-28]"""
    data = b'{"protocol_version":0,"evidence":{"flip":"unobservable","measurements":{"any":7}}}'
    assert codec.read(AfterTurnAnswer, data).evidence.measurements == {"any": 7}
