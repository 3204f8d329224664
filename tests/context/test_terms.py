"""[D-51] Whatever a plugin writes as its goal is words to look for, never syntax."""

import sqlite3

import pytest

from stella import limits
from stella.context.terms import question

HOSTILE = (
    'a" OR "b',
    "NEAR(a b)",
    "title : x",
    "^start -not +and *",
    "a AND NOT b",
    "x\0y",
    "\ud800 half",
    "'; DROP TABLE files; --",
    "{a b} : c",
    "\N{COMBINING ACUTE ACCENT}",
)


def asked(goal: str) -> list[str]:
    """The texts a real index finds for a goal."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5 (x, tokenize = 'porter unicode61')")
        for text in ("alpha beta", "x y", "half", "drop table files", "Straße", "नमस्ते दुनिया"):
            connection.execute("INSERT INTO t VALUES (?)", (text,))
        found = connection.execute("SELECT x FROM t WHERE t MATCH ?", (question(goal),))
        return sorted(text for (text,) in found)
    finally:
        connection.close()


@pytest.mark.parametrize("goal", ["", " ", "\n\t", "?!-*\"'()", "\0", "\ud800", "_", "\u200b"])
def test_a_goal_without_a_word_asks_nothing(goal: str) -> None:
    assert question(goal) is None


@pytest.mark.parametrize("goal", HOSTILE)
def test_no_goal_breaks_the_question(goal: str) -> None:
    assert isinstance(asked(goal), list)


def test_operators_are_words() -> None:
    assert question('NOT a" OR (b)') == '"NOT" OR "a" OR "OR" OR "b"'


def test_any_word_finds_and_case_and_ending_do_not_matter() -> None:
    assert asked("BETA, gamma") == ["alpha beta"]
    assert asked("tables\0halves") == ["drop table files"]
    assert asked("dropped_files") == ["drop table files"]


def test_words_of_other_scripts_are_found_whole() -> None:
    assert asked("straße") == ["Straße"]
    assert asked("नमस्ते") == ["नमस्ते दुनिया"]


def test_a_word_is_asked_once() -> None:
    assert question("a b a") == '"a" OR "b"'


def test_as_many_words_count_as_the_limit_says() -> None:
    words = [f"w{number}" for number in range(limits.RECALL_TERMS + 1)]
    found = question(" ".join(words)) or ""
    assert f'"{words[limits.RECALL_TERMS - 1]}"' in found
    assert words[limits.RECALL_TERMS] not in found


def test_as_many_characters_count_as_the_limit_says() -> None:
    goal = "-" * (limits.RECALL_GOAL_CHARS - 1) + "ab"
    assert question(goal) == '"a"'
    assert question("x" * limits.MIB) == f'"{"x" * limits.RECALL_GOAL_CHARS}"'
