"""Real processes for tests: marked so that they can be found, run to their end, looked at."""

import asyncio
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from typing import Final

import pytest

from stella.process.ending import Completed
from stella.process.run import run

PATH = "/usr/local/bin:/usr/bin:/bin"
SH = "/bin/sh"
PYTHON = (sys.executable, "-I", "-S", "-c")
PATIENCE = 5.0

GET_DUMPABLE: Final = 3  # PR_GET_DUMPABLE

linux_only = pytest.mark.skipif(
    sys.platform != "linux",
    reason="asks the Linux kernel for a flag that no other has; that nothing is asked of another, "
    "which has no /proc to close, is a test of its own and runs everywhere",
)

# A daemon of the thorough kind: it forks twice and has a session of its own.
DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
os.wait()
"""

_numbers = itertools.count()


def new_mark() -> str:
    """A word that no other process of this machine bears."""
    return f"stella-test-{os.getpid()}-{next(_numbers)}-{time.monotonic_ns()}"


def read(path: str) -> bytes:
    """The bytes of a file of /proc; empty when the process is gone or a stranger's."""
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def every_process() -> Iterator[int]:
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())


def marked(mark: str) -> list[int]:
    """The live processes that have `mark` in their environment or arguments."""
    wanted = mark.encode()
    return [
        pid
        for pid in every_process()
        if pid != os.getpid()
        and (wanted in read(f"/proc/{pid}/environ") or wanted in read(f"/proc/{pid}/cmdline"))
    ]


def children(parent: int, states: str = "") -> list[int]:
    """The child processes of `parent`, those in `states` (as Z for dead and unreaped) if given."""
    found = []
    for pid in every_process():
        fields = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        if fields and int(fields[1]) == parent and (not states or fields[0].decode() in states):
            found.append(pid)
    return found


def wardens(host: int) -> list[int]:
    """The wardens of a living host."""
    return [pid for pid in watchers(host) if pid in children(host)]


def watchers(host: int) -> list[int]:
    """The wardens and guards that a host, dead or alive, has had started."""
    named = str(host).encode()
    return [
        pid
        for pid in every_process()
        if (words := read(f"/proc/{pid}/cmdline").split(b"\0"))[3:4]
        and words[3].endswith(b"warden.py")
        and words[4] == named
    ]


def eventually(condition: Callable[[], object]) -> None:
    """Wait until `condition` holds, five seconds at the most."""
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "it did not come to be"
        time.sleep(0.005)


def descriptors(pid: int) -> int:
    """How many descriptors a process has open."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def none_left(mark: str) -> None:
    """Nothing that bears the mark runs, now: the run has just returned."""
    assert not marked(mark)


async def sh(script: str, *arguments: str, **terms: Any) -> Completed:
    """Run a shell script; `mark` in the terms marks it and all it starts."""
    return await run((SH, "-c", script, "sh", *arguments), **settled(terms))


async def py(script: str, *arguments: str, **terms: Any) -> Completed:
    """Run a Python script, isolated."""
    return await run((*PYTHON, script, *arguments), **settled(terms))


def settled(terms: dict[str, Any]) -> dict[str, Any]:
    """Terms with everything that a run needs."""
    env = {"PATH": PATH} | terms.pop("env", {})
    if mark := terms.pop("mark", ""):
        env["MARK"] = mark
    return {"cwd": "/", "timeout": 60.0, "env": env} | terms


def ran_sh(script: str, *arguments: str, **terms: Any) -> Completed:
    return asyncio.run(sh(script, *arguments, **terms))


def ran_py(script: str, *arguments: str, **terms: Any) -> Completed:
    return asyncio.run(py(script, *arguments, **terms))


@contextmanager
def hosting(script: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A host process of its own that runs `script` with every warning an error."""
    command = (sys.executable, "-X", "dev", "-W", "error", "-c", script, *arguments)
    host = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with host:
        try:
            yield host
        finally:
            host.kill()


def hosted(script: str, *arguments: str) -> bytes:
    """The output of a host that ran `script` to its end, in silence on stderr."""
    with hosting(script, *arguments) as host:
        out, err = host.communicate(timeout=60)
    assert (host.returncode, err.decode()) == (0, "")
    return out
