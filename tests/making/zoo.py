"""A visit to one animal of the zoo: a whole run with it in this process, and what came of it.

The plugin is installed and asked as any other, by a real session with a real journal and real
processes; only the model is scripted. A good answer makes the run `met` after the turn, so that a
fault that counted as one would show.
"""

import json
import os
import sys
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Any
from typing import Final

import tomli_w

from stella.cli.progress import Progress
from stella.clock import SystemClock
from stella.journal import recover
from stella.journal.entry import Record
from stella.roster.install import Wish
from stella.roster.install import install
from stella.roster.lock import AcceptedBy
from stella.roster.scope import Scope
from stella.roster.scope import places
from stella.session.drive import Drive
from stella.session.options import Options
from stella.session.options import Pipeline
from stella.session.result import HostCallRow
from stella.session.session import Finished
from stella.turn.facts import Fact
from stella.turn.facts import MessageAppended
from stella.turn.plugin_facts import Exchanged
from stella.turn.plugin_facts import PluginFaulted
from stella.turn.plugin_facts import ServedCall
from stella.wire.points import Point
from tests.making.processes import children
from tests.making.processes import marked
from tests.making.processes import new_mark
from tests.making.repositories import repository
from tests.making.sessions import Line
from tests.making.sessions import calls
from tests.making.sessions import finished
from tests.making.sessions import options
from tests.making.sessions import says
from tests.making.sessions import script

NAME: Final = "beast"
WORK: Final = "the work of the turn\n"
TIP: Final = "look twice"

GOOD: Final = {
    Point.AFTER_TURN: (
        '{"point":"after_turn","body":{"protocol_version":1,"evidence":'
        '{"flip":"not-attempted","measurements":{"lines":1}}}}'
    ),
    Point.BEFORE_TURN: (
        '{"point":"before_turn","body":{"protocol_version":1,"context":'
        f'[{{"label":"tip","text":"{TIP}"}}]}}}}'
    ),
}
"""The answer that is used, at each point."""

RULE: Final[Mapping[str, Any]] = {
    "requirements": {"short": "the text is short"},
    "oracle": {
        "flip": "not-applicable",
        "measurements": ["lines"],
        "checks": [{"requirement": "short", "check": "lines <= 3"}],
    },
}
LOOP: Final[Mapping[Point, Mapping[str, Any]]] = {
    Point.AFTER_TURN: {"participation": "arbiter", "hooks": ["Stop"], "max_holds": 1},
    Point.BEFORE_TURN: {"participation": "steering"},
}

UNOBSERVED: Final = "undecided"
HERD: Final = Path(__file__).parents[1] / "zoo" / "herd"
"""The programs of animals, each in a file of its own."""


