"""How a page is read by the test that does what it says: what is not done is not passed over."""

from pathlib import Path

import pytest

from tests.making.pages import Block
from tests.making.pages import Reader
from tests.making.pages import blocks
from tests.making.pages import changed
from tests.making.pages import pattern
from tests.making.pages import steps


def reader(top: Path) -> Reader:
    return Reader(top=top, place=top, env={"PATH": "/usr/bin:/bin"})


def console(text: str) -> Block:
    return Block(line=1, language="console", name="", text=text)


def test_a_page_is_its_blocks_with_their_lines() -> None:
    (first, second) = blocks("# A\n\n```sh a.sh\ntrue\n```\ntext\n```console\n$ sh a.sh\n```\n")
    assert (first.line, first.language, first.name, first.text) == (3, "sh", "a.sh", "true\n")
    assert (second.line, second.language, second.name) == (7, "console", "")


def test_a_fence_that_is_not_at_the_margin_is_an_error() -> None:
    with pytest.raises(AssertionError, match="line 1: an indented fence"):
        list(blocks("  ```console\n"))


def test_a_block_without_a_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="line 4: a block that nobody does"):
        reader(tmp_path).does(Block(line=4, language="python", name="", text="1\n"))


def test_commands_are_taken_with_what_they_print() -> None:
    assert list(steps("$ a\n$ b \\\n    c\n1\n2\n")) == [("a\n", ""), ("b \\\n    c\n", "1\n2\n")]
    with pytest.raises(AssertionError, match="without a command"):
        list(steps(""))


@pytest.mark.parametrize(
    ("page", "output", "fits"),
    [
        ("a\n", "a\n", True),
        ("a\n", "a\nb\n", False),
        ("a\n", "", False),
        ("", "a\n", False),
        ("a…c\n", "abbc\n", True),
        ("a…c\n", "a\nc\n", False),
        ("a\n…\nc\n", "a\nb\nb\nc\n", True),
        ("a\n…\nc\n", "a\nc\n", True),
        ("a.c\n", "abc\n", False),
    ],
)
def test_an_output_fits_wholly_or_not_at_all(page: str, output: str, *, fits: bool) -> None:
    assert bool(pattern(page).fullmatch(output)) is fits


def test_a_change_fits_in_one_place() -> None:
    assert changed("a\nb\nc\n", " a\n-b\n+B\n@@\n c\n+d\n") == "a\nB\nc\nd\n"
    with pytest.raises(AssertionError, match="expected once"):
        changed("a\na\n", "-a\n")


def test_a_reader_stays_where_a_command_went(tmp_path: Path) -> None:
    who = reader(tmp_path)
    who.does(console("$ mkdir below && cd below\n$ pwd\n…/below\n"))
    assert who.place == tmp_path / "below"


@pytest.mark.parametrize("text", ["$ echo 1\n2\n", "$ false\n", "$ echo 1\n"])
def test_what_does_not_come_true_fails(tmp_path: Path, text: str) -> None:
    with pytest.raises(AssertionError, match="below line 1"):
        reader(tmp_path).does(console(text))


def test_what_a_page_answers_is_typed_on_a_terminal(tmp_path: Path) -> None:
    asks = "test -t 0 && printf 'Sure? [y/N] ' && read -r said && echo \"$said it is\""
    reader(tmp_path).does(console(f"$ {asks}\nSure? [y/N] yes\nyes it is\n"))
    with pytest.raises(AssertionError, match="the page says"):
        reader(tmp_path).does(console(f"$ {asks}\nSure? [y/N] no\nyes it is\n"))
