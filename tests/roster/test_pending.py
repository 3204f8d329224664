"""How to take back a change that has begun and not ended, as a note."""

from pathlib import Path

import pytest

from stella import limits
from stella.errors import ShapeError
from stella.roster.pending import Moved
from stella.roster.pending import Pending
from stella.roster.pending import Schema
from stella.roster.pending import SettingsBefore
from stella.roster.pending import pending_path
from stella.roster.pending import read_pending
from stella.roster.pending import records_before
from stella.roster.pending import write_pending
from stella.roster.scope import Scope
from tests.making.packages import settled


def test_a_note_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    """[Q-12] The largest there can be, every byte of its texts escaped."""
    tier = settled(tmp_path).tier(Scope.PROJECT)
    assert read_pending(pending_path(tier)) is None
    settings = SettingsBefore(
        text="\x01" * limits.SETTINGS_BYTES,
        mode=0o644,
        written="x",
        after="\x02" * limits.SETTINGS_BYTES,
    )
    note = Pending(
        schema=Schema.V1,
        name="notes",
        mark="m",
        moves=(Moved(before="a", after="b", device=1, inode=2),),
        settings=settings,
        records=(records_before(tier, b"new"), records_before(tier.apart, b"other")),
    )
    write_pending(tier, note)
    assert read_pending(pending_path(tier)) == note
    assert pending_path(tier).stat().st_mode & 0o777 == 0o600


def test_what_a_file_of_records_was_is_kept_as_text(tmp_path: Path) -> None:
    """[I-37] None for no file, and for one that is no text: that is put aside whole."""
    tier = settled(tmp_path).tier(Scope.USER)
    assert records_before(tier, b"new").text is None
    tier.record_path.parent.mkdir(parents=True, exist_ok=True)
    tier.record_path.write_bytes(b"old")
    tier.record_path.chmod(0o600)
    assert records_before(tier, b"new").text == "old"
    tier.record_path.write_bytes(b"\xff")
    assert records_before(tier, b"new").text is None


def test_what_is_no_note_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "note"
    path.write_text("{}")
    with pytest.raises(ShapeError):
        read_pending(path)
