"""Each shipped plugin against code under test that reaches for its answer.

The test is the same user as the plugin, and its child. Whatever an ordinary user, or root without
the right to trace, opens of the processes above it, the host reads one answer: the plugin's own.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.making.child import open_folder
from tests.making.processes import linux_only
from tests.making.shipped import LOWERED
from tests.making.shipped import PATH
from tests.making.shipped import PYTHON
from tests.making.shipped import VERIFY_PY
from tests.making.shipped import Shipped
from tests.making.shipped import each_plugin
from tests.making.shipped import evidence_in
from tests.making.shipped import request

# A host of that user: its pipes belong to it, so that its user may open them anew.
HOST = """
import os, pathlib, subprocess, sys
pathlib.Path(sys.argv[1], "host").write_text(str(os.getpid()))
done = subprocess.run(sys.argv[2:], stdin=0, stdout=-1, stderr=-1)
sys.stdout.buffer.write(done.stdout); sys.stderr.buffer.write(done.stderr)
sys.exit(done.returncode & 255)
"""
# Writes an answer to what is open in the processes above it, short of the host.
REACHING = """
import os, pathlib, sys
host, number = int(pathlib.Path("host").read_text()), os.getppid()
while number != host:
    for place in range(int(sys.argv[1])):
        try:
            file = os.open(f"/proc/{number}/fd/{place}", os.O_WRONLY | os.O_NONBLOCK)
            os.write(file, sys.argv[2].encode())
        except OSError:
            pass
    number = int(pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[1])
sys.exit(1)
"""
FORGED = b'{"point":"after_turn","body":{"protocol_version":1,"evidence":{"flip":"achieved"}}}\n'
USERS = pytest.mark.parametrize("user", ["nobody", "root"])


def interpreter(user: str) -> str:
    """Return a Python that this user may run, which one below a home may not be."""
    for python in (sys.executable, "/usr/local/bin/python3", "/usr/bin/python3"):
        words = (*PYTHON, "-c", LOWERED, user, python, "-c", "")
        if subprocess.run(words, capture_output=True, check=False).returncode == 0:
            return python
    raise AssertionError("no Python here that every user may run")


def heard(plugin: Shipped, user: str, root: Path, places: int) -> tuple[int, bytes, bytes]:
    """Return how the plugin ended, and its output, when its test writes to so many places."""
    python = interpreter(user)
    command = [python if word == sys.executable else word for word in plugin.command]
    done = subprocess.run(
        (*PYTHON, "-c", LOWERED, user, python, "-c", HOST, root, *command),
        input=request(root, python, "-c", REACHING, str(places), FORGED.decode()),
        cwd=root,
        env={"PATH": PATH},
        capture_output=True,
        timeout=30,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@linux_only
@USERS
@each_plugin
def test_the_streams_of_the_processes_above_the_test_cannot_be_written(
    plugin: Shipped, user: str
) -> None:
    with open_folder() as root:
        status, stdout, stderr = heard(plugin.elsewhere(root / "verify"), user, root, 3)
    assert (status, stderr) == (0, b"")
    assert evidence_in(stdout)["flip"] == "not-achieved"


@linux_only
@USERS
@each_plugin
def test_nothing_that_can_be_written_becomes_an_answer(plugin: Shipped, user: str) -> None:
    """It may end a process, as a signal of the same user may, and then there is none [W-29]."""
    with open_folder() as root:
        _, stdout, _ = heard(plugin.elsewhere(root / "verify"), user, root, 64)
    assert stdout == b"" or evidence_in(stdout)["flip"] == "not-achieved"


@linux_only
@USERS
def test_the_same_test_reaches_a_plugin_that_does_not_mind(user: str) -> None:
    """Or the tests above would hold for any plugin."""
    with open_folder() as root:
        open_one = VERIFY_PY.elsewhere(root / "verify")
        main = open_one.directory / "main.py"
        careful = main.read_text("utf-8")
        main.write_text(careful.replace("        conceal()\n", ""))
        assert main.read_text("utf-8") != careful
        _, stdout, _ = heard(open_one, user, root, 3)
    assert stdout.startswith(FORGED)
