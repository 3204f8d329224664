"""A test command is split into words by POSIX quoting and nothing is expanded [G-4 to G-7]."""

import shlex
import unicodedata
from typing import Any

import pytest
from hypothesis import assume
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from stella.errors import TestCommandError
from stella.witness.command import parse_test_command
from tests.making.vectors import vectors

VECTORS = vectors("witness/command")
ACCEPTED = [pytest.param(data, id=name) for name, data in VECTORS if "words" in data]
REFUSED = [pytest.param(data, id=name) for name, data in VECTORS if "says" in data]

PRINTABLE = st.characters(exclude_categories=("Cc", "Cs"))
WORDS = st.lists(st.text(PRINTABLE), min_size=1)


def test_every_vector_is_accepted_or_refused() -> None:
    assert ACCEPTED
    assert REFUSED
    assert len(ACCEPTED) + len(REFUSED) == len(VECTORS)


@pytest.mark.behaviour("G-4", "K-102")
@pytest.mark.parametrize("vector", ACCEPTED)
def test_the_words_are_those_of_the_vector(vector: dict[str, Any]) -> None:
    """[G-4, K-102]"""
    assert parse_test_command(vector["text"]) == tuple(vector["words"])


@pytest.mark.behaviour("G-5", "G-6", "G-7", "K-101", "K-103", "K-104")
@pytest.mark.parametrize("vector", REFUSED)
def test_the_refusal_names_place_fault_and_way_out(vector: dict[str, Any]) -> None:
    """[G-5 to G-7, K-101, K-103, K-104]"""
    with pytest.raises(TestCommandError) as refused:
        parse_test_command(vector["text"])
    message = refused.value.message
    place = f", position {vector['position']}: " if "position" in vector else ": "
    assert message.startswith(f"test command{place}")
    assert not [part for part in vector["says"] if part not in message]
    assert refused.value.exit_code == 2


def test_a_refusal_shows_nothing_raw() -> None:
    with pytest.raises(TestCommandError) as refused:
        parse_test_command("pytest '\x1b]0;owned\x07'")
    assert refused.value.message.isprintable()


def test_a_byte_that_is_no_text_is_refused() -> None:
    """The wire could not carry it; a shell hands such bytes over as lone surrogates."""
    for text in ("pytest \udcff", "pytest '\udcff'", 'pytest "\udcff"', "pytest \\\udcff"):
        with pytest.raises(TestCommandError, match="U\\+DCFF"):
            parse_test_command(text)


@pytest.mark.behaviour("G-4")
@given(words=WORDS)
@settings(deadline=None)
def test_what_is_quoted_and_joined_reads_back_equal(words: list[str]) -> None:
    """Nothing expands, nothing is lost, whatever the words say [G-4]."""
    first, name = words[0], words[0].partition("=")
    assume(first)
    assume(not (name[1] and name[0].isascii() and name[0].isidentifier()))
    assert parse_test_command(shlex.join(words)) == tuple(words)


@given(text=st.text())
@settings(deadline=None)
def test_any_text_gives_words_or_a_refusal(text: str) -> None:
    try:
        words = parse_test_command(text)
    except TestCommandError:
        return
    assert words[0]
    hidden = {"Cc", "Cs"}
    found = {char for word in words for char in word if unicodedata.category(char) in hidden}
    assert found <= {"\t"}


@pytest.mark.behaviour("G-4")
@given(word=st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1))
@settings(deadline=None)
def test_without_quotes_a_word_is_the_text_itself(word: str) -> None:
    """No character but quotes, backslash and the refused operators means anything [G-4]."""
    assume(not set(word) & set("'\"\\`&|;<>"))
    assume("$(" not in word)
    assert parse_test_command(f"run {word}") == ("run", word)
