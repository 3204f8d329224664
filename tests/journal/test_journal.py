import os
import re
import resource
import sys
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from datetime import timezone
from pathlib import Path
from time import monotonic
from typing import Final

import pytest

from stella import codec
from stella.clock import SystemClock
from stella.errors import JournalDamaged
from stella.errors import JournalError
from stella.journal import recover
from stella.journal.entry import GENESIS
from stella.journal.entry import digest
from stella.journal.journal import SESSION_ID
from stella.journal.journal import Journal
from stella.journal.journal import Opened
from stella.journal.journal import new_session_id
from stella.redact import REDACTED
from stella.redact import Redactor
from tests.making.child import running
from tests.making.child import said
from tests.making.clocks import NOON
from tests.making.clocks import HandClock
from tests.making.journals import SESSION
from tests.making.journals import TEXTS
from tests.making.journals import created
from tests.making.journals import note
from tests.making.journals import reopened
from tests.making.journals import written
from tests.making.planted import BODY
from tests.making.planted import PLANTED
from tests.making.planted import redactor


def test_a_session_id_says_when_and_is_hard_to_guess() -> None:
    """[J2-3]"""
    assert new_session_id(HandClock()) == SESSION
    there = HandClock(moment=NOON.astimezone(timezone(timedelta(hours=9))))
    assert new_session_id(there) == SESSION
    ids = {new_session_id(SystemClock()) for _ in range(100)}
    assert len(ids) == 100
    assert all(SESSION_ID.fullmatch(name) for name in ids)


@pytest.mark.parametrize("session", ["", "last", "../" + SESSION, SESSION.upper(), f"{SESSION}\n"])
def test_what_is_no_session_id_is_no_directory(tmp_path: Path, session: str) -> None:
    with pytest.raises(JournalError, match="is no session id"):
        Journal.create(tmp_path, session, HandClock(), Redactor())
    assert not list(tmp_path.iterdir())


def test_records_are_numbered_and_chained(tmp_path: Path) -> None:
    """[J2-10, J2-11]"""
    journal = created(tmp_path)
    assert (journal.records, journal.head) == (0, GENESIS)
    first = journal.append("notice", None, {"code": "a", "text": "ü"})
    second = journal.append("tool_started", "t1", {"call_id": "t1.c1", "tool": "t"})
    lines = journal.path.read_bytes().split(b"\n")
    assert lines.pop() == b""
    assert [codec.parse(line) for line in lines] == [codec.plain(first), codec.plain(second)]
    assert (first.seq, first.prev, first.ts) == (1, GENESIS, "2026-08-11T12:00:00.000Z")
    assert (second.seq, second.prev, second.turn) == (2, digest(lines[0]), "t1")
    assert (journal.records, journal.head) == (2, digest(lines[1]))
    assert recover.read(journal.path).records == (first, second)
    journal.close()


@pytest.mark.behaviour("L314")
def test_the_order_is_the_number_when_the_clock_goes_back(tmp_path: Path) -> None:
    """[J2-10]"""
    clock = HandClock()
    journal = Journal.create(tmp_path, SESSION, clock, Redactor())
    for _ in range(3):
        note(journal, "x")
        clock.turn(-3_600_000)
    reading = recover.read(journal.path)
    assert [record.seq for record in reading.records] == [1, 2, 3]
    stamps = [record.ts for record in reading.records]
    assert stamps == sorted(stamps, reverse=True)
    assert reading.damage is None
    journal.close()


