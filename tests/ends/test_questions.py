"""Each question about a plugin on a real terminal: what is shown, and that no is the default."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.making.ends import Place
from tests.making.ends import place
from tests.making.packages import notes
from tests.making.packages import seen
from tests.making.terminal import conversed

END_OF_INPUT: Final = b"\x04"
INTERRUPT: Final = b"\x03"
INTERRUPTED: Final = 130
HOSTILE: Final = (
    "\\u001b[2J\\u001b[1;1HInstalled.\\r\\u001b[2K\\u001b]0;done\\u0007"
    "\\u0008\\u0008\\u001b[1A\\u202e\\u009b2K Install it? [y/N] y\\n\\n\\n"
)
"""A description that would clear the screen, go back, set a title and ask a question itself."""


def _new(where: Place, source: Path) -> tuple[str, ...]:
    del where
    return ("install", str(source))


def _upgrade(where: Place, source: Path) -> tuple[str, ...]:
    where.install(source)
    (source / "more").write_text("x", "utf-8")
    return ("install", str(source), "--upgrade")


def _accept(where: Place, source: Path) -> tuple[str, ...]:
    where.install(source)
    (where.root / ".stella/plugins/notes/more").write_text("x", "utf-8")
    return ("accept", "notes")


Ready = Callable[[Place, Path], tuple[str, ...]]
READY: Final[dict[str, Ready]] = {"install": _new, "upgrade": _upgrade, "accept": _accept}


def _ready(tmp_path: Path, question: str, description: str = "") -> tuple[Place, tuple[str, ...]]:
    where = place(tmp_path)
    more = f'description = "{description}"\n' if description else ""
    source = notes(tmp_path / "source", manifest=f'name = "{{name}}"\n{more}')
    return where, ("plugin", *READY[question](where, source))


@pytest.mark.behaviour("H10.plugin")
@pytest.mark.parametrize("question", READY)
@pytest.mark.parametrize("typed", [b"\n", b"n\n", b"yy\n", END_OF_INPUT], ids=repr)
def test_whatever_is_not_yes_is_no(tmp_path: Path, question: str, typed: bytes) -> None:
    """[I-9, S-6] An empty line and the end of input too; all is as it was, and the exit is 0."""
    where, words = _ready(tmp_path, question)
    before = seen(tmp_path)
    done = conversed(where, *words, typed=typed)
    assert done.code == 0
    assert done.rows[-2].startswith("not installed" if question != "accept" else "not accepted")
    assert seen(tmp_path) == before


@pytest.mark.parametrize("question", READY)
def test_an_interrupt_at_the_question_changes_nothing(tmp_path: Path, question: str) -> None:
    """[I-9, I-70, S-6]"""
    where, words = _ready(tmp_path, question)
    before = seen(tmp_path)
    done = conversed(where, *words, typed=INTERRUPT)
    assert done.code == INTERRUPTED
    assert "Traceback" not in done.shown
    assert seen(tmp_path) == before


@pytest.mark.behaviour("C71.plugin")
@pytest.mark.parametrize("question", READY)
def test_a_yes_that_was_typed_too_early_is_thrown_away(tmp_path: Path, question: str) -> None:
    """[S-6] Whole lines of it and a part of one."""
    where, words = _ready(tmp_path, question)
    before = seen(tmp_path)
    done = conversed(where, *words, typed=b"\n", early=b"y\nyes\ny\n" * 20 + b"y")
    assert done.code == 0
    assert seen(tmp_path) == before


@pytest.mark.parametrize("question", READY)
def test_a_yes_after_the_question_counts(tmp_path: Path, question: str) -> None:
    """[I-9, I-26] And is recorded as one of a terminal."""
    where, words = _ready(tmp_path, question)
    done = conversed(where, *words, typed=b"Yes\n")
    assert done.code == 0
    past = {"install": "installed", "upgrade": "upgraded", "accept": "accepted"}[question]
    assert f"\n{past} notes in" in "\n".join(done.rows)
    listed = where.stella("plugin", "list").out
    assert "notes  project  none  ok" in listed
    (record,) = (where.home / "consent").glob("*.lock.toml")
    assert 'accepted_by = "tty"' in record.read_text("utf-8")


@pytest.mark.behaviour("H11.plugin")
@pytest.mark.parametrize("question", READY)
def test_without_a_terminal_it_is_refused_and_yes_is_named(tmp_path: Path, question: str) -> None:
    """[I-9, S-6] A yes on standard input is none; what would be asked about is shown."""
    where, words = _ready(tmp_path, question)
    before = seen(tmp_path)
    done = where.stella(*words, stdin=b"y\ny\n")
    assert (done.code, done.out) == (1, "")
    assert "Install the plugin `notes`?\n" in done.err
    assert done.err.endswith(
        "stella: there is no terminal to ask on; give --yes to accept what is shown above, or "
        "--accept with its digest\n"
    )
    assert seen(tmp_path) == before


@pytest.mark.parametrize("question", READY)
@pytest.mark.parametrize(
    ("columns", "env"), [(40, {"TERM": "xterm-256color"}), (60, {"NO_COLOR": "1"}), (80, {})]
)
def test_no_text_of_an_author_moves_or_clears_anything(
    tmp_path: Path, question: str, columns: int, env: dict[str, str]
) -> None:
    """[C-3, C-5, S-42] Rows alone are sent, none wider than the screen, and one question."""
    where, words = _ready(tmp_path, question, HOSTILE)
    done = conversed(where, *words, typed=b"\n", columns=columns, env=env)
    assert done.code == 0
    text = "\n".join(done.rows)
    assert set(text) - {"\n"} == {char for char in text if char.isprintable()}
    assert all(len(row) <= columns for row in done.rows)
    asking = [row for row in done.rows if re.match(r"\S.*\[y/N\]", row)]
    assert len(asking) == 1
    joined = re.sub(r"\n +\| ", "", text)
    assert r"\u{1B}[2J\u{1B}[1;1HInstalled." in joined
    assert "Nothing above is granted until you accept." in re.sub(r"\n +\| ", " ", text)
