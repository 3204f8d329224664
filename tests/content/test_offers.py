"""Which skills may be selected: whose word counts of two."""

from stella.content.offers import Offer
from stella.content.offers import Skills
from stella.content.offers import offers
from stella.content.skill import Skill


def skills(place: str, *slugs: str) -> Skills:
    return [(f"{place}/{slug}", Skill(slug=slug, description=place, body="b")) for slug in slugs]


def used(every: tuple[Offer, ...]) -> list[tuple[str, str]]:
    return [(each.origin, each.skill.slug) for each in every if each.reason is None]


def test_the_workspace_goes_before_the_person_and_a_plugin_takes_a_free_name() -> None:
    """[P-33] Plugins by name; whatever is not used says whose the name is."""
    every = offers(
        skills("~", "a", "b"),
        skills("w", "b", "c"),
        [("q", skills("q", "a", "d", "e")), ("p", skills("p", "d", "c", "f"))],
    )
    assert used(every) == [
        ("user", "a"),
        ("workspace", "b"),
        ("workspace", "c"),
        ("plugin:p", "d"),
        ("plugin:p", "f"),
        ("plugin:q", "e"),
    ]
    assert [(each.path, each.reason) for each in every if each.reason is not None] == [
        ("~/b", "the name b is that of w/b"),
        ("p/c", "the name c is that of w/c"),
        ("q/a", "the name a is that of ~/a"),
        ("q/d", "the name d is that of p/d"),
    ]
    assert [each.plugin for each in every if each.skill.slug == "f"] == ["p"]


def test_without_skills_there_is_no_offer() -> None:
    assert offers() == ()
