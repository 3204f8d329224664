"""`stella demo`: the main job in a temporary directory, offline, without a key [S-45 to S-47]."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import click

from stella.cli.commands.run import perform
from stella.cli.demo import TEST
from stella.cli.demo import Stage
from stella.cli.demo import checked
from stella.cli.demo import set_up
from stella.cli.demo import try_test
from stella.cli.page import tell
from stella.cli.streams import put
from stella.errors import OutputError
from stella.errors import UsageError
from stella.files.tree import lies_in
from stella.settings.ambient import ambient
from stella.settings.ambient import workspace_of


@click.command(name="demo", help="Show a held turn and a met one, offline, in a temporary place.")
@click.option("--keep", is_flag=True, help="Keep the directory afterwards.")
@click.option("--plain", is_flag=True, help="No live display; the demo has none so far.")
@click.option("--workspace", metavar="DIR", hidden=True)
@click.option("--path", "path_value", envvar="PATH", hidden=True)
def command(*, keep: bool, plain: bool, workspace: str | None, path_value: str | None) -> int:
    """Set the stage, run, check the story; exit 0 only when all of it came true."""
    del plain, workspace  # the demo draws nothing live and brings its own workspace
    directory = Path(tempfile.mkdtemp(prefix="stella-demo-")).resolve()
    stage = Stage(directory=directory, env=_environment(path_value))
    tell(f"stella demo, in {directory}")
    set_up(stage, tell)
    tell("")
    tell(f'$ stella run --pipeline verify --test-command "{" ".join(TEST)}" …')
    try:
        done = perform(stage.options(), "text", put)
    except OutputError:
        if not keep:
            shutil.rmtree(directory)
        raise
    wrong = checked(done, stage.workspace)
    tell("")
    if not wrong:
        tell("The test once more, as anybody can run it:")
        if not try_test(stage, tell):
            wrong = ("the test passing at the end",)
        tell("")
    if wrong:
        tell(f"The story did not come true: {'; '.join(wrong)}. It is kept in {directory}")
        return 1
    _look(stage, done.result.session, keep=keep)
    if not keep:
        shutil.rmtree(directory)
    return 0


def _environment(path_value: str | None) -> Mapping[str, str]:
    """Return what the demo's processes inherit: with a home that cannot be told, `PATH` [S-45].

    No program is looked for in the directory one stands in, or the repository it is of [A-71].
    """
    here = Path()
    env: Mapping[str, str] = {} if path_value is None else {"PATH": path_value}
    with suppress(UsageError):
        around = ambient()
        env = around.env
        here = workspace_of(None, around)
    if "PATH" not in env:
        return env
    outside = [part for part in env["PATH"].split(os.pathsep) if not lies_in(Path(part), here)]
    return {**env, "PATH": os.pathsep.join(outside)}


def _look(stage: Stage, session: str, *, keep: bool) -> None:
    place = f"--workspace {stage.workspace}"
    private = stage.workspace / ".stella" / "private" / "sessions"
    tell(f"The journal of the run: {private / session / 'journal.jsonl'}")
    tell("To look into it:")
    tell(f"  stella journal show {session} {place}")
    tell(f"  stella journal show {session} --type verdict,continuation {place}")
    tell(f"  stella journal verify {session} {place}")
    if not keep:
        tell("The directory is removed now; run `stella demo --keep` to keep it.")
