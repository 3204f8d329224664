import os
from pathlib import Path

import pytest

from stella import limits
from stella.errors import UsageError
from stella.journal.find import resolve
from stella.journal.find import sessions
from stella.journal.find import unfinished
from stella.journal.find import writing
from stella.journal.journal import Journal
from stella.redact import Redactor
from tests.making.clocks import HandClock

FIRST = "ses-20260811T120000Z-aaaaaaaa"
SECOND = "ses-20260811T120000Z-aaaaaaab"
THIRD = "ses-20260812T090000Z-cccccccc"


def made(workspace: Path, *names: str) -> list[Path]:
    paths = []
    for number, name in enumerate(names):
        journal = Journal.create(workspace, name, HandClock(), Redactor())
        os.utime(journal.path, ns=(number, number))
        paths.append(journal.path)
        journal.close()
    return paths


def test_sessions_stand_in_the_order_they_began(tmp_path: Path) -> None:
    """[J2-50] of one second, the one changed last is the later one."""
    third, second, first = made(tmp_path, THIRD, SECOND, FIRST)
    found = sessions(tmp_path)
    assert [session.path for session in found] == [second, first, third]
    assert [session.id for session in found] == [SECOND, FIRST, THIRD]
    assert [session.size for session in found] == [0, 0, 0]


def test_what_is_no_session_is_left_out(tmp_path: Path) -> None:
    """[J2-1] a link, another name, a directory without a journal."""
    (path,) = made(tmp_path, FIRST)
    root = path.parents[1]
    (root / SECOND).symlink_to(root / FIRST)
    (root / "other").mkdir()
    (root / "other/journal.jsonl").touch()
    (root / THIRD).mkdir()
    assert [session.id for session in sessions(tmp_path)] == [FIRST]
    assert sessions(tmp_path / "none") == ()


def test_a_session_is_meant_by_id_by_its_beginning_or_as_the_last(tmp_path: Path) -> None:
    """[J2-3] limits.SESSION_PREFIX_CHARS, at the limit and one less."""
    first, second, third = made(tmp_path, FIRST, SECOND, THIRD)
    assert resolve(tmp_path, FIRST) == first
    assert resolve(tmp_path, SECOND) == second
    assert resolve(tmp_path, "last") == third
    shortest = THIRD[: len("ses-") + limits.SESSION_PREFIX_CHARS]
    assert resolve(tmp_path, shortest) == third
    with pytest.raises(UsageError, match="at least 8 characters after ses-"):
        resolve(tmp_path, shortest[:-1])


@pytest.mark.parametrize("wanted", ["", "ses-", "20260812T09", "../..", "LAST", "ses-2026\n"])
def test_what_is_no_beginning_of_an_id_is_refused(tmp_path: Path, wanted: str) -> None:
    made(tmp_path, THIRD)
    with pytest.raises(UsageError, match=r'session ".*": expected last, an id, or the beginning'):
        resolve(tmp_path, wanted)


def test_a_beginning_of_several_ids_names_them(tmp_path: Path) -> None:
    """[J2-3]"""
    made(tmp_path, FIRST, SECOND, THIRD)
    with pytest.raises(UsageError) as caught:
        resolve(tmp_path, "ses-20260811")
    assert caught.value.message == (
        f'session "ses-20260811": fits 2 sessions, {FIRST}, {SECOND} among them;'
        " give more of the id"
    )


def test_an_id_of_no_session_shows_the_near_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no session here yet"):
        resolve(tmp_path, "last")
    made(tmp_path, FIRST)
    with pytest.raises(UsageError, match=f"there is none; did you mean {FIRST}"):
        resolve(tmp_path, FIRST.replace("aaaaaaaa", "aaaaaaac"))
    made(tmp_path, *(f"ses-20260813T0900{n:02d}Z-cccccccc" for n in range(20)))
    with pytest.raises(UsageError, match="there is none; stella journal list shows them all"):
        resolve(tmp_path, "ses-20270101T000000Z-zzzzzzzz")


def closing(text: str) -> dict[str, object]:
    return {"status": text, "turns": 1, "usage": {}, "cost_usd": 0.0}


def test_a_session_that_was_closed_is_finished_and_no_other(tmp_path: Path) -> None:
    """[T2-35] limits.CLOSING_BYTES, at it and one past it: a longer last line says nothing."""
    for name, records in ((FIRST, ["x"]), (SECOND, []), (THIRD, ["x"])):
        journal = Journal.create(tmp_path, name, HandClock(), Redactor())
        for text in records:
            journal.append("session_closed", None, closing(text))
        if name == THIRD:
            journal.append("notice", None, {"code": "late", "text": "x"})
        journal.close()
    assert [session.id for session in unfinished(tmp_path)] == [SECOND, THIRD]


@pytest.mark.parametrize(("over", "found"), [(0, []), (1, [FIRST])])
def test_only_the_end_of_a_journal_is_looked_at(
    over: int, found: list[str], tmp_path: Path
) -> None:
    """limits.CLOSING_BYTES"""
    journal = Journal.create(tmp_path, FIRST, HandClock(), Redactor())
    journal.append("notice", None, {"code": "x", "text": "before"})
    journal.append("session_closed", None, closing(""))
    journal.close()
    whole = journal.path.read_bytes()
    line = whole.splitlines()[-1]
    room = limits.CLOSING_BYTES - len(line) - 1 + over
    journal.path.unlink()
    again = Journal.create(tmp_path, FIRST.replace("aaaaaaaa", "bbbbbbbb"), HandClock(), Redactor())
    again.append("notice", None, {"code": "x", "text": "before"})
    again.append("session_closed", None, closing("y" * room))
    again.close()
    ids = [session.id for session in unfinished(tmp_path)]
    assert [name.replace("bbbbbbbb", "aaaaaaaa") for name in ids] == found


def test_an_open_session_is_being_written_and_an_unreadable_lock_counts_as_held(
    tmp_path: Path,
) -> None:
    """[J2-35]"""
    journal = Journal.create(tmp_path, FIRST, HandClock(), Redactor())
    assert writing(tmp_path, FIRST)
    journal.close()
    path = journal.path.with_name("lock")
    path.write_text('{"pid":1,"started":"never"}\n', "utf-8")
    assert not writing(tmp_path, FIRST)
    path.chmod(0o666)
    assert writing(tmp_path, FIRST)
    assert not writing(tmp_path, THIRD)