@pytest.mark.behaviour("L308")
def test_no_planted_secret_reaches_the_directory(tmp_path: Path) -> None:
    """[J2-20 to J2-23, J2-25] each in every kind of leaf, as a key and inside JSON."""
    journal = created(tmp_path, redactor())
    for text, _ in PLANTED.values():
        inside = codec.encode({"nested": [text]}).decode()
        output = {"error": {"message": f"failed at {text}", "class": "other"}}
        for kind, data in (
            ("prompt", {"text": f"use {text} please", "source": "run"}),
            ("tool_finished", {"input": {"command": [text]}, "output": output}),
            ("tool_finished", {"input": {text: inside}, "output": {"ok": {"content": inside}}}),
            ("hook_run", {"stdout_tail": f"a\n{text}\nb", "stderr_tail": text}),
            ("plugin_exchange", {"request": {"goal": text}, "response": {"context": [text]}}),
            ("plugin_fault", {"message": text, "stdout_b64": b"\xff" + text.encode()}),
            ("file_change", {"diff": f"@@ -1 +1 @@\n-{text}\n+{text}\n"}),
            ("model_error", {"message": text}),
            ("plugin.verify.x", {"payload": {"deep": [[{"a": text}]]}}),
        ):
            record = journal.append(kind, "t1", data)
            assert record.data["redacted"] >= 1, (kind, text)
    journal.barrier()
    journal.close()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 3
    for path in files:
        for _, secret in PLANTED.values():
            assert secret.encode() not in path.read_bytes()
        assert BODY.encode() not in path.read_bytes()
    assert recover.verify(journal.path).ok
    assert REDACTED.encode() in journal.path.read_bytes()


def test_data_of_another_shape_is_the_callers_fault_and_writes_nothing(tmp_path: Path) -> None:
    journal = created(tmp_path)
    with pytest.raises(ValueError, match="unknown record type"):
        journal.append("nothing", None, {})
    assert journal.path.read_bytes() == b""
    note(journal, "goes on")
    assert journal.records == 1
    journal.close()


def test_a_closed_journal_takes_nothing(tmp_path: Path) -> None:
    journal = created(tmp_path)
    journal.close()
    journal.close()
    with pytest.raises(JournalError, match=r"journal\.jsonl: the journal is closed"):
        journal.barrier()
    with pytest.raises(JournalError, match=r"journal\.jsonl: the journal is closed"):
        note(journal, "late")


# ── a disk that refuses ───────────────────────────────────────────────────────────────


def over(tmp_path: Path, file: int, directory: int | None = None) -> Journal:
    """A journal over descriptors that refuse something."""
    held = ExitStack()
    held.callback(os.close, file)
    if directory is None:
        directory = os.open(tmp_path, os.O_RDONLY)
    held.callback(os.close, directory)
    opened = Opened(path=tmp_path / "journal.jsonl", file=file, directory=directory, held=held)
    return Journal(opened, HandClock(), Redactor())


def fails_for_good(journal: Journal, message: str) -> None:
    with pytest.raises(JournalError) as caught:
        note(journal, "again")
    assert caught.value.message == message
    with pytest.raises(JournalError) as caught:
        journal.barrier()
    assert caught.value.message == message
    assert journal.records <= 1
    journal.close()


@pytest.mark.behaviour("L299", "K4")
def test_a_full_disk_is_an_error_that_names_file_and_cause(tmp_path: Path) -> None:
    """[J2-34]"""
    journal = over(tmp_path, os.open("/dev/full", os.O_WRONLY))
    with pytest.raises(JournalError) as caught:
        note(journal, "x")
    assert caught.value.message == (
        f"{tmp_path / 'journal.jsonl'}: No space left on device; the journal takes no more records"
    )
    fails_for_good(journal, caught.value.message)


