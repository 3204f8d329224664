"""The question before an install, on a terminal of its own, by what is installed after it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from rich.cells import cell_len

from tests.making.ends import Place
from tests.making.ends import place
from tests.making.packages import seen
from tests.making.packages import swap
from tests.making.plugins import written
from tests.making.refused import inhabited
from tests.making.refused import standing
from tests.making.terminal import conversed

PLAIN: Final = 'name = "plain"\ndescription = "Counts lines."\n'
WIDER: Final = (
    'name = "plain"\ndescription = "Counts lines."\n'
    '[[capabilities]]\ntool = "network"\nrisk = "destructive"\npurpose = "p"\n'
)


@pytest.fixture(name="where")
def _where(tmp_path: Path) -> Place:
    return inhabited(place(tmp_path))


@pytest.fixture(name="package")
def _package(tmp_path: Path) -> Path:
    return written(tmp_path / "package", PLAIN, "print(1)\n")


@pytest.mark.behaviour("C73")
@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("\n", 0),
        ("n\n", 0),
        ("yep\n", 0),
        ("yes please\n", 0),
        ("\uff59\n", 0),
        ("\u0443\n", 0),
        ("y\u200b\n", 0),
        ("y\x1b[A\n", 0),
        ("ye\x04\x04", 0),
        ("\x04", 0),
        ("y\x03", 130),
        ("y\x1c", -3),
    ],
)
def test_every_answer_but_yes_installs_nothing(
    where: Place, package: Path, typed: str, code: int
) -> None:
    """[I-9] By the two tiers and the records; a no that was understood ends with 0."""
    before = standing(where)
    done = conversed(where, "plugin", "install", str(package), typed=typed.encode())
    assert done.code == code, done.shown
    assert standing(where) == before
    if code == 0:
        assert done.rows[-2:] == ["not installed", ""]


@pytest.mark.behaviour("C73")
@pytest.mark.parametrize("typed", ["y\n", "Y \n", " yes\n", "YES\n", "y\x04\x04"])
def test_a_yes_installs(where: Place, package: Path, typed: str) -> None:
    """[I-9] Trimmed and in any case: the spec takes what the case would not."""
    done = conversed(where, "plugin", "install", str(package), typed=typed.encode())
    assert done.code == 0, done.shown
    there = where.root / ".stella" / "plugins" / "plain"
    assert (there / "main.py").read_bytes() == (package / "main.py").read_bytes()


@pytest.mark.behaviour("C71")
@pytest.mark.parametrize("early", [b"y\n", b"yes\nyes\n", b"y\n" * 500])
def test_what_was_typed_before_the_question_stood_there_is_no_answer(
    where: Place, package: Path, early: bytes
) -> None:
    """[S-6, I-9]"""
    before = standing(where)
    done = conversed(where, "plugin", "install", str(package), early=early, typed=b"\n")
    assert (done.code, standing(where)) == (0, before)
    assert done.shown.endswith("not installed\r\n")


def _program(package: Path) -> None:
    """Change a program without changing its size or the time of its last change."""
    path = package / "main.py"
    found = path.stat()
    path.write_text("print(2)\n")
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def _manifest(package: Path) -> None:
    (package / "plugin.toml").write_text(WIDER)


def _added(package: Path) -> None:
    (package / "sitecustomize.py").touch()


def _gone(package: Path) -> None:
    (package / "main.py").unlink()


def _may_run(package: Path) -> None:
    (package / "main.py").chmod(0o755)


def _whole(package: Path) -> None:
    swap(package, written(package.with_name("other"), WIDER, "import evil\n"))


@pytest.mark.behaviour("A22")
@pytest.mark.parametrize(
    ("change", "named"),
    [
        (_program, "main.py"),
        (_manifest, "plugin.toml"),
        (_added, "sitecustomize.py"),
        (_gone, "main.py"),
        (_may_run, "main.py"),
    ],
)
def test_what_changes_while_the_question_is_open_is_not_installed(
    where: Place, package: Path, change: Callable[[Path], None], named: str
) -> None:
    """[I-7] The person said yes to other bytes."""
    before = standing(where)
    done = conversed(
        where,
        *("plugin", "install", str(package)),
        typed=b"yes\n",
        meanwhile=lambda: change(package),
        columns=1000,
    )
    assert done.code == 1, done.shown
    said = f"it changed while the question was open: {named}; nothing was installed"
    assert done.rows[-2:] == [f"stella: {package}: {said}", ""]
    assert standing(where) == before


@pytest.mark.behaviour("A22")
def test_another_directory_in_the_place_of_the_one_that_was_shown_is_not_installed(
    where: Place, package: Path
) -> None:
    """[I-7] What was walked is held open; another of its name is never looked at."""
    before = standing(where)
    done = conversed(
        where,
        *("plugin", "install", str(package)),
        typed=b"yes\n",
        meanwhile=lambda: _whole(package),
        columns=1000,
    )
    assert done.code == 1, done.shown
    assert f"stella: {package}: " in done.rows[-2]
    assert standing(where) == before


@pytest.mark.behaviour("A22")
@pytest.mark.parametrize("change", [_program, _manifest, _added, _gone, _may_run])
@pytest.mark.parametrize(
    "words", [("install", "--upgrade"), ("accept",)], ids=["upgrade", "accept"]
)
def test_what_changes_while_an_upgrade_or_an_acceptance_is_asked_about_is_not_accepted(
    where: Place, package: Path, words: tuple[str, ...], change: Callable[[Path], None]
) -> None:
    """[I-7, I-33, I-36] The copy that was accepted keeps its record, and no other gets one."""
    where.install(package)
    there = where.root / ".stella" / "plugins" / "plain"
    shown = there if words == ("accept",) else package
    (shown / "main.py").write_text("print(3)\n")
    before, records = standing(where), seen(where.home)
    about = "plain" if words == ("accept",) else str(package)
    done = conversed(
        where,
        *("plugin", *words, about),
        typed=b"yes\n",
        meanwhile=lambda: change(shown),
        columns=1000,
    )
    assert done.code == 1, done.shown
    assert "it changed while the question was open" in done.rows[-2]
    assert seen(where.home) == records
    if shown is package:
        assert standing(where) == before


@pytest.mark.behaviour("C68")
@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("words", [("install",), ("install", "--upgrade"), ("accept",), ("trust",)])
def test_reach_and_difference_are_on_the_screen_with_every_question(
    where: Place, package: Path, words: tuple[str, ...], columns: int
) -> None:
    """[C-16, I-36, I-52] The screen has 24 rows, the text far more, warnings among them."""
    there = where.root / ".stella" / "plugins" / "plain"
    about = [str(package)] if words[0] == "install" else [] if words == ("trust",) else ["plain"]
    if words in {("install", "--upgrade"), ("accept",)}:
        where.install(package)
    target = package if words[0] == "install" else there
    target.mkdir(exist_ok=True)
    odd = '[[capabilities]]\ntool = "t{}"\nrisk = "odd"\npurpose = "p"\n'
    (target / "plugin.toml").write_text(WIDER + "".join(map(odd.format, range(30))))
    (target / "main.py").touch()
    done = conversed(
        where,
        *([] if words == ("trust",) else ["plugin"]),
        *words,
        *about,
        typed=b"\n",
        columns=columns,
    )
    screen = done.asked.replace("\r\n", "\n").split("\n")[-24:]
    assert "Widest reach: DESTRUCTIVE, can destroy" in " ".join(screen).replace("  | ", "")
    if words in {("install", "--upgrade"), ("accept",)}:
        assert any(row.startswith("What differs is ") for row in screen)


@pytest.mark.behaviour("C67")
@pytest.mark.parametrize("columns", [40, 60, 80])
@pytest.mark.parametrize(
    "gap",
    [" " * 500, "\\t" * 500, "\u3000" * 100, "\u00a0" * 500],
    ids=["blanks", "tabs", "wide blanks", "fixed blanks"],
)
def test_no_blanks_push_a_part_of_a_text_off_the_screen(
    where: Place, tmp_path: Path, gap: str, columns: int
) -> None:
    """[C-3, S-42] Runs are one space; each row is folded at the cells the terminal has."""
    wide = "\u6f22\u5b57" * 60
    text = (
        f'name = "plain"\ndescription = "a{gap}{wide}{gap}end of it"\n'
        f'[[capabilities]]\ntool = "t"\nrisk = "low"\npurpose = "p{gap}reads{gap}keys"\n'
    )
    package = written(tmp_path / "package", text, "")
    done = conversed(
        where, "plugin", "install", str(package), typed=b"\n", columns=columns, env={"NO_COLOR": ""}
    )
    assert "\x1b" not in done.shown
    rows = done.rows
    assert max(map(cell_len, rows)) <= columns
    assert "  - t, LOW: p reads keys" in rows
    description = rows[1 : rows.index("")]
    assert all(row.startswith("  | ") for row in description)
    # Folded at its blanks and between the characters of a word that is wider than the screen.
    told = "".join(row.removeprefix("  | ") for row in description)
    assert told.replace(" ", "") == f"a{wide}endofit"
