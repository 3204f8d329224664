import pytest

from stella.codec import Fault
from stella.codec import JsonFault
from stella.manifest.decoding import has_a_rule
from tests.making.manifests import broken
from tests.making.manifests import faults
from tests.making.manifests import steering


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "x"\nnmae = 1', 'top level: unknown key "nmae"; did you mean name?'),
        ("", 'top level: the required key "name" is missing; expected a string.'),
        ("name = 1", "top level name = 1: expected a string, got an integer."),
        ('name = "x"\nloop = []', "[loop] = []: expected a table, got a list."),
        (
            'name = "x"\nloop.participation = "arbitre"',
            (
                '[loop] participation = "arbitre" is not one of the words allowed here; '
                "did you mean arbiter?"
            ),
        ),
        (
            'name = "x"\nloop.max_holds = -1',
            "[loop] max_holds = -1: expected 0 to 4294967295, got -1.",
        ),
        (
            'name = "x"\nloop.max_holds = 2.0',
            "[loop] max_holds = 2.0: expected an integer, got a fraction.",
        ),
        (
            'name = "x"\n[loop]\n[runtime]\nargv = ["x"]',
            (
                '[runtime]: the required key "timeout_secs" is missing; '
                "expected an integer of 1 or more."
            ),
        ),
    ],
)
def test_a_refusal_names_block_key_value_and_what_was_expected(text: str, message: str) -> None:
    """[M-7, M-11]"""
    found = faults(text)[0]
    assert found.rule == "R-1"
    assert found.message == message


def test_author_text_in_a_refusal_is_visible() -> None:
    """[M-7, C64, C65]"""
    found = faults('name = "x"\n[loop]\nhooks = ["\u202e\\u001b[2J"]\n')[0]
    assert found.value == r'"\u{202E}\u{1B}[2J"'
    assert found.message.startswith(r'[loop] hooks entry 1 = "\u{202E}\u{1B}[2J" is not one')


@pytest.mark.behaviour("M-15")
@pytest.mark.parametrize("word", ["pre_tool_use", "PRETOOLUSE", "preToolUse", "pretooluse"])
def test_words_are_exact_and_the_near_one_is_named(word: str) -> None:
    """[M-8, M-15, B52, F1]"""
    (found,) = faults(steering("", f'hooks = ["{word}"]'))
    assert found.name == "unknown-token"
    assert found.near == ("PreToolUse",)


@pytest.mark.behaviour("M-16")
def test_only_the_two_hook_words_in_the_hook_list_have_a_rule_of_their_own() -> None:
    """[M-16]"""
    assert broken(steering("", 'calls = ["PreIssueWork"]')) == ["R-1 unknown-token"]
    fault = Fault(token=JsonFault.UNKNOWN_TOKEN, path=("loop", "hooks", 0), message="")
    assert not has_a_rule(fault)
