"""A prompt as words."""

import pytest

from stella import limits
from stella.content.words import CODING_WORDS
from stella.content.words import STOP_WORDS
from stella.content.words import paths
from stella.content.words import terms
from stella.content.words import words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Deploy the Staging cluster", {"deploy", "staging", "cluster"}),
        ("go to it, ok?", set()),
        ("write code for a release-note", {"release", "note"}),
        ("snake_case and 2026", {"snake", "case", "2026"}),
        ("部署集群", {"部署", "署集", "集群"}),
        ("使用pytest测试", {"使用", "pytest", "测试"}),
        ("的", set()),
        ("カタカナ", {"カタ", "タカ", "カナ"}),
        ("배포해", {"배포", "포해"}),
        ("Élan GROẞ", {"élan", "groß"}),
        ("", set()),
    ],
)
def test_terms_are_words_that_say_something(text: str, found: set[str]) -> None:
    """[P-34] Lower case, more than two characters, CJK runs as pairs."""
    assert terms(text) == found


def test_words_that_say_nothing_are_no_terms() -> None:
    """[P-34] Neither stop words nor generic coding words."""
    assert "with" in STOP_WORDS
    assert "function" in CODING_WORDS
    assert not STOP_WORDS & CODING_WORDS
    assert terms(" ".join((*STOP_WORDS, *CODING_WORDS))) == set()


def test_whole_words_are_compounds_and_their_parts() -> None:
    """[P-51]"""
    assert words("Run pre-commit, in CI!") == {"run", "pre-commit", "pre", "commit", "in", "ci"}


def test_paths_are_plain_and_stand_once() -> None:
    """[P-51]"""
    text = "Look at ./src/a.py, `docs/b.md` (src/a.py) and 'x'. Is it /etc/c?"
    assert paths(text) == ("Look", "at", "src/a.py", "docs/b.md", "and", "x", "Is", "it", "/etc/c")


def test_the_beginning_of_a_prompt_counts() -> None:
    """[P-34, P-51] What stands within the limit is matched, what stands one past it is not."""
    fits = "x" * (limits.MATCHED_CHARS - 6) + " alpha"
    for found in (terms, words, paths):
        assert "alpha" in found(fits)
        assert "alpha" not in found(f"x{fits}")
