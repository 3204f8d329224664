"""A change of settings taken back in a text that somebody else changed meanwhile."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stella.errors import RosterError
from stella.roster.edit import set_key
from stella.roster.edit import tree_of
from stella.roster.rebase import rebased

BEFORE = "[ui]\ntheme = 'default' # mine\n"
AFTER = '[ui]\ntheme = "plain" # mine\nlive = true\n'
WORDS = st.sampled_from(["plain", "default", True, False, 1])


@pytest.mark.parametrize(
    ("before", "after", "now", "text", "left"),
    [
        (BEFORE, AFTER, f"{AFTER}# more\n", f"{BEFORE}# more\n", ()),
        (BEFORE, AFTER, "# alone\n", "# alone\n", ("ui.theme",)),
        (BEFORE, AFTER, BEFORE, BEFORE, ()),
        (
            BEFORE,
            AFTER,
            '[ui]\ntheme = "high-contrast"\nlive = true\n',
            '[ui]\ntheme = "high-contrast"\n',
            ("ui.theme",),
        ),
        ("", "[ui]\nlive = true\n", "# a\n[ui]\nlive = true\n", "# a\n", ()),
        ("[ui]\nlive = true\n", "", "# a\n", "# a\n\n[ui]\nlive = true\n", ()),
        ("", "[ui]\nlive = true\n", "ui = 3\n", "ui = 3\n", ()),
        ("[ui]\nlive = true\n", "", "ui = 3\n", "ui = 3\n", ("ui.live",)),
        ("a = 1\n", "a = 1\n[ui]\nlive = true\n", "a = 2\n[ui]\nlive = true\n", "a = 2\n", ()),
    ],
)
def test_only_what_stands_as_the_change_left_it_goes_back(
    before: str, after: str, now: str, text: str, left: tuple[str, ...]
) -> None:
    """[I-23, Q-12] As it was written before; what somebody changed is theirs, and named."""
    done = rebased(before, after, now)
    assert (done.text, done.left) == (text, left)


def test_a_text_that_is_no_toml_is_refused() -> None:
    with pytest.raises(RosterError, match="it is not TOML"):
        rebased(BEFORE, AFTER, "[")


@given(was=WORDS, became=WORDS, mine=WORDS)
def test_a_key_of_somebodys_own_survives_and_the_changed_one_returns(
    was: object, became: object, mine: object
) -> None:
    """[I-23] For all values, their kinds included."""
    before, _ = set_key("", "ui", "theme", was)
    after, _ = set_key(before, "ui", "theme", became)
    now, _ = set_key(after, "model", "default", mine)
    done = rebased(before, after, now)
    assert done.left == ()
    assert repr(tree_of(done.text)) == repr({"ui": {"theme": was}, "model": {"default": mine}})
