"""An armed guard: the calls it denies, and those it does not."""

from typing import Any

import pytest

from stella.content.guard import Guard
from stella.content.guard import denial

WORDS = {"lineage": "no-push", "whose": "the person's", "statement": "Pushes go through review."}


def guard(**named: str) -> Guard:
    return Guard(**WORDS, **named)


def bash(command: str) -> tuple[str, dict[str, Any]]:
    return "bash", {"command": command}


@pytest.mark.parametrize(
    ("command", "denied"),
    [
        ("git push", True),
        ("git  push origin main", True),
        ("cd x && git push", True),
        ("(git push)", True),
        ("A=1 B=2 git push", True),
        ("true\ngit push", True),
        ('git "push"', True),
        ("if true; then git push; fi", True),
        ("while ! A=1 git push; do :; done", True),
        ("x=`git push`", True),
        ("git \\\n push", True),
        ("time git push", True),
        ("then", False),
        ("git pushes", False),
        ("git pull", False),
        ("echo git push", False),
        ("", False),
    ],
)
def test_a_command_is_denied_by_how_it_begins(command: str, denied: bool) -> None:
    """[P-65, A-12] Whole words of any simple command."""
    assert (denial([guard(command="git push")], *bash(command)) is not None) is denied


def test_a_word_of_the_shell_may_itself_be_denied() -> None:
    """[P-65]"""
    assert denial([guard(command="time")], *bash("time make")) is not None


@pytest.mark.parametrize(
    ("tool", "given", "denied"),
    [
        ("write_file", {"path": "secrets/key"}, True),
        ("write_file", {"path": "./secrets//key"}, True),
        ("write_file", {"path": "src/../secrets/key"}, True),
        ("write_file", {"files": [{"path": "a"}, {"path": "secrets/key"}]}, True),
        ("edit_file", {"edits": [{"path": "secrets/key", "old": "a"}]}, True),
        ("read_file", {"paths": ["a", "secrets/key"]}, True),
        ("bash", {"command": "cat 'secrets/key'"}, True),
        ("bash", {"command": "x >secrets/key"}, True),
        ("write_file", {"path": "secrets"}, False),
        ("write_file", {"path": "my/secrets/key"}, False),
        ("write_file", {"path": "/secrets/key"}, False),
        ("write_file", {"path": "../secrets/key"}, False),
        ("write_file", {"path": 3}, False),
        ("write_file", {"content": "secrets/key"}, False),
        ("write_file", "secrets/key", False),
    ],
)
def test_a_path_is_denied_in_every_spelling(tool: str, given: Any, denied: bool) -> None:
    """[P-65, A-10, A-14] A glob over the path beneath the workspace."""
    assert guard(path="secrets/*").denies(tool, given) is denied


def test_a_path_is_denied_where_the_disk_resolves_it_to() -> None:
    """[A-14] A link is no way around."""
    named = guard(path="secrets/*")
    assert named.denies("write_file", {"path": "link"}, ["secrets/key"])
    assert not named.denies("write_file", {"path": "link"}, ["other/key"])


def test_a_tool_alone_is_denied_always_and_narrows_what_stands_beside_it() -> None:
    """[P-65] `guard_tool` is a glob over the whole name."""
    assert guard(tool="bash").denies("bash", {})
    assert guard(tool="*_file").denies("write_file", {})
    assert not guard(tool="bash").denies("bash2", {})
    both = guard(tool="write_file", path="a")
    assert both.denies("write_file", {"path": "a"})
    assert not both.denies("read_file", {"path": "a"})
    either = guard(command="rm", path="a")
    assert either.denies(*bash("rm b"))
    assert either.denies(*bash("cat a"))
    assert not either.denies(*bash("cat b"))


def test_a_guard_that_names_nothing_denies_nothing() -> None:
    assert not guard().denies("bash", {"command": "rm"})


def test_the_first_guard_that_denies_says_whose_rule_it_is() -> None:
    """[P-65, A-52] The sentence carries the statement, made visible."""
    last = Guard(lineage="b\x1b", whose="the repository's", statement="No\nshell.", tool="bash")
    found = denial([guard(command="git push"), last], *bash("git push"))
    assert found is not None
    assert found[1] == (
        "A rule denies this (the person's record no-push): Pushes go through review."
    )
    second = denial([guard(command="git push"), last], *bash("ls"))
    assert second == (
        last,
        "A rule denies this (the repository's record b\\u{1B}): No shell.",
    )
    assert denial([], *bash("ls")) is None
