"""What one agent has read, and what it may therefore change."""

from stella.tools.seen import Seen
from stella.tools.seen import Unread

OLD, NEW = "a" * 64, "b" * 64


def test_what_was_never_read_may_not_be_changed() -> None:
    """T2-33."""
    seen = Seen()
    assert seen.fault("a", OLD, whole=False) is Unread.NOT_READ
    assert seen.fault("a", OLD, whole=True) is Unread.NOT_READ


def test_any_read_of_the_current_bytes_allows_an_edit_and_a_full_one_a_write() -> None:
    """T2-33."""
    seen = Seen()
    seen.read("a", OLD, 10, (1, 5))
    assert seen.fault("a", OLD, whole=False) is None
    assert seen.fault("a", OLD, whole=True) is Unread.NOT_READ
    assert seen.fault("b", OLD, whole=False) is Unread.NOT_READ
    seen.read("a", OLD, 10, (6, 10))
    assert seen.fault("a", OLD, whole=True) is None


def test_a_file_that_changed_since_may_not_be_changed() -> None:
    """T2-33."""
    seen = Seen()
    seen.read("a", OLD, 1, (1, 1))
    assert seen.fault("a", NEW, whole=False) is Unread.CHANGED
    assert seen.fault("a", NEW, whole=True) is Unread.CHANGED


def test_lines_shown_of_other_bytes_do_not_count() -> None:
    seen = Seen()
    seen.read("a", OLD, 10, (1, 5))
    seen.read("a", NEW, 10, (6, 10))
    assert seen.fault("a", NEW, whole=True) is Unread.NOT_READ
    assert seen.fault("a", OLD, whole=False) is Unread.CHANGED


def test_a_gap_is_not_the_whole_file() -> None:
    seen = Seen()
    seen.read("a", OLD, 10, (1, 4), (6, 10))
    assert seen.fault("a", OLD, whole=True) is Unread.NOT_READ
    seen.read("a", OLD, 10, (3, 7))
    assert seen.fault("a", OLD, whole=True) is None


def test_an_empty_file_is_whole_and_a_file_that_shows_no_lines_is_not() -> None:
    seen = Seen()
    seen.read("empty", OLD, 0)
    assert seen.fault("empty", OLD, whole=True) is None
    seen.read("binary", OLD, 1)
    assert seen.fault("binary", OLD, whole=True) is Unread.NOT_READ
    assert seen.fault("binary", OLD, whole=False) is None


def test_the_agents_own_write_is_known_in_full() -> None:
    """T2-33."""
    seen = Seen()
    seen.wrote("a", OLD, 3)
    assert seen.fault("a", OLD, whole=True) is None


def test_the_agents_own_edit_is_known_as_well_as_the_file_was_before() -> None:
    """T2-33."""
    seen = Seen()
    seen.read("part", OLD, 10, (1, 5))
    seen.edited("part", NEW, 12)
    assert seen.fault("part", NEW, whole=False) is None
    assert seen.fault("part", NEW, whole=True) is Unread.NOT_READ
    seen.read("all", OLD, 10, (1, 10))
    seen.edited("all", NEW, 12)
    assert seen.fault("all", NEW, whole=True) is None
    seen.edited("never", NEW, 0)
    assert seen.fault("never", NEW, whole=False) is None


def test_what_is_gone_is_forgotten() -> None:
    seen = Seen()
    seen.wrote("a", OLD, 1)
    seen.forget("a")
    seen.forget("a")
    assert seen.fault("a", OLD, whole=False) is Unread.NOT_READ


def test_records_belong_to_one_agent() -> None:
    """T2-33: a child starts with none."""
    parent, child = Seen(), Seen()
    parent.wrote("a", OLD, 1)
    assert child.fault("a", OLD, whole=False) is Unread.NOT_READ
