"""All of a candidate's changes or none, whatever happens on the way [D-57]."""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from stella.candidates.adopt import Places
from stella.candidates.adopt import adopt
from stella.candidates.candidate import Adopted
from stella.candidates.candidate import Bounds
from stella.candidates.candidate import Candidate
from stella.candidates.candidate import Denial
from stella.candidates.candidate import Failed
from stella.candidates.landing import landed
from stella.candidates.place import NOTES
from stella.candidates.place import path_of
from stella.candidates.removal import remove
from stella.candidates.removal import stage_of
from stella.files.tree import DIRECTORY
from tests.making.candidates import bare
from tests.making.candidates import changes_in
from tests.making.candidates import kinds
from tests.making.candidates import land
from tests.making.candidates import never
from tests.making.candidates import put
from tests.making.candidates import snapshot
from tests.making.candidates import tried
from tests.making.child import open_folder
from tests.making.child import said
from tests.making.child import said_by_nobody
from tests.making.child import start
from tests.making.faults import at_step
from tests.making.faults import die
from tests.making.faults import fail
from tests.making.faults import from_step

ENOUGH = 2000
# Every step has been tried once; together the odd ones still meet each kind of step.
STRIDE = 5


def stage(root: Path, candidate: Candidate) -> Path:
    return path_of(root, NOTES) / stage_of(candidate.name)


def denied(root: Path, candidate: Candidate) -> Failed:
    """Why nothing was adopted; the tree is as it was and nothing lies around."""
    before = snapshot(root)
    done = land(root, candidate)
    assert isinstance(done, Failed), done
    assert done.reason.endswith("; nothing was changed")
    assert snapshot(root) == before
    assert not stage(root, candidate).exists()
    return done


def test_everything_an_attempt_can_do_is_adopted(tmp_path: Path) -> None:
    """[D-57] contents, programs, links, renames, a file for a folder and a folder for a file."""
    root, candidate = bare(tmp_path)
    (root / "quiet").chmod(0o640)
    tried(candidate)
    done = land(root, candidate)
    assert isinstance(done, Adopted), done
    assert kinds(done.changes) == {
        "file": "deleted",
        "file/is/a/folder": "created",
        "folder": "created",
        "folder/in/w": "deleted",
        "folder/z": "deleted",
        "gone/deep/x": "deleted",
        "link": "modified",
        os.fsdecode(b"new\n/\xff"): "created",
        "quiet": "modified",
        "run": "modified",
        "stays/added": "created",
        "stays/renamed": "created",
        "stays/y": "deleted",
        "text": "modified",
        "turns": "modified",
    }
    now, tree = snapshot(root), snapshot(candidate.root)
    assert now.pop("quiet") == (oct(0o100750), b"#!/bin/sh\n")
    tree.pop("quiet")
    assert {name: what for name, what in now.items() if what[1] is not None} == {  # type: ignore[index]
        name: what
        for name, what in tree.items()
        if what[1] is not None  # type: ignore[index]
    }
    assert not (root / "gone").exists()
    assert now.keys() == tree.keys()
    assert not stage(root, candidate).exists()


def test_a_file_that_is_written_anew_keeps_the_permissions_of_the_old_one(tmp_path: Path) -> None:
    root, candidate = bare(tmp_path)
    (root / "text").chmod(0o600)
    (root / "run").chmod(0o711)
    put(candidate.root / "text", "new\n", 0o644)
    put(candidate.root / "run", "new\n", 0o700)
    assert isinstance(land(root, candidate), Adopted)
    assert (root / "text").stat().st_mode & 0o777 == 0o600
    assert (root / "run").stat().st_mode & 0o777 == 0o711


def test_what_the_person_did_elsewhere_meanwhile_stays(tmp_path: Path) -> None:
    root, candidate = bare(tmp_path)
    put(candidate.root / "text", "new\n")
    put(root / "same", "the person's\n")
    put(root / "theirs", "too\n")
    assert isinstance(land(root, candidate), Adopted)
    texts = [(root / name).read_text() for name in ("text", "same", "theirs")]
    assert texts == ["new\n", "the person's\n", "too\n"]


def test_other_permissions_are_no_change(tmp_path: Path) -> None:
    root, candidate = bare(tmp_path)
    (candidate.root / "text").chmod(0o600)
    done = land(root, candidate)
    assert isinstance(done, Adopted)
    assert done.changes == ()


def _edited(root: Path) -> None:
    put(root / "text", "the person's\n")


