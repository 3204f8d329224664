"""A session without a terminal: a workspace, a script model, options, and what came of a run."""

import asyncio
import json
import os
from collections.abc import Callable
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stella.clock import SystemClock
from stella.roster.install import Wish
from stella.roster.install import install
from stella.roster.lock import AcceptedBy
from stella.roster.scope import Scope
from stella.roster.scope import places
from stella.session.drive import Drive
from stella.session.options import Options
from stella.session.options import Pipeline
from stella.session.session import Finished
from stella.session.session import run_once
from stella.session.telling import Listener

VERIFY = Path(__file__).parents[2] / "plugins" / "verify-py"
CHECK = "import sys, pathlib\nsys.exit(pathlib.Path('answer.txt').read_text() != '42\\n')\n"

Line = Mapping[str, Any]


def calls(name: str, **given: object) -> Line:
    """A reply that asks for one tool."""
    return {"tool_calls": [{"name": name, "input": given}]}


def says(text: str) -> Line:
    """A reply that ends the turn."""
    return {"text": text}


def project(folder: Path) -> Path:
    """A workspace whose test, `python3 check.py`, fails until answer.txt holds 42."""
    folder.mkdir(parents=True)
    (folder / "answer.txt").write_text("41\n", "utf-8")
    (folder / "check.py").write_text(CHECK, "utf-8")
    return folder


def script(path: Path, *lines: Line) -> Path:
    """A script model's file."""
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return path


def mends(number: int) -> tuple[Line, ...]:
    """One round that reads answer.txt and writes a number into it."""
    return (
        calls("read_file", path="answer.txt"),
        calls("write_file", path="answer.txt", content=f"{number}\n"),
        says(f"It says {number} now."),
    )


def installed(root: Path, home: Path, source: Path = VERIFY, scope: Scope = Scope.PROJECT) -> None:
    """Install a plugin, by default for the project, as a person who answered yes."""
    wish = Wish(
        source=source,
        scope=scope,
        places=places(home, root),
        path_value=os.environ.get("PATH"),
    )
    install(wish, lambda _proposal: AcceptedBy.YES, SystemClock())


def options(root: Path, home: Path, replies: Path, /, **more: Any) -> Options:
    """The options of a run in `root`; `more` replaces single ones."""
    given: dict[str, Any] = {
        "workspace": root,
        "home": home,
        "cwd": root,
        "env": dict(os.environ),
        "prompt": "make the test pass",
        "model": f"script:{replies}",
        "model_source": "flag",
    }
    return Options(**(given | more))


def verifying(**more: Any) -> Pipeline:
    """A pipeline of `verify` with the project's test."""
    given: dict[str, Any] = {"names": ("verify",), "test_command": "python3 check.py"}
    return Pipeline(**(given | more))


def finished(
    wanted: Options,
    *listeners: Listener,
    on_drive: Callable[[Drive], None] = lambda _drive: None,
) -> Finished:
    """Do the run and return what came of it."""
    return asyncio.run(run_once(wanted, SystemClock(), listeners, on_drive))
