import pytest

from stella import limits
from stella.manifest.events import CATALOGUE
from stella.manifest.events import exists
from stella.manifest.events import matches
from stella.manifest.events import well_formed


def test_the_catalogue_holds_65_names_that_are_patterns_of_themselves() -> None:
    """[H-20]"""
    assert len(CATALOGUE) == len(set(CATALOGUE)) == 65
    assert all(well_formed(name) and matches(name, name) and exists(name) for name in CATALOGUE)


@pytest.mark.parametrize("pattern", ["*", "tool", "tool.call.completed", "tool.*", "a-b.c_d.0.*"])
def test_the_three_forms_are_patterns(pattern: str) -> None:
    """[M-18]"""
    assert well_formed(pattern)


@pytest.mark.behaviour("M-18")
@pytest.mark.parametrize(
    "pattern",
    ["", ".", ".*", "**", "*.*", "a.*.b", "a*", "a..b", ".a", "a.", "A.b", "a b", "a.b\n", "é"],
)
def test_there_is_no_other_wildcard_and_no_other_character(pattern: str) -> None:
    """[M-18, R-77, K-84]"""
    assert not well_formed(pattern)


@pytest.mark.parametrize("end", ["", ".*"])
def test_a_pattern_has_at_most_128_bytes(end: str) -> None:
    """[M-18]"""
    longest = "a" * (limits.EVENT_PATTERN_BYTES - len(end)) + end
    assert well_formed(longest)
    assert not well_formed(f"a{longest}")


@pytest.mark.parametrize(
    ("pattern", "name", "taken"),
    [
        ("*", "agent.error", True),
        ("agent.error", "agent.error", True),
        ("agent.error", "agent.errors", False),
        ("agent.*", "agent.turn.started", True),
        ("agent.*", "agent.", False),
        ("agent.*", "agent", False),
        ("agent.*", "agents.error", False),
        ("agent", "agent.error", False),
    ],
)
def test_a_prefix_takes_a_dot_and_a_rest(
    pattern: str, name: str, taken: bool
) -> None:  # a table of cases
    """[M-18, H-13]"""
    assert matches(pattern, name) is taken


@pytest.mark.parametrize(
    ("pattern", "may"),
    [
        ("tool.call.completed", True),
        ("tool.call.complete", False),
        ("plugin.other.done", True),
        ("host.shop.paid", True),
        ("nowhere.*", True),
        ("*", True),
        ("plugin", False),
    ],
)
def test_only_an_exact_name_of_the_host_can_be_a_misspelling(
    pattern: str, may: bool
) -> None:  # a table of cases
    """[M-20, K-84]"""
    assert exists(pattern) is may
