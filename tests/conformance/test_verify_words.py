"""Each shipped plugin against runs whose exit status 0 and whose runner's own words disagree."""

import sys
from pathlib import Path

import pytest

from tests.making.shipped import Shipped
from tests.making.shipped import asked
from tests.making.shipped import each_plugin
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
@each_plugin
def test_exit_0_is_believed_only_with_the_words_of_the_runner(
    plugin: Shipped, source: str, words: tuple[str, ...], flip: str, tmp_path: Path
) -> None:
    (tmp_path / "week.py").write_text(f'NAME = "week"\n{source}')
    (tmp_path / "test_week.py").write_text(TESTS)
    if source in (LEAVING, LEAVING_LINES):  # pytest takes that status outside of a TestCase only
        (tmp_path / "test_week.py").write_text(PLAIN)
    evidence = asked(plugin, request(tmp_path, sys.executable, *words))
    assert evidence["flip"] == flip
    numbers = {"test-command-exit-code", "test-duration-ms"}
    assert set(evidence["measurements"]) == (
        numbers if flip == "achieved" else {"test-duration-ms"}
    )


@pytest.mark.parametrize(
    ("source", "words"), [(SKIPPING, FILE), (SKIPPING_CASE, (*UNITTEST, "test_week"))]
)
@each_plugin
def test_a_skip_in_a_whole_file_is_the_documented_limit(
    plugin: Shipped, source: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    # [I245]: nothing tells it from a test that is skipped on every run of the suite
    (tmp_path / "week.py").write_text(f'NAME = "week"\n{source}')
    (tmp_path / "test_week.py").write_text(TESTS)
    assert asked(plugin, request(tmp_path, sys.executable, *words))["flip"] == "achieved"
