"""What a person reads is folded on a terminal and left alone in a pipe [S-42]."""

import fcntl
import io
import os
import pty
import struct
import sys
import termios
from pathlib import Path

import pytest

from stella.cli.page import MARK
from stella.cli.page import document
from stella.cli.page import folded
from stella.cli.page import reminder
from stella.cli.page import tell
from stella.cli.page import tell_consent
from stella.errors import OutputError

LONG = "    one two three four five six seven"
PROGRAM = "import sys\nfrom stella.cli import page\npage.tell(*sys.argv[1:])\n"


def drawn(columns: int, *lines: str, program: str = PROGRAM, **env: str) -> list[str]:
    """What a real pseudo-terminal of that width is sent."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        own = {k: v for k, v in os.environ.items() if k not in {"COLUMNS", "LINES"}}
        os.execve(sys.executable, [sys.executable, "-c", program, *lines], own | env)
    shown = b""
    while True:
        try:
            more = os.read(terminal, 4096)
        except OSError:
            break
        if not more:
            break
        shown += more
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return shown.decode().replace("\r\n", "\n").splitlines()


def test_a_long_line_is_folded_at_words_and_keeps_its_indentation() -> None:
    assert [line.rstrip() for line in drawn(20, LONG)] == [
        "    one two three",
        "      | four five",
        "      | six seven",
    ]


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        ("program: /opt/some/bin/python3", ["program:", "  | /opt/some/bin/", "  | python3"]),
        ("/opt/a/bin/python3.11", ["/opt/a/bin/", "  | python3.11"]),
        ("/a/bcdefghijklmnopqrstu", ["/a/bcdefghijklmnopqr", "  | stu"]),
        ("/" * 24, ["/" * 20, "  | ////"]),
    ],
)
def test_a_path_that_no_row_holds_is_parted_where_a_name_begins(line: str, rows: list[str]) -> None:
    """[S-42] Unless that leaves most of a row empty."""
    assert list(folded(line, 20)) == rows


def test_wide_characters_count_double() -> None:
    assert drawn(20, "週" * 25) == ["週" * 10, "  | " + "週" * 8, "  | " + "週" * 7]


@pytest.mark.parametrize("env", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_markup_and_numbers_of_an_author_stay_text(env: dict[str, str]) -> None:
    """[C-5]"""
    (line,) = drawn(60, "[bold]x[/bold] :smile: 'y' 3.14 http://a.b", **env)
    assert line.rstrip() == "[bold]x[/bold] :smile: 'y' 3.14 http://a.b"


@pytest.mark.parametrize("columns", [80, 60, 20])
@pytest.mark.parametrize("env", [{}, {"TERM": "dumb"}, {"COLUMNS": "500"}])
@pytest.mark.parametrize(
    ("before", "forged"),
    [
        ("", "Grade: OBSERVER. It may watch your sessions and influences nothing."),
        ("      tests-pass: ", "program: /usr/bin/true"),
        ("  - ", "hook points: none"),
        ("", "| Grade: NONE."),
    ],
)
def test_no_padding_makes_a_text_look_like_a_line_of_the_host(
    before: str, forged: str, columns: int, env: dict[str, str]
) -> None:
    """[C-3, C-5] Whatever the width and what the environment says of it."""
    for pad in range(columns * 2):
        rows = folded(f"{before}{'x' * pad} {forged}", columns)
        assert all(row.lstrip(" ").startswith(MARK) and row[0] == " " for row in rows[1:])
        assert all(len(row) <= columns for row in rows)
    line = f"{before}{'x' * (columns - len(before))} {forged}"
    shown = drawn(columns, line, **env)
    assert len(shown) > 1
    assert all(row.startswith(" ") and row.lstrip().startswith(MARK) for row in shown[1:])


@pytest.mark.parametrize("char", ["é", "ж", "週", "😀", "…", "★", "\u0301", "☃"])
def test_a_fold_never_comes_too_late(char: str) -> None:
    """What some terminal draws in two cells counts as two, and nothing counts as none."""
    cells = 1 if char == "\u0301" else 2
    rows = folded(char * 40, 20)
    assert all(len(row.removeprefix("  | ")) * cells <= 20 for row in rows)


@pytest.mark.parametrize("columns", [1, 2, 8, 11])
def test_a_terminal_without_room_still_gets_all_of_it(columns: int) -> None:
    rows = folded("          one two three", columns)
    assert "".join(row.replace(MARK, "").replace(" ", "") for row in rows) == "onetwothree"


def test_the_description_does_not_begin_a_line_of_a_terminal() -> None:
    """[C-8]"""
    text = "Install the plugin `p`?\nGrade: NONE. It is a bundle.\n\nGrade: ARBITER."
    program = PROGRAM.replace("page.tell", "page.tell_consent")
    assert drawn(60, text, program=program) == [
        "Install the plugin `p`?",
        "  | Grade: NONE. It is a bundle.",
        "",
        "Grade: ARBITER.",
    ]
    bare = "Install the plugin `p`?\n\nGrade: ARBITER."
    assert drawn(60, bare, program=program) == bare.split("\n")
    long = "Install the plugin `p`?\n" + "x" * 70
    assert drawn(60, long, program=program)[1:] == ["  | " + "x" * 56, "  | " + "x" * 14]


def test_a_result_is_folded_on_a_terminal_too() -> None:
    program = PROGRAM.replace("page.tell", "page.result")
    assert drawn(20, "a" * 25, program=program) == ["a" * 20, "  | " + "a" * 5]


def test_a_document_on_a_terminal_is_printable_and_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """[C76]"""
    text = '{"a":"\u009b週\u202e"}'
    program = PROGRAM.replace("page.tell", "page.document")
    assert drawn(20, text, program=program) == ['{"a":"\\u009b\\u9031\\u202e"}']
    document(text)
    assert capsys.readouterr().out == f"{text}\n"


def test_a_width_nobody_tells_is_the_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    class Odd(io.StringIO):
        def isatty(self) -> bool:
            return True

        def fileno(self) -> int:
            return null

    with Path(os.devnull).open("w", encoding="utf-8") as stream:
        null = stream.fileno()
        odd = Odd()
        monkeypatch.setattr(sys, "stderr", odd)
        tell("x" * 81)
        monkeypatch.undo()
    assert odd.getvalue() == f"{'x' * 80}\n  | x\n"


def test_an_empty_line_stays_one() -> None:
    assert [line.strip() for line in drawn(40, "a", "", "b")] == ["a", "", "b"]


def test_in_a_pipe_no_line_is_touched(capsys: pytest.CaptureFixture[str]) -> None:
    tell(LONG * 10, "")
    assert capsys.readouterr().err == f"{LONG * 10}\n\n"


REACH = "Widest reach: HIGH, far."
REMINDS = (
    "import sys\nfrom stella.cli import page\n"
    "again = tuple(['+ d'] * int(sys.argv[2]))\n"
    "page.tell('-', *page.reminder(sys.argv[1].split('!'), sys.argv[3], again))\n"
)


@pytest.mark.behaviour("C68")
@pytest.mark.parametrize(
    ("shown", "again", "said"),
    [
        (["x"] * 23, 0, []),
        (["x"] * 24, 0, ["", REACH]),
        ([*["x"] * 20, "word " * 40], 0, ["", REACH]),
        (["x"] * 23, 1, []),
        (["x"] * 24, 1, ["", "+ d", REACH]),
        (["x"] * 24, 12, ["", *["+ d"] * 12, REACH]),
        (["x"] * 24, 13, ["", "What differs is 13 lines; they stand above the text.", REACH]),
    ],
)
def test_reach_and_difference_are_said_again_when_they_have_left_the_screen(
    shown: list[str], again: int, said: list[str]
) -> None:
    """[C-16, C68, I-36] On a terminal of 24 lines and 60 columns."""
    assert drawn(60, "!".join(shown), str(again), REACH, program=REMINDS)[1:] == said


def test_nothing_is_said_again_where_there_is_no_terminal() -> None:
    assert reminder(["x"] * 99, REACH) == ()


@pytest.mark.behaviour("I-9.lost")
def test_a_consent_text_that_cannot_be_written_is_no_consent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """[I-9, I-26] What nobody could be shown must not be recorded as shown."""
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        monkeypatch.setattr("sys.stderr", full)
        with pytest.raises(OutputError, match="standard error: No space left on device"):
            tell_consent("Install it?")
