"""Errors become exit codes and words in one place [S-10, S-23, I-70]."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from stella.cli.fault import exit_status
from stella.cli.fault import machine
from stella.errors import JournalError
from stella.errors import NotAccepted
from stella.errors import UsageError


def raising(error: BaseException) -> Callable[[], Any]:
    def invoked() -> Any:
        raise error

    return invoked


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (UsageError("say how"), 2, "stella: say how"),
        (NotAccepted("changed"), 1, "stella: changed"),
        (JournalError("full"), 1, "stella: full"),
        (click.UsageError("odd flag"), 2, "stella: odd flag"),
        (click.ClickException("no file"), 2, "stella: no file"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (click.Abort(), 130, "interrupted"),
        (ValueError("oh"), 1, "this is a bug of stella: ValueError: oh"),
    ],
)
def test_an_error_has_its_status_and_its_words(
    error: BaseException, status: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_status(raising(error), ["run"]) == status
    out, err = capsys.readouterr()
    assert words in err
    assert out == ""


def test_only_our_own_bug_prints_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    exit_status(raising(UsageError("x")), ["run"])
    assert "Traceback" not in capsys.readouterr().err
    exit_status(raising(ZeroDivisionError("x")), ["run", "a secret goal"])
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "Please report it" in err
    assert "a secret goal" not in err


def test_what_somebody_else_wrote_does_nothing_in_a_report(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """[C-5, C76] Words that click quotes, and the text of an error that nobody foresaw."""
    evil = "a\x1b[2J\x9b\u202eb"
    exit_status(raising(click.UsageError(evil)), [])
    exit_status(raising(click.ClickException(evil)), [])
    exit_status(raising(ValueError(evil)), [])
    err = capsys.readouterr().err
    assert err.count(r"a\u{1B}[2J\u{9B}\u{202E}b") >= 4
    assert "\x1b" not in err


def test_an_exit_and_a_gone_reader_are_no_errors() -> None:
    assert exit_status(raising(click.exceptions.Exit(3)), []) == 3
    assert exit_status(raising(BrokenPipeError()), []) == 0
    assert exit_status(lambda: None, []) == 0
    assert exit_status(lambda: 4, []) == 4


def test_a_refused_run_is_one_object_in_machine_formats(capsys: pytest.CaptureFixture[str]) -> None:
    """[S-23]"""
    arguments = ["run", "x", "--output-format", "json"]
    assert exit_status(raising(NotAccepted("changed")), arguments) == 1
    out, _ = capsys.readouterr()
    assert json.loads(out) == {
        "status": "refused",
        "error": {"code": "not_accepted", "message": "changed"},
        "exit_code": 1,
    }
    assert out.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ([], False),
        (["run", "x"], False),
        (["run", "--output-format", "text"], False),
        (["run", "--output-format", "stream-json"], True),
        (["run", "--output-format=json"], True),
        (["run", "--output-format"], False),
        (["plugin", "list", "--output-format", "json"], False),
    ],
)
def test_only_run_has_machine_formats(arguments: list[str], asked: bool) -> None:
    assert machine(arguments) is asked


def test_a_refused_output_is_no_bug_and_another_error_of_the_system_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """[S-12] As where click writes a help."""
    assert exit_status(raising(OSError(5, "odd")), []) == 1
    assert "bug of stella" in capsys.readouterr().err
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        full.write("help")
        assert exit_status(full.flush, []) == 1
        monkeypatch.undo()
    message = "stella: standard output: No space left on device; what it was is lost\n"
    assert capsys.readouterr().err == message
