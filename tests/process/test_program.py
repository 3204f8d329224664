"""Where a program is looked for, and what is said when it cannot be started."""

import errno
import os
from pathlib import Path

import pytest

from stella import limits
from stella.process.program import find_program
from stella.process.program import leads_into
from stella.process.program import searched
from stella.process.program import why


def program(place: Path, name: str = "tool", mode: int = 0o755) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    path = place / name
    path.write_text("#!/bin/sh\n")
    path.chmod(mode)
    return path


def path_of(*entries: Path | str) -> str:
    return os.pathsep.join(map(str, entries))


def test_the_first_executable_file_of_that_name_is_taken(tmp_path: Path) -> None:
    """T-3."""
    (tmp_path / "a" / "tool").mkdir(parents=True)
    program(tmp_path / "b", mode=0o644)
    found = program(tmp_path / "c")
    program(tmp_path / "d")
    path = path_of(*(tmp_path / name for name in ("gone", "a", "b", "c", "d")))
    assert find_program("tool", path, cwd="/") == found


@pytest.mark.behaviour("T-3")
@pytest.mark.parametrize("entry", ["", ".", "bin", "./bin", "../bin"])
def test_relative_and_empty_entries_are_passed_over(
    entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T-3, E131: though the program is there."""
    for place in (tmp_path / "work", tmp_path / "work" / "bin", tmp_path / "bin"):
        program(place)
    monkeypatch.chdir(tmp_path / "work")
    assert find_program("tool", path_of(entry, "/gone"), cwd=tmp_path / "work") is None


@pytest.mark.parametrize("path", [None, "", os.pathsep])
def test_without_a_path_nothing_is_found(path: str | None) -> None:
    assert find_program("sh", path, cwd="/") is None
    assert "PATH names no directory to look in" in searched("sh", path)


@pytest.mark.behaviour("T-3")
def test_a_name_with_a_slash_is_taken_from_the_directory_whether_it_exists_or_not() -> None:
    """T-3, G-9: starting it tells."""
    assert find_program("./run", "/bin", cwd="/plugin") == Path("/plugin/run")
    assert find_program("bin/run", None, cwd=Path("/plugin")) == Path("/plugin/bin/run")
    assert find_program("/usr/bin/x", None, cwd="/plugin") == Path("/usr/bin/x")


@pytest.mark.parametrize("name", ["", ".", "..", "a\0b"])
def test_a_name_that_is_none_is_not_found(name: str) -> None:
    assert find_program(name, "/usr/bin:/bin", cwd="/") is None
    assert ": no such program; looked in /usr/bin, /bin" in searched(name, "/usr/bin:/bin")


def test_entries_inside_the_workspace_are_passed_over(tmp_path: Path) -> None:
    """Q-30: by either way in, a link or the place it leads to."""
    workspace, outside = tmp_path / "work", tmp_path / "outside"
    program(workspace / "bin")
    program(outside / "real")
    (outside / "into").symlink_to(workspace / "bin")
    (workspace / "out").symlink_to(outside / "real")
    (workspace / "x").mkdir()
    around = workspace / "x" / ".." / "bin"
    inside = (workspace / "bin", outside / "into", workspace / "out", around)
    for entry in inside:
        assert find_program("tool", str(entry), cwd="/") is not None
        assert find_program("tool", str(entry), cwd="/", skip_under=workspace) is None
    found = find_program("tool", path_of(*inside, outside / "real"), cwd="/", skip_under=workspace)
    assert found == outside / "real" / "tool"


def test_a_link_into_the_workspace_is_passed_over_however_long_the_way(tmp_path: Path) -> None:
    """Q-30, E131: the workspace decides what such a link leads to, even to a place outside."""
    workspace, outside, last = tmp_path / "work", tmp_path / "outside", tmp_path / "last"
    program(workspace / "bin")
    found = program(last)
    (workspace / "back").symlink_to(last)
    ways = {
        "file": workspace / "bin" / "tool",
        "relative": Path("../../work/bin/tool"),
        "back": workspace / "back" / "tool",
    }
    for name, target in ways.items():
        (outside / name).mkdir(parents=True)
        (outside / name / "tool").symlink_to(target)
    (outside / "twice").symlink_to(outside / "back")
    (outside / "loop").symlink_to("loop")
    for name in (*ways, "twice", "loop"):
        path = path_of(outside / name, last)
        assert leads_into(outside / name / "tool", workspace), name
        assert find_program("tool", path, cwd="/", skip_under=workspace) == found
    assert not leads_into(outside / "file", None)
    assert not leads_into(found, workspace)
    said = searched("tool", path_of(outside / "file"), skip_under=workspace)
    assert said.endswith(f"{outside}/file/tool leads into the workspace")


def test_a_neighbour_with_a_longer_name_is_not_inside(tmp_path: Path) -> None:
    found = program(tmp_path / "work2")
    path = str(tmp_path / "work2")
    assert find_program("tool", path, cwd="/", skip_under=tmp_path / "work") == found


def test_a_message_names_what_was_searched_and_what_was_not(tmp_path: Path) -> None:
    """T-8."""
    program(tmp_path / "b", mode=0o644)
    path = path_of("/gone", tmp_path / "b", "", "bin", tmp_path / "work" / "bin")
    assert searched("tool", path, skip_under=tmp_path / "work") == (
        f"tool: no such program; looked in /gone, {tmp_path}/b; skipped an empty entry, "
        f"bin (relative), {tmp_path}/work/bin (inside the workspace); "
        f"{tmp_path}/b/tool is there but is not executable"
    )


def test_what_an_author_wrote_cannot_forge_a_line() -> None:
    """C-3."""
    assert searched("a\nb\x1b[2J", "/x\x1by") == (
        "a b\\u{1B}[2J: no such program; looked in /x\\u{1B}y"
    )
    assert "\x1b" not in why("/x\x1by", errno.ENOENT)
    assert "\x1b" not in why("/x", errno.ENOENT, cwd="/\x1b", at_cwd=True)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (b"#!/no/such\n", "/no/such"),
        (b"#! /no/such -a -b\nrest", "/no/such"),
        (b"#!/no/such\r\n", "/no/such"),
        (b"#!/\x1b\n", "/\\u{1B}"),
    ],
)
def test_a_missing_interpreter_is_named(line: bytes, named: str, tmp_path: Path) -> None:
    """T-8."""
    script = tmp_path / "script"
    script.write_bytes(line)
    said = why(str(script), errno.ENOENT)
    assert f"its first line names the interpreter {named}, which is missing" in said


@pytest.mark.parametrize("content", [b"\x7fELF", b"", b"#!\n", b"#!  \n"])
def test_a_program_without_its_loader_is_not_called_missing(content: bytes, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_bytes(content)
    assert "the loader it needs is missing" in why(str(script), errno.ENOENT)


def test_a_first_line_is_read_up_to_a_bound(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_bytes(b"#!/" + b"x" * 100_000)
    said = why(str(script), errno.ENOENT)
    assert "/" + "x" * (limits.FIRST_LINE_BYTES - 3) + "," in said


def test_an_interpreter_that_is_not_executable_is_named(tmp_path: Path) -> None:
    interpreter = program(tmp_path, "interpreter", 0o644)
    script = program(tmp_path, "script")
    script.write_text(f"#!{interpreter}\n")
    said = why(str(script), errno.EACCES)
    assert f"the interpreter {interpreter}, which is not executable" in said


@pytest.mark.parametrize("number", [errno.EACCES, errno.EAGAIN, errno.ENOMEM, errno.EMFILE])
def test_any_other_error_is_told_in_the_systems_words(number: int) -> None:
    said = why("/bin/true", number)
    assert said == f"/bin/true: could not be started: {os.strerror(number)}"


def test_a_script_that_may_be_run_but_not_read_is_described_without_its_line(
    tmp_path: Path,
) -> None:
    # A directory stands for what cannot be read: root reads every file.
    assert "the loader it needs is missing" in why(str(tmp_path), errno.ENOENT)
