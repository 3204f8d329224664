"""A command's standard streams: there, in UTF-8, and without them when nobody reads."""

import io
import os
import sys
from pathlib import Path

import pytest

from stella.cli.streams import let_go
from stella.cli.streams import put
from stella.cli.streams import say
from stella.cli.streams import settle
from stella.errors import OutputError
from tests.making.child import said

STREAMS = ("stdin", "stdout", "stderr")


def test_a_line_is_written_at_once() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as ours, os.fdopen(writing, "w") as theirs:
        say(theirs, "hello")
        assert ours.readline() == "hello\n"


def test_when_the_reader_has_gone_lines_lead_nowhere_and_closing_does_not_fail() -> None:
    """[S-12]"""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream:
        say(stream, "first")
        say(stream, "second")
        assert os.fstat(writing).st_rdev == Path(os.devnull).stat().st_rdev


def test_a_terminal_that_was_closed_is_let_go_too() -> None:
    """[S-12]"""
    terminal, end = os.openpty()
    with os.fdopen(end, "w") as stream:
        os.close(terminal)
        say(stream, "first")
        say(stream, "second")


def test_a_full_disk_is_told_and_ends_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """[S-12]"""
    with Path("/dev/full").open("w") as stream:
        say(stream, "lost")
    words = "stella: standard output: No space left on device; what it was is lost\n"
    assert capsys.readouterr().err == words


def test_what_must_not_be_lost_raises_once(capsys: pytest.CaptureFixture[str]) -> None:
    with Path("/dev/full").open("w") as stream:
        with pytest.raises(OutputError, match="No space left on device"):
            put(stream, "lost")
        put(stream, "nowhere")
    assert capsys.readouterr().err == ""


def test_a_stream_that_is_let_go_is_another_file_of_the_same_number() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading) as ours, os.fdopen(writing, "w") as stream:
        let_go(stream)
        say(stream, "lost")
        assert ours.read() == ""


def test_streams_that_are_missing_are_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in STREAMS:
        monkeypatch.setattr(sys, name, None)
    settle()
    assert [getattr(sys, name).fileno() for name in STREAMS] == [0, 1, 2]


def test_what_is_written_is_utf_8_whatever_the_locale_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    settle()
    say(stream, "\N{CHECK MARK} \udcff")
    assert raw.getvalue() == b"\xe2\x9c\x93 \\udcff\n"


def test_streams_of_another_kind_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    settle()
    assert sys.stdout is stream


def test_closed_descriptors_are_taken_so_that_no_file_gets_their_numbers() -> None:
    """[S-12]"""

    def opened() -> str:
        for number in (0, 1, 2):
            os.close(number)
        settle()
        return str(os.open(os.devnull, os.O_RDONLY) > 2)

    assert said(opened) == "True"
