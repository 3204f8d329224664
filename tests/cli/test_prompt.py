"""Every question on a real pseudo-terminal: the default is No, and so is the end of input [S-6]."""

import os
import pty
import sys
import termios
import time
from pathlib import Path

import pytest

from stella.cli.prompt import QUESTIONS
from stella.cli.prompt import ask
from stella.errors import NoTerminal

PROGRAM = (
    "import sys, time\n"
    "from stella.cli.prompt import ask\n"
    "open(sys.argv[1], 'w').close()\n"
    "while not __import__('os').path.exists(sys.argv[2]): time.sleep(0.01)\n"
    "sys.exit(0 if ask(sys.argv[3], 'x') else 9)\n"
)


def answered(tmp_path: Path, question: str, typed: bytes, early: bytes = b"") -> tuple[int, str]:
    """Ask on a pseudo-terminal; `early` is typed before the question is drawn."""
    ready, go = tmp_path / "ready", tmp_path / "go"
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-c", PROGRAM, str(ready), str(go), question])
    deadline = time.monotonic() + 10
    while not ready.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.write(terminal, early)
    shown = b""
    if early:
        termios.tcdrain(terminal)
    go.touch()
    while QUESTIONS[question].encode() not in shown:
        assert time.monotonic() < deadline
        shown += os.read(terminal, 1024)
    os.write(terminal, typed)
    while True:
        try:
            more = os.read(terminal, 1024)
        except OSError:
            break
        if not more:
            break
        shown += more
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), shown.decode()


EOF = b"\x04"


@pytest.mark.parametrize("question", list(QUESTIONS))
@pytest.mark.parametrize(
    ("typed", "accepted"),
    [
        (b"y\n", True),
        (b"YES\n", True),
        (b"  yes \n", True),
        (b"\n", False),
        (b"n\n", False),
        (b"yep\n", False),
        (EOF, False),
        ("\uff59\n".encode(), False),
    ],
)
@pytest.mark.behaviour("C73", "H10", "H13", "I-9")
def test_only_y_and_yes_accept(
    question: str,
    typed: bytes,
    accepted: bool,
    tmp_path: Path,
) -> None:
    """[I-9]"""
    code, _ = answered(tmp_path, question, typed)
    assert code == (0 if accepted else 9)


@pytest.mark.behaviour("C71")
def test_what_was_typed_before_the_question_does_not_count(tmp_path: Path) -> None:
    """[S-6]"""
    code, _ = answered(tmp_path, "install", b"\n", early=b"y\n")
    assert code == 9


@pytest.mark.behaviour("K-67", "H11")
def test_without_a_terminal_nothing_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    """[I-9, S-6]"""
    with pytest.raises(NoTerminal, match="give --yes"):
        ask("install", "give --yes")
    assert capsys.readouterr().err == ""
