from pathlib import Path

import pytest

from stella.consent.text import Resolution
from stella.consent.text import consent_text
from stella.manifest.read import read_manifest
from tests.making.manifests import loaded
from tests.making.manifests import manifest_vectors

FOUND = Resolution(runtime="/usr/bin/python3", oracle="/usr/bin/make")


def resolution_of(path: Path) -> Resolution:
    """Where the programs of a vector were found; the name of the vector says when nowhere."""
    return Resolution() if path.stem.endswith("-not-found") else FOUND


@pytest.mark.parametrize("path", manifest_vectors("consent"), ids=lambda path: path.stem)
def test_a_manifest_has_the_text_of_its_vector(path: Path) -> None:
    """The first vector is the full text of C-24 [C-1 to C-24, K-1, K-25, K-83, K-167, K-168]."""
    said = consent_text(read_manifest(path.read_bytes()).manifest, resolution_of(path))
    assert f"{said}\n" == path.with_suffix(".txt").read_text("utf-8")


@pytest.mark.parametrize("path", manifest_vectors("consent"), ids=lambda path: path.stem)
def test_the_first_vector_and_every_other_keep_the_form_of_a_text(path: Path) -> None:
    """[C-1, C-7, C-22]"""
    said = consent_text(read_manifest(path.read_bytes()).manifest, resolution_of(path))
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
