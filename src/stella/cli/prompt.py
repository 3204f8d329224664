"""Every question a person is asked on a terminal, and how the answer is read [S-6, I-9].

The default is No, the end of input is No, and what was typed before the question was drawn is
thrown away. Without a terminal nothing is asked.
"""

import os
import sys
import termios
from typing import Final

from stella.consent.answer import accepts
from stella.errors import NoTerminal

QUESTIONS: Final = {
    "install": "Install it? [y/N] ",
    "upgrade": "Replace the installed copy? [y/N] ",
    "accept": "Accept it as it is now? [y/N] ",
    "trust": "Trust this workspace? [y/N] ",
}
"""The text of every question there is; `--yes` answers it where a command has that flag."""


def ask(question: str, otherwise: str) -> bool:
    """Ask one of `QUESTIONS` on the terminal and return whether the answer accepts [I-9].

    Raises `NoTerminal` without a terminal, with `otherwise` as the way out.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise NoTerminal(f"there is no terminal to ask on; {otherwise}")
    sys.stderr.flush()
    termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    sys.stderr.write(QUESTIONS[question])
    sys.stderr.flush()
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):
        sys.stderr.write(os.linesep)
    return accepts(answer)
