"""A note says whose a candidate is, from before there is one until it is gone [D-54, T-33]."""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from stella import codec
from stella import limits
from stella.candidates import registry
from stella.candidates.registry import Claim
from stella.candidates.registry import Note
from stella.candidates.registry import Unknown
from stella.files.tree import DIRECTORY
from stella.process.identity import Identity
from stella.process.identity import own
from tests.making.child import said
from tests.making.faults import at_step
from tests.making.faults import fail

NAME = "a" * 16
GONE = Identity(pid=limits.PROCESS_ID_MAX, started="1")


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[int]:
    opened = os.open(tmp_path, DIRECTORY)
    yield opened
    os.close(opened)


def note(host: Identity) -> Note:
    return Note(handle="c-0", plugin="solver", root="/somewhere", host=host)


def test_a_note_is_private_whole_and_told(tmp_path: Path, notes: int) -> None:
    file = registry.register(notes, NAME, note(own()))
    path = tmp_path / f"{NAME}.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert codec.read(Note, path.read_bytes()) == note(own())
    assert registry.registered(notes) == [NAME]
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    registry.unregister(notes, NAME)
    registry.unregister(notes, NAME)
    assert registry.registered(notes) == []
    os.close(file)


def test_a_held_note_is_nobody_elses_whatever_it_says(notes: int) -> None:
    """[N341] another number space, another machine's number: the lock decides."""
    file = registry.register(notes, NAME, note(GONE))
    assert registry.claim(notes, NAME) is None
    os.close(file)
    claim = registry.claim(notes, NAME)
    assert isinstance(claim, Claim)
    assert claim.note == note(GONE)
    assert registry.claim(notes, NAME) is None, "it is claimed"
    os.close(claim.file)


def test_a_living_process_keeps_its_note_without_a_lock_too(notes: int) -> None:
    os.close(registry.register(notes, NAME, note(own())))
    assert registry.claim(notes, NAME) is None
    registry.unregister(notes, NAME)
    assert registry.claim(notes, NAME) is None


def test_a_note_is_read_up_to_a_bound(tmp_path: Path, notes: int) -> None:
    """limits.CANDIDATE_NOTE_BYTES, at the limit and one past it."""
    text = codec.encode(note(GONE))
    path = tmp_path / f"{NAME}.json"
    path.write_bytes(text.rjust(limits.CANDIDATE_NOTE_BYTES))
    claim = registry.claim(notes, NAME)
    assert isinstance(claim, Claim)
    os.close(claim.file)
    path.write_bytes(text.rjust(limits.CANDIDATE_NOTE_BYTES + 1))
    assert registry.claim(notes, NAME) == Unknown(reason="its note cannot be read")


def test_names_that_are_none_of_ours_are_not_notes(tmp_path: Path, notes: int) -> None:
    for name in ("x.json", f"{NAME}", f"{'A' * 16}.json", f"{NAME}.adopt", "..json"):
        (tmp_path / name).touch()
    assert registry.registered(notes) == []
    registry.sweep(notes)
    assert len(list(tmp_path.iterdir())) == 5


def test_a_note_that_was_never_finished_is_swept_away_once_nobody_holds_it(
    tmp_path: Path, notes: int
) -> None:
    path = tmp_path / f".stella-tmp-{NAME}"
    path.touch()
    (tmp_path / ".stella-tmp-other").touch()
    registry.sweep(notes)
    assert [each.name for each in tmp_path.iterdir()] == [".stella-tmp-other"]
    file = registry.register(notes, NAME, note(own()))
    (tmp_path / f"{NAME}.json").rename(path)
    registry.sweep(notes)
    assert path.exists()
    os.close(file)


@pytest.mark.parametrize("number", range(1, 4))
def test_a_note_that_cannot_be_written_is_none(tmp_path: Path, notes: int, number: int) -> None:
    """[D-54] then nothing is made either."""

    mine = note(own())

    def work() -> str:
        at_step(number, fail(errno.ENOSPC))
        try:
            registry.register(notes, NAME, mine)
        except OSError as error:
            return error.strerror or ""
        return "written"

    assert said(work) == "No space left on device"
    assert list(tmp_path.iterdir()) == []
