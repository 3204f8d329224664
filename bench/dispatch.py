"""What the host adds to one point: a plugin asked the way Stella asks it, against the bare plugin.

Run as `python bench/dispatch.py [PAIRS]`. Both sides start the same program with the same words,
environment and directory, and hear the same answer; the whole point has the check of the package
before the start, the guard, and the answer read. They take turns, so that noise hits both. The
number that matters is the ratio.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from stella.clock import SystemClock
from stella.process.program import Program
from stella.roster.install import Wish
from stella.roster.install import install
from stella.roster.lock import AcceptedBy
from stella.roster.scope import Scope
from stella.roster.scope import places
from stella.session.options import Options
from stella.session.options import Pipeline
from stella.session.pipeline import bind
from stella.wire.after_turn import AfterTurnAnswer
from stella.wire.after_turn import AfterTurnRequest
from stella.wire.after_turn import TurnOutcome
from stella.wire.envelope import write_request
from stella.wrapper.plugin import PluginProcess

PAIRS = 150
WARM = 10
MOST = 1.15

MANIFEST = """\
name = "judge"

[loop]
participation = "steering"
points = ["after_turn"]

[runtime]
argv = ["python3", "${plugin_dir}/main.py"]
timeout_secs = 60
env = ["PATH"]
"""
PROGRAM = """\
import json
import sys

body = json.loads(sys.stdin.readline())["body"]
flip = "achieved" if body["turn"]["completed"] else "unobservable"
answer = {"protocol_version": 1, "evidence": {"flip": flip, "measurements": {"lines": 42}}}
print(json.dumps({"point": "after_turn", "body": answer}))
"""
REQUEST = AfterTurnRequest(
    protocol_version=1,
    wrapper="judge",
    round=0,
    goal="make the test pass",
    turn=TurnOutcome(completed=True, answer="Done.", tools=("edit_file",), changed_files=("a.py",)),
)


def installed(folder: Path) -> PluginProcess:
    """Install the plugin as a person would and return its process as a run would have it."""
    root, source = folder / "work", folder / "source"
    for directory in (root, source):
        directory.mkdir()
    (source / "plugin.toml").write_text(MANIFEST, "utf-8")
    (source / "main.py").write_text(PROGRAM, "utf-8")
    # The interpreter itself: a version manager's script before it would hide what is measured.
    home, env = folder / "home", {"PATH": str(Path(os.path.realpath(sys.executable)).parent)}
    wish = Wish(
        source=source,
        scope=Scope.PROJECT,
        places=places(home, root),
        path_value=env.get("PATH"),
    )
    install(wish, lambda _: AcceptedBy.YES, SystemClock())
    options = Options(
        workspace=root,
        home=home,
        cwd=root,
        env=env,
        prompt="go",
        model="script:none",
        model_source="flag",
        pipeline=Pipeline(names=("judge",)),
    )
    bound = bind(options, root)
    assert bound is not None  # noqa: S101 - a pipeline was given
    return bound.plugins["judge"]


async def whole(plugin: PluginProcess) -> None:
    """One point: the lock check, the guarded child, the answer as a value."""
    spoken = await plugin.ask(REQUEST)
    assert isinstance(spoken.answer, AfterTurnAnswer), spoken.answer  # noqa: S101 - or nothing is measured


def bare(argv: tuple[str, ...], plugin: PluginProcess, line: bytes) -> None:
    """The same program, asked by somebody who promises nothing."""
    with subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(plugin.env),
        cwd=plugin.directory,
    ) as child:
        out, _ = child.communicate(line)
    assert out.startswith(b'{"point"'), out  # noqa: S101 - or nothing is measured


async def main(pairs: int) -> int:
    """Print both medians and their ratio; return 1 when it is above the target."""
    with tempfile.TemporaryDirectory() as folder:
        plugin = installed(Path(folder))
        program = plugin.cleared()
        assert isinstance(program, Program), program  # noqa: S101 - it has just been accepted
        argv = (program.path, *plugin.arguments)
        line = write_request(REQUEST)
        one: list[float] = []
        other: list[float] = []
        for _ in range(WARM + pairs):
            begun = time.perf_counter()
            await whole(plugin)
            between = time.perf_counter()
            bare(argv, plugin, line)
            one.append((between - begun) * 1000)
            other.append((time.perf_counter() - between) * 1000)
    ours, theirs = statistics.median(one[WARM:]), statistics.median(other[WARM:])
    print(f"whole point  {ours:7.2f} ms")
    print(f"bare plugin  {theirs:7.2f} ms")
    print(f"ratio        {ours / theirs:7.3f} (target: at most {MOST})")
    return int(ours / theirs > MOST)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS)))
