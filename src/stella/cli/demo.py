"""The demo's story: a real test that fails, a real plugin that holds, only the model scripted.

Everything happens in one temporary directory, which serves as workspace and as the person's
home [S-45]. The story is checked when it is over [S-47].
"""

import asyncio
import shutil
from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stella import limits
from stella.clock import SystemClock
from stella.errors import UsageError
from stella.escape import visible
from stella.journal import recover
from stella.process.ending import Completed
from stella.process.environment import inherited
from stella.process.program import find_program
from stella.process.program import searched
from stella.process.run import run
from stella.providers.keys import KEY_VARIABLES
from stella.roster.install import Proposal
from stella.roster.install import Wish
from stella.roster.install import install
from stella.roster.lock import AcceptedBy
from stella.roster.scope import Scope
from stella.roster.scope import places
from stella.session.options import Options
from stella.session.options import Pipeline
from stella.session.session import Finished
from stella.turn.facts import Continued
from stella.turn.facts import Judged
from stella.turn.facts import RunStatus
from stella.turn.facts import TamperFound
from stella.verdict.finding import Met
from stella.verdict.finding import Unmet
from stella.wire.evidence import TamperState

_SHIPPED: Final = Path(__file__).parents[1] / "shipped"
# An editable install has the plugin where it is developed.
_DEVELOPED: Final = Path(__file__).parents[3] / "plugins" / "verify-py"

TEST: Final = ("python3", "tests/test_week.py")
GOAL: Final = "make the week parser accept ISO weeks such as 2026-W07"

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The demo's directory and the environment its processes inherit."""

    directory: Path
    env: Mapping[str, str]

    @property
    def workspace(self) -> Path:
        """The small project with the failing test."""
        return self.directory / "project"

    @property
    def home(self) -> Path:
        """What serves as the person's directory."""
        return self.directory / "home"

    def options(self) -> Options:
        """Return the run that the demo does."""
        return Options(
            workspace=self.workspace,
            home=self.home,
            cwd=self.directory,
            env=self.env,
            prompt=GOAL,
            model=f"script:{_SHIPPED / 'demo' / 'replies.jsonl'}",
            model_source="demo",
            pipeline=Pipeline(names=("verify",), test_command=" ".join(TEST)),
        )


def set_up(stage: Stage, say: Say) -> None:
    """Copy the project, show that its test fails, install `verify` with its whole consent text.

    Raises `UsageError` when there is no `python3` to run the test with.
    """
    shutil.copytree(_SHIPPED / "demo" / "project", stage.workspace)
    stage.home.mkdir(mode=0o700)
    say(f"A small project lies in {stage.workspace}. Its test fails:")
    try_test(stage, say)
    say("")
    say("The plugin `verify` is installed. This is what a person reads before that:")
    say("")

    def shown(proposal: Proposal) -> AcceptedBy:
        for line in proposal.consent.split("\n"):
            say(f"  {line}" if line else "")
        say("")
        say("The demo answers yes, for its own directory only.")
        return AcceptedBy.YES

    wish = Wish(
        source=_SHIPPED / "verify" if (_SHIPPED / "verify").is_dir() else _DEVELOPED,
        scope=Scope.PROJECT,
        places=places(stage.home, stage.workspace),
        path_value=stage.env.get("PATH"),
        registered=KEY_VARIABLES,
    )
    install(wish, shown, SystemClock())


def try_test(stage: Stage, say: Say) -> bool:
    """Run the test once, show the last lines of what it prints, return whether it passed [S-46].

    Raises `UsageError` when there is no `python3` to run it with.
    """
    say(f"$ {' '.join(TEST)}")
    done = asyncio.run(_tried(stage))
    lines = done.stdout.decode("utf-8", "replace").strip().split("\n")
    for line in [line for line in lines if line.strip()][-3:]:
        say(f"  {visible(line)}")
    return done.code == 0


async def _tried(stage: Stage) -> Completed:
    path_value = stage.env.get("PATH")
    program = find_program(TEST[0], path_value, cwd=stage.workspace, skip_under=stage.workspace)
    if program is None:
        raise UsageError(f"the demo's test cannot run: {searched(TEST[0], path_value)}")
    return await run(
        (str(program), *TEST[1:]),
        env={
            **inherited(stage.env, KEY_VARIABLES, frozenset()),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        cwd=stage.workspace,
        timeout=limits.DEMO_SECS,
        merge=True,
        keep=limits.TEST_MARKER_BYTES,
    )


def checked(done: Finished, workspace: Path) -> tuple[str, ...]:
    """Return what of the story did not come true, empty when all of it did [S-47]."""
    verdicts = [fact.verdict for fact in done.told if isinstance(fact, Judged)]
    held = [fact for fact in done.told if isinstance(fact, Continued) and fact.again]
    findings = [fact.finding for fact in done.told if isinstance(fact, TamperFound)]
    report = recover.verify(workspace / done.result.journal.path, done.result.journal.head)
    story = {
        "two rounds": done.result.rounds == 2,  # noqa: PLR2004  # the story has two
        "the first round unmet": bool(verdicts) and isinstance(verdicts[0], Unmet),
        "one hold": len(held) == 1,
        "the second round met": len(verdicts) > 1 and isinstance(verdicts[1], Met),
        "the run met": done.result.status is RunStatus.MET,
        "tamper clean": findings == [TamperState.CLEAN, TamperState.CLEAN],
        "no fault": not done.result.faults,
        "a journal that verifies": report.ok and report.torn is None,
    }
    return tuple(part for part, true in story.items() if not true)
