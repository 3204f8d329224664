import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from stella import codec
from stella import limits
from stella.errors import JournalError
from stella.journal import recover
from stella.journal.entry import GENESIS
from stella.journal.entry import Record
from stella.journal.entry import digest
from tests.making.child import holding
from tests.making.child import running
from tests.making.journals import SESSION
from tests.making.journals import TEXTS
from tests.making.journals import created
from tests.making.journals import note
from tests.making.journals import written


def chained(*changes: Mapping[str, object]) -> bytes:
    """Lines of notices, chained whatever `changes` did to each."""
    text, prev = b"", GENESIS
    for seq, change in enumerate(changes, 1):
        record = Record(
            seq=seq, ts="2026-08-11T12:00:00.000Z", type="notice", data={"code": "c"}, prev=prev
        )
        line = codec.encode({**codec.plain(record), **change})
        text += line + b"\n"
        prev = digest(line)
    return text


def rewritten(workspace: Path, content: bytes) -> Path:
    """The path of a journal whose whole content is `content`."""
    path = written(workspace, ())
    path.write_bytes(content)
    return path


def test_an_empty_journal_is_whole(tmp_path: Path) -> None:
    reading = recover.read(written(tmp_path, ()))
    assert reading == recover.Reading(records=(), head=GENESIS, torn=None, damage=None, skipped={})
    assert reading.notes() == ()


@pytest.mark.behaviour("L295", "L317", "K1", "K2")
def test_what_is_before_any_cut_reads_as_it_was(tmp_path: Path) -> None:
    """[J2-32] the same for a reader that comes while a line is written."""
    path = written(tmp_path)
    whole = path.read_bytes()
    records = recover.read(path).records
    assert [record.data["text"] for record in records] == list(TEXTS)
    ends = [0, *(match.end() for match in re.finditer(b"\n", whole))]
    assert len(whole) > len(whole.decode()), "there are characters of several bytes to cut"
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        kept = sum(end <= size for end in ends) - 1
        reading = recover.read(path)
        assert reading.records == records[:kept]
        assert reading.torn == (whole[ends[kept] : size] or None)
        assert reading.damage is None
        report = recover.verify(path)
        assert report.ok
        assert report.records == kept
        assert report.torn == (size - ends[kept] or None)


def test_any_flipped_bit_is_reported(tmp_path: Path) -> None:
    """[J2-11, J2-33] in the last line only the head noted elsewhere can tell."""
    path = written(tmp_path, ("ü", "b"))
    whole = path.read_bytes()
    head = recover.verify(path).head
    last = whole.index(b"\n")
    for place in range(len(whole)):
        for bit in range(8):
            flipped = bytearray(whole)
            flipped[place] ^= 1 << bit
            path.write_bytes(flipped)
            report = recover.verify(path, head)
            assert report.damage is not None
            only_the_head_tells = report.damage.expected.startswith("a last line with the hash")
            assert place > last or report.torn or not only_the_head_tells


GARBAGE = (b"\n", b"{}\n", b"\xff\xfe\n", b"not json\n", b"[" * 99 + b"\n")


@pytest.mark.behaviour("L302")
@pytest.mark.parametrize("garbage", GARBAGE)
def test_garbage_in_the_middle_is_damage_with_its_place(tmp_path: Path, garbage: bytes) -> None:
    """[J2-33] nothing after it is used."""
    path = written(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join((*lines[:2], garbage, *lines[2:])))
    reading = recover.read(path)
    assert len(reading.records) == 2
    assert reading.torn is None
    assert reading.damage is not None
    assert (reading.damage.line, reading.damage.seq) == (3, 3)
    assert reading.damage.expected == "a whole record"
    (note_of_it,) = reading.notes()
    assert note_of_it.startswith("damaged: line 3 (seq 3): expected a whole record, got ")
    assert note_of_it.endswith("; nothing after it is shown")


def test_a_line_left_out_moved_or_doubled_is_damage(tmp_path: Path) -> None:
    """[J2-33]"""
    path = written(tmp_path)
    a, b, c, d = path.read_bytes().splitlines(keepends=True)
    for lines, place, expected in (
        ((b, c, d), 1, "seq 1"),
        ((a, c, d), 2, "seq 2"),
        ((a, c, b, d), 2, "seq 2"),
        ((a, a, b), 2, "seq 2"),
        ((a, b, c, c), 4, "seq 4"),
    ):
        path.write_bytes(b"".join(lines))
        damage = recover.verify(path).damage
        assert damage is not None
        assert (damage.line, damage.expected) == (place, expected)


def test_a_whole_last_line_with_a_wrong_hash_is_damage(tmp_path: Path) -> None:
    """[J2-33] a torn write cannot have made it."""
    path = rewritten(tmp_path, chained({}, {"prev": "f" * 64}))
    damage = recover.verify(path).damage
    assert damage is not None
    assert damage.expected == (f"prev {digest(chained({})[:-1])}, the hash of the line before")
    assert damage.found == f"prev {'f' * 64}"


