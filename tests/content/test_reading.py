"""A reading is a value or the reasons why there is none."""

import pytest

from stella.content.reading import Reading


def test_a_value_stands_alone_or_with_notes() -> None:
    assert Reading(value=1).faults == ()
    assert Reading(value=1, notes=("an unknown key",)).notes == ("an unknown key",)


def test_without_a_value_there_is_a_reason() -> None:
    assert Reading[int](value=None, faults=("not TOML",)).faults == ("not TOML",)
    with pytest.raises(ValueError, match="not both"):
        Reading[int](value=None)
    with pytest.raises(ValueError, match="not both"):
        Reading(value=1, faults=("not TOML",))
