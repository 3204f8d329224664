"""The shipped plugins and their conformance program, as the processes they are.

The plugin `verify` is shipped in more than one language. A test that names `plugin` as its
parameter and is marked with `each_plugin` runs against all of them.
"""

import dataclasses
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PLUGINS = Path(__file__).resolve().parents[2] / "plugins"
PLUGIN = PLUGINS / "verify-py"
MAIN = PLUGIN / "main.py"
CONFORMANCE = PLUGINS / "ci" / "conformance.py"
TESTDATA = PLUGINS / "testdata"
PYTHON = (sys.executable, "-I", "-S")
NODE = shutil.which("node") or "node"
PATH = os.pathsep.join(
    [str(Path(sys.executable).parent), "/usr/bin", "/bin", str(Path(NODE).absolute().parent)]
)

# Becomes nobody, or root without the right to trace (19 is CAP_SYS_PTRACE), and starts a Python;
# an ordinary user who runs this suite stays what they are.
LOWERED = """
import ctypes, os, sys
if os.geteuid() == 0 and sys.argv[1] == "nobody":
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
elif os.geteuid() == 0:
    assert ctypes.CDLL(None).prctl(24, 19, 0, 0, 0) == 0
os.execv(sys.argv[2], sys.argv[2:])
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipped:
    """One plugin: its directory, what starts it, and where its bound of one test stands.

    `program` is the file in the directory that the command ends with. `bound` is a file, the
    text in it that says 240 s, and the same for 0.3 s; none where a test cannot write that anew.
    `missing` are the programs it is built with that this machine has not.
    """

    directory: Path
    starter: tuple[str, ...]
    program: str
    bound: tuple[str, str, str] | None = None
    missing: tuple[str, ...] = ()

    @property
    def command(self) -> tuple[str, ...]:
        """What a host starts, less the lookup of its first word."""
        return (*self.starter, str(self.directory / self.program))

    def elsewhere(self, directory: Path) -> "Shipped":
        """Return the same plugin as a copy in a new directory, caches left out."""
        ignored = shutil.ignore_patterns("__pycache__", "target")
        shutil.copytree(self.directory, directory, ignore=ignored)
        return dataclasses.replace(self, directory=directory)


VERIFY_PY = Shipped(
    directory=PLUGIN,
    starter=PYTHON,
    program="main.py",
    bound=("main.py", "TEST_LIMIT_SECS = 240.0", "TEST_LIMIT_SECS = 0.3"),
)
VERIFY_TS = Shipped(
    directory=PLUGINS / "verify-ts",
    starter=(NODE,),
    program="dist/main.js",
    bound=("dist/run.js", "TEST_LIMIT_MILLIS = 240_000", "TEST_LIMIT_MILLIS = 300"),
    missing=tuple(name for name in ("node", "npm") if shutil.which(name) is None),
)
VERIFY_RS = Shipped(
    directory=PLUGINS / "verify-rs",
    starter=(),
    program="bin/verify",
    missing=tuple(name for name in ("cargo",) if shutil.which(name) is None),
)
SHIPPED = (VERIFY_PY, VERIFY_TS, VERIFY_RS)


def marked(plugin: Shipped) -> Any:
    """Return a plugin as a parameter, left out aloud where its toolchain is not installed.

    In continuous integration nothing is left out: there the test runs, and fails.
    """
    lacks = bool(plugin.missing) and os.environ.get("CI") != "true"
    reason = f"{plugin.directory.name} is NOT TESTED: no {' and no '.join(plugin.missing)} here"
    return pytest.param(
        plugin, id=plugin.directory.name, marks=pytest.mark.skipif(lacks, reason=reason)
    )


each_plugin = pytest.mark.parametrize("plugin", [marked(plugin) for plugin in SHIPPED])


def some_vectors(folder: Path, *numbers: str) -> Path:
    """Return a new folder with a copy of the shipped vectors of these two-digit numbers."""
    folder.mkdir()
    for path in TESTDATA.iterdir():
        if path.name[:2] in numbers:
            (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / path.name)
    return folder


def conformance(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the conformance program with these words and `PATH` only."""
    return subprocess.run(
        [*PYTHON, CONFORMANCE, *words],
        env={"PATH": PATH},
        capture_output=True,
        text=True,
        check=False,
    )


def request(root: Path, program: str, *args: str, **body: Any) -> bytes:
    """Return an `after_turn` request whose test failed before the turn."""
    test = {"program": program, "args": args, "baseline": "failed"}
    whole = {
        "protocol_version": 1,
        "wrapper": "verify",
        "round": 0,
        "goal": "go",
        "candidate": {"handle": "host-tree", "root": str(root), "test": test},
        "turn": {"completed": True},
        **body,
    }
    return json.dumps({"point": "after_turn", "body": whole}, ensure_ascii=False).encode()


def started(*argv: str | Path, path: str = PATH, cwd: Path = PLUGIN) -> subprocess.Popen[bytes]:
    """Start a command the way a host does: three pipes, its own session, `PATH` only."""
    return subprocess.Popen(
        argv,
        cwd=cwd,
        env={"PATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def asked(
    plugin: Shipped, data: bytes, *, path: str = PATH, cwd: Path = PLUGIN, said: str = ""
) -> dict[str, Any]:
    """Return the evidence a shipped plugin answers a request with; `said` is all on stderr."""
    with started(*plugin.command, path=path, cwd=cwd) as process:
        stdout, stderr = process.communicate(data, timeout=30)
    assert (process.returncode, stderr.decode()) == (0, said)
    return evidence_in(stdout)


def evidence_in(stdout: bytes) -> dict[str, Any]:
    """Return the evidence of an answer, which is one line."""
    assert stdout.count(b"\n") == 1
    evidence = json.loads(stdout)["body"]["evidence"]
    assert isinstance(evidence, dict)
    return evidence


def outcome(plugin: Shipped, root: Path, words: list[str], *, code: int | None, output: str) -> str:
    """Return what a plugin makes of a command that says this and exits so; none is a signal.

    The first word becomes a program in the root. The row of the plugin's table is told from its
    evidence about a test that failed before.
    """
    stand_in = root / words[0].lstrip("/")
    stand_in.parent.mkdir(parents=True, exist_ok=True)
    (root / "said").write_bytes(output.encode())
    end = "kill -9 $$" if code is None else f"exit {code}"
    stand_in.write_text(f"#!/bin/sh\ncat said\n{end}\n")
    stand_in.chmod(0o755)
    program = str(stand_in) if words[0].startswith("/") else f"./{words[0]}"
    said = "verify: the test was ended by signal 9\n" if code is None else ""
    evidence = asked(plugin, request(root, program, *words[1:]), said=said)
    reported = evidence["measurements"].get("test-command-exit-code")
    assert reported in (code, None)
    known = {"achieved": "passed", "not-achieved": "failed"}
    return known.get(evidence["flip"], "nothing" if reported is None else "broken")


def alive(pid: int) -> bool:
    """Return whether a process runs; one that ended and was not reaped does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


def until(condition: Callable[[], bool]) -> bool:
    """Return whether the condition comes true within 5 s."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return condition()