def _program(root: Path) -> None:
    (root / "text").chmod(0o755)


def _gone(root: Path) -> None:
    (root / "text").unlink()


def _folder(root: Path) -> None:
    (root / "text").unlink()
    put(root / "text/in")


def _link(root: Path) -> None:
    (root / "text").unlink()
    (root / "text").symlink_to("same")


def _fifo(root: Path) -> None:
    (root / "text").unlink()
    os.mkfifo(root / "text")


@pytest.mark.parametrize("meanwhile", [_edited, _program, _gone, _folder, _link, _fifo])
@pytest.mark.parametrize("how", ["modified", "deleted"])
def test_what_the_person_changed_meanwhile_is_a_conflict(
    tmp_path: Path, meanwhile: Callable[[Path], None], how: str
) -> None:
    """[D-57, N344] the path is named, and other changes are not made either."""
    root, candidate = bare(tmp_path)
    put(candidate.root / "a first one")
    if how == "modified":
        put(candidate.root / "text", "new\n")
    else:
        (candidate.root / "text").unlink()
    meanwhile(root)
    reason = denied(root, candidate).reason
    gone = "is gone from" if meanwhile is _gone else "is not the same any more in"
    since = "the real tree since the candidate was made; nothing was changed"
    assert reason == f"text: {gone} {since}"


@pytest.mark.parametrize("what", ["file", "link", "full folder"])
def test_a_new_file_does_not_take_the_place_of_the_persons(tmp_path: Path, what: str) -> None:
    root, candidate = bare(tmp_path)
    put(candidate.root / "new")
    if what == "file":
        put(root / "new", "theirs\n")
    elif what == "link":
        (root / "new").symlink_to("nowhere")
    else:
        put(root / "new/ignored.log", "theirs\n")
    reason = denied(root, candidate).reason
    if what == "full folder":
        assert reason.startswith("new/ignored.log: would be lost with its directory")
    else:
        assert reason.startswith("new: stands in the real tree since the candidate was made")


def test_what_is_not_of_the_copy_keeps_its_folder(tmp_path: Path) -> None:
    """A folder that gives way to a file holds something ignored, which would be lost."""
    root, candidate = bare(tmp_path)
    put(root / "folder/in/ignored.log")
    tried(candidate)
    assert denied(root, candidate).reason.startswith("folder/in/ignored.log: would be lost")


@pytest.mark.parametrize("kind", ["link", "file", "fifo"])
def test_no_change_goes_through_what_is_no_folder(tmp_path: Path, kind: str) -> None:
    """[G-51] a link on the way in the real tree is never followed."""
    root, candidate = bare(tmp_path)
    put(candidate.root / "way/new")
    outside = tmp_path / "outside"
    outside.mkdir()
    if kind == "link":
        (root / "way").symlink_to(outside)
    elif kind == "file":
        put(root / "way")
    else:
        os.mkfifo(root / "way")
    failed = denied(root, candidate)
    names = {"link": "symbolic link", "file": "regular file", "fifo": "fifo"}
    assert failed.reason.startswith(f"way/new: a {names[kind]} stands in the way to it")
    assert failed.denial is Denial.PATH
    assert not list(outside.iterdir())


@pytest.mark.parametrize("how", ["modified", "deleted"])
def test_a_folder_that_became_a_link_is_a_conflict(tmp_path: Path, how: str) -> None:
    root, candidate = bare(tmp_path)
    if how == "modified":
        put(candidate.root / "stays/y", "new\n")
    else:
        (candidate.root / "stays/y").unlink()
    (root / "stays").rename(tmp_path / "moved")
    (root / "stays").symlink_to(tmp_path / "moved")
    denied(root, candidate)
    assert (tmp_path / "moved/y").read_text() == "y\n"


