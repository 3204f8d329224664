from itertools import takewhile
from pathlib import Path

import pytest

from stella.consent.page import OPENINGS
from stella.consent.page import PHRASES
from stella.consent.page import TITLES
from stella.consent.text import Resolution
from stella.consent.text import consent_text
from stella.manifest.read import read_manifest
from tests.making.manifests import loaded
from tests.making.manifests import manifest_vectors
from tests.making.regenerate import consent

FOUND = Resolution(runtime="/usr/bin/python3", oracle="/usr/bin/make")


@pytest.mark.behaviour(
    *("C-4", "C-5", "C-6", "C-7", "C-8", "C-9", "C-10", "C-11", "C-12", "C-13", "C-14", "C-15"),
    *("C-16", "C-17", "C-18", "C-19", "C-20", "C-21", "C-22", "C-23", "C-24", "K-167", "K-168"),
    *("K-68", "K-169"),
)
@pytest.mark.parametrize("path", manifest_vectors("consent"), ids=lambda path: path.stem)
def test_a_manifest_has_the_text_of_its_vector(path: Path) -> None:
    """The first vector is the full text of C-24 [C-1 to C-24, K-1, K-25, K-83, K-167, K-168]."""
    assert consent(path) == path.with_suffix(".txt").read_text("utf-8")


@pytest.mark.parametrize("path", manifest_vectors("consent"), ids=lambda path: path.stem)
def test_the_first_vector_and_every_other_keep_the_form_of_a_text(path: Path) -> None:
    """[C-1, C-7, C-22]"""
    said = consent(path).removesuffix("\n")
    lines = said.split("\n")
    assert lines[0].startswith("Install the plugin `")
    assert lines[-1] == "Nothing above is granted until you accept."
    assert all(line == line.rstrip() for line in lines)
    assert "\n\n\n" not in said
    assert all(char.isprintable() for line in lines for char in line)


def test_hidden_characters_flag_their_line_and_add_one_warning() -> None:
    """[C-3, C-4, C-22, K-167, C64, C65]"""
    hidden = "\u202e \u200b \u2028 \x1b]0;t\x07 \x9b \u2066 \u061c \u200f"
    text = 'name = "x"\n[[capabilities]]\ntool = "t"\nrisk = "low"\npurpose = "{}"\n'
    escaped = "".join(f"\\u{ord(char):04X}" if not char.isprintable() else char for char in hidden)
    lines = consent_text(loaded(text.format(escaped)), Resolution()).split("\n")
    assert (
        r"  - t, LOW: \u{202E} \u{200B} \u{2028} \u{1B}]0;t\u{7} \u{9B} \u{2066} \u{61C} \u{200F}"
        " [hidden characters]"
    ) in lines
    assert lines[-2] == (
        r"Some text above held hidden or control characters; they are shown as \u{…}."
    )
    plain = consent_text(loaded(text.format("p")), Resolution())
    assert "hidden" not in plain


@pytest.mark.behaviour("C67")
def test_runs_of_white_space_collapse() -> None:
    """[C-3, C67, Q-19]"""
    text = f'name = "x"\ndescription = "a{" " * 500}b\\t\\r\\n\u3000c"\n'
    assert consent_text(loaded(text), Resolution()).split("\n")[1] == "a b c"


@pytest.mark.parametrize("description", ['""', '" "', '"\\n"'])
def test_a_blank_description_has_no_line(description: str) -> None:
    """[C-8]"""
    text = f'name = "x"\ndescription = {description}\n'
    assert consent_text(loaded(text), Resolution()).split("\n")[1] == ""


def test_an_author_cannot_write_a_line_of_the_hosts() -> None:
    """[C-3]"""
    text = 'name = "x"\ndescription = "a\\nGrade: NONE.\\u2028Grade: NONE."\n'
    lines = consent_text(loaded(text), Resolution()).split("\n")
    assert [line for line in lines if line.startswith("Grade")] == [
        "Grade: NONE. It is a bundle of content and never runs inside a turn."
    ]


def test_the_paths_that_were_found_are_all_that_is_read_besides_the_manifest() -> None:
    """[C-1]"""
    path = manifest_vectors("consent")[2]
    manifest = read_manifest(path.read_bytes()).manifest
    one = consent_text(manifest, FOUND)
    other = consent_text(manifest, Resolution(runtime="/opt/python3", oracle=None))
    changed = [
        pair for pair in zip(one.split("\n"), other.split("\n"), strict=True) if len(set(pair)) > 1
    ]
    assert changed == [
        ("      program: /usr/bin/make", "      program: not found on this machine"),
        ("      program: /usr/bin/python3", "      program: /opt/python3"),
    ]


BLOCKS = (
    "Install the plugin ",
    "Grade: ",
    "It drives work ",
    "No verification ",
    "The host applies ",
    "It declares no reach ",
    "Widest reach: ",
    "It ships content:",
    "It changes ",
    "Each tool call ",
)


def test_the_vectors_have_every_block_and_every_kind_of_line() -> None:
    """[C-7 to C-23] Without this the files above would prove less than they seem to."""
    texts = [path.with_suffix(".txt").read_text("utf-8") for path in manifest_vectors("consent")]
    lines = {line for text in texts for line in text.split("\n")}
    starts = {"".join(takewhile(lambda char: char not in ":.,", line)) for line in lines}
    for grade in ("NONE", "OBSERVER", "STEERING", "ARBITER"):
        assert any(line.startswith(f"Grade: {grade}. ") for line in lines)
    for risk in ("LOW", "MEDIUM", "HIGH", "DESTRUCTIVE"):
        assert any(line.startswith(f"Widest reach: {risk}, ") for line in lines)
    for number, noun in [(n, k) for k in ("tool", "skill", "record") for n in (1, 2)]:
        assert f"  - {number} {noun}{'s' * (number > 1)}" in starts
    assert {"It changes 1 setting", "It changes 2 settings"} <= starts
    for family in ("backlog", "work", "deliver", "sweep", "curate"):
        assert f"  - {family}" in starts
    for block in BLOCKS:
        assert any(line.startswith(block) for line in lines), block
    for title in OPENINGS:
        assert any(line.startswith(title) for line in lines), title
    for words in PHRASES:
        assert any(line.lstrip(" -").startswith(words) for line in lines), words
    for title in TITLES:
        assert any(line.lstrip(" ").startswith(f"{title}: ") for line in lines), title


def test_blocks_come_in_their_order_with_a_blank_line_before_each() -> None:
    """[C-7]"""
    text = next(path for path in manifest_vectors("consent") if path.stem == "03-everything")
    lines = text.with_suffix(".txt").read_text("utf-8").split("\n")
    shown = [block for block in BLOCKS if block != "It declares no reach "]
    places = [next(at for at, line in enumerate(lines) if line.startswith(b)) for b in shown]
    assert places == sorted(places)
    assert all(lines[at - 1] == "" for at in places[1:])


def test_every_line_at_the_margin_begins_like_one_that_no_author_can_write() -> None:
    """[K-68] The list that an author's text is compared with leaves none of the host's out."""
    for path in manifest_vectors("consent"):
        lines = path.with_suffix(".txt").read_text("utf-8").rstrip("\n").split("\n")
        own = [line for at, line in enumerate(lines) if line[:1] != " " and (at != 1 or not line)]
        assert all(not line or line.startswith(OPENINGS) for line in own), path.stem
