"""The command in a process of its own, watched: what it opened, made, started and read.

The process is forked with an audit hook in it that stays to the end, so a file that is opened
and a process that is started cannot be missed.
"""

import io
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stella.cli.main import run
from tests.making.child import said
from tests.making.ends import Done
from tests.making.ends import Place
from tests.making.faults import STARTS
from tests.making.faults import STEPS

CHANGES: Final = STEPS - {"open", "os.listdir", "os.scandir"} | {"os.truncate", "os.utime"}
_GROWTHS: Final = 64
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A command that is over and what was seen of it.

    `made` is everything it did to a file system: a directory or a link made, something renamed,
    removed, given a mode or opened for writing. `read` is in bytes, None of a process that has
    changed its user, which may not see it.
    """

    done: Done
    opened: tuple[str, ...]
    made: tuple[str, ...]
    started: tuple[str, ...]
    read: int | None


def grows(path: Path, size: int) -> Callable[[], None]:
    """Return what lets a file grow by `size` bytes before each block that is read from anywhere.

    It is done from within the process that reads, after all that it has asked about the file, and
    not for ever, so that a reader that goes on for as long as there is more still ends.
    """

    def grow() -> None:
        length = path.stat().st_size
        most = length + _GROWTHS * size

        def at_call(frame: object, event: str, function: object) -> None:
            nonlocal length
            del frame
            if event == "c_call" and function is os.read and length < most:
                length += size
                os.truncate(path, length)

        sys.setprofile(at_call)

    return grow


def _named(name: object) -> str:
    return str(name).encode("utf-8", "backslashreplace").decode()


def _read() -> int | None:
    try:
        lines = Path("/proc/self/io").read_text().splitlines()
    except PermissionError:
        return None
    return next(int(line.split()[1]) for line in lines if line.startswith("rchar"))


def watched(
    where: Place,
    *words: str,
    before: str = "",
    times: int = 1,
    act: Callable[[], object] = lambda: None,
    within: Callable[[Callable[[], str]], str] = said,
) -> Watched:
    """Run a command and watch it; just before a file `before` is opened for the nth time, `act`.

    `within` runs it in a process, by default with the powers of the test run.
    """
    opened: list[str] = []
    made: list[str] = []
    started: list[str] = []
    waiting = [before] * times if before else []

    def watch(event: str, args: tuple[object, ...]) -> None:
        if event in STARTS:
            started.append(event)
        elif event in CHANGES:
            made.append(f"{event} {_named(args[0])}")
        elif event == "open" and not str(args[0]).startswith((sys.prefix, sys.base_prefix)):
            opened.append(_named(args[0]))
            if isinstance(args[2], int) and args[2] & _WRITING:
                made.append(f"{event} {opened[-1]}")
            if args[0] in waiting:
                waiting.pop()
                if not waiting:
                    act()

    def work() -> str:
        os.environ.clear()
        os.environ.update(where.env)
        os.chdir(where.root)
        sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
        sys.dont_write_bytecode = True
        sys.addaudithook(watch)
        code = run(words)
        out, err = sys.stdout.getvalue(), sys.stderr.getvalue()
        return json.dumps([code, out, err, opened, made, started, _read()])

    text = within(work)
    assert text.startswith("["), text
    code, out, err, names, changes, starts, read = json.loads(text)
    assert "bug of stella" not in err, err
    return Watched(
        done=Done(code=code, out=out, err=err),
        opened=tuple(names),
        made=tuple(changes),
        started=tuple(starts),
        read=read,
    )