COUNTED: Final = " more host calls were refused"
"""How the notice ends that goes with a plugin's one line, when it was refused without end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """What an animal's manifest lets it ask: the calls, and its roles with their tiers."""

    calls: Sequence[str] = ()
    roles: Mapping[str, str] = field(default_factory=dict)

    def tables(self, loop: Mapping[str, Any]) -> dict[str, Any]:
        """Return the tables of a manifest that say so."""
        listed = {"calls": list(self.calls)} if self.calls else {}
        roles = {name: {"tier": tier} for name, tier in self.roles.items()}
        more = {"subloop": {"stages": ["think"]}, "roles": roles} if roles else {}
        return {"loop": {**loop, **listed}, **more}


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A run that is over: what came of it, what a person saw, and what is left."""

    done: Finished
    root: Path
    point: Point
    seen: tuple[str, ...]
    left: tuple[int, ...]

    @property
    def line(self) -> str | None:
        """The one fault or notice a person saw, None when nothing was said; there are no two."""
        said = [
            text
            for text in self.seen
            if text.startswith(("fault  ", "notice  ")) and not text.endswith(COUNTED)
        ]
        assert len(said) <= 1, said
        return said[0] if said else None

    @property
    def used(self) -> bool:
        """Whether the answer had an effect: on the verdict, or on what the model was told."""
        if self.point is Point.AFTER_TURN:
            return self.done.result.status.value == "met"
        told = [fact.text for fact in self.done.told if isinstance(fact, MessageAppended)]
        return any(TIP in text for text in told)

    @property
    def asked(self) -> Exchanged:
        """The one exchange with the animal."""
        (exchange,) = (fact for fact in self.done.told if isinstance(fact, Exchanged))
        return exchange

    @property
    def served(self) -> tuple[ServedCall, ...]:
        """Its host calls, in the order in which they were served."""
        return self.asked.calls

    def _refusals(self) -> None:
        """Hold that every refused call is in the result and in the journal [D-49, W-35]."""
        refused = [(c.call.value, c.refusal) for c in self.served if c.refusal is not None]
        told = [(call, it.refusal.value, it.detail) for call, it in refused]
        rows = [row for row in self.done.result.refusals if isinstance(row, HostCallRow)]
        assert told == [(row.call, row.refusal, row.detail) for row in rows]
        assert {(r.plugin, r.point, r.round) for r in rows} <= {(NAME, self.point.value, 0)}
        journal = (self.root / self.done.result.journal.path).read_bytes().splitlines()
        records = [record["data"] for record in map(json.loads, journal)]
        kept = [it for data in records for it in data.get("calls", ()) if it.get("refusal")]
        spelled = [(i["call"], i["refusal"]["refusal"], i["refusal"]["detail"]) for i in kept]
        assert spelled == told

    def untouched(self, fault: str | None) -> None:
        """Hold what is true of every animal: the turn's work stands, nothing is left running.

        `fault` is the one fault of the run, None when its answer was taken; a fault is in the
        result and in the journal, in the same words, and decides nothing [W-50, D-77]. So is
        every host call that was refused.
        """
        self._refusals()
        result, told = self.done.result, self.done.told
        assert (self.root / "answer.txt").read_text("utf-8") == WORK
        assert result.answer == "Done."
        assert self.done.trouble is None
        report = recover.verify(self.root / result.journal.path)
        assert report.ok, report
        assert report.torn is None
        assert all(line.isprintable() for line in self.seen), self.seen
        assert self.left == ()
        assert children(os.getpid(), "Z") == []
        rows = [(f.fault, f.plugin, f.point, f.round, f.message) for f in result.faults]
        kept = [f for f in told if isinstance(f, PluginFaulted)]
        assert rows == [(f.fault, NAME, self.point.value, 0, f.message) for f in kept]
        assert [row[0] for row in rows] == [fault] * (fault is not None)
        assert (self.asked.response is None) == (fault is not None)
        if fault is not None:
            assert not self.used
        undecided = self.point is Point.AFTER_TURN and fault is not None
        assert (result.status.value == UNOBSERVED) == undecided


def package(
    folder: Path,
    argv: tuple[str, ...],
    point: Point,
    files: Mapping[str, bytes],
    *,
    secs: int = 20,
    rights: Rights | None = None,
) -> Path:
    """Write an animal's package: its manifest for one point, and its files."""
    folder.mkdir(parents=True)
    manifest: dict[str, Any] = {
        "name": NAME,
        **(rights or Rights()).tables({**LOOP[point], "points": [point.value]}),
        **(RULE if point is Point.AFTER_TURN else {}),
        "runtime": {"argv": list(argv), "timeout_secs": secs, "env": ["PATH"]},
    }
    (folder / "plugin.toml").write_text(tomli_w.dumps(manifest), "utf-8")
    for name, data in files.items():
        (folder / name).write_bytes(data)
        (folder / name).chmod(0o755)
    return folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Cage:
    """Where one animal is visited: a workspace with it installed, and a home."""

    root: Path
    home: Path
    point: Point
    mark: str

    @property
    def directory(self) -> Path:
        """Where the animal is installed."""
        return self.root / ".stella" / "plugins" / NAME

    @property
    def env(self) -> dict[str, str]:
        """The host's environment; the animal gets its PATH, which bears the mark."""
        own = Path(sys.executable).parent
        return {"PATH": f"{own}:/usr/local/bin:/usr/bin:/bin:/nowhere/{self.mark}"}

    def options(self, goal: str, turns: Sequence[Line] = (), test: str | None = None) -> Options:
        """Return the options of a run with the animal; `turns` are the replies to its own turns."""
        work = (calls("write_file", path="answer.txt", content=WORK), says("Done."))
        lines = (*turns, *work) if self.point is Point.BEFORE_TURN else (*work, *turns)
        return options(
            self.root,
            self.home,
            script(self.root.parent / "replies.jsonl", *lines),
            env=self.env,
            prompt=goal,
            pipeline=Pipeline(names=(NAME,), test_command=test, watch=("a.txt",) if test else ()),
        )

    def visit(
        self,
        between: Callable[[], object] | None = None,
        *,
        goal: str = "go",
        turns: Sequence[Line] = (),
        test: str | None = None,
    ) -> Visit:
        """Do a run with the animal; `between` is done when it is bound and not yet asked."""
        progress, seen = Progress(), list[str]()

        def hear(_: Record, fact: Fact) -> None:
            seen.extend(progress.lines(fact))

        def begin(_: Drive) -> None:
            if between is not None:
                between()

        done = finished(self.options(goal, turns, test), hear, on_drive=begin)
        return Visit(
            done=done,
            root=self.root,
            point=self.point,
            seen=tuple(seen),
            left=tuple(marked(self.mark)),
        )


def cage(
    folder: Path,
    argv: tuple[str, ...],
    point: Point,
    files: Mapping[str, bytes],
    *,
    secs: int = 20,
    mark: str | None = None,
    rights: Rights | None = None,
    tracked: Mapping[str, str] | None = None,
) -> Cage:
    """Install an animal into a workspace of its own; `mark` is one that is to be shared.

    With `tracked` the workspace is a repository that tracks these files.
    """
    mark = mark or new_mark()
    made = Cage(root=folder / "work", home=folder / "home", point=point, mark=mark)
    made.root.mkdir(parents=True)
    if tracked is not None:
        repository(made.root, dict(tracked))
    wish = Wish(
        source=package(folder / "package", argv, point, files, secs=secs, rights=rights),
        scope=Scope.PROJECT,
        places=places(made.home, made.root),
        path_value=made.env["PATH"],
    )
    install(wish, lambda _proposal: AcceptedBy.YES, SystemClock())
    return made


def caged(folder: Path, animal: str, point: Point, secs: int, mark: str | None = None) -> Cage:
    """Install one animal of the herd, which gets the good answer as its argument."""
    starts = ("sh",) if animal.endswith(".sh") else ("python3", "-I", "-S")
    argv = (*starts, f"${{plugin_dir}}/{animal}", GOOD[point])
    return cage(folder, argv, point, {animal: (HERD / animal).read_bytes()}, secs=secs, mark=mark)
