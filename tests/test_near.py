import pytest
from hypothesis import given
from hypothesis import strategies as st

from stella import limits
from stella.near import distance
from stella.near import near
from stella.near import suggestion

WORDS = st.text(alphabet="abc-_", max_size=8)


@pytest.mark.parametrize(
    ("left", "right", "far"),
    [
        ("", "", 0),
        ("abc", "abc", 0),
        ("abc", "ab", 1),
        ("abc", "acb", 1),
        ("ca", "abc", 3),
        ("", "ab", 2),
    ],
)
def test_distance_is_optimal_string_alignment(left: str, right: str, far: int) -> None:
    """[Q-22]"""
    assert distance(left, right) == far


@given(WORDS, WORDS)
def test_distance_is_symmetric_and_zero_only_for_equals(left: str, right: str) -> None:
    assert distance(left, right) == distance(right, left)
    assert (distance(left, right) == 0) == (left == right)


@given(WORDS, WORDS.filter(lambda word: len(word) > limits.NEAR_DISTANCE))
def test_a_word_is_near_exactly_when_its_distance_says_so(word: str, candidate: str) -> None:
    """[M-8] The search for near words gives up early, and never too early."""
    far = distance(word.replace("_", "-"), candidate.replace("_", "-"))
    assert near(word, [candidate]) == ((candidate,) if far <= limits.NEAR_DISTANCE else ())


@pytest.mark.parametrize(
    ("word", "candidates", "found"),
    [
        ("stearing", ("steering", "observer"), ("steering",)),
        ("dark_blue", ("dark-blue",), ("dark-blue",)),
        ("READ", ("read",), ("read",)),
        ("xx", ("ab",), ()),
        ("abcd", ("abce", "abcf", "abcg", "abch"), ("abce", "abcf", "abcg")),
        ("abcd", ("abcd1", "abce1"), ("abcd1", "abce1")),
        ("", ("ab", "abc"), ()),
    ],
)
def test_near_words_come_nearest_first_then_in_byte_order(
    word: str, candidates: tuple[str, ...], found: tuple[str, ...]
) -> None:
    """[M-8]"""
    assert near(word, candidates) == found


def test_a_distance_of_two_is_near_and_three_is_not() -> None:
    """[M-8] limits.NEAR_DISTANCE, limits.NEAR_SHOWN."""
    assert near("abcdef", ("abcd",)) == ("abcd",)
    assert limits.NEAR_DISTANCE == 2
    assert near("abcdefg", ("abcd",)) == ()
    assert len(near("a1xx", [f"a{n}xx" for n in range(9)])) == limits.NEAR_SHOWN


def test_without_a_near_word_a_short_vocabulary_is_shown_whole() -> None:
    """[M-8] limits.VOCABULARY_SHOWN, at the limit and one past it."""
    words = [f"word{n}" for n in range(limits.VOCABULARY_SHOWN)]
    assert suggestion("zzz", words) == f"legal here: {', '.join(words)}"
    assert suggestion("zzz", [*words, "more"]) == ""
    assert suggestion("zzz", ()) == ""


def test_near_words_make_a_question() -> None:
    assert suggestion("wrd1", ("word1", "word2")) == "did you mean word1 or word2?"
