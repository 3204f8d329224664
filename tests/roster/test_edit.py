"""One key of a settings file changes, and not a byte of the rest."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies

from stella.errors import RosterError
from stella.roster.edit import Prior
from stella.roster.edit import found
from stella.roster.edit import restore_key
from stella.roster.edit import same_value
from stella.roster.edit import set_key
from stella.roster.edit import tree_of

TEXTS = (
    "",
    "# mine\n",
    "a = 1\n",
    "[m]\na = 1\n",
    "[m]\na = 1\n\n\n",
    "[m]\na = 1\n\n[ui]\nlive=true   # why\n\n[x]\nb = 1\n",
    "[ui]\n# hi\n[x]\nb = 1\n",
    "ui.live = true\n[z]\na = 1\n",
    "ui = {live = true}\n",
    "ui = {}\n",
    "[ui]\r\nlive = true\r\n",
    "[a]\r\nb = 1\r\n",
    'x = """\n[ui]\n"""\n',
    "ui.live = true\n[ui.x]\nb = 1\n",
    "[a]\nn = nan\nd = 2020-01-01T00:00:00Z\nl = [\n  1, # one\n  2,\n]\n",
    "[[p]]\nq = 1\n[[p]]\nq = 2\n",
)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.behaviour("I-22")
def test_a_key_that_was_absent_is_set_and_taken_back_byte_for_byte(text: str) -> None:
    """I-22, I-23."""
    changed, prior = set_key(text, "ui", "theme", "plain")
    assert prior.value is None
    assert (prior.created == "ui") == ("ui" not in tomllib.loads(text))
    assert tomllib.loads(changed)["ui"]["theme"] == "plain"
    for line in text.splitlines():
        assert line.partition("}")[0] in changed
    assert restore_key(changed, "ui", "theme", prior) == text


@pytest.mark.parametrize("value", ["'default'", '"default"', '"""\ndefault"""', '"d\\u0065fault"'])
@pytest.mark.behaviour("K-72")
def test_a_value_comes_back_as_it_was_written(value: str) -> None:
    """I-23."""
    text = f"[ui]  # mine\ntheme = {value}  # because\nlive = true\n"
    changed, prior = set_key(text, "ui", "theme", "plain")
    assert changed == '[ui]  # mine\ntheme = "plain"  # because\nlive = true\n'
    assert prior == Prior(value=value, created=None)
    assert restore_key(changed, "ui", "theme", prior) == text


@given(
    strategies.lists(strategies.sampled_from(TEXTS[1:5]), max_size=1),
    strategies.lists(
        strategies.sampled_from(
            ["[b]\n", "[ c ]\nx = 'y'\n", "# note\n", "\n", "[d.e]\nf = [1]\n"]
        ),
        unique=True,
    ),
)
def test_what_stood_around_a_key_stays(start: list[str], rest: list[str]) -> None:
    text = "".join((*start, *rest))
    changed, prior = set_key(text, "ui", "live", value=False)
    assert restore_key(changed, "ui", "live", prior) == text


@pytest.mark.parametrize("text", ["ui = 3\n", "[[ui]]\na = 1\n", 'ui = "x"\n', "ui = []\n"])
def test_what_stands_where_a_table_must_go_is_refused(text: str) -> None:
    """I-22."""
    with pytest.raises(RosterError, match='"ui" is no table there'):
        set_key(text, "ui", "theme", "plain")


@pytest.mark.parametrize("text", ["a = ", "[a]\n[a]\n", "a = 1\na = 2\n"])
def test_what_is_not_toml_is_not_touched(text: str) -> None:
    with pytest.raises(RosterError, match="it is not TOML: "):
        set_key(text, "ui", "theme", "plain")


def test_more_nesting_than_any_setting_has_is_refused() -> None:
    with pytest.raises(RosterError, match="more is nested"):
        tree_of(f"x = {'[' * 200}{']' * 200}\n")


@pytest.mark.parametrize(
    "value", ['1\n[providers]\nx = "y"', "", "1 2", "1, y = 2", "1 # and more", " 1", "x\ny = 1"]
)
@pytest.mark.behaviour("I-24")
def test_a_prior_value_that_is_not_one_value_is_refused(value: str) -> None:
    """I-24: nobody smuggles a second setting in."""
    with pytest.raises(RosterError):
        restore_key('[ui]\ntheme = "plain"\n', "ui", "theme", Prior(value=value, created=None))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('[ui]\ntheme = "plain"\n# keep\n', "[ui]\n# keep\n"),
        ('[ui]\ntheme = "plain"\nlive = true\n', "[ui]\nlive = true\n"),
        ('[ ui ]\ntheme = "plain"\n', "[ ui ]\n"),
        ('[a]\n\n[ui]\ntheme = "plain"\n\n[b]\n', "[a]\n\n[b]\n"),
        ('x = """\n[ui]\n[b]"""\n[ui]\ntheme = "plain"\n', 'x = """\n[ui]\n[b]"""\n'),
        ('x = """\n[ui]\n"""\n[ ui ]\ntheme = "plain"\n', 'x = """\n[ui]\n"""\n[ ui ]\n'),
    ],
)
def test_a_table_that_was_made_goes_only_when_nothing_is_left_in_it(text: str, left: str) -> None:
    """I-23: a comment is something, and a header of another form is nobody's."""
    assert restore_key(text, "ui", "theme", Prior(value=None, created="ui")) == left


def test_a_table_that_was_there_stays_when_it_is_empty() -> None:
    text = '[ui]\ntheme = "plain"\n'
    assert restore_key(text, "ui", "theme", Prior(value=None, created=None)) == "[ui]\n"


def test_values_of_two_kinds_are_two_values() -> None:
    """I-23."""
    assert same_value("plain", "plain")
    assert same_value((1, "a"), [1, "a"])
    assert same_value({"a": float("nan")}, {"a": float("nan")})
    assert not same_value(1, True)
    assert not same_value([1], [1, 2])
    assert not same_value({"a": 1}, {"b": 1})


def test_a_section_that_is_not_there_is_none() -> None:
    assert found({"ui": {"live": True}}, "ui") == {"live": True}
    assert found({}, "ui") is None


def test_what_the_editor_cannot_read_is_refused() -> None:
    """I-22: TOML that its reader of formats does not know is not touched."""
    with pytest.raises(RosterError, match="cannot be changed without touching more"):
        set_key("[[ui.x]]\n[ui]\n[ui.x.y]\n", "ui", "theme", "plain")


@pytest.mark.parametrize("value", ["true", "false"])
def test_a_boolean_of_the_persons_is_changed_and_comes_back_as_it_was(value: str) -> None:
    """[I-22, I-23] The editor has a kind of its own for every value but this one."""
    text = f"[ui]\nlive = {value}  # mine\n"
    changed, prior = set_key(text, "ui", "live", value != "true")
    assert tree_of(changed) == {"ui": {"live": value != "true"}}
    assert prior.value == value
    assert restore_key(changed, "ui", "live", prior) == text
