"""[D-51, S2-42] The index lies in a private directory, and one session works in it at a time."""

import os
from pathlib import Path
from threading import Event
from threading import Thread

import pytest

from stella import limits
from stella.clock import Clock
from stella.clock import SystemClock
from stella.context import place
from stella.files.tree import DIRECTORY
from stella.files.tree import held
from stella.files.tree import names_in
from tests.making.child import holding
from tests.making.child import open_folder
from tests.making.child import said_by_nobody
from tests.making.clocks import HandClock

BELOW = (".stella", "private", "recall")


class Hurried(HandClock):
    """A clock that goes on by as much as is waited at most, each time it is asked."""

    def ticks(self) -> int:
        self.turn(limits.RECALL_WAIT_MS)
        return super().ticks()


def entered(root: Path, clock: Clock | None = None, stop: Event | None = None) -> str:
    """Enter the directory of the index, and return what stood there or why it was refused."""
    try:
        with (
            held(os.open(root, DIRECTORY)) as top,
            place.alone(top, BELOW, clock or SystemClock(), stop or Event()) as here,
        ):
            place.prepare(here)
            return " ".join(names_in(here))
    except OSError as error:
        return error.strerror or str(error)


def test_what_is_missing_is_made_for_nobody_else(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        assert entered(tmp_path) == "index.db lock"
    finally:
        os.umask(mask)
    directory = tmp_path.joinpath(*BELOW)
    for path, mode in ((directory, 0o40700), (directory / "index.db", 0o100600)):
        assert path.stat().st_mode == mode
    assert (directory / "lock").stat().st_mode == 0o100600
    assert place.path_of(tmp_path, BELOW) == directory / "index.db"


def test_an_index_that_is_private_stays(tmp_path: Path) -> None:
    entered(tmp_path)
    path = place.path_of(tmp_path, BELOW)
    path.write_bytes(b"kept")
    entered(tmp_path)
    assert path.read_bytes() == b"kept"


@pytest.mark.parametrize("name", ["index.db", "index.db-journal", "index.db-wal", "index.db-shm"])
@pytest.mark.parametrize("kind", ["link", "open", "names", "pipe"])
def test_what_is_not_private_is_thrown_away(tmp_path: Path, name: str, kind: str) -> None:
    entered(tmp_path)
    path = tmp_path.joinpath(*BELOW, name)
    target = tmp_path / "target"
    target.write_bytes(b"theirs")
    target.chmod(0o600)
    path.unlink(missing_ok=True)
    match kind:
        case "link":
            path.symlink_to(target)
        case "open":
            path.write_bytes(b"theirs")
            path.chmod(0o644)
        case "names":
            path.hardlink_to(target)
        case _:
            os.mkfifo(path, 0o600)
    assert entered(tmp_path) == "index.db lock"
    assert place.path_of(tmp_path, BELOW).read_bytes() == b""
    assert target.read_bytes() == b"theirs"


def test_a_directory_in_place_of_the_index_is_refused(tmp_path: Path) -> None:
    for depth in range(1, len(BELOW) + 1):
        tmp_path.joinpath(*BELOW[:depth]).mkdir(mode=0o700)
    place.path_of(tmp_path, BELOW).mkdir()
    assert entered(tmp_path) == "Is a directory"


@pytest.mark.parametrize("at", range(len(BELOW)))
def test_no_directory_on_the_way_is_a_link(tmp_path: Path, at: int) -> None:
    real = tmp_path / "real"
    real.joinpath(*BELOW[at + 1 :]).mkdir(parents=True, mode=0o700)
    above = tmp_path.joinpath("root", *BELOW[:at])
    above.mkdir(parents=True, mode=0o700)
    (above / BELOW[at]).symlink_to(real)
    assert entered(tmp_path / "root") == "a symbolic link, which is not followed here"
    assert not list(tmp_path.rglob("index.db"))


def test_a_directory_that_is_open_to_others_is_refused(tmp_path: Path) -> None:
    for depth in range(1, len(BELOW) + 1):
        tmp_path.joinpath(*BELOW[:depth]).mkdir(mode=0o700)
    tmp_path.joinpath(*BELOW).chmod(0o750)
    assert entered(tmp_path) == "expected mode 0700, got 0750, which lets others in"


def test_a_workspace_that_cannot_be_written_is_refused() -> None:
    with open_folder() as folder:
        folder.chmod(0o555)
        assert said_by_nobody(lambda: entered(folder)) == "Permission denied"


def test_a_link_in_place_of_the_lock_is_refused(tmp_path: Path) -> None:
    entered(tmp_path)
    lock = tmp_path.joinpath(*BELOW, "lock")
    lock.unlink()
    lock.symlink_to(tmp_path / "elsewhere")
    assert entered(tmp_path) == "Too many levels of symbolic links"
    assert not (tmp_path / "elsewhere").exists()


def test_the_lock_of_another_process_is_waited_for_up_to_the_limit(tmp_path: Path) -> None:
    def keep() -> object:
        top = os.open(tmp_path, DIRECTORY)
        kept = place.alone(top, BELOW, SystemClock(), Event())
        kept.__enter__()
        return kept

    with holding(keep):
        assert entered(tmp_path, Hurried()) == "another session is working on the index"
        stop = Event()
        waiting = Thread(target=lambda: said.append(entered(tmp_path, HandClock(), stop)))
        said: list[str] = []
        waiting.start()
        stop.set()
        waiting.join()
        assert said == ["the search was given up"]
    assert entered(tmp_path) == "index.db lock", "it went with the process that held it"


def test_an_index_is_discarded_with_what_is_beside_it(tmp_path: Path) -> None:
    entered(tmp_path)
    directory = tmp_path.joinpath(*BELOW)
    for name in ("index.db", "index.db-wal", "other"):
        (directory / name).write_bytes(b"x")
    with held(os.open(directory, DIRECTORY)) as here:
        place.discard(here)
    assert sorted(path.name for path in directory.iterdir()) == ["lock", "other"]
