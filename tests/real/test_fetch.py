"""What is fetched is what was asked for, and unpacking it stays inside its folder."""

import hashlib
import stat
import zipfile
from pathlib import Path

import pytest

from tests.real import fetch


def wheel(folder: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    path = folder / "made-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members:
            archive.writestr(name, data)
    return path


def special(name: str, mode: int) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name)
    member.external_attr = mode << 16
    return member


def test_a_wheel_is_unpacked_with_its_folders_and_bytes(tmp_path: Path) -> None:
    made = wheel(tmp_path, ("a/", b""), ("a/b.py", b"x = 1\r\n"), ("c.txt", b"\xff"))
    fetch.unpack(made, tmp_path / "tree")
    assert (tmp_path / "tree/a/b.py").read_bytes() == b"x = 1\r\n"
    assert (tmp_path / "tree/c.txt").read_bytes() == b"\xff"


@pytest.mark.parametrize(
    ("member", "fault"),
    [
        ("/etc/x", "absolute"),
        ("../x", "component"),
        ("a/../../x", "component"),
        ("a/./x", "component"),
        ("a//x", "component"),
        ("a\\x", "plain path"),
        ("c:x", "plain path"),
        (special("link", stat.S_IFLNK | 0o777), "neither a file nor a folder"),
        (special("pipe", stat.S_IFIFO | 0o644), "neither a file nor a folder"),
    ],
)
def test_a_member_that_could_leave_the_folder_refuses_the_whole_archive(
    tmp_path: Path, member: str | zipfile.ZipInfo, fault: str
) -> None:
    made = wheel(tmp_path, ("good.py", b"x = 1\n"), (member, b"/etc/passwd"))
    with pytest.raises(fetch.UnsafeArchiveError, match=fault):
        fetch.unpack(made, tmp_path / "tree")
    assert sorted(tmp_path.iterdir()) == [made]


def test_a_name_that_comes_twice_refuses_the_archive(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        made = wheel(tmp_path, ("a.py", b"1"), ("a.py", b"2"))
    with pytest.raises(fetch.UnsafeArchiveError, match="comes twice"):
        fetch.unpack(made, tmp_path / "tree")


def test_members_are_bounded_in_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "MEMBERS", 2)
    fetch.unpack(wheel(tmp_path, ("a", b""), ("b", b"")), tmp_path / "two")
    made = wheel(tmp_path, ("a", b""), ("b", b""), ("c", b""))
    with pytest.raises(fetch.UnsafeArchiveError, match="3 members, at most 2"):
        fetch.unpack(made, tmp_path / "three")


def test_members_are_bounded_in_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "UNPACKED_BYTES", 4)
    fetch.unpack(wheel(tmp_path, ("a", b"12"), ("b", b"34")), tmp_path / "four")
    made = wheel(tmp_path, ("a", b"12"), ("b", b"345"))
    with pytest.raises(fetch.UnsafeArchiveError, match="5 bytes, at most 4"):
        fetch.unpack(made, tmp_path / "five")


def test_another_digest_refuses_the_archive(tmp_path: Path) -> None:
    made = wheel(tmp_path, ("a", b"1"))
    digest = hashlib.sha256(made.read_bytes()).hexdigest()
    fetch.verify(made, digest)
    with made.open("ab") as file:
        file.write(b"!")
    with pytest.raises(fetch.FetchError, match=f"expected sha256 {digest}, got "):
        fetch.verify(made, digest)


def test_a_release_that_is_here_already_is_not_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "made-1").mkdir()
    assert fetch.source("made", "1", "0" * 64, tmp_path) == tmp_path / "made-1"


@pytest.mark.real
def test_pip_is_heard_when_a_release_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(
        fetch.FetchError, match=r"^toolz 0\.0\.0: pip ended with 1: .*toolz==0\.0\.0"
    ):
        fetch.download("toolz", "0.0.0", tmp_path)


@pytest.mark.real
def test_a_release_with_another_digest_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(fetch.FetchError, match="expected sha256"):
        fetch.source("toolz", "1.0.0", "0" * 64, tmp_path)
    assert not list(tmp_path.iterdir())
