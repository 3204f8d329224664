"""The shipped plugin against runs whose exit status 0 and whose runner's own words disagree."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.making.processes import linux_only
from tests.making.shipped import MAIN
from tests.making.shipped import PYTHON
from tests.making.shipped import asked
from tests.making.shipped import request

TESTS = """
import unittest
import week

class TestWeek(unittest.TestCase):
    def test_days(self):
        self.assertEqual(week.days(), 7)
    def test_name(self):
        self.assertEqual(week.NAME, "week")
"""
PLAIN = """
import week

def test_name():
    assert week.NAME == "week"
def test_days():
    assert week.days() == 7
"""
RIGHT = "def days(): return 7\n"
GONE = "import os\nos._exit(0)\n"
AT_THE_END = "import atexit, os\natexit.register(os._exit, 0)\ndef days(): return 6\n"
# Code under test as a worker might write it; it runs in the plugin's child and skips none of ours.
SKIPPING = "def days():\n    import pytest\n    pytest.skip()\n"
SKIPPING_CASE = "def days():\n    import unittest\n    raise unittest.SkipTest\n"
LEAVING = "def days():\n    import pytest\n    pytest.exit('1 passed in 0.1s', returncode=0)\n"
LEAVING_LINES = LEAVING.replace("'1", "'bye\\n1")
PYTEST = ("-m", "pytest", "-p", "no:cacheprovider", "-o", "addopts=")
FILE = (*PYTEST, "test_week.py")
NODES = (*PYTEST, "test_week.py::TestWeek")
UNITTEST = ("-m", "unittest")

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


@pytest.mark.parametrize(
    ("source", "words", "flip"),
    [
        (RIGHT, FILE, "achieved"),
        (RIGHT, (*FILE, "-q"), "achieved"),
        (RIGHT, NODES, "achieved"),
        (RIGHT, (*UNITTEST, "test_week"), "achieved"),
        (RIGHT, (*UNITTEST, "-q", "test_week.TestWeek.test_days"), "achieved"),
        # no word at all [Q-32, I203]
        (GONE, FILE, "unobservable"),
        (GONE, NODES, "unobservable"),
        (GONE, (*UNITTEST, "test_week"), "unobservable"),
        (RIGHT, (*FILE, "-qq"), "unobservable"),
        # words that contradict the status [I228]
        (AT_THE_END, FILE, "unobservable"),
        (AT_THE_END, (*FILE, "-q"), "unobservable"),
        (AT_THE_END, (*UNITTEST, "test_week"), "unobservable"),
        # the test ended the run early
        (LEAVING, FILE, "unobservable"),
        (LEAVING_LINES, (*FILE, "-q"), "unobservable"),
        # skipped by the code under test, beside one that passes [I245]
        (SKIPPING, NODES, "unobservable"),
        (SKIPPING, (*FILE, "-k", "Week"), "unobservable"),
        (SKIPPING_CASE, (*UNITTEST, "test_week.TestWeek"), "unobservable"),
        (SKIPPING_CASE, (*UNITTEST, "-k", "test_*", "test_week"), "unobservable"),
    ],
)
def test_exit_0_is_believed_only_with_the_words_of_the_runner(
    source: str, words: tuple[str, ...], flip: str, tmp_path: Path
) -> None:
    (tmp_path / "week.py").write_text(f'NAME = "week"\n{source}')
    (tmp_path / "test_week.py").write_text(TESTS)
    if source in (LEAVING, LEAVING_LINES):  # pytest takes that status outside of a TestCase only
        (tmp_path / "test_week.py").write_text(PLAIN)
    evidence = asked(request(tmp_path, sys.executable, *words))
    assert evidence["flip"] == flip
    numbers = {"test-command-exit-code", "test-duration-ms"}
    assert set(evidence["measurements"]) == (
        numbers if flip == "achieved" else {"test-duration-ms"}
    )


@pytest.mark.parametrize(
    ("source", "words"), [(SKIPPING, FILE), (SKIPPING_CASE, (*UNITTEST, "test_week"))]
)
def test_a_skip_in_a_whole_file_is_the_documented_limit(
    source: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    # [I245]: nothing tells it from a test that is skipped on every run of the suite
    (tmp_path / "week.py").write_text(f'NAME = "week"\n{source}')
    (tmp_path / "test_week.py").write_text(TESTS)
    assert asked(request(tmp_path, sys.executable, *words))["flip"] == "achieved"


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