def test_a_gap_in_a_whole_new_chain_is_damage(tmp_path: Path) -> None:
    """[J2-33]"""
    path = rewritten(tmp_path, chained({}, {"seq": 3}, {"seq": 4}))
    assert str(recover.verify(path).damage) == "line 2 (seq 2): expected seq 2, got seq 3"


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_longer_than_any_record_is_damage(tmp_path: Path, end: bytes) -> None:
    """limits.RECORD_BYTES, at the limit and one past it: read no further than that."""
    path = rewritten(tmp_path, b"")
    path.write_bytes(b"x" * (limits.RECORD_BYTES + 1 - len(end)) + end)
    damage = recover.verify(path).damage
    assert damage is not None
    assert damage.found == "a longer one"
    path.write_bytes(b"x" * (limits.RECORD_BYTES - len(end)) + end)
    assert recover.verify(path).torn == limits.RECORD_BYTES


def test_unknown_types_and_versions_are_skipped_and_counted(tmp_path: Path) -> None:
    """[J2-12] and chained like the others."""
    kinds = ["notice", "notice@2", "weather", "plugin.verify.x", "notice@2", "host.shop.y"]
    content = chained(*({"type": kind} for kind in (*kinds, "notice")))
    path = rewritten(tmp_path, content)
    reading = recover.read(path)
    assert [record.seq for record in reading.records] == [1, 4, 6, 7]
    assert reading.skipped == {"notice@2": 2, "weather": 1}
    assert reading.notes() == (
        "skipped 2 records of the unknown type notice@2",
        "skipped 1 record of the unknown type weather",
    )
    report = recover.verify(path)
    assert (report.ok, report.records, report.skipped) == (True, 7, reading.skipped)
    path.write_bytes(content.replace(b"weather", b"Weather"))
    assert not recover.verify(path).ok


def test_verifying_compares_with_the_head_noted_elsewhere(tmp_path: Path) -> None:
    """[J2-11, J2-50] a lost last line shows."""
    path = written(tmp_path)
    head = recover.read(path).head
    assert recover.verify(path, head).ok
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    assert recover.verify(path).ok
    report = recover.verify(path, head)
    assert not report.ok
    assert report.damage == recover.Damage(
        line=3, seq=3, expected=f"a last line with the hash {head}", found=report.head
    )


def test_a_torn_last_record_is_reported_and_is_no_damage(tmp_path: Path) -> None:
    """[J2-50]"""
    path = written(tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    report = recover.verify(path)
    assert report.ok
    assert report.torn
    assert report.records == 3
    assert recover.read(path).notes() == (
        f"the last record is torn: {report.torn} bytes at the end are no record",
    )


def test_verifying_says_who_writes(tmp_path: Path) -> None:
    """[J2-50] a reader takes no lock and is not kept out."""
    path = tmp_path / ".stella/private/sessions" / SESSION / "journal.jsonl"
    with holding(lambda: created(tmp_path)) as pid:
        assert recover.verify(path).writer == pid
    assert recover.verify(path).writer is None


@pytest.mark.behaviour("L317")
def test_a_reader_sees_a_good_beginning_while_records_are_written(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    path = tmp_path / ".stella/private/sessions" / SESSION / "journal.jsonl"

    def flood() -> None:
        journal = created(tmp_path)
        os.write(writing, b".")
        for _ in range(400):
            note(journal, "ü" * 3000)

    with running(flood):
        assert os.read(reading, 1) == b"."
        seen = 0
        while seen < 400:
            report = recover.verify(path)
            assert report.ok
            assert report.records >= seen
            seen = report.records
    os.close(reading)
    os.close(writing)


def test_what_is_no_private_file_is_not_read(tmp_path: Path) -> None:
    """[J2-1, S2-42]"""
    path = written(tmp_path)
    link = tmp_path / "link"
    link.symlink_to(path)
    with pytest.raises(JournalError, match="a symbolic link"):
        recover.read(link)
    with pytest.raises(JournalError, match="No such file"):
        recover.verify(tmp_path / "none")
    path.chmod(0o644)
    with pytest.raises(JournalError, match="expected mode 0600"):
        recover.verify(path)


def test_a_crash_between_moving_and_cutting_loses_nothing(tmp_path: Path) -> None:
    """[J2-32] the next writer does both again."""
    path = written(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"seq":5')
    path.with_name("torn-5.bin").write_bytes(b'{"se')
    directory = os.open(path.parent, os.O_RDONLY)
    file = os.open(path, os.O_RDWR)
    with recover.walk(path) as steps:
        assert len(list(steps)) == 4
        assert recover.repair(directory, path, file, steps) == (8, "torn-5.bin")
    os.close(directory)
    os.close(file)
    assert path.read_bytes() == whole
    assert path.with_name("torn-5.bin").read_bytes() == b'{"seq":5'
