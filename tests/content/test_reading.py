"""A reading is a value or the reasons why there is none."""

import pytest

from stella import limits
from stella.content.reading import Reading
from stella.content.reading import first_of


def test_a_value_stands_alone_or_with_notes() -> None:
    assert Reading(value=1).faults == ()
    assert Reading(value=1, notes=("an unknown key",)).notes == ("an unknown key",)


def test_without_a_value_there_is_a_reason() -> None:
    assert Reading[int](value=None, faults=("not TOML",)).faults == ("not TOML",)
    with pytest.raises(ValueError, match="not both"):
        Reading[int](value=None)
    with pytest.raises(ValueError, match="not both"):
        Reading(value=1, faults=("not TOML",))


def test_the_first_of_many_notes_are_told_and_how_many_more_there_are() -> None:
    """[P-31] limits.IGNORED_SHOWN, at the limit and one past it."""
    exact = tuple(f"note {at}" for at in range(limits.IGNORED_SHOWN))
    assert first_of(exact) == exact
    assert first_of((*exact, "x"), "p: ") == (*exact, "p: 1 more note")
