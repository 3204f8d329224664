"""The turn as a generator that asks, and is answered.

`reply = yield from ask(AskModel(...))` is typed by its question. The turn holds no process,
file or clock; whoever drives it answers with real hands, and replay feeds the recorded
answers back to the same generator.
"""

from collections.abc import Generator
from typing import Any
from typing import Generic
from typing import TypeVar
from typing import cast

A = TypeVar("A")


class Ask(Generic[A]):
    """A question the turn puts to its host. `A` is the type of the answer."""

    __slots__ = ()


Turn = Generator[Ask[Any], Any, A]
"""A conversation with the host that ends in an `A`."""


class Cancelled(Exception):
    """Thrown into the turn in place of an answer: somebody ended the run [E-113].

    The turn closes what is open, tells that it was cancelled and returns.
    """

    def __init__(self, by: str) -> None:
        self.by = by
        super().__init__(f"cancelled by {by}")


def ask(question: Ask[A]) -> Turn[A]:
    """Put `question` and return its answer."""
    return cast("A", (yield question))
