from stella.authority.risk import Risk
from stella.authority.risk import risk_of


def test_grades_rise_in_order() -> None:
    """[A-2]"""
    assert [grade.rank for grade in Risk] == [0, 1, 2, 3]
    assert Risk.LOW.rank < Risk.DESTRUCTIVE.rank


def test_a_token_is_a_grade_or_nothing() -> None:
    assert risk_of("high") is Risk.HIGH
    assert risk_of("hgh") is None
    assert risk_of("HIGH") is None
