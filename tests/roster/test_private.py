"""[S2-42] A file of the person's that says what they agreed to: theirs alone, or nothing."""

import os
from pathlib import Path

import pytest

from stella import limits
from stella.errors import RosterError
from stella.roster.private import PrivateFile
from stella.roster.private import read_private
from stella.roster.private import write_private
from tests.making.packages import seen


def file(home: Path, *below: str) -> PrivateFile:
    return PrivateFile(home=home, below=below, name="said.toml", key="said")


def test_it_is_written_whole_and_private_and_read_back(tmp_path: Path) -> None:
    """[S2-40, S2-42]"""
    place = file(tmp_path / "home", "consent")
    assert read_private(place) is None
    write_private(place, b"a", mark="m", damaged=False)
    assert place.path.read_bytes() == read_private(place) == b"a"
    assert (place.path.stat().st_mode & 0o777, place.path.parent.stat().st_mode & 0o777) == (
        0o600,
        0o700,
    )


def test_a_damaged_one_is_put_aside_and_a_killed_writers_file_taken_away(tmp_path: Path) -> None:
    """[attacks D89] Nothing is overwritten that nobody could read."""
    place = file(tmp_path)
    write_private(place, b"damaged", mark="m", damaged=False)
    (tmp_path / ".stella-tmp-said-killed").touch()
    (tmp_path / ".stella-tmp-said-folder").mkdir()
    (tmp_path / ".stella-tmp-other-killed").touch()
    write_private(place, b"new", mark="n", damaged=True)
    assert {path: data for path, (_, data) in seen(tmp_path).items()} == {
        ".stella-tmp-other-killed": b"",
        ".stella-tmp-said-folder": b"",
        "said.toml": b"new",
        "said.toml.damaged-n": b"damaged",
    }


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("link", "Too many levels of symbolic links"),
        ("directory", "expected a regular file with one name"),
        ("pipe", "expected a regular file with one name"),
        ("twice", "expected a regular file with one name"),
        ("others", "others may write the file, so it proves nothing; see chmod 600"),
        ("stranger", "the file belongs to somebody else"),
        ("large", f"the file has more than {limits.LOCK_BYTES} bytes"),
    ],
)
def test_what_is_not_the_persons_file_alone_is_refused(
    tmp_path: Path, kind: str, told: str
) -> None:
    """[S2-42, attacks A32] limits.LOCK_BYTES, one past it."""
    place = file(tmp_path)
    path = place.path
    if kind == "link":
        (tmp_path / "real").touch(0o600)
        path.symlink_to(tmp_path / "real")
    elif kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_bytes(b"x" * (limits.LOCK_BYTES + 1 if kind == "large" else 1))
        path.chmod(0o620 if kind == "others" else 0o600)
        if kind == "twice":
            path.with_name("other").hardlink_to(path)
        if kind == "stranger":
            os.chown(path, 12345, -1)
    with pytest.raises(RosterError) as refused:
        read_private(place)
    assert str(refused.value) == told


def test_what_is_too_large_is_not_written(tmp_path: Path) -> None:
    """limits.LOCK_BYTES, at the limit and one past it."""
    place = file(tmp_path)
    write_private(place, b"x" * limits.LOCK_BYTES, mark="m", damaged=False)
    with pytest.raises(RosterError, match=f"would have {limits.LOCK_BYTES + 1} bytes"):
        write_private(place, b"x" * (limits.LOCK_BYTES + 1), mark="m", damaged=False)
    assert len(read_private(place) or b"") == limits.LOCK_BYTES
