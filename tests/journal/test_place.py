import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from stella.errors import JournalError
from stella.journal import place
from tests.making.child import NOBODY
from tests.making.child import open_folder
from tests.making.child import said
from tests.making.child import said_by_nobody
from tests.making.journals import SESSION
from tests.making.journals import created
from tests.making.journals import reopened

PRIVATE = Path(".stella/private")
DIRECTORY = PRIVATE / "sessions" / SESSION


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def made(workspace: Path, session: str = SESSION) -> None:
    os.close(place.enter(workspace, session, make=True))


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(JournalError) as caught:
        act()
    return caught.value.message


@pytest.mark.behaviour("L304")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o277])
def test_modes_are_set_whatever_the_umask_is(tmp_path: Path, umask: int) -> None:
    """[J2-1, S2-41]"""

    def make() -> str:
        os.umask(umask)
        created(tmp_path)
        return "made"

    assert said(make) == "made"
    assert {str(path.relative_to(tmp_path)): f"{mode(path):o}" for path in tmp_path.rglob("*")} == {
        ".stella": "755",
        ".stella/.gitignore": "644",
        ".stella/private": "700",
        ".stella/private/sessions": "700",
        str(DIRECTORY): "700",
        str(DIRECTORY / "journal.jsonl"): "600",
        str(DIRECTORY / "lock"): "600",
    }
    assert (tmp_path / ".stella/.gitignore").read_text("utf-8") == "private/\ncandidates/\n"


def test_what_is_there_already_is_used_and_a_file_of_the_person_kept(tmp_path: Path) -> None:
    """[S2-41]"""
    (tmp_path / ".stella").mkdir(mode=0o775)
    (tmp_path / ".stella/.gitignore").write_text("own\n", "utf-8")
    made(tmp_path)
    made(tmp_path, SESSION.replace("a", "b"))
    assert (tmp_path / ".stella/.gitignore").read_text("utf-8") == "own\n"
    assert len(list((tmp_path / PRIVATE / "sessions").iterdir())) == 2
    assert place.sessions_path(tmp_path) == tmp_path / PRIVATE / "sessions"


def as_link(path: Path) -> None:
    path.symlink_to("elsewhere")


@pytest.mark.parametrize(
    ("spoil", "cause"),
    [
        (as_link, "a symbolic link, which git does not follow"),
        (Path.mkdir, "no regular file"),
        (os.mkfifo, "no regular file"),
    ],
)
def test_what_git_would_not_read_is_refused(
    tmp_path: Path, spoil: Callable[[Path], None], cause: str
) -> None:
    """[S2-41] Else private/ would not be ignored, and nobody would know."""
    (tmp_path / ".stella").mkdir()
    ignore = tmp_path / ".stella/.gitignore"
    spoil(ignore)
    assert refused(lambda: made(tmp_path)) == (
        f"{ignore}: {cause}; expected a file that ignores private/; remove what is there"
    )
    assert list((tmp_path / ".stella").iterdir()) == [ignore]


def test_a_session_is_never_made_twice(tmp_path: Path) -> None:
    made(tmp_path)
    message = refused(lambda: made(tmp_path))
    assert message == f"{tmp_path / DIRECTORY}: this session exists already"


@pytest.mark.parametrize("name", [".stella", ".stella/private", ".stella/private/sessions"])
def test_a_link_on_the_way_is_not_followed(tmp_path: Path, name: str) -> None:
    """[J2-1]"""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    workspace = tmp_path / "w"
    (workspace / name).parent.mkdir(parents=True, mode=0o700)
    (workspace / PRIVATE.parent).mkdir(exist_ok=True) if name != ".stella" else None
    for path in workspace.rglob("*"):
        path.chmod(0o700)
    (workspace / name).symlink_to(elsewhere)
    message = refused(lambda: made(workspace))
    assert message == f"{workspace / name}: a symbolic link, which is not followed here"
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize("name", ["", "journal.jsonl", "lock"])
def test_a_link_in_place_of_a_session_is_not_followed(tmp_path: Path, name: str) -> None:
    """[J2-1]"""
    created(tmp_path).close()
    path = tmp_path / DIRECTORY / name
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    assert refused(lambda: reopened(tmp_path)) == (
        f"{path}: a symbolic link, which is not followed here"
    )


@pytest.mark.parametrize(
    ("name", "wider", "expected"),
    [
        (str(PRIVATE), 0o710, 0o700),
        (str(PRIVATE / "sessions"), 0o701, 0o700),
        (str(DIRECTORY), 0o755, 0o700),
        (str(DIRECTORY / "journal.jsonl"), 0o640, 0o600),
        (str(DIRECTORY / "lock"), 0o602, 0o600),
        (str(DIRECTORY / "journal.jsonl"), 0o700, 0o600),
    ],
)
def test_wider_permissions_are_refused_and_left(
    tmp_path: Path, name: str, wider: int, expected: int
) -> None:
    """[J2-1] not repaired silently; the message says how."""
    created(tmp_path).close()
    path = tmp_path / name
    path.chmod(wider)
    assert refused(lambda: reopened(tmp_path)) == (
        f"{path}: expected mode {expected:04o}, got {wider:04o}, which lets others in;"
        f" if that is not their doing, run: chmod {expected:o} {path}"
    )
    assert mode(path) == wider
    if path.is_dir() and path.name != SESSION:
        assert "expected mode 0700" in refused(lambda: made(tmp_path, SESSION.replace("a", "b")))


