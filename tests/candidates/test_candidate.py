from pathlib import Path

from stella import limits
from stella.candidates.candidate import Bounds
from stella.candidates.candidate import Candidate
from stella.candidates.candidate import ChangeKind
from stella.candidates.candidate import Denial
from stella.candidates.candidate import Item
from stella.files.kind import Kind
from stella.process.git import Repository


def test_denials_are_the_words_of_reports() -> None:
    """[G-52]"""
    assert [each.value for each in Denial] == ["unknown_handle", "path", "root_unavailable"]


def test_changes_are_told_in_the_words_of_the_tools() -> None:
    """[T2-50]"""
    assert [each.value for each in ChangeKind] == ["created", "modified", "deleted"]


def test_a_candidate_is_bound_by_the_houses_limits() -> None:
    """limits.TREE_FILES, limits.CANDIDATE_BYTES, limits.CANDIDATE_SECS, limits.ADOPTED_BYTES."""
    bounds = Bounds()
    assert bounds.files == limits.TREE_FILES
    assert bounds.entries == limits.WATCHED_ENTRIES
    assert bounds.bytes == limits.CANDIDATE_BYTES
    assert bounds.milliseconds == limits.CANDIDATE_SECS * 1000
    assert bounds.adopted_bytes == limits.ADOPTED_BYTES


def test_what_a_candidate_held_is_left_out_of_its_repr() -> None:
    top = Path("/w")
    candidate = Candidate(
        handle="c-1",
        plugin="p",
        name="n",
        root=top,
        repository=Repository(top=top, directory=top, fence=top),
        start={"secret": Item(kind=Kind.FILE)},
    )
    assert "secret" not in repr(candidate)
