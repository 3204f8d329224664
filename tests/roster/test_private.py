"""A file that others could have written is not read, and one is written whole and private."""

import os
from pathlib import Path

import pytest

from stella import limits
from stella.errors import RosterError
from stella.roster.private import Unreadable
from stella.roster.private import come_back
from stella.roster.private import contents_of
from stella.roster.private import delete_private
from stella.roster.private import read_private
from stella.roster.private import write_private
from tests.making.child import NOBODY
from tests.making.packages import seen


def written(root: Path, data: bytes = b"words") -> Path:
    """A private file one directory below a home."""
    path = root / "below" / "file"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    path.chmod(0o600)
    return path


def refusal(root: Path, path: Path, most: int = 100) -> str:
    with pytest.raises(RosterError) as caught:
        read_private(root, path, most)
    return str(caught.value)


def test_a_private_file_is_read_with_the_time_it_was_written(tmp_path: Path) -> None:
    """[I-26, I-29]"""
    path = written(tmp_path)
    os.utime(path, ns=(1, 2_000_000_003))
    found = read_private(tmp_path, path, 5)
    assert found is not None
    assert (found.data, found.written) == (b"words", 2_000_000_003)


def test_a_file_that_is_not_there_is_none(tmp_path: Path) -> None:
    assert read_private(tmp_path, tmp_path / "none", 5) is None
    assert read_private(tmp_path, tmp_path / "none" / "file", 5) is None
    assert read_private(tmp_path / "nowhere", tmp_path / "nowhere" / "file", 5) is None


def test_what_others_could_have_written_is_refused(tmp_path: Path) -> None:
    """A32, S2-42: open to others, another owner, a second name, another kind, a link, a flood."""
    path = written(tmp_path)
    for mode in (0o620, 0o602):
        path.chmod(mode)
        assert "others may write the file" in refusal(tmp_path, path)
    path.chmod(0o600)
    assert refusal(tmp_path, path, 4) == "the file has more than 4 bytes"
    os.chown(path, NOBODY, NOBODY)
    assert refusal(tmp_path, path) == "the file belongs to somebody else"
    os.chown(path, os.geteuid(), os.getegid())
    os.link(path, tmp_path / "second")
    assert refusal(tmp_path, path) == "expected a regular file with one name"
    path.unlink()
    os.mkfifo(path)
    assert refusal(tmp_path, path) == "expected a regular file with one name"
    path.unlink()
    path.symlink_to(tmp_path / "second")
    assert refusal(tmp_path, path) == "a symbolic link, which is not followed here"
    path.unlink()
    path.parent.rmdir()
    (tmp_path / "real").mkdir()
    path.parent.symlink_to("real")
    assert "directory" in refusal(tmp_path, path)


def test_it_is_written_whole_and_private(tmp_path: Path) -> None:
    """[S2-40, S2-42]"""
    home = tmp_path / "home"
    for path in (home / "said.toml", home / "consent" / "said.toml"):
        write_private(home, path, b"a", token="said-m", damaged=False)
        assert path.read_bytes() == b"a"
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_damaged_one_is_put_aside_and_a_killed_writers_file_taken_away(tmp_path: Path) -> None:
    """[attacks D89] Nothing is overwritten that nobody could read."""
    path = tmp_path / "said.toml"
    write_private(tmp_path, path, b"damaged", token="said-m", damaged=False)
    (tmp_path / ".stella-tmp-said-killed").touch()
    (tmp_path / ".stella-tmp-said-folder").mkdir()
    (tmp_path / ".stella-tmp-other-killed").touch()
    write_private(tmp_path, path, b"new", token="said-n", damaged=True)
    assert {path: data for path, (_, data) in seen(tmp_path).items()} == {
        ".stella-tmp-other-killed": b"",
        ".stella-tmp-said-folder": b"",
        "said.toml": b"new",
        "said.toml.damaged-n": b"damaged",
    }


def test_what_is_too_large_is_not_written(tmp_path: Path) -> None:
    """limits.LOCK_BYTES, at the limit and one past it."""
    path, most = tmp_path / "said.toml", limits.LOCK_BYTES
    write_private(tmp_path, path, b"x" * most, token="k-m", damaged=False)
    with pytest.raises(RosterError, match=f"would have {most + 1} bytes"):
        write_private(tmp_path, path, b"x" * (most + 1), token="k-m", damaged=False)
    assert path.stat().st_size == most


def test_a_file_that_was_put_aside_comes_back_to_whoever_put_it_there(tmp_path: Path) -> None:
    """[I-37] By its mark; the one that was written in its place is gone then."""
    path = tmp_path / "below" / "said.toml"
    write_private(tmp_path, path, b"damaged", token="said-m", damaged=False)
    assert come_back(tmp_path, path, mark="n") is False
    write_private(tmp_path, path, b"new", token="said-n", damaged=True)
    assert come_back(tmp_path, path, mark="m") is False
    assert path.read_bytes() == b"new"
    assert come_back(tmp_path, path, mark="n") is True
    assert {name: data for name, (_, data) in seen(path.parent).items()} == {
        "said.toml": b"damaged"
    }


def test_a_private_file_is_deleted_and_a_missing_one_is_named(tmp_path: Path) -> None:
    path = written(tmp_path)
    delete_private(tmp_path, path)
    assert not path.exists()
    with pytest.raises(RosterError, match=f"{path}: No such file"):
        delete_private(tmp_path, path)


def test_contents_are_those_of_a_file_that_is_the_persons_alone(tmp_path: Path) -> None:
    """[S2-42] No bytes of any other; an error where the system gives none."""
    path = written(tmp_path)
    assert contents_of(tmp_path, path, 5) == b"words"
    assert contents_of(tmp_path, path, 4) is None
    path.chmod(0o622)
    assert contents_of(tmp_path, path, 5) is None
    path.unlink()
    assert contents_of(tmp_path, path, 5) is None
    # A name too long for the system: it does not say what such a file is.
    endless = path.with_name("x" * 300)
    with pytest.raises(RosterError, match="File name too long"):
        contents_of(tmp_path, endless, 5)


def test_a_file_whose_bytes_the_system_does_not_give_may_be_a_good_one() -> None:
    """[I-27] So nobody writes in its place: here one that opens and cannot be read."""
    own = Path(f"/proc/{os.getpid()}")
    with pytest.raises(Unreadable, match="Input/output error"):
        read_private(own, own / "mem", 5)
