"""[I-43] Who may switch off whose plugin."""

import pytest

from stella.roster.scope import Scope
from stella.roster.switch import NOTHING_OFF
from stella.roster.switch import Off


@pytest.mark.behaviour("I-43")
@pytest.mark.parametrize("trusted", [True, False])
def test_an_off_in_any_scope_holds_but_a_strangers_over_a_persons_guard(*, trusted: bool) -> None:
    """[I-43]"""
    off = Off(person=frozenset("a"), project=frozenset("b"), trusted=trusted)
    held = {(name, scope.value): off.holds(name, scope) for name in "abc" for scope in Scope}
    assert held == {
        ("a", "project"): True,
        ("a", "user"): True,
        ("b", "project"): True,
        ("b", "user"): trusted,
        ("c", "project"): False,
        ("c", "user"): False,
    }


def test_a_list_tells_each_name_with_whose_settings_say_so() -> None:
    """[I-60]"""
    off = Off(person=frozenset("ca"), project=frozenset("ab"))
    theirs = "by the project's settings, for its own copy only"
    mine = "by the person's settings"
    assert list(off.rows()) == [("a", mine), ("b", theirs), ("c", mine)]
    trusted = Off(project=frozenset("b"), trusted=True)
    assert list(trusted.rows()) == [("b", "by the project's settings")]
    assert list(NOTHING_OFF.rows()) == []
