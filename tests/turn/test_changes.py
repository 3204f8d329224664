import pytest

from stella.turn.changes import ChangeBook
from stella.turn.questions import Change


def change(path: str, before: str | None, after: str | None, lines: int = 0) -> Change:
    return Change(path=path, kind="modified", before=before, after=after, added=lines, removed=0)


def test_paths_stand_in_first_seen_order_once() -> None:
    book = ChangeBook()
    book.add((change("b", "1", "2", 3), change("a", None, "5")))
    book.add((change("b", "2", "3", 4),))
    assert book.paths == ("b", "a")
    assert (book.actions, book.lines) == (2, 7)


def test_a_file_that_is_back_drops_out() -> None:
    """[T2-55]"""
    book = ChangeBook()
    book.add((change("a", "1", "2"),))
    book.add((change("a", "2", "1"),))
    assert (book.paths, book.restored) == ((), ("a",))


def test_one_unmeasured_call_makes_the_turn_unmeasured() -> None:
    """[T2-53]"""
    book = ChangeBook()
    book.add((change("a", "1", "2"),))
    book.add(None)
    assert book.paths is None


@pytest.mark.behaviour("D-26")
def test_a_call_that_changed_nothing_is_no_action() -> None:
    """[D-26]"""
    book = ChangeBook()
    book.add(())
    assert book.actions == 0


def test_a_later_book_continues_the_earlier_one() -> None:
    run, turn = ChangeBook(), ChangeBook()
    run.add((change("a", "1", "2"),))
    turn.add((change("a", "2", "1"), change("b", None, "9", 2)))
    run.absorb(turn)
    assert (run.paths, run.restored, run.actions, run.lines) == (("b",), ("a",), 2, 2)
    unmeasured = ChangeBook()
    unmeasured.add(None)
    run.absorb(unmeasured)
    assert run.paths is None


def test_lines_that_could_not_be_counted_make_the_sum_unknown() -> None:
    """[D-26, T2-54]"""
    run, turn = ChangeBook(), ChangeBook()
    turn.add((Change(path="big", kind="modified", before="1", after="2", added=None),))
    assert (turn.counted, turn.paths) == (False, ("big",))
    run.absorb(turn)
    assert not run.counted
