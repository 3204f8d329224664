"""What a person reads is folded on a terminal and left alone in a pipe [S-42]."""

import fcntl
import os
import pty
import struct
import sys
import termios

import pytest

from stella.cli.page import tell

LONG = "    one two three four five six seven"
PROGRAM = "import sys\nfrom stella.cli.page import tell\ntell(*sys.argv[1:])\n"


def drawn(columns: int, *lines: str, **env: str) -> list[str]:
    """What a real pseudo-terminal of that width is sent."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        own = {k: v for k, v in os.environ.items() if k not in {"COLUMNS", "LINES"}}
        os.execve(sys.executable, [sys.executable, "-c", PROGRAM, *lines], own | env)
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
        "    four five six",
        "    seven",
    ]


def test_wide_characters_count_double() -> None:
    assert max(len(line.rstrip()) for line in drawn(20, "週" * 25)) == 10


@pytest.mark.parametrize("env", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_markup_and_numbers_of_an_author_stay_text(env: dict[str, str]) -> None:
    """[C-5]"""
    (line,) = drawn(60, "[bold]x[/bold] :smile: 'y' 3.14 http://a.b", **env)
    assert line.rstrip() == "[bold]x[/bold] :smile: 'y' 3.14 http://a.b"


def test_an_empty_line_stays_one() -> None:
    assert [line.strip() for line in drawn(40, "a", "", "b")] == ["a", "", "b"]


def test_in_a_pipe_no_line_is_touched(capsys: pytest.CaptureFixture[str]) -> None:
    tell(LONG * 10, "")
    assert capsys.readouterr().err == f"{LONG * 10}\n\n"
