"""Which skills and scoped records fit a prompt."""

from typing import Any

import pytest

from stella import limits
from stella.content.record import AppliesTo
from stella.content.select import Asked
from stella.content.select import fits
from stella.content.select import scoped
from stella.content.select import select
from stella.content.skill import Origin
from stella.content.skill import Skill
from tests.making.records import governed
from tests.making.records import record


def skill(slug: str, description: str, **more: Any) -> Skill:
    return Skill(slug=slug, description=description, body="body", **more)


DEPLOY = skill("deploy-staging", "Deploy the cluster safely")
NOTES = skill("release-notes", "Compose release notes from commits")


@pytest.mark.behaviour("P-34")
@pytest.mark.parametrize(
    ("prompt", "chosen"),
    [
        ("deploy to staging", ["deploy-staging"]),
        ("compose notes, then deploy the cluster to staging", ["deploy-staging", "release-notes"]),
        ("deploy", []),
        ("hello there", []),
        ("", []),
    ],
)
def test_two_shared_terms_select_a_skill_best_first(prompt: str, chosen: list[str]) -> None:
    """[P-34] Shared terms over the skill's own; one is not enough."""
    assert [each.slug for each in select(prompt, [NOTES, DEPLOY])] == chosen


def test_a_matched_domain_selects_a_skill_and_weighs_half_a_point_each() -> None:
    """[P-34] Without a shared term as well; case does not matter."""
    one = skill("one", "Nothing shared", domains=("Python",))
    two = skill("two", "Nothing shared", domains=("python", "web"))
    found = select("deploy staging cluster", [one, two, DEPLOY], ["python", "WEB"])
    assert [each.slug for each in found] == ["two", "deploy-staging", "one"]
    assert select("deploy", [one]) == ()


def test_an_automatic_skill_goes_before_an_equal_one_and_ties_stand_by_name() -> None:
    """[P-34, E-141] 0.02 more."""
    same = "Deploy the cluster"
    found = select(
        "deploy cluster",
        [skill("zb", same), skill("za", same), skill("zc", same, origin=Origin.AUTO)],
    )
    assert [each.slug for each in found] == ["zc", "za", "zb"]


def test_a_skill_needs_a_score_of_eight_hundredths() -> None:
    """[P-34] Two terms of 25 are enough, of 26 not."""
    for number, chosen in ((25, 1), (26, 0)):
        words = " ".join(f"term{at}" for at in range(number))
        assert len(select("term0 term1", [skill("", words)])) == chosen


def test_five_skills_are_selected() -> None:
    """[P-34] The sixth is left out."""
    every = [skill(f"z{at}", "Deploy the cluster") for at in range(limits.SKILLS_SELECTED + 1)]
    assert select("deploy cluster", every) == tuple(every[: limits.SKILLS_SELECTED])
    assert limits.SKILLS_SELECTED == 5


def test_a_skill_without_a_term_of_its_own_fits_by_its_domain_alone() -> None:
    bare = skill("it", "is so", domains=("x",))
    assert select("anything", [bare], ["x"]) == (bare,)
    assert select("anything", [bare]) == ()


@pytest.mark.behaviour("P-51")
@pytest.mark.parametrize(
    ("applies", "prompt", "fit"),
    [
        ({"tasks": ["test"]}, "Please TEST it", True),
        ({"tasks": ["test"]}, "run pytest", False),
        ({"keywords": ["logger"]}, "where is the logger?", True),
        ({"keywords": ["log"]}, "where is the logger?", False),
        ({"keywords": ["error log"]}, "the Error Logs of today", True),
        ({"keywords": ["c++"]}, "a C++ header", True),
        ({"keywords": ["c++"]}, "a gcc++ header", False),
        ({"keywords": ["c++"]}, "a c header", False),
        ({"keywords": [" "]}, "anything", False),
        ({"paths": ["src/*"]}, "look at src/a.py", True),
        ({"paths": ["./src/*.py"]}, "look at `./src/x/a.py`.", True),
        ({"paths": ["src/*"]}, "look at mysrc/a.py", False),
        ({"paths": ["a?c"]}, "abc", False),
        ({"paths": ["no"], "tasks": ["lint"]}, "lint it", True),
        ({}, "anything", False),
    ],
)
def test_any_matching_dimension_is_enough(applies: dict[str, Any], prompt: str, fit: bool) -> None:
    """[P-51] Path globs, whole words, several words as a part of the text."""
    named = AppliesTo(**{key: tuple(value) for key, value in applies.items()})
    assert fits(named, Asked.of(prompt)) is fit


def test_scoped_records_are_those_of_the_volatile_part_that_fit_in_their_order() -> None:
    """[P-51] A pinned one stands in the prefix and is not said twice."""
    applies = {"applies_to": {"tasks": ["lint"]}}
    found = governed(
        [
            record("may", steering={"force": "may", **applies}),
            record("must", steering={"force": "must", **applies}),
            record("other", steering={"force": "may", "applies_to": {"tasks": ["docs"]}}),
            {"lineage_id": "bare", "kind": "fact", "statement": "It is lint."},
        ],
        [record("info", steering={"force": "info", "tier": "retrieved", **applies})],
    )
    fitting = scoped(found.steering, "lint all")
    assert [each.record.lineage_id for each in fitting] == ["may", "info"]
