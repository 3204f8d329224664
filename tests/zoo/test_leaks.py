"""A thousand dispatches over the zoo in one host leave nothing: `make leaks` does ten thousand."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.zoo.leaks import CALLING
from tests.zoo.leaks import leaked

REPOSITORY = Path(__file__).parents[2]
COUNT = 1000
ROUNDS = 4
"""How often every animal that makes host calls has a session."""


@pytest.mark.behaviour("B7", "E124", "T-30")
def test_a_thousand_dispatches_leave_nothing_behind() -> None:
    """[T-30, T-31, D-85] No zombie, process, descriptor or memory, in the host and its warden.

    And nothing of the candidates of those that ask for some: no work tree, no branch, no file.
    """
    command = (sys.executable, "-W", "error", "-m", "tests.zoo.leaks", str(COUNT))
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, timeout=110, check=False)
    assert (done.returncode, done.stderr.decode()) == (0, ""), done.stdout.decode()
    report = json.loads(done.stdout)
    assert report["leaked"] == []
    assert report["dispatches"] == COUNT
    assert set(report["heard"]) == {
        *("answered", "Decode", "Exit", "NoResponse", "OutputCap", "Timeout", "Transport"),
        "UnannouncedCall",
    }
    assert set(report["sessions"]) == {
        *("answered", "AnswerChannelFailed", "Decode", "Exit", "OutputCap", "Timeout"),
    }
    assert report["made"]["created"] == report["made"]["adopted"] + report["made"]["discarded"]
    assert report["made"]["adopted"] >= ROUNDS
    assert report["end"]["worktrees"] == report["end"]["branches"] == len(CALLING)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, []),
        ({"zombies": 1}, ["zombies"]),
        ({"processes": 1}, ["processes"]),
        ({"descriptors": 12}, ["descriptors"]),
        ({"warden_descriptors": 8}, ["warden_descriptors"]),
        ({"worktrees": 4, "branches": 4}, ["worktrees", "branches"]),
        ({"candidates": 1}, ["candidates"]),
        ({"registrations": 1, "stages": 1}, ["registrations", "stages"]),
        ({"resident_kib": 105_001}, ["resident_kib"]),
        ({"resident_kib": 105_000, "warden_resident_kib": 10_501}, ["warden_resident_kib"]),
    ],
)
def test_a_leak_of_any_kind_is_told(change: dict[str, int], told: list[str]) -> None:
    state = {"zombies": 0, "processes": 0, "descriptors": 11, "warden_descriptors": 7}
    state |= {"resident_kib": 100_000, "warden_resident_kib": 10_000}
    kept = {"worktrees": 3, "branches": 3, "candidates": 0, "registrations": 0, "stages": 0}
    report: dict[str, Any] = {"before": kept, "warm": state, "end": state | kept | change}
    assert leaked(report) == told
