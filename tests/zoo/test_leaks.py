"""A thousand dispatches over the zoo in one host leave nothing: `make leaks` does ten thousand."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.zoo.leaks import leaked

REPOSITORY = Path(__file__).parents[2]
COUNT = 1000


@pytest.mark.behaviour("B7", "E124", "T-30")
def test_a_thousand_dispatches_leave_nothing_behind() -> None:
    """[T-30, T-31] No zombie, no process, no descriptor, no memory, in the host and its warden."""
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


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, []),
        ({"zombies": 1}, ["zombies"]),
        ({"processes": 1}, ["processes"]),
        ({"descriptors": 12}, ["descriptors"]),
        ({"warden_descriptors": 8}, ["warden_descriptors"]),
        ({"resident_kib": 105_001}, ["resident_kib"]),
        ({"resident_kib": 105_000, "warden_resident_kib": 10_501}, ["warden_resident_kib"]),
    ],
)
def test_a_leak_of_any_kind_is_told(change: dict[str, int], told: list[str]) -> None:
    state = {"zombies": 0, "processes": 0, "descriptors": 11, "warden_descriptors": 7}
    state |= {"resident_kib": 100_000, "warden_resident_kib": 10_000}
    report: dict[str, Any] = {"warm": state, "end": state | change}
    assert leaked(report) == told
