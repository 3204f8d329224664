"""The two one-line grammars of a manifest: checks [M-26] and stage conditions [M-43].

Both are closed: no arithmetic, no conjunction, no fraction, ASCII digits only.
"""

from dataclasses import dataclass
from typing import Final

from stella import limits
from stella.escape import visible

OPERATORS: Final = (">", ">=", "<", "<=", "==", "!=")


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


def parse_check(text: str) -> Comparison | Unparsable:
    """Return a check's comparison, or why the text is none [M-26]."""
    words = text.split()
    if len(words) == 1 and any(sign in words[0] for sign in "<>=!"):
        return Unparsable(reason="put spaces around the operator")
    if len(words) != 3:  # noqa: PLR2004  # the grammar is three tokens
        return Unparsable(
            reason=f"expected a measurement, an operator and a number, got {len(words)} words"
        )
    name, operator, number = words
    if operator not in OPERATORS:
        return Unparsable(
            reason=f'"{visible(operator)}" is no operator; legal: {" ".join(OPERATORS)}'
        )
    return _number(name, operator, number)


def _number(name: str, operator: str, text: str) -> Comparison | Unparsable:
    if not (text.isascii() and text.isdigit()):
        return Unparsable(reason=f'"{visible(text)}" is not a whole number of digits')
    # Digits are counted before they are read: reading a long number costs its square.
    digits = text.lstrip("0") or "0"
    if len(digits) > len(str(limits.U64_MAX)) or int(digits) > limits.U64_MAX:
        return Unparsable(reason=f"the number is above {limits.U64_MAX}")
    return Comparison(name=name, operator=operator, number=int(digits))
