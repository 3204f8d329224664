import pytest

from stella import limits
from stella.manifest.grammar import OPERATORS
from stella.manifest.grammar import Comparison
from stella.manifest.grammar import Kind
from stella.manifest.grammar import Measure
from stella.manifest.grammar import Truth
from stella.manifest.grammar import UnknownSignal
from stella.manifest.grammar import Unparsable
from stella.manifest.grammar import WrongKind
from stella.manifest.grammar import kind_of
from stella.manifest.grammar import parse_check
from stella.manifest.grammar import parse_condition
from stella.wire.points import COUNTS
from stella.wire.points import Signal


@pytest.mark.behaviour("J-16")
@pytest.mark.parametrize(
    ("operator", "holding"),
    [
        (">", {6}),
        (">=", {5, 6}),
        ("<", {4}),
        ("<=", {4, 5}),
        ("==", {5}),
        ("!=", {4, 6}),
    ],
)
def test_a_check_holds_for_the_numbers_its_operator_says(operator: str, holding: set[int]) -> None:
    """[M-26, J-16]"""
    read = parse_check(f"p50 {operator} 5")
    assert read == Comparison(name="p50", operator=operator, number=5)
    assert {value for value in (4, 5, 6) if read.holds(value)} == holding


def test_the_operators_are_six() -> None:
    """[M-26]"""
    assert OPERATORS == (">", ">=", "<", "<=", "==", "!=")


def test_a_check_may_be_spaced_by_any_white_space() -> None:
    """[M-26]"""
    assert parse_check(" p50\t<= \n 5 ") == Comparison(name="p50", operator="<=", number=5)


@pytest.mark.behaviour("J-16")
def test_the_largest_number_of_a_check_is_unsigned_64_bit() -> None:
    """[M-26]"""
    read = parse_check(f"p50 <= 000{limits.U64_MAX}")
    assert isinstance(read, Comparison)
    assert read.number == limits.U64_MAX
    beyond = parse_check(f"p50 <= {limits.U64_MAX + 1}")
    assert beyond == Unparsable(reason=f"the number is above {limits.U64_MAX}")


def test_a_number_of_a_million_digits_is_refused_without_reading_it() -> None:
    """[M-26, B53]"""
    assert isinstance(parse_check("p50 <= " + "9" * 1_000_000), Unparsable)


@pytest.mark.behaviour("M-26")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("p50<=5", "put spaces around the operator"),
        ("p50 <=5", "expected a measurement, an operator and a number, got 2 words"),
        ("p50", "expected a measurement, an operator and a number, got 1 word"),
        ("", "expected a measurement, an operator and a number, got 0 words"),
        ("a <= 0 or true", "expected a measurement, an operator and a number, got 5 words"),
        ("p50 =< 5", '"=<" is no operator; legal: > >= < <= == !='),
        ("p50 <= -1", '"-1" is not a whole number of digits'),
        ("p50 <= +1", '"+1" is not a whole number of digits'),
        ("p50 <= 1.5", '"1.5" is not a whole number of digits'),
        ("p50 <= 1e9", '"1e9" is not a whole number of digits'),
        ("p50 <= 1_0", '"1_0" is not a whole number of digits'),
        ("p50 <= \u0665", '"\u0665" is not a whole number of digits'),
        ("p50 <= \u00b2", '"\u00b2" is not a whole number of digits'),
        ("p50 <= 5\u200b", r'"5\u{200B}" is not a whole number of digits'),
    ],
)
def test_what_is_no_check_says_why(text: str, reason: str) -> None:
    """[M-26, K-12, B53]"""
    assert parse_check(text) == Unparsable(reason=reason)


def test_a_long_word_is_cut_in_the_reason() -> None:
    """[M-7]"""
    read = parse_check("p50 <= x" + "x" * limits.FAULT_VALUE_CHARS)
    assert isinstance(read, Unparsable)
    assert "[1 more characters]" in read.reason


@pytest.mark.behaviour("M-43")
@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("plans", Truth(signal=Signal.PLANS, wanted=True)),
        ("no-plans", Truth(signal=Signal.PLANS, wanted=False)),
        (
            "questions > 0",
            Measure(
                signal=Signal.QUESTIONS,
                comparison=Comparison(name="questions", operator=">", number=0),
            ),
        ),
        ("questions>0", Unparsable(reason="put spaces around the operator")),
        ("questions", WrongKind(signal=Signal.QUESTIONS, used=Kind.BOOLEAN)),
        ("no-questions", WrongKind(signal=Signal.QUESTIONS, used=Kind.BOOLEAN)),
        ("plans > 0", WrongKind(signal=Signal.PLANS, used=Kind.COUNT)),
        ("no-questions > 0", UnknownSignal(name="no-questions")),
        ("no-no-plans", UnknownSignal(name="no-plans")),
        ("Plans", UnknownSignal(name="Plans")),
        ("questions > x", Unparsable(reason='"x" is not a whole number of digits')),
    ],
)
def test_a_condition_is_read_as_the_table_says(text: str, result: object) -> None:
    """[M-43, K-14, K-15]"""
    assert parse_condition(text) == result


@pytest.mark.parametrize("text", ["", "  ", "plans and", "plans and verifies or plans"])
def test_a_condition_of_another_number_of_words_is_none(text: str) -> None:
    """[M-43]"""
    read = parse_condition(text)
    assert isinstance(read, Unparsable)
    assert f"got {len(text.split())} words" in read.reason


@pytest.mark.behaviour("M-41")
def test_every_signal_can_be_read_in_its_own_kind_and_no_other() -> None:
    """[M-41, M-43]"""
    for signal in Signal:
        alone = parse_condition(signal.value)
        compared = parse_condition(f"{signal.value} >= 1")
        if kind_of(signal) is Kind.COUNT:
            assert signal in COUNTS
            assert isinstance(alone, WrongKind)
            assert isinstance(compared, Measure)
        else:
            assert isinstance(alone, Truth)
            assert isinstance(compared, WrongKind)


def test_a_condition_holds_by_the_value_of_its_signal() -> None:
    """[M-43, K-16]"""
    table: dict[Signal, bool | int] = {Signal.PLANS: False, Signal.QUESTIONS: 2}
    holding = {
        text: read.holds(table)
        for text in ("plans", "no-plans", "questions > 1", "questions > 2")
        if isinstance(read := parse_condition(text), Truth | Measure)
    }
    assert holding == {
        "plans": False,
        "no-plans": True,
        "questions > 1": True,
        "questions > 2": False,
    }