@pytest.mark.behaviour("N347")
@pytest.mark.parametrize(
    ("path", "told", "reason"),
    [
        ("sub/.git", "sub/.git", "records"),
        ("sub/.git/hooks/pre-commit", "sub/.git", "records"),
        ("sub/.GIT/config", "sub/.GIT/config", "records"),
        (".stella/rules/mine.md", ".stella/rules/mine.md", "records"),
        ("sub/.Stella/x", "sub/.Stella/x", "records"),
        ("pipe", "pipe", "is a fifo"),
        ("absolute", "absolute", "is a link to an absolute path"),
        ("out", "out", "is a link that leaves the root"),
    ],
)
def test_what_is_special_refuses_the_whole(
    tmp_path: Path, path: str, told: str, reason: str
) -> None:
    """[D-57] it is named; the harmless change beside it is not made either."""
    root, candidate = bare(tmp_path)
    put(candidate.root / "a first one")
    at = candidate.root / path
    at.parent.mkdir(parents=True, exist_ok=True)
    if path == "pipe":
        os.mkfifo(at)
    elif path in {"absolute", "out"}:
        at.symlink_to("/etc" if path == "absolute" else "../y")
    else:
        put(at)
    # Git names the place of a repository and not what is in it.
    names = (b"a first one", b"sub/" if path.startswith("sub") else os.fsencode(path))
    changes, before = changes_in(root, candidate, names), snapshot(root)
    failed = landed(root, candidate, changes, bounds=Bounds(), stop=never())
    assert isinstance(failed, Failed)
    assert failed.denial is Denial.PATH
    assert failed.reason.startswith(f"{told}: ")
    assert reason in failed.reason
    assert snapshot(root) == before
    assert not stage(root, candidate).exists()


def test_more_bytes_than_are_adopted_change_nothing(tmp_path: Path) -> None:
    """limits.ADOPTED_BYTES, at the bound and one past it."""
    root, candidate = bare(tmp_path)
    put(candidate.root / "one", "12345")
    put(candidate.root / "two", "67890")
    before = snapshot(root)
    done = land(root, candidate, Bounds(adopted_bytes=9))
    assert isinstance(done, Failed)
    assert done.reason.startswith("two: the changes hold more bytes than are adopted")
    assert snapshot(root) == before
    assert isinstance(land(root, candidate, Bounds(adopted_bytes=10)), Adopted)


def test_a_candidate_that_changes_while_it_is_adopted_is_not(tmp_path: Path) -> None:
    root, candidate = bare(tmp_path)
    put(candidate.root / "text", "judged\n")
    changes = changes_in(root, candidate)
    put(candidate.root / "text", "slipped in\n")
    done = landed(root, candidate, changes, bounds=Bounds(), stop=never())
    assert isinstance(done, Failed)
    assert done.reason.startswith("text: changed in the candidate while it was adopted")
    assert (root / "text").read_text() == "old\n"


def test_a_cancel_undoes_what_was_done(tmp_path: Path) -> None:
    root, candidate = bare(tmp_path)
    tried(candidate)
    changes, before, stop = changes_in(root, candidate), snapshot(root), never()
    stop.set()
    done = landed(root, candidate, changes, bounds=Bounds(), stop=stop)
    assert isinstance(done, Failed)
    assert "the adoption was given up; nothing was changed" in done.reason
    assert snapshot(root) == before


def test_a_directory_that_is_closed_rolls_everything_back() -> None:
    """[D-57] as nobody, because root may write anywhere."""
    with open_folder() as folder:

        def work() -> str:
            root, candidate = bare(folder)
            put(candidate.root / "a", "first\n")
            put(candidate.root / "stays/y", "second\n")
            (root / "stays").chmod(0o555)
            reason = denied(root, candidate).reason
            (root / "stays").chmod(0o755)
            return reason

        assert said_by_nobody(work) == "stays/y: Permission denied; nothing was changed"


@pytest.mark.behaviour("N346")
def test_a_failure_at_any_step_leaves_the_tree_as_it_was(tmp_path: Path) -> None:
    """[D-57] a full disk, a refusal, a name that went away, before one step after the other."""
    outcomes = set()
    for number in range(1, ENOUGH, STRIDE):
        error = (errno.ENOSPC, errno.EPERM, errno.ENOENT)[number % 3]
        root, candidate = bare(tmp_path / str(number))
        tried(candidate)
        changes, before = changes_in(root, candidate), snapshot(root)

        def work(n: int = number, it: Candidate = candidate, at: Path = root) -> str:
            count = at_step(n, fail(error))  # noqa: B023
            done = landed(at, it, changes, bounds=Bounds(), stop=never())  # noqa: B023
            reason = done.reason if isinstance(done, Failed) else ""
            return f"{count() >= n}|{type(done).__name__}|{reason}"

        reached, kind, reason = said(work).split("|")
        outcomes.add(kind)
        if kind == "Failed":
            assert reason.endswith("; nothing was changed"), reason
            assert snapshot(root) == before, number
        else:
            assert (root / "text").read_text() == "new\n"
            assert (root / "file/is/a/folder").exists()
        assert remove(root, candidate.name, tmp_path) is None
        assert not stage(root, candidate).exists()
        shutil.rmtree(tmp_path / str(number))
        if reached == "False":
            break
    assert outcomes == {"Adopted", "Failed"}
    assert number > 50


