import itertools

from stella.authority.decision import Contribution
from stella.authority.decision import Opinion
from stella.authority.decision import deciding


def opinion(contribution: Contribution, source: str = "x") -> Opinion:
    return Opinion(rule="r", source=source, contribution=contribution)


def test_the_strongest_word_decides_in_whatever_order_it_was_given() -> None:
    """[A-32] deny, then a wish for approval, then allow."""
    ranked = [Contribution.DENY, Contribution.REQUIRE_APPROVAL, Contribution.ALLOW]
    for size in (1, 2, 3):
        for chosen in itertools.combinations(ranked, size):
            for given in itertools.permutations((*chosen, Contribution.NONE)):
                decided = deciding(map(opinion, given))
                assert decided is not None
                assert decided.contribution is chosen[0]


def test_whoever_says_nothing_decides_nothing() -> None:
    assert deciding(()) is None
    assert deciding([opinion(Contribution.NONE)]) is None


def test_the_first_of_equal_refusals_and_the_last_of_equal_allows_count() -> None:
    """[A-33] The last allow is the mode's, for a hook's is no more than no objection."""
    for contribution, source in ((Contribution.DENY, "a"), (Contribution.ALLOW, "b")):
        decided = deciding([opinion(contribution, "a"), opinion(contribution, "b")])
        assert decided is not None
        assert decided.source == source
