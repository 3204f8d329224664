"""The shipped plugin in Python: what it needs, and what only its language lets a test see."""

import ast
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.making.processes import linux_only
from tests.making.shipped import MAIN
from tests.making.shipped import PYTHON
from tests.making.shipped import conformance
from tests.making.shipped import request
from tests.making.shipped import some_vectors

# The plugin loaded but not started: the flag before and after the call.
FLAG = """
import ctypes, runpy, sys
conceal = runpy.run_path(sys.argv[1])["conceal"]
ask = lambda: ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)
print(ask(), conceal(), ask())
"""
# The plugin as it is started, with the flag on stderr when it starts the test.
AT_START = """
import ctypes, runpy, subprocess, sys
class Popen(subprocess.Popen):
    def __init__(self, *args, **options):
        print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), file=sys.stderr)
        super().__init__(*args, **options)
subprocess.Popen = Popen
runpy.run_path(sys.argv[1], run_name="__main__")
"""
# The plugin loaded but not started, on a platform that answers as the arguments say.
ELSEWHERE = """
import ctypes, runpy, sys
from types import SimpleNamespace
plugin = runpy.run_path(sys.argv[1])
sys.platform, answer = sys.argv[2], int(sys.argv[3])
ctypes.CDLL = lambda name: SimpleNamespace(prctl=lambda *words: answer)
try:
    print(plugin["conceal"]())
except plugin["Refusal"] as error:
    print(error)
"""


def test_it_needs_no_site_packages_and_no_installed_stella(tmp_path: Path) -> None:
    vectors = some_vectors(tmp_path / "vectors", "01", "35", "62")
    result = conformance("--testdata", vectors, "--", *PYTHON, MAIN)
    assert result.stdout.endswith("3 passed, 0 failed\n"), result.stdout


def test_it_imports_the_standard_library_only_and_parses_as_python_3_8() -> None:
    tree = ast.parse(MAIN.read_text("utf-8"), feature_version=(3, 8))
    plain = [a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names]
    named = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    rooms = {name.partition(".")[0] for name in [*plain, *named] if name is not None}
    assert {"json", "subprocess"} < rooms <= sys.stdlib_module_names


def test_its_three_flips_are_the_only_ones_it_can_report() -> None:
    # [F146, F160]: it never claims not-attempted or unsatisfiable
    source = MAIN.read_text("utf-8")
    assert "not-attempted" not in source
    assert "unsatisfiable" not in source
    assert set(runpy.run_path(str(MAIN))["FLIPS"].values()) == {"achieved", "not-achieved"}


@linux_only
def test_the_files_of_the_plugin_are_closed_to_its_user() -> None:
    words = (*PYTHON, "-B", "-c", FLAG, MAIN)
    assert subprocess.run(words, capture_output=True, check=True).stdout == b"1 None 0\n"


@linux_only
def test_the_flag_is_set_before_the_test_starts_and_not_handed_on(tmp_path: Path) -> None:
    # read from inside: to root, as which tests may run, every file below /proc is open
    look = "import ctypes; print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), file=open('seen', 'w'))"
    done = subprocess.run(
        (*PYTHON, "-B", "-c", AT_START, MAIN),
        input=request(tmp_path, sys.executable, "-c", look),
        capture_output=True,
        check=True,
    )
    assert done.stderr == b"0\n"
    assert (tmp_path / "seen").read_text() == "1\n"


@pytest.mark.parametrize(
    ("platform", "answer", "said"),
    [
        ("linux", "0", b"None"),
        ("linux", "-1", b"the system leaves the output of this process open to the test"),
        ("darwin", "-1", b"None"),
    ],
)
def test_a_test_that_could_write_the_answer_is_not_run(
    platform: str, answer: str, said: bytes
) -> None:
    """A refusal is no answer, and so never met [W-29]; without /proc nothing is open."""
    words = (*PYTHON, "-B", "-c", ELSEWHERE, MAIN, platform, answer)
    assert subprocess.run(words, capture_output=True, check=True).stdout.strip() == said
