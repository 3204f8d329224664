"""Where candidates and their notes lie, reached through real directories of our own only."""

import os
import stat
from pathlib import Path

import pytest

from stella.candidates.place import NOTES
from stella.candidates.place import WORK
from stella.candidates.place import entered
from stella.candidates.place import ignore
from stella.candidates.place import ours
from stella.candidates.place import path_of
from stella.candidates.place import standing


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_missing_is_made_with_its_permissions(tmp_path: Path) -> None:
    """[S2-41] whatever the umask is."""
    old = os.umask(0o777)
    try:
        with entered(tmp_path, NOTES, make=True), entered(tmp_path, WORK, make=True):
            pass
    finally:
        os.umask(old)
    assert mode(tmp_path / ".stella") == 0o755
    assert mode(tmp_path / ".stella/private") == 0o700
    assert mode(path_of(tmp_path, NOTES)) == 0o700
    assert mode(path_of(tmp_path, WORK)) == 0o755
    with entered(tmp_path, NOTES, make=True) as again:
        assert os.fstat(again).st_ino == path_of(tmp_path, NOTES).stat().st_ino


def test_what_is_not_there_is_not_made_to_look_at_it(tmp_path: Path) -> None:
    with standing(tmp_path, NOTES) as none:
        assert none is None
    with pytest.raises(FileNotFoundError), entered(tmp_path, WORK):
        pass
    assert not list(tmp_path.iterdir())
    path_of(tmp_path, WORK).mkdir(parents=True)
    with standing(tmp_path, WORK) as there:
        assert there is not None


@pytest.mark.parametrize("step", [".stella", ".stella/private", ".stella/private/candidates"])
def test_no_link_is_followed(tmp_path: Path, step: str) -> None:
    """[S2-42]"""
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    path_of(tmp_path / "r", NOTES).mkdir(parents=True, mode=0o700)
    (tmp_path / "r/.stella/private").chmod(0o700)
    path_of(tmp_path / "r", NOTES).rename(tmp_path / "aside")
    at = tmp_path / "r" / step
    while at.is_dir() and not at.is_symlink():
        inner = next(iter(at.iterdir()), None)
        if inner is not None:
            inner.rmdir()
        at.rmdir()
    at.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic link"), entered(tmp_path / "r", NOTES, make=True):
        pass
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_private_directory_that_is_open_to_others_is_refused(tmp_path: Path) -> None:
    """[S2-42] it is not repaired."""
    (tmp_path / ".stella/private").mkdir(parents=True)
    (tmp_path / ".stella/private").chmod(0o750)
    with pytest.raises(PermissionError, match="expected mode 0700"), entered(tmp_path, NOTES):
        pass
    assert mode(tmp_path / ".stella/private") == 0o750


def test_candidates_are_kept_from_version_control_by_their_own_directory(tmp_path: Path) -> None:
    """[S2-41] a file that is there already is not touched."""
    with entered(tmp_path, WORK, make=True) as work:
        ignore(work, "t")
        file = path_of(tmp_path, WORK) / ".gitignore"
        assert (file.read_text(), mode(file)) == ("*\n", 0o644)
        file.write_text("mine\n")
        ignore(work, "t")
    assert file.read_text() == "mine\n"


@pytest.mark.parametrize(
    ("path", "own"),
    [
        (".stella/private", True),
        (".stella/candidates/x/a", True),
        ("sub/.stella/private/x", True),
        (".stella/rules/a", False),
        (".stella", False),
        ("private/.stella", False),
        ("candidates", False),
    ],
)
def test_the_hosts_own_is_told_by_its_path(path: str, own: bool) -> None:
    """[Q-1]"""
    assert ours(path) is own