def test_a_second_name_of_a_file_is_refused(tmp_path: Path) -> None:
    """[J2-1]"""
    created(tmp_path).close()
    path = tmp_path / DIRECTORY / "journal.jsonl"
    (tmp_path / "second").hardlink_to(path)
    assert refused(lambda: reopened(tmp_path)) == (
        f"{path}: has 2 names (hard links), expected one"
    )


def test_a_file_of_somebody_else_is_refused(tmp_path: Path) -> None:
    """[J2-1]"""
    foreign = Path("/etc/passwd")
    if os.geteuid() == 0:
        foreign = tmp_path / "foreign"
        foreign.touch(mode=0o600)
        os.chown(foreign, NOBODY, NOBODY)
    owner = foreign.stat().st_uid
    message = refused(lambda: place.open_file(None, foreign, os.O_RDONLY))
    assert message == f"{foreign}: belongs to user {owner}, expected {os.geteuid()}"


def test_a_directory_of_somebody_else_is_refused() -> None:
    """[J2-1] made by this user, entered by another one."""
    with open_folder() as workspace:
        (workspace / PRIVATE).mkdir(parents=True)
        (workspace / PRIVATE).chmod(0o755)
        (workspace / ".stella/.gitignore").touch()
        answer = said_by_nobody(lambda: refused(lambda: made(workspace)))
        # Without root there is no second user to make it, and its mode is what is refused.
        foreign = f"belongs to user 0, expected {NOBODY}"
        expected = foreign if os.geteuid() == 0 else "expected mode 0700, got 0755"
        assert answer.startswith(f"{workspace / PRIVATE}: {expected}")


@pytest.mark.parametrize("name", ["journal.jsonl", "lock"])
def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path, name: str) -> None:
    """[S2-42]"""
    created(tmp_path).close()
    path = tmp_path / DIRECTORY / name
    path.unlink()
    os.mkfifo(path, 0o600)
    assert refused(lambda: reopened(tmp_path)) == f"{path}: expected a regular file"


def test_a_file_where_a_directory_belongs_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".stella").touch()
    assert refused(lambda: made(tmp_path)) == f"{tmp_path / '.stella'}: Not a directory"


def test_a_workspace_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """[J2-4]"""
    message = refused(lambda: made(tmp_path / "none"))
    assert message == f"{tmp_path / 'none'}: No such file or directory"


@pytest.mark.parametrize("name", ["", ".stella", ".stella/private"])
def test_a_directory_that_cannot_be_written_starts_no_session(name: str) -> None:
    """[J2-4, S2-44] for a process without root's powers."""
    with open_folder() as workspace:
        locked = workspace / name

        def prepare() -> str:
            (workspace / PRIVATE).mkdir(parents=True, mode=0o700)
            locked.chmod(0o500)
            return refused(lambda: made(workspace))

        workspace.chmod(0o777)
        if not name:
            workspace.chmod(0o555)
            answer = said_by_nobody(lambda: refused(lambda: made(workspace)))
            assert answer == f"{workspace / '.stella'}: Permission denied"
        else:
            answer = said_by_nobody(prepare)
            below = {".stella": ".stella/.gitignore", ".stella/private": str(PRIVATE / "sessions")}
            assert answer == f"{workspace / below[name]}: Permission denied"
        assert not list(workspace.rglob(SESSION))
        for path in (locked, workspace):
            path.chmod(0o777)


def test_no_descriptor_is_left_open_by_a_refusal(tmp_path: Path) -> None:
    created(tmp_path).close()
    (tmp_path / DIRECTORY / "journal.jsonl").chmod(0o644)
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(3):
        refused(lambda: reopened(tmp_path))
        refused(lambda: made(tmp_path))
    (tmp_path / DIRECTORY / "lock").chmod(0o644)
    refused(lambda: reopened(tmp_path))
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_a_file_is_put_in_place_whole(tmp_path: Path) -> None:
    """[S2-42]"""
    path = tmp_path / "f"
    path.write_text("old", "utf-8")
    (tmp_path / "f.tag.tmp").write_text("left by a crash", "utf-8")
    directory = os.open(tmp_path, os.O_RDONLY)
    place.write_file(directory, path, b"new", mode=0o600, tag="tag")
    os.close(directory)
    assert path.read_bytes() == b"new"
    assert mode(path) == 0o600
    assert list(tmp_path.iterdir()) == [path]
