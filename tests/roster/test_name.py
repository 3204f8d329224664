"""A plugin's name is one plain word, judged before any path is made from it."""

import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stella import limits
from stella.errors import PackageRefused
from stella.roster.name import folded
from stella.roster.name import name_fault
from stella.roster.name import refuse_name


@pytest.mark.parametrize(
    "name",
    ["a", "verify", "x9", "a-b", "a-", "a--b", "con1", "com10", "com0", "lpt", "userx", "z" * 64],
)
def test_a_plain_word_is_a_name(name: str) -> None:
    """I-3: a dash may stand anywhere but first."""
    assert name_fault(name) is None
    refuse_name(name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Verify", 'name "Verify": character 1 is "V"'),
        ("9x", 'name "9x": character 1 is "9"'),
        ("-x", 'character 1 is "-"'),
        ("a/b", 'name "a/b": character 2 is "/"'),
        ("../x", 'name "../x": character 1 is "."'),
        ("..", 'character 1 is "."'),
        (".", 'character 1 is "."'),
        (".hidden", 'character 1 is "."'),
        ("/etc", 'character 1 is "/"'),
        ("..\\x", 'character 1 is "."'),
        ("a\\b", 'character 2 is "\\"'),
        ("c:x", 'character 2 is ":"'),
        ("", "it is empty"),
        ("__proto__", 'character 1 is "_"'),
        ("a_b", 'character 2 is "_"'),
        ("a b", 'character 2 is "\\u{20}"'),
        ("a\n", 'character 2 is "\\u{A}"'),
        ("a\x1b[2J", 'name "a\\u{1B}[2J": character 2 is "\\u{1B}"'),
        ("a\x9b", 'character 2 is "\\u{9B}"'),
        ("a\0", 'character 2 is "\\u{0}"'),
        ("a\u202eb", 'name "a\\u{202E}b": character 2 is "\\u{202E}"'),
        ("a\u200b", 'character 2 is "\\u{200B}"'),
        ("é", 'character 1 is "é"'),
        ("a٣", 'character 2 is "٣"'),
        ("\uff41", 'character 1 is "\uff41"'),
        ("🎉", 'character 1 is "🎉"'),
    ],
)
def test_a_message_quotes_the_name_and_the_character_that_breaks_the_rule(
    name: str, said: str
) -> None:
    """K-155, A1, A2, A4, F4, F5, I-3; what is hidden is shown escaped."""
    with pytest.raises(PackageRefused) as caught:
        refuse_name(name)
    message = str(caught.value)
    assert said in message
    assert "a letter from a to z, then at most 63" in message
    assert message.isprintable()


def test_sixty_four_characters_are_the_limit() -> None:
    """K-155, F4, I-3; a very long name is cut in the message."""
    assert name_fault("a" * limits.PLUGIN_NAME_CHARS) is None
    assert "it has 65 characters" in (name_fault("a" * 65) or "")
    long = name_fault("a" * 300) or ""
    assert "it has 300 characters" in long
    assert "[236 more characters]" in long


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_neither_normal_form_of_an_accent_is_a_name(form: str) -> None:
    """F4: the twins cannot both be installed, because neither can."""
    assert name_fault("caf" + unicodedata.normalize("NFC", "é"))
    assert name_fault("caf" + ("e\u0301" if form == "NFD" else "\u00e9"))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        *((name, "for a device") for name in ("con", "prn", "aux", "nul")),
        *((f"com{n}", "for a device") for n in range(1, 10)),
        *((f"lpt{n}", "for a device") for n in range(1, 10)),
        *((name, "who makes a call") for name in ("stella", "host", "user", "role", "subagent")),
        *((name, "a tool of the host") for name in ("bash", "search", "delegate", "glob")),
    ],
)
def test_a_reserved_word_is_refused_with_what_it_stands_for(name: str, why: str) -> None:
    """K-155, A5, F4, I-3."""
    fault = name_fault(name)
    assert fault is not None
    assert fault.startswith(f'name "{name}": ')
    assert why in fault


@given(st.text(max_size=70))
def test_every_accepted_name_is_a_safe_file_name(name: str) -> None:
    """I-3 for all text: nothing but lower-case ASCII letters, digits and dashes ever passes."""
    if name_fault(name) is None:
        assert set(name) <= set(string.ascii_lowercase + string.digits + "-")
        assert name[0] in string.ascii_lowercase
        assert 1 <= len(name) <= limits.PLUGIN_NAME_CHARS


@given(st.text(alphabet=string.ascii_letters + "-", max_size=8))
def test_names_that_some_file_system_takes_for_one_fold_to_one(name: str) -> None:
    """A4."""
    assert folded(name.upper()) == folded(name.lower()) == folded(name)
