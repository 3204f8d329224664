"""Plugins that make host calls, and a whole session in which they do."""

import json
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stella.journal.entry import Record
from stella.session.drive import Drive
from stella.session.options import Pipeline
from stella.session.session import Finished
from stella.turn.facts import Fact
from stella.turn.plugin_facts import Exchanged
from stella.turn.plugin_facts import ServedCall
from tests.making.plugins import written
from tests.making.sessions import Line
from tests.making.sessions import finished
from tests.making.sessions import installed
from tests.making.sessions import options
from tests.making.sessions import project
from tests.making.sessions import script

CALLS = ("recall", "child_turn", "run_test", "candidate_fanout", "adopt_candidate", "emit")

TALK = """\
import json, sys
request = json.loads(sys.stdin.readline())
point, body = request["point"], request["body"]

def ask(call, **args):
    print(json.dumps({"call": call, "id": 7, "args": args}), flush=True)
    return json.loads(sys.stdin.readline())

def answer(**more):
    print(json.dumps({"point": point, "body": {"protocol_version": 1, **more}}), flush=True)

"""
"""How the programs of these tests begin; `ask` makes a call and returns its result."""


def manifest(
    *,
    name: str = "asks",
    calls: Sequence[str] = CALLS,
    roles: Mapping[str, str] | None = None,
    points: Sequence[str] = ("before_turn",),
    more: str = "",
    timeout: int = 60,
) -> str:
    """The manifest of a steering plugin that may make `calls`."""
    listed = {"planner": "plan", "builder": "worker"} if roles is None else roles
    seats = "".join(f'[roles.{role}]\ntier = "{tier}"\n' for role, tier in listed.items())
    subloop = '[subloop]\nstages = ["think"]\n' if listed else ""
    return f"""\
name = "{name}"
[loop]
participation = "steering"
points = {json.dumps(list(points))}
calls = {json.dumps(list(calls))}
{more}
{subloop}{seats}
[runtime]
argv = ["python3", "-I", "-S", "${{plugin_dir}}/main.py"]
timeout_secs = {timeout}
env = ["PATH"]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A run that is over and the workspace it was in."""

    done: Finished
    root: Path

    @property
    def exchanges(self) -> list[Exchanged]:
        return [fact for fact in self.done.told if isinstance(fact, Exchanged)]

    @property
    def calls(self) -> list[ServedCall]:
        """Every host call of the run, in the order in which it was served."""
        return [call for exchange in self.exchanges for call in exchange.calls]

    @property
    def told(self) -> list[dict[str, Any]]:
        """The records of the journal."""
        path = self.root / self.done.result.journal.path
        return [json.loads(line) for line in path.read_bytes().splitlines()]

    def data(self, kind: str) -> list[dict[str, Any]]:
        """The data of the records of one type."""
        return [record["data"] for record in self.told if record["type"] == kind]


def asked(
    folder: Path,
    program: str,
    *lines: Line,
    root: Path | None = None,
    names: tuple[str, ...] = ("asks",),
    test: str | None = None,
    test_secs: int = 60,
    declared: Mapping[str, Any] | None = None,
    cancel: str | None = None,
    **more: Any,
) -> Played:
    """Run once with a plugin whose program is `program` behind `TALK`.

    `declared` replaces parts of its manifest; `more` parts of the options. The run is cancelled
    when a record of the type `cancel` is told.
    """
    where = root or project(folder / "work")
    source = written(folder / "plugin", manifest(**(declared or {})), TALK + program)
    home = folder / "home"
    installed(where, home, source)
    replies = script(folder / "replies.jsonl", *lines)
    pipeline = Pipeline(names=names, test_command=test, test_secs=test_secs)
    wanted = options(where, home, replies, pipeline=pipeline, **more)
    drives: list[Drive] = []

    def hear(record: Record, _fact: Fact) -> None:
        if record.type == cancel:
            drives[0].cancel("SIGINT")

    return Played(done=finished(wanted, hear, on_drive=drives.append), root=where)
