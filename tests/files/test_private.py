"""Directories of the host's own are entered one by one, and refused when others can reach in."""

import os
import stat
from pathlib import Path

import pytest

from stella.files.private import OPEN_MODE
from stella.files.private import PRIVATE_MODE
from stella.files.private import exposed
from stella.files.private import opened
from stella.files.private import step
from stella.files.tree import DIRECTORY
from stella.files.tree import held


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mode", [OPEN_MODE, PRIVATE_MODE])
def test_what_is_made_has_exactly_its_mode_whatever_the_umask(tmp_path: Path, mode: int) -> None:
    """[S2-42]"""
    umask = os.umask(0o077)
    try:
        with held(os.open(tmp_path, DIRECTORY)) as here:
            os.close(step(here, "own", mode, make=True))
    finally:
        os.umask(umask)
    assert mode_of(tmp_path / "own") == mode


def test_what_is_missing_is_not_made_unasked(tmp_path: Path) -> None:
    with held(os.open(tmp_path, DIRECTORY)) as here, pytest.raises(FileNotFoundError):
        step(here, "own", OPEN_MODE, make=False)
    assert not list(tmp_path.iterdir())


def test_a_private_directory_that_others_reach_is_refused_and_not_repaired(tmp_path: Path) -> None:
    """[S2-42]"""
    (tmp_path / "own").mkdir()
    (tmp_path / "own").chmod(0o750)
    with held(os.open(tmp_path, DIRECTORY)) as here:
        said = "expected mode 0700, got 0750, which lets others in"
        with pytest.raises(PermissionError, match=said):
            step(here, "own", PRIVATE_MODE, make=True)
        os.close(step(here, "own", OPEN_MODE, make=True))
    assert mode_of(tmp_path / "own") == 0o750


def test_a_fresh_directory_is_made_or_refused(tmp_path: Path) -> None:
    with held(os.open(tmp_path, DIRECTORY)) as here:
        os.close(step(here, "own", PRIVATE_MODE, make=True, fresh=True))
        with pytest.raises(FileExistsError):
            step(here, "own", PRIVATE_MODE, make=True, fresh=True)
        os.close(step(here, "own", PRIVATE_MODE, make=True))


def test_a_link_is_not_followed_and_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "own").symlink_to("elsewhere")
    with held(os.open(tmp_path, DIRECTORY)) as here:
        with pytest.raises(OSError, match="a symbolic link, which is not followed here"):
            step(here, "own", OPEN_MODE, make=True)
        with pytest.raises(OSError, match="symbolic link"):
            opened(None, str(tmp_path / "own"), os.O_RDONLY)


def test_what_is_no_directory_is_refused_as_the_system_says_it(tmp_path: Path) -> None:
    (tmp_path / "own").write_text("")
    with held(os.open(tmp_path, DIRECTORY)) as here, pytest.raises(NotADirectoryError):
        step(here, "own", OPEN_MODE, make=True)


def test_it_is_said_who_else_can_reach_a_file(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("")
    own.chmod(0o600)
    found = own.stat()
    assert exposed(found, 0o600) is None
    own.chmod(0o604)
    assert exposed(own.stat(), 0o600) == "expected mode 0600, got 0604, which lets others in"
    foreign = os.stat_result((*found[:4], os.geteuid() + 1, *found[5:]))
    said = f"belongs to user {os.geteuid() + 1}, expected {os.geteuid()}"
    assert exposed(foreign, 0o600) == said
