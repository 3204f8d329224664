"""The one glob grammar."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stella.authority.glob import matches


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("", "", True),
        ("", "a", False),
        ("a", "a", True),
        ("a", "ab", False),
        ("*", "", True),
        ("*", "a/b", True),
        ("*.py", "src/deep/a.py", True),
        ("*.py", "a.pyc", False),
        ("src/*", "src/a/b", True),
        ("src/*", "src", False),
        ("**/a", "x/a", True),
        ("a*a", "a", False),
        ("a*a", "aa", True),
        ("*b*b*", "abab", True),
        ("*b*b*", "ab", False),
        ("A", "a", False),
        ("?", "a", False),
        ("[ab]", "a", False),
        ("{a,b}", "a", False),
        ("a|b", "a", False),
        ("a,b", "a", False),
    ],
)
def test_a_star_is_any_run_and_all_else_is_itself(pattern: str, text: str, *, fits: bool) -> None:
    """A-10."""
    assert matches(pattern, text) is fits


@given(st.text(alphabet="ab*", max_size=8), st.text(alphabet="ab", max_size=10))
def test_it_agrees_with_an_expression(pattern: str, text: str) -> None:
    """A-10."""
    expression = ".*".join(map(re.escape, pattern.split("*")))
    assert matches(pattern, text) == (re.fullmatch(expression, text) is not None)


def test_it_does_not_take_exponential_time() -> None:
    """A-10: an expression of this kind would not end."""
    assert not matches("*a" * 5000 + "b", "a" * 10_000)
    assert matches("*a" * 5000, "a" * 10_000)
