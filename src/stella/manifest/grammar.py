"""The two one-line grammars of a manifest: checks [M-26] and stage conditions [M-43].

Both are closed: no arithmetic, no conjunction, no fraction, ASCII digits only. A text that
is no sentence of its grammar is told from one that names the wrong signal, because the
author mends them differently.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from stella import limits
from stella.codec import Word
from stella.escape import brief
from stella.wire.points import COUNTS
from stella.wire.points import Signal

OPERATORS: Final = (">", ">=", "<", "<=", "==", "!=")
NEGATION: Final = "no-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A name, an operator and a number: `test-command-exit-code <= 0` [M-26]."""

    name: str
    operator: str
    number: int

    def holds(self, value: int) -> bool:
        """Return whether `value` stands in the relation; both are unsigned 64-bit [J-16]."""
        match self.operator:
            case ">":
                return value > self.number
            case ">=":
                return value >= self.number
            case "<":
                return value < self.number
            case "<=":
                return value <= self.number
            case "==":
                return value == self.number
            case _:
                return value != self.number


@dataclass(frozen=True, slots=True, kw_only=True)
class Unparsable:
    """A text that breaks its grammar, and how [R-33, R-48]."""

    reason: str


class Kind(Word):
    """What a signal carries, and what a condition may do with it [M-41]."""

    BOOLEAN = "boolean"
    COUNT = "count"


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """A boolean signal and the value the condition wants of it: `no-plans` [M-43]."""

    signal: Signal
    wanted: bool

    def holds(self, table: Mapping[Signal, bool | int]) -> bool:
        """Return whether the signal has the wanted value in `table`."""
        return bool(table[self.signal]) is self.wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A count signal and the comparison the condition makes: `questions > 0` [M-43]."""

    signal: Signal
    comparison: Comparison

    def holds(self, table: Mapping[Signal, bool | int]) -> bool:
        """Return whether the signal's count in `table` stands in the relation."""
        return self.comparison.holds(int(table[self.signal]))


Condition = Truth | Measure
"""When a stage runs [M-43]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownSignal:
    """A condition that names none of the 15 signals [R-49]; `name` is what it wrote."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongKind:
    """A condition that uses a signal as what it is not [R-50]."""

    signal: Signal
    used: Kind


def kind_of(signal: Signal) -> Kind:
    """Return what a signal carries [M-41]."""
    return Kind.COUNT if signal in COUNTS else Kind.BOOLEAN


def parse_check(text: str) -> Comparison | Unparsable:
    """Return a check's comparison, or why the text is none [M-26]."""
    words = text.split()
    if _glued(words):
        return Unparsable(reason="put spaces around the operator")
    if len(words) != 3:  # noqa: PLR2004  # the grammar is three tokens
        return Unparsable(
            reason=f"expected a measurement, an operator and a number, got {_counted(words)}"
        )
    return _compared(*words)


def parse_condition(text: str) -> Condition | Unparsable | UnknownSignal | WrongKind:
    """Return a stage's condition, or why the text is none [M-43].

    A comparison is read before its signal is looked up, so a text that breaks the grammar
    is never called an unknown signal.
    """
    words = text.split()
    if _glued(words):
        return Unparsable(reason="put spaces around the operator")
    match words:
        case [name]:
            signal = _signal(name.removeprefix(NEGATION))
            if signal is None:
                return UnknownSignal(name=name.removeprefix(NEGATION))
            if kind_of(signal) is not Kind.BOOLEAN:
                return WrongKind(signal=signal, used=Kind.BOOLEAN)
            return Truth(signal=signal, wanted=not name.startswith(NEGATION))
        case [name, operator, number]:
            comparison = _compared(name, operator, number)
            return comparison if isinstance(comparison, Unparsable) else _measured(comparison)
        case _:
            return Unparsable(
                reason="expected a signal, or a signal, an operator and a number, "
                f"got {_counted(words)}"
            )


def _measured(comparison: Comparison) -> Condition | UnknownSignal | WrongKind:
    signal = _signal(comparison.name)
    if signal is None:
        return UnknownSignal(name=comparison.name)
    if kind_of(signal) is not Kind.COUNT:
        return WrongKind(signal=signal, used=Kind.COUNT)
    return Measure(signal=signal, comparison=comparison)


def _signal(name: str) -> Signal | None:
    return next((signal for signal in Signal if signal.value == name), None)


def _glued(words: list[str]) -> bool:
    return len(words) == 1 and any(sign in words[0] for sign in "<>=!")


def _counted(words: list[str]) -> str:
    return "1 word" if len(words) == 1 else f"{len(words)} words"


def _compared(name: str, operator: str, number: str) -> Comparison | Unparsable:
    if operator not in OPERATORS:
        return Unparsable(reason=f'"{brief(operator)}" is no operator; legal: {_LEGAL}')
    if not (number.isascii() and number.isdigit()):
        return Unparsable(reason=f'"{brief(number)}" is not a whole number of digits')
    # Digits are counted before they are read: reading a long number costs its square.
    digits = number.lstrip("0") or "0"
    if len(digits) > len(str(limits.U64_MAX)) or int(digits) > limits.U64_MAX:
        return Unparsable(reason=f"the number is above {limits.U64_MAX}")
    return Comparison(name=name, operator=operator, number=int(digits))


_LEGAL: Final = " ".join(OPERATORS)
