"""The command in a process of its own, watched: what it opened, what it started, what it read.

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

from stella.cli.main import run
from tests.making.child import said
from tests.making.ends import Done
from tests.making.ends import Place
from tests.making.faults import STARTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A command that is over and what was seen of it.

    `read` is in bytes, None of a process that has changed its user, which may not see it.
    """

    done: Done
    opened: tuple[str, ...]
    started: tuple[str, ...]
    read: int | None


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
    act: Callable[[], object] = lambda: None,
    within: Callable[[Callable[[], str]], str] = said,
) -> Watched:
    """Run a command and watch it; just before a file called `before` is first opened, `act`.

    `within` runs it in a process, by default with the powers of the test run.
    """
    opened: list[str] = []
    started: list[str] = []
    waiting = [before] if before else []

    def watch(event: str, args: tuple[object, ...]) -> None:
        if event in STARTS:
            started.append(event)
        elif event == "open" and not str(args[0]).startswith((sys.prefix, sys.base_prefix)):
            opened.append(str(args[0]).encode("utf-8", "backslashreplace").decode())
            if args[0] in waiting:
                waiting.clear()
                act()

    def work() -> str:
        os.environ.clear()
        os.environ.update(where.env)
        os.chdir(where.root)
        sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
        sys.addaudithook(watch)
        code = run(words)
        out, err = sys.stdout.getvalue(), sys.stderr.getvalue()
        return json.dumps([code, out, err, opened, started, _read()])

    text = within(work)
    assert text.startswith("["), text
    code, out, err, names, starts, read = json.loads(text)
    assert "bug of stella" not in err, err
    return Watched(
        done=Done(code=code, out=out, err=err),
        opened=tuple(names),
        started=tuple(starts),
        read=read,
    )
