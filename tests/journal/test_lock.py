import os
from pathlib import Path

import pytest

from stella import codec
from stella import limits
from stella.errors import JournalError
from stella.journal import lock
from tests.making.child import holding
from tests.making.child import said
from tests.making.journals import SESSION
from tests.making.journals import created
from tests.making.journals import note
from tests.making.journals import reopened


def lock_of(workspace: Path) -> Path:
    return workspace / ".stella/private/sessions" / SESSION / "lock"


@pytest.mark.behaviour("L301", "K5")
def test_a_second_writer_is_refused_and_the_first_ones_death_frees_the_session(
    tmp_path: Path,
) -> None:
    """[J2-2] two processes; the first is killed, not asked."""
    with holding(lambda: created(tmp_path)) as pid:
        with pytest.raises(JournalError) as caught:
            reopened(tmp_path)
        assert caught.value.message == f"session {SESSION}: process {pid} is writing it"
        assert said(lambda: str(reopened(tmp_path))) == f"JournalError: {caught.value.message}"
    journal = reopened(tmp_path)
    note(journal, "mine now")
    journal.close()


def test_one_process_does_not_open_a_session_twice(tmp_path: Path) -> None:
    """[J2-2]"""
    journal = created(tmp_path)
    with pytest.raises(JournalError, match=f"process {os.getpid()} is writing it"):
        reopened(tmp_path)
    journal.close()
    reopened(tmp_path).close()


def test_a_lock_names_its_process_while_that_lives(tmp_path: Path) -> None:
    """[J2-35]"""
    assert lock.holder(lock_of(tmp_path)) is None
    with holding(lambda: created(tmp_path)) as pid:
        holder = lock.holder(lock_of(tmp_path))
        assert holder is not None
        assert holder.pid == pid
    assert lock.holder(lock_of(tmp_path)) is None


def test_a_process_with_the_same_id_and_another_start_is_another_process(tmp_path: Path) -> None:
    """[J2-35] an id that was given away again keeps nothing locked."""
    created(tmp_path).close()
    path = lock_of(tmp_path)
    note_of_me = lock.holder(path)
    assert note_of_me is not None
    path.write_bytes(codec.encode({"pid": os.getpid(), "started": "1"}))
    assert lock.holder(path) is None
    path.write_bytes(codec.encode(note_of_me))
    assert lock.holder(path) == note_of_me
    reopened(tmp_path).close()


@pytest.mark.parametrize(
    "written",
    [
        b"",
        b"garbage",
        b"\xff",
        b'{"pid":0,"started":""}',
        b'{"pid":' + str(limits.PROCESS_ID_MAX).encode() + b',"started":""}',
        b'{"pid":' + str(limits.PROCESS_ID_MAX + 1).encode() + b',"started":""}',
    ],
)
def test_a_lock_that_names_nobody_still_locks(tmp_path: Path, written: bytes) -> None:
    """limits.PROCESS_ID_MAX, at the limit and one past it."""
    journal = created(tmp_path)
    lock_of(tmp_path).write_bytes(written)
    assert lock.holder(lock_of(tmp_path)) is None
    with pytest.raises(JournalError, match=f"session {SESSION}: another process is writing it"):
        reopened(tmp_path)
    journal.close()


def test_only_the_beginning_of_a_lock_is_read(tmp_path: Path) -> None:
    """limits.LOCK_NOTE_BYTES, at the limit and one past it."""
    created(tmp_path).close()
    path = lock_of(tmp_path)
    text = path.read_bytes().strip()
    path.write_bytes(text.rjust(limits.LOCK_NOTE_BYTES))
    assert lock.holder(path) is not None
    path.write_bytes(text.rjust(limits.LOCK_NOTE_BYTES + 1))
    assert lock.holder(path) is None


def test_a_lock_open_to_others_is_refused_when_it_is_read(tmp_path: Path) -> None:
    created(tmp_path).close()
    lock_of(tmp_path).chmod(0o644)
    with pytest.raises(JournalError, match="expected mode 0600"):
        lock.holder(lock_of(tmp_path))
