"""The shipped plugin and its conformance program, as the processes they are."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PLUGINS = Path(__file__).resolve().parents[2] / "plugins"
PLUGIN = PLUGINS / "verify-py"
MAIN = PLUGIN / "main.py"
CONFORMANCE = PLUGINS / "ci" / "conformance.py"
TESTDATA = PLUGINS / "testdata"
PATH = os.pathsep.join([str(Path(sys.executable).parent), "/usr/bin", "/bin"])
PYTHON = (sys.executable, "-I", "-S")


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


def asked(data: bytes, *, path: str = PATH, cwd: Path = PLUGIN) -> dict[str, Any]:
    """Return the evidence the shipped plugin answers a request with."""
    with started(*PYTHON, MAIN, path=path, cwd=cwd) as plugin:
        stdout, stderr = plugin.communicate(data, timeout=30)
    assert (plugin.returncode, stderr) == (0, b"")
    assert stdout.count(b"\n") == 1
    evidence = json.loads(stdout)["body"]["evidence"]
    assert isinstance(evidence, dict)
    return evidence


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
