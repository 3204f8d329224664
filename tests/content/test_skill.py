"""A skill file: its small grammar, what is required, what falls back."""

import os
from typing import Any

import pytest

from stella import limits
from stella.content.skill import Context
from stella.content.skill import Effort
from stella.content.skill import Origin
from stella.content.skill import Skill
from stella.content.skill import read_skill
from tests.making.vectors import vectors

BODY = "Read the guide first."


def skill(*lines: str, body: str = BODY, directory: str = "notes") -> bytes:
    return "\n".join(("---", *lines, "---", "", body, "")).encode()


def read(*lines: str, directory: str = "notes") -> Skill:
    reading = read_skill(skill(*lines), directory)
    assert reading.value is not None, reading.faults
    return reading.value


@pytest.mark.behaviour("P-30")
@pytest.mark.parametrize(("name", "vector"), vectors("content/skills"))
def test_a_skill_file_is_read_as_the_vectors_say(name: str, vector: dict[str, Any]) -> None:
    """[P-30, P-31] Each vector is a file, its directory, and what it comes to."""
    reading = read_skill(vector["text"].encode(), vector.get("directory", "notes"))
    found = reading.value
    if "faults" in vector:
        assert found is None
        assert list(reading.faults) == vector["faults"]
    else:
        assert found is not None, reading.faults
        assert told(found) == {"slug": vector.get("directory", "notes"), **vector["skill"]}
    assert list(reading.notes) == vector.get("notes", [])


def told(found: Skill) -> dict[str, Any]:
    """The skill as a vector writes it: what is absent or usual is left out."""
    every = {
        "slug": found.slug,
        "description": found.description,
        "body": found.body,
        "domains": list(found.domains),
        "origin": found.origin.value if found.origin else None,
        "context": found.context.value if found.context is Context.FORK else None,
        "allowed_tools": None if found.allowed_tools is None else list(found.allowed_tools),
        "model": found.model,
        "effort": found.effort.value if found.effort else None,
    }
    return {key: value for key, value in every.items() if value not in (None, [])}


def test_every_word_of_the_closed_vocabularies_is_read() -> None:
    """[P-30] Case does not matter."""
    for origin in Origin:
        assert read("description: d", f"origin: {origin.value.upper()}").origin is origin
    for effort in Effort:
        assert read("description: d", f"effort: {effort.value}").effort is effort
    for context in Context:
        assert read("description: d", f"context: {context.value}").context is context


@pytest.mark.behaviour("P-31")
def test_a_skill_without_a_description_or_a_body_is_none() -> None:
    """[P-31] All that is missing is told at once; unknown keys and values refuse nothing."""
    empty = read_skill(skill("name: other", body=""), "notes")
    assert empty.value is None
    assert empty.faults == (
        'name: "other" is not the directory\'s, "notes"',
        "description: it is missing; write one line that says when it helps",
        "the body behind the frontmatter is empty",
    )
    fell_back = read_skill(skill("description: d", "colour: red", "effort: hgih"), "notes")
    assert fell_back.value is not None
    assert fell_back.value.effort is None
    assert fell_back.notes == (
        'effort: "hgih" is not known, passed over; did you mean high or xhigh?',
    )


def test_a_directory_without_a_visible_name_is_no_skill() -> None:
    assert read_skill(skill("description: d"), " ").faults == ("name: the directory has none",)


def test_a_directory_whose_name_is_no_text_is_no_skill() -> None:
    """[P-31] Nothing could write such a name down."""
    reading = read_skill(skill("description: d"), os.fsdecode(b"a\xff"))
    assert reading.faults == ('name: the directory\'s, "a\\u{DCFF}", is not UTF-8',)


def test_the_bytes_of_a_skill_are_bounded() -> None:
    """[P-30] At the limit it is read, one byte more is refused."""
    whole = skill("description: d")
    whole += b"x" * (limits.CONTENT_BYTES - len(whole))
    assert read_skill(whole, "notes").value is not None
    assert "more than" in read_skill(whole + b"x", "notes").faults[0]


def test_a_skill_full_of_nonsense_is_told_in_a_few_lines() -> None:
    """[P-31] One note for each line would bury every other notice."""
    lines = ["nonsense"] * (limits.IGNORED_SHOWN + 3)
    reading = read_skill(skill(*lines, "description: d"), "notes")
    assert reading.value is not None
    assert reading.notes[0] == 'line 2: expected "key: value", passed over'
    assert reading.notes[limits.IGNORED_SHOWN :] == ("3 more notes",)
    assert read_skill(skill(*lines), "notes").notes == reading.notes


HOSTILE = [
    "description: &a [*a, *a]",
    "description: !!python/object/apply:os.system [touch x]",
    "<<: *a",
    "- - - -",
    "a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]",
    "description: |",
    "description: {" + "{" * 1000,
    "description: " + "[" * 100_000,
    "? complex",
    "%YAML 1.2",
    "name:\n- notes\n- other",
]


@pytest.mark.parametrize("line", HOSTILE)
def test_front_matter_is_no_yaml_so_nothing_is_expanded_built_or_run(line: str) -> None:
    """[P-30] An anchor, a tag, a merge, a block, deep nesting: text, and nothing more."""
    reading = read_skill(skill("description: first", *line.split("\n")), "notes")
    found = reading.value
    assert found is not None, reading.faults
    written = line.removeprefix("description: ") if line.startswith("description") else "first"
    assert found.description == written
    assert (found.slug, found.body, found.domains, found.allowed_tools) == ("notes", BODY, (), None)
    assert all(note.isprintable() for note in reading.notes)


def test_a_key_that_stands_twice_cannot_hide_the_one_that_counts() -> None:
    """[P-31, P-5] The last one counts, it is told, and a name is checked all the same."""
    twice = read_skill(skill("description: kind", "description: rude"), "notes")
    assert twice.value is not None
    assert twice.value.description == "rude"
    assert twice.notes == ("line 3: description stands twice, the last one counts",)
    named = read_skill(skill("name: notes", "name: other", "description: d"), "notes")
    assert named.faults == ('name: "other" is not the directory\'s, "notes"',)


@pytest.mark.parametrize(
    "sign", ["\x00", "\x1b[2J", "\u202e", "\x85", "\u2028", "\r", "\U000e0041"]
)
def test_no_sign_of_a_value_begins_a_line_or_reaches_a_terminal(sign: str) -> None:
    """[P-30, C-3] A value ends where its line does, and what is told of it is one line."""
    reading = read_skill(skill(f"effort: low{sign}name: other", "description: d"), "notes")
    assert reading.value is not None, reading.faults
    assert reading.value.effort is None
    (note,) = reading.notes
    assert note.isprintable()
    assert sign not in note


def test_bytes_that_are_no_text_are_refused_with_their_place() -> None:
    assert read_skill(b"---\n\xff", "notes").faults == ("byte 4 is not UTF-8",)


def test_what_an_author_wrote_is_made_visible_in_a_fault() -> None:
    """[C-3] A name cannot forge a line of the terminal."""
    reading = read_skill(skill("name: a\x1b[31m", "description: d"), "a\u202e")
    assert reading.faults == ('name: "a\\u{1B}[31m" is not the directory\'s, "a\\u{202E}"',)