@pytest.mark.behaviour("N346")
def test_a_kill_at_any_step_leaves_the_tree_before_or_after(tmp_path: Path) -> None:
    """[D-57, T-33] once what was left has been taken away; nothing of the person's is lost."""
    outcomes = []
    for number in range(1, ENOUGH, STRIDE):
        root, candidate = bare(tmp_path / str(number))
        tried(candidate)
        changes, before = changes_in(root, candidate), snapshot(root)

        def work(n: int = number, it: Candidate = candidate, at: Path = root) -> None:
            at_step(n, die)
            landed(at, it, changes, bounds=Bounds(), stop=never())  # noqa: B023

        _, status = os.waitpid(start(work), 0)
        assert remove(root, candidate.name, tmp_path) is None
        after = snapshot(root)
        outcomes.append(after == before)
        if after != before:
            assert (root / "text").read_text() == "new\n"
            assert (root / "file/is/a/folder").exists()
            assert not (root / "folder").is_dir()
        assert not list(path_of(root, NOTES).iterdir()) if path_of(root, NOTES).exists() else True
        shutil.rmtree(tmp_path / str(number))
        if os.WIFEXITED(status):
            break
    assert outcomes == sorted(outcomes, reverse=True), "first undone, then done"
    assert outcomes.count(True) > 10


def test_undoing_that_fails_too_keeps_everything_for_later(tmp_path: Path) -> None:
    """[D-57, D-85] from each step on nothing works any more; later everything is put back."""
    told = set()
    for number in range(1, ENOUGH, STRIDE):
        root, candidate = bare(tmp_path / str(number))
        tried(candidate)
        changes, before = changes_in(root, candidate), snapshot(root)

        def work(n: int = number, it: Candidate = candidate, at: Path = root) -> str:
            from_step(n, fail(errno.EIO))
            done = landed(at, it, changes, bounds=Bounds(), stop=never())  # noqa: B023
            return done.reason if isinstance(done, Failed) else ""

        reason = said(work)
        told.add(reason.rpartition("; ")[2])
        assert remove(root, candidate.name, tmp_path) is None
        if reason:
            assert snapshot(root) == before
        shutil.rmtree(tmp_path / str(number))
        if not reason:
            break
    assert told == {
        "",
        "nothing was changed",
        "undoing it failed too: Input/output error",
    }


def test_a_file_system_without_second_names_is_adopted_to_all_the_same(tmp_path: Path) -> None:
    """[D-57] what is replaced is copied, new files are moved; and undone just so."""

    def work(at: Path, it: Candidate, closed: str) -> str:
        import sys

        def refuse(event: str, args: tuple[object, ...]) -> None:
            if event == "os.link":
                raise OSError(errno.EPERM, os.strerror(errno.EPERM))
            if event == "os.rename" and str(args[1]) == closed:
                raise OSError(errno.EIO, os.strerror(errno.EIO))

        sys.addaudithook(refuse)
        done = landed(at, it, changes_in(at, it), bounds=Bounds(), stop=never())
        return done.reason if isinstance(done, Failed) else ""

    for closed in ("", "text"):
        root, candidate = bare(tmp_path / f"closed-{closed}")
        tried(candidate)
        before = snapshot(root)
        reason = said(lambda: work(root, candidate, closed))  # noqa: B023
        if closed:
            assert reason == "text: Input/output error; nothing was changed"
            assert snapshot(root) == before
        else:
            assert reason == ""
            assert (root / "text").read_text() == "new\n"
            assert (root / "stays/renamed").read_text() == "y\n"


def test_nothing_staged_is_nothing_to_undo(tmp_path: Path) -> None:
    """A change that no directory leads to any more when it comes to it."""
    root, candidate = bare(tmp_path)
    put(candidate.root / "text", "new\n")
    changes = changes_in(root, candidate)
    folder = tmp_path / "stage"
    folder.mkdir()
    opened = [os.open(each, DIRECTORY) for each in (root, candidate.root, folder)]
    places = Places(root=opened[0], source=opened[1], stage=opened[2])
    assert adopt(changes, places, most=100, token="t", stop=never()) is None
    assert (root / "text").read_text() == "new\n"
    for each in opened:
        os.close(each)