@pytest.mark.behaviour("L299")
def test_a_torn_write_that_cannot_be_cut_off_says_so(tmp_path: Path) -> None:
    """[J2-34] a pipe takes a part and lets nobody cut it."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    journal = over(tmp_path, writing)
    with pytest.raises(JournalError, match="and its torn end could not be cut off: Invalid") as e:
        note(journal, "x" * 1_000_000)
    fails_for_good(journal, e.value.message)
    os.close(reading)


@pytest.mark.behaviour("L298")
@pytest.mark.parametrize("refusing", ["file", "directory"])
def test_what_cannot_be_made_durable_ends_the_journal(tmp_path: Path, refusing: str) -> None:
    """[J2-30, J2-34] no second try: a pipe takes bytes and refuses to make them durable."""
    reading, pipe = os.pipe()
    file = os.open(tmp_path / "journal.jsonl", os.O_RDWR | os.O_CREAT)
    spare = os.open(tmp_path, os.O_RDONLY)
    journal = over(tmp_path, pipe, spare) if refusing == "file" else over(tmp_path, file, pipe)
    note(journal, "x")
    with pytest.raises(JournalError, match="the journal takes no more records") as caught:
        journal.barrier()
    fails_for_good(journal, caught.value.message)
    os.close(reading)
    os.close(file if refusing == "file" else spare)


def test_a_barrier_without_anything_new_asks_the_disk_for_nothing(tmp_path: Path) -> None:
    """[J2-30]"""
    reading, pipe = os.pipe()
    journal = created(tmp_path)
    note(journal, "x")
    journal.barrier()
    descriptor = max(int(name.name) for name in Path("/dev/fd").iterdir() if same(name, journal))
    os.dup2(pipe, descriptor)
    journal.barrier()
    note(journal, "y")
    with pytest.raises(JournalError):
        journal.barrier()
    journal.close()
    os.close(reading)
    os.close(pipe)


MEDDLING: Final[dict[str, Callable[[Path], object]]] = {
    "written": lambda path: path.write_bytes(path.read_bytes() + b"{}\n"),
    "emptied": lambda path: path.write_bytes(b""),
    "removed": lambda path: path.unlink(),
    "replaced": lambda path: path.rename(path.with_name("old")).with_name("journal.jsonl").touch(),
    "moved": lambda path: path.parent.rename(path.parent.with_name("away")),
    "linked": lambda path: path.symlink_to(path.rename(path.with_name("old"))),
}


@pytest.mark.parametrize("how", MEDDLING)
def test_a_journal_somebody_else_touched_ends_for_good(tmp_path: Path, how: str) -> None:
    """[J2-14, J2-34] One writer: whatever it would tell after that is not what happened."""
    journal = created(tmp_path)
    note(journal, "x")
    MEDDLING[how](journal.path)
    with pytest.raises(JournalError, match=r"journal\.jsonl: .*takes no more records") as caught:
        journal.barrier()
    fails_for_good(journal, caught.value.message)


def same(descriptor: Path, journal: Journal) -> bool:
    return descriptor.exists() and descriptor.samefile(journal.path)


@pytest.mark.behaviour("L299", "K4")
def test_a_disk_that_fills_at_any_byte_leaves_whole_records(tmp_path: Path) -> None:
    """[J2-30, J2-34] the system takes a part of a line, then refuses the rest."""
    whole = written(tmp_path / made(tmp_path, "whole")).read_bytes()
    ends = [match.end() for match in re.finditer(b"\n", whole)]
    for room in range(0, len(whole), 11):
        workspace = tmp_path / made(tmp_path, str(room))

        def fill(workspace: Path = workspace, room: int = room) -> str:
            journal = created(workspace)
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
            with pytest.raises(JournalError) as caught:
                write_all(journal)
            return f"{journal.records} {caught.value.message}"

        acknowledged, _, message = said(fill).partition(" ")
        path = workspace / ".stella/private/sessions" / SESSION / "journal.jsonl"
        assert message == f"{path}: File too large; the journal takes no more records"
        assert int(acknowledged) == sum(end <= room for end in ends)
        assert path.read_bytes() == whole[: [0, *ends][int(acknowledged)]]
        assert recover.verify(path).ok


def write_all(journal: Journal) -> None:
    for text in TEXTS:
        note(journal, text)


def made(tmp_path: Path, name: str) -> str:
    (tmp_path / name).mkdir()
    return name


# ── a writer that dies ────────────────────────────────────────────────────────────────


@pytest.mark.behaviour("L295")
def test_a_writer_that_is_killed_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    """[J2-30, J2-32] thirty times, wherever the kill comes."""
    for attempt in range(30):
        workspace = tmp_path / made(tmp_path, str(attempt))
        reading, writing = os.pipe()

        def write(workspace: Path = workspace, writing: int = writing) -> None:
            journal = created(workspace)
            for _ in range(10_000):
                note(journal, "ü" * 5000)
                os.write(writing, b".")

        with running(write):
            os.close(writing)
            seen = 0
            while seen <= attempt:
                seen += len(os.read(reading, 64))
        while more := os.read(reading, 4096):
            seen += len(more)
        os.close(reading)
        journal = reopened(workspace)
        note(journal, "mine")
        journal.close()
        found = recover.read(journal.path)
        kept = [record for record in found.records if record.data.get("text") == "ü" * 5000]
        assert found.damage is None
        assert seen <= len(kept) <= seen + 1


# ── a tail that is torn ───────────────────────────────────────────────────────────────


@pytest.mark.behaviour("L295", "L296", "K1", "K2")
def test_a_journal_cut_at_any_byte_goes_on_after_its_last_whole_record(tmp_path: Path) -> None:
    """[J2-32] in the middle of a character too; at most the torn record is lost."""
    path = written(tmp_path, TEXTS[1:3])
    whole = path.read_bytes()
    records = recover.read(path).records
    ends = [0, *(match.end() for match in re.finditer(b"\n", whole))]
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        kept = sum(end <= size for end in ends) - 1
        torn = whole[ends[kept] : size]
        journal = reopened(tmp_path)
        note(journal, "next")
        journal.close()
        reading = recover.read(path)
        assert reading.damage is None
        assert reading.torn is None
        assert reading.records[:kept] == records[:kept]
        assert reading.records[-1].data["text"] == "next"
        repairs = [record.data for record in reading.records if record.type == "repair"]
        if torn:
            name = f"torn-{kept + 1}.bin"
            assert repairs == [{"bytes": len(torn), "file": name}]
            assert path.with_name(name).read_bytes() == torn
            assert path.with_name(name).stat().st_mode & 0o777 == 0o600
            assert len(reading.records) == kept + 2
        else:
            assert not repairs
            assert len(reading.records) == kept + 1


@pytest.mark.parametrize("tail", [b"\n", b"{}\n", b"\x00" * 100, b"garbage\n", b"\xff\n"])
def test_a_last_line_that_is_no_record_is_torn(tmp_path: Path, tail: bytes) -> None:
    """[J2-32]"""
    path = written(tmp_path)
    with path.open("ab") as file:
        file.write(tail)
    assert recover.read(path).torn == tail
    reopened(tmp_path).close()
    assert path.with_name(f"torn-{len(TEXTS) + 1}.bin").read_bytes() == tail
    assert recover.read(path).records[-1].type == "repair"


def test_damage_is_not_repaired_and_lets_nobody_write(tmp_path: Path) -> None:
    """[J2-33]"""
    path = written(tmp_path)
    damaged = path.read_bytes().replace(b"plain", b"Plain")
    path.write_bytes(damaged)
    with pytest.raises(JournalDamaged) as caught:
        reopened(tmp_path)
    assert caught.value.message.startswith(f"{path}: line 2 (seq 2): expected prev ")
    assert path.read_bytes() == damaged
    with pytest.raises(JournalDamaged):
        reopened(tmp_path)


def test_a_journal_goes_on_where_it_ended(tmp_path: Path) -> None:
    """[J2-55]"""
    path = written(tmp_path)
    before = recover.read(path)
    journal = reopened(tmp_path)
    assert (journal.records, journal.head) == (len(TEXTS), before.head)
    note(journal, "more")
    journal.close()
    assert recover.read(path).records[:-1] == before.records


def test_a_thousand_records_take_no_more_than_seconds(tmp_path: Path) -> None:
    began = monotonic()
    journal = created(tmp_path)
    for _ in range(1000):
        note(journal, "x" * 1000)
        journal.barrier()
    journal.close()
    assert recover.verify(journal.path).records == 1000
    assert monotonic() - began < 30, sys.version
