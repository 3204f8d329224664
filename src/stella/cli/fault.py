"""The one place that turns errors into exit codes and words [S-10, S-23, I-70].

An expected error is one line, with exit 1 or 2. A bug of ours is a report that can be pasted,
with exit 1. An interrupt is 130. Nothing prints a traceback at a person for what they did.
"""

import platform
import sys
import traceback
from collections.abc import Callable
from collections.abc import Sequence
from typing import Any
from typing import TextIO

import click
import msgspec

from stella import __version__
from stella import codec
from stella.cli.page import tell
from stella.cli.streams import let_go
from stella.cli.streams import say
from stella.cli.streams import unwritten
from stella.errors import StellaError
from stella.escape import visible_lines

INTERRUPTED = 130


class Refused(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run that never began, as machine formats say it [S-23]."""

    status: str = "refused"
    error: dict[str, str]
    exit_code: int


_MACHINE = ("json", "stream-json")


def exit_status(invoked: Callable[[], Any], arguments: Sequence[str]) -> int:
    """Call a command and return the exit status that its result or its error means."""
    try:
        result = invoked()
    except StellaError as error:
        return refused(error.code, error.message, error.exit_code, arguments)
    except click.exceptions.Exit as error:
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        tell("stella: interrupted")
        return INTERRUPTED
    except click.UsageError as error:
        hint = f"\ntry: {error.ctx.command_path} --help" if error.ctx else ""
        return refused("usage", visible_lines(error.format_message()) + hint, 2, arguments)
    except click.ClickException as error:
        return refused("usage", visible_lines(error.format_message()), 2, arguments)
    except BrokenPipeError:
        for stream in (sys.stdout, sys.stderr):
            let_go(stream)
        return 0
    except OSError as error:
        # The text of a help is written by click: what is still held back tells where it failed.
        if not _refusing(sys.stdout):
            return _bug(error, arguments)
        let_go(sys.stdout)
        lost = unwritten(error)
        return refused(lost.code, lost.message, lost.exit_code, ())
    # The outermost frame of the command: what nobody foresaw is a bug of ours. It is shown whole,
    # with its traceback, and ends the command with 1; nothing goes on after it [S-23].
    except Exception as error:  # noqa: BLE001  # no narrower class holds what nobody foresaw
        return _bug(error, arguments)
    return result if isinstance(result, int) else 0


def refused(code: str, message: str, status: int, arguments: Sequence[str]) -> int:
    """Say why nothing was done, in the format that was asked for, and return the status [S-23]."""
    if machine(arguments):
        answer = Refused(error={"code": code, "message": message}, exit_code=status)
        say(sys.stdout, codec.encode(answer).decode())
    tell(*f"stella: {message}".split("\n"))
    return status


def machine(arguments: Sequence[str]) -> bool:
    """Return whether a command line asks for a machine format of `run` [S-23]."""
    if not arguments or arguments[0] != "run":
        return False
    for word, following in zip(arguments, [*arguments[1:], ""], strict=True):
        if word == "--output-format" and following in _MACHINE:
            return True
        if word.startswith("--output-format=") and word.partition("=")[2] in _MACHINE:
            return True
    return False


def _bug(error: Exception, arguments: Sequence[str]) -> int:
    what = visible_lines(f"{type(error).__name__}: {error}")
    refused("internal", f"this is a bug of stella: {what}", 1, arguments)
    report = (
        f"stella {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"arguments: {' '.join(arguments[:1])} …\n"
        f"{''.join(traceback.format_exception(error))}"
        "Please report it with the lines above."
    )
    say(sys.stderr, visible_lines(report))
    return 1


def _refusing(stream: TextIO) -> bool:
    try:
        stream.flush()
    except OSError:
        return True
    return False
