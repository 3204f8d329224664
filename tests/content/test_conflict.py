"""Which records contradict each other, and which of two gives way."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st

from stella import limits
from stella.content.conflict import RESTRICTIVE
from stella.content.conflict import Conflict
from stella.content.conflict import Stance
from stella.content.conflict import conflicts
from stella.content.record import Mode

USER, REPOSITORY = 0, 1


def stance(tier: int, mode: Mode | None, *paths: str, precedence: int = 0) -> Stance:
    return Stance(tier=tier, precedence=precedence, mode=mode, paths=paths)


def test_between_tiers_the_higher_one_stays_in_force() -> None:
    """[P-64, K-178] Whatever either asks for."""
    for mine, theirs in ((Mode.HARD, Mode.SOFT), (Mode.SOFT, Mode.HARD), (Mode.NONE, Mode.SOFT)):
        assert conflicts([stance(REPOSITORY, theirs), stance(USER, mine)]) == {
            0: Conflict(other=1, gives_way=True),
            1: Conflict(other=0, gives_way=False),
        }


def test_within_one_tier_the_less_restrictive_gives_way() -> None:
    """[P-64] Hard, then soft, then none."""
    assert conflicts([stance(USER, Mode.SOFT), stance(USER, Mode.HARD)]) == {
        0: Conflict(other=1, gives_way=True),
        1: Conflict(other=0, gives_way=False),
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (stance(USER, Mode.HARD), stance(USER, Mode.HARD)),
        (stance(USER, Mode.HARD), stance(USER, None)),
        (stance(USER, None), stance(USER, None)),
        (stance(USER, Mode.HARD), stance(USER, Mode.SOFT, precedence=1)),
        (stance(USER, Mode.HARD, "src/*"), stance(USER, Mode.SOFT, "docs/*")),
    ],
)
def test_without_a_difference_an_equal_precedence_and_an_overlap_there_is_none(
    one: Stance, other: Stance
) -> None:
    """[P-64] All three are needed; a record that says nothing of enforcement has no mode."""
    assert conflicts([one, other]) == {}


@pytest.mark.parametrize(
    ("mine", "theirs", "meet"),
    [
        ((), ("src/*",), True),
        (("src/*",), ("src/api/*",), True),
        (("src/api/*", "docs"), ("src/*",), True),
        (("*.py",), ("docs/a",), True),
        (("src/a*",), ("src/b*",), False),
        (("a", "b"), ("c", "d"), False),
        (("src",), ("srcs/*",), True),
    ],
)
def test_paths_overlap_when_one_literal_start_begins_with_the_other(
    mine: tuple[str, ...], theirs: tuple[str, ...], meet: bool
) -> None:
    """[P-64] A record without paths overlaps every other."""
    found = conflicts([stance(USER, Mode.HARD, *mine), stance(USER, Mode.SOFT, *theirs)])
    assert bool(found) is meet


def test_literal_starts_are_compared_up_to_a_length() -> None:
    """[P-64] What differs in the last character compared is told apart, what differs behind not."""
    for length, meet in ((limits.GLOB_START_CHARS - 1, False), (limits.GLOB_START_CHARS, True)):
        mine, theirs = ("a" * length + end for end in "bc")
        found = conflicts([stance(USER, Mode.HARD, mine), stance(USER, Mode.SOFT, theirs)])
        assert bool(found) is meet


def test_of_several_the_one_it_gives_way_to_is_told() -> None:
    found = conflicts(
        [stance(REPOSITORY, Mode.SOFT), stance(REPOSITORY, Mode.NONE), stance(USER, Mode.NONE)]
    )
    assert found[0] == Conflict(other=2, gives_way=True)
    assert found[2] == Conflict(other=0, gives_way=False)


PATHS = st.lists(st.sampled_from(["a", "a/*", "a/b", "ab*", "b", "*"]), max_size=2).map(tuple)
STANCES = st.lists(
    st.builds(
        Stance,
        tier=st.integers(0, 2),
        precedence=st.integers(0, 1),
        mode=st.sampled_from([*Mode, None]),
        paths=PATHS,
    ),
    max_size=7,
)


@settings(deadline=None)
@given(STANCES)
def test_the_index_finds_what_a_comparison_of_all_pairs_finds(stances: list[Stance]) -> None:
    """[P-64] Each record of a pair has its conflict, and gives way when any partner is stronger."""
    expected: dict[int, bool] = {}
    for one, other in combinations(range(len(stances)), 2):
        left, right = stances[one], stances[other]
        if not meet(left, right):
            continue
        expected[one] = expected.get(one, False) or weaker(left, right)
        expected[other] = expected.get(other, False) or weaker(right, left)
    found = conflicts(stances)
    assert {at: each.gives_way for at, each in found.items()} == expected
    assert all(meet(stances[at], stances[each.other]) for at, each in found.items())


def meet(left: Stance, right: Stance) -> bool:
    differ = left.mode is not None and right.mode is not None and left.mode is not right.mode
    pairs = [(one, other) for one in left.starts for other in right.starts]
    overlap = any(one.startswith(other) or other.startswith(one) for one, other in pairs)
    return differ and left.precedence == right.precedence and overlap


def weaker(one: Stance, other: Stance) -> bool:
    if one.tier != other.tier:
        return one.tier > other.tier
    assert one.mode is not None
    assert other.mode is not None
    return RESTRICTIVE.index(one.mode) > RESTRICTIVE.index(other.mode)
