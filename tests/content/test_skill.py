"""A skill's file is a head of keys and a body."""

from stella.content.skill import read_skill


def test_a_skill_has_a_name_a_description_and_a_body() -> None:
    found = read_skill(b"---\nname: fix\ndescription: Fixes.\n---\nFix it.\n", "fix").value
    assert found is not None
    assert (found.name, found.description, found.body) == ("fix", "Fixes.", "Fix it.\n")


def test_without_a_description_there_is_no_skill() -> None:
    assert read_skill(b"---\nname: fix\n---\nFix it.\n", "fix").faults
