"""The demo tells a true story or says that it did not [S-45 to S-47]."""

import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest

from stella import limits
from tests.making.commands import shell


@pytest.fixture(autouse=True)
def own_temporary_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first demo of a process finds is kept for good, and later tests would get it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def leftovers() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob("stella-demo-*"))


def test_the_demo_shows_consent_hold_and_met_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = leftovers()
    with shell(tmp_path, capsys, {"TMPDIR": str(tmp_path)}) as here:
        began = time.monotonic()
        said = here.stella("demo", "--plain")
        assert said.code == 0, said.err
        assert time.monotonic() - began < limits.DEMO_SECS
        for word in (
            "FAILED (errors=2)",
            "Install the plugin `verify`?",
            "The demo answers yes, for its own directory only.",
            "verify holds the turn (1 of 2)",
            "met: after 2 rounds",
            "tamper: clean",
            "The test once more, as anybody can run it:",
            "\n  OK\n",
            "The journal of the run: ",
            "stella journal verify ses-",
        ):
            assert word in said.err
        assert not list(here.root.glob(".stella")), "the person's workspace is untouched"
        assert not here.home.exists(), "the person's home is untouched"
    assert leftovers() == before


def test_it_needs_no_home(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """[S-45]"""
    with shell(tmp_path, capsys, {"TMPDIR": str(tmp_path)}) as here:
        monkeypatch.delenv("HOME")
        monkeypatch.delenv("STELLA_HOME")
        said = here.stella("demo")
        assert said.code == 0, said.err
        assert "met: after 2 rounds" in said.err


def test_a_test_that_does_not_pass_at_the_end_is_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """[S-46, S-47]"""
    monkeypatch.setattr("stella.cli.commands.demo.try_test", lambda *_: False)
    with shell(tmp_path, capsys, {"TMPDIR": str(tmp_path)}) as here:
        said = here.stella("demo")
    assert said.code == 1
    assert "did not come true: the test passing at the end" in said.err
    shutil.rmtree(said.err.split("It is kept in ")[1].replace("\n", ""))


def test_what_is_kept_can_be_looked_into(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with shell(tmp_path, capsys, {"TMPDIR": str(tmp_path)}) as here:
        tempfile.tempdir = None
        try:
            said = here.stella("demo", "--keep")
        finally:
            tempfile.tempdir = None
        line = next(row for row in said.err.splitlines() if "journal verify" in row)
        verified = here.stella(*line.split()[1:])
        assert verified.code == 0
        assert ": ok, " in verified.out


@pytest.mark.behaviour("A-71.demo")
def test_no_program_of_the_directory_one_stands_in_is_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """[A-71] Not even when it stands first in `PATH`, with a home and without."""
    with shell(tmp_path, capsys, {"TMPDIR": str(tmp_path)}) as here:
        (here.root / "bin").mkdir()
        trap = here.root / "bin" / "python3"
        trap.write_text(f"#!/bin/sh\n: > {tmp_path}/sprung\nexit 1\n", "utf-8")
        trap.chmod(0o755)
        monkeypatch.setenv("PATH", f"{here.root}/bin:{os.environ['PATH']}")
        assert here.stella("demo").code == 0
        monkeypatch.delenv("HOME")
        monkeypatch.delenv("STELLA_HOME")
        assert here.stella("demo").code == 0
    assert not (tmp_path / "sprung").exists()
