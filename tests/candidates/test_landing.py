"""A candidate is opened anew each time, through the host's own directories only."""

import os
import shutil
from pathlib import Path

from stella.candidates.candidate import Adopted
from stella.candidates.candidate import Bounds
from stella.candidates.candidate import Denial
from stella.candidates.candidate import Failed
from stella.candidates.landing import changes_of
from stella.candidates.landing import landed
from stella.candidates.place import NOTES
from stella.candidates.place import entered
from stella.candidates.place import path_of
from stella.candidates.removal import adopting
from stella.candidates.removal import stage_of
from tests.making.candidates import bare
from tests.making.candidates import changes_in
from tests.making.candidates import land
from tests.making.candidates import never
from tests.making.candidates import put
from tests.making.candidates import snapshot
from tests.making.candidates import terms


def test_a_candidate_that_was_replaced_between_look_and_adoption_is_not_adopted(
    tmp_path: Path,
) -> None:
    root, candidate = bare(tmp_path)
    put(candidate.root / "text", "new\n")
    changes, before = changes_in(root, candidate), snapshot(root)
    candidate.root.rename(tmp_path / "moved")
    candidate.root.symlink_to(tmp_path / "moved")
    failed = landed(root, candidate, changes, bounds=Bounds(), stop=never())
    assert isinstance(failed, Failed)
    assert failed.reason == f"{candidate.name}: Not a directory; nothing was changed"
    assert snapshot(root) == before


def test_what_an_earlier_adoption_left_is_not_overwritten(tmp_path: Path) -> None:
    """Its staging may hold what was replaced; it is told instead."""
    root, candidate = bare(tmp_path)
    put(candidate.root / "text", "new\n")
    kept = put(path_of(root, NOTES) / stage_of(candidate.name) / "old-0")
    for each in (path_of(root, NOTES), path_of(root, NOTES).parent):
        each.chmod(0o700)
    failed = land(root, candidate)
    assert isinstance(failed, Failed)
    assert failed.reason == f"{stage_of(candidate.name)}: File exists; nothing was changed"
    assert kept.exists()


def test_only_one_adoption_at_a_time(tmp_path: Path) -> None:
    root, candidate = bare(tmp_path)
    with entered(root, NOTES, make=True) as notes, adopting(notes) as mine:
        assert mine
        with adopting(notes) as theirs:
            assert not theirs
        assert land(root, candidate) == Failed(
            reason="another adoption is under way; nothing was changed"
        )
    assert isinstance(land(root, candidate), Adopted)


def test_what_git_does_not_say_is_a_failure_unless_there_is_nothing_to_ask_about(
    tmp_path: Path,
) -> None:
    root, candidate = bare(tmp_path)
    silent = changes_of(root, candidate, None, terms())
    assert silent == Failed(reason="git does not say what the candidate holds")
    shutil.rmtree(candidate.root)
    gone = changes_of(root, candidate, None, terms())
    assert isinstance(gone, Failed)
    assert gone.denial is Denial.ROOT_UNAVAILABLE
    assert gone.reason == f"{candidate.root}: No such file or directory"


def test_nothing_changed_is_adopted_as_nothing(tmp_path: Path) -> None:
    root, candidate = bare(tmp_path)
    before = {each.name: each.stat().st_mtime_ns for each in root.iterdir() if each.is_file()}
    done = land(root, candidate)
    assert isinstance(done, Adopted)
    assert done.changes == ()
    assert os.listdir(path_of(root, NOTES)) == []  # noqa: PTH208
    assert before == {n.name: n.stat().st_mtime_ns for n in root.iterdir() if n.is_file()}
