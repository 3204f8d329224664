"""Plugins that are not started, or cannot be: each has its one line and decides nothing.

What a person accepted is what runs [T-2]; a program that the system refuses is named with why
[T-8]. Each case changes something between the binding of the run and the asking.
"""

import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from stella.errors import NotAccepted
from stella.wire.points import Point
from tests.making.plugins import executable
from tests.making.zoo import GOOD
from tests.making.zoo import NAME
from tests.making.zoo import Cage
from tests.making.zoo import cage

ANSWERS: Final = b"#!/bin/sh\nprintf '%s\\n' \"$1\"\n"
WAY_OUT: Final = "`stella plugin .*accept"

POINTS: Final = pytest.mark.parametrize("point", tuple(Point), ids=lambda point: point.value)


def caged(folder: Path, point: Point, program: bytes = ANSWERS) -> Cage:
    """Install an animal that is started by the path of its own program."""
    argv = ("${plugin_dir}/main", GOOD[point])
    return cage(folder, argv, point, {"main": program, "notes": b"hello\n"})


def linked(directory: Path) -> None:
    """Put a link to the same bytes in the program's place."""
    shutil.copy(directory / "main", directory.parent / "elsewhere")
    (directory / "main").unlink()
    (directory / "main").symlink_to(directory.parent / "elsewhere")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Something done to an installed package, and how the fault names it."""

    do: Callable[[Path], object]
    words: str


CHANGES: Final = {
    "the program rewritten": Change(
        do=lambda at: (at / "main").write_bytes(ANSWERS + b"exit 0\n"), words="changed main"
    ),
    "the manifest rewritten": Change(
        do=lambda at: (at / "plugin.toml").write_text('name = "beast"\n'),
        words="changed plugin.toml",
    ),
    "a file added": Change(do=lambda at: (at / "more").write_text(""), words="added more"),
    "a file removed": Change(do=lambda at: (at / "notes").unlink(), words="removed notes"),
    "the program removed": Change(do=lambda at: (at / "main").unlink(), words="removed main"),
    "another mode": Change(do=lambda at: (at / "main").chmod(0o775), words="mode"),
    "a link in its place": Change(do=linked, words="main"),
    "a pipe beside it": Change(do=lambda at: os.mkfifo(at / "fifo"), words=r"added \(fifo\) fifo"),
    "the whole package gone": Change(do=shutil.rmtree, words="No such file or directory"),
}


@pytest.mark.behaviour("T-2", "W-50")
@POINTS
@pytest.mark.parametrize("change", CHANGES)
def test_a_package_that_is_not_the_accepted_one_does_not_run(
    tmp_path: Path, point: Point, change: str
) -> None:
    """[T-2, I-30, I-31]"""
    kept = caged(tmp_path, point)
    visit = kept.visit(lambda: CHANGES[change].do(kept.directory))
    visit.untouched("NotAccepted")
    pattern = f"fault  NotAccepted: {NAME} {point.value}: .*{CHANGES[change].words}.*{WAY_OUT}"
    assert re.match(pattern, visit.line or ""), visit.line


@pytest.mark.behaviour("T-9")
@POINTS
def test_compiled_files_that_an_earlier_start_left_are_deleted_and_it_runs(
    tmp_path: Path, point: Point
) -> None:
    """[T-9, I-32]"""
    kept = caged(tmp_path, point)
    planted = kept.directory / "__pycache__" / "json.cpython-311.pyc"

    def plant() -> None:
        planted.parent.mkdir()
        planted.write_bytes(b"planted")

    visit = kept.visit(plant)
    visit.untouched(None)
    assert visit.line is None
    assert visit.used
    assert not planted.parent.exists()


@pytest.mark.behaviour("T-2")
@POINTS
def test_what_nobody_accepted_refuses_the_run_before_it_begins(
    tmp_path: Path, point: Point
) -> None:
    """[I-30, D-10] No turn, no process, no journal."""
    kept = caged(tmp_path, point)
    shutil.rmtree(kept.home)
    with pytest.raises(NotAccepted, match=r"nobody accepted it here; .*`stella plugin "):
        kept.visit()
    assert not (kept.root / "answer.txt").exists()
    assert not (kept.root / ".stella" / "private").exists()


@pytest.mark.behaviour("T-8", "W-50")
@POINTS
@pytest.mark.parametrize(
    ("program", "words"),
    [
        (
            b"#!/no/such/interpreter\n",
            "its first line names the interpreter /no/such/interpreter, which is missing",
        ),
        (b"#!/etc/passwd\n", "the interpreter /etc/passwd, which is not executable"),
        (b"printf hello\n", "is neither a program nor a script"),
        (b"", "is neither a program nor a script"),
        (b"\x7fELF\x02\x01\x01", "could not be started|is neither a program"),
    ],
)
def test_a_program_that_the_system_refuses_is_a_failed_start(
    tmp_path: Path, point: Point, program: bytes, words: str
) -> None:
    """[T-8]"""
    kept = caged(tmp_path, point, program)
    visit = kept.visit()
    visit.untouched("Spawn")
    place = re.escape(str(kept.directory / "main"))
    pattern = f"fault  Spawn: {NAME} {point.value}: {place}: .*(?:{words})"
    assert re.match(pattern, visit.line or ""), visit.line


def emptied(program: Path) -> None:
    """Put a directory in the program's place."""
    program.unlink()
    program.mkdir()


@pytest.mark.behaviour("T-3", "T-8")
@POINTS
@pytest.mark.parametrize("do", [Path.unlink, emptied, lambda at: at.chmod(0o644)])
def test_a_program_of_the_person_that_is_gone_is_a_failed_start(
    tmp_path: Path, point: Point, do: Callable[[Path], object]
) -> None:
    """[T-3, T-8] It was recorded when the person accepted the package."""
    program = executable(tmp_path / "tool", ANSWERS.decode())
    kept = cage(tmp_path, (str(program), GOOD[point]), point, {})
    first = kept.visit()
    assert first.used
    visit = kept.visit(lambda: do(program))
    visit.untouched("Spawn")
    place = re.escape(str(program))
    words = "the program that was accepted is gone or may not be executed"
    pattern = f"fault  Spawn: {NAME} {point.value}: {place}: {words}.*{WAY_OUT}"
    assert re.match(pattern, visit.line or ""), visit.line


@pytest.mark.behaviour("T-8")
@POINTS
def test_a_program_that_was_nowhere_when_it_was_accepted_is_a_failed_start(
    tmp_path: Path, point: Point
) -> None:
    """[T-8]"""
    visit = cage(tmp_path, ("no-such-interpreter", GOOD[point]), point, {}).visit()
    visit.untouched("Spawn")
    pattern = f"fault  Spawn: {NAME} {point.value}: no-such-interpreter: no such program was found"
    assert re.match(pattern, visit.line or ""), visit.line
