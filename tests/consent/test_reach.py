import pytest

from stella.consent.text import Resolution
from stella.consent.text import consent_text
from tests.making.manifests import ARBITER
from tests.making.manifests import loaded


def text_of(tables: str) -> str:
    """Return the consent text of a bundle with more tables."""
    return consent_text(loaded(f'name = "x"\n{tables}'), Resolution())


def capability(risk: str, *scope: str) -> str:
    limits = ", ".join(f'"{limit}"' for limit in scope)
    return (
        f'[[capabilities]]\ntool = "t{risk}"\nrisk = "{risk}"\npurpose = "p"\nscope = [{limits}]\n'
    )


@pytest.mark.parametrize(
    ("risks", "headline"),
    [
        (("low",), "LOW, easy to undo."),
        (("low", "medium"), "MEDIUM, changes things inside the workspace."),
        (
            ("high", "medium", "low"),
            "HIGH, reaches outside the workspace or costs something version control cannot undo.",
        ),
        (
            ("low", "destructive", "high"),
            "DESTRUCTIVE, can destroy data or publish what cannot be taken back.",
        ),
        (
            ("high", "odd"),
            "DESTRUCTIVE, can destroy data or publish what cannot be taken back.",
        ),
    ],
)
def test_the_widest_reach_is_the_worst_of_all(risks: tuple[str, ...], headline: str) -> None:
    """[C-16, C-23, M-52]"""
    assert f"\nWidest reach: {headline}\n" in text_of("".join(map(capability, risks)))


def test_limits_are_shown_as_claims() -> None:
    """[C-16, C-17]"""
    claimed = text_of(capability("low", "only here", "only now") + capability("high"))
    assert (
        "\n  - tlow, LOW: p\n      claimed limit: only here\n      claimed limit: only now\n"
        "  - thigh, HIGH: p\n\n"
        "Limits are the author's claims; the permission gate does not check them.\n\n"
    ) in claimed
    assert "Limits" not in text_of(capability("low"))


def test_no_capability_is_said_to_be_none() -> None:
    """[C-16, K-1]"""
    assert "\n\nIt declares no reach outside the turn.\n\n" in text_of("")


def test_an_oracle_is_shown_for_what_it_is() -> None:
    """[C-15, K-169, M-24]"""
    found = consent_text(loaded(ARBITER), Resolution())
    assert (
        "\n\nNo verification happens in base Stella: the evidence is what `probe` reports, and "
        "the host neither runs nor re-checks it.\n\nThe host applies the rule above, credits "
        "nothing that is left undecided, and watches the test files itself. It cannot tell an "
        "earned result from an invented one.\n\n"
    ) in found
    assert "No verification" not in text_of("")


def test_a_driver_that_asks_for_nothing_says_so_and_no_more() -> None:
    """[C-14, K-25]"""
    assert (
        "\n\nIt drives work from outside your turns.\n  - asks the host for nothing\n\nIt declares"
    ) in text_of("[driver]\n")


def test_a_driver_names_the_families_it_uses_in_their_order() -> None:
    """[C-14]"""
    calls = '[driver]\ncalls = ["curate_list", "work_status", "work_start"]\n'
    assert (
        "It drives work from outside your turns.\n"
        "  - work: starts, watches and abandons work (work_status, work_start)\n"
        "  - curate: proposes, lists and accepts curated records (curate_list)\n"
        "  - as many requests per session as the host allows\n"
        "  - the host performs all of these; the plugin holds no credentials\n"
    ) in text_of(calls)
    assert "\n  - at most 1 request per session\n" in text_of(f"{calls}max_calls = 1\n")
    assert "\n  - at most 12 requests per session\n" in text_of(f"{calls}max_calls = 12\n")
