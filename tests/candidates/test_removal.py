"""Nothing of a candidate stays, whatever was done to it and whenever its host was killed."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from stella.candidates.candidate import Bounds
from stella.candidates.candidate import Candidate
from stella.candidates.candidate import Leaked
from stella.candidates.landing import landed
from stella.candidates.place import NOTES
from stella.candidates.place import WORK
from stella.candidates.place import path_of
from stella.candidates.removal import adopting
from stella.candidates.removal import remove
from stella.candidates.removal import stage_of
from stella.files.tree import DIRECTORY
from stella.files.tree import held
from stella.process.identity import own
from tests.making.candidates import bare
from tests.making.candidates import changes_in
from tests.making.candidates import made
from tests.making.candidates import never
from tests.making.candidates import project
from tests.making.candidates import put
from tests.making.candidates import reclaimed
from tests.making.candidates import snapshot
from tests.making.candidates import spaces
from tests.making.candidates import standing
from tests.making.candidates import tried
from tests.making.child import open_folder
from tests.making.child import said_by_nobody
from tests.making.child import start
from tests.making.faults import at_step
from tests.making.faults import die
from tests.making.repositories import PATH
from tests.making.repositories import git

REPOSITORY = str(Path(__file__).parents[2])
ENOUGH = 2000
# Every step has been tried once; together these still meet each kind of step.
STRIDE = 5

HOST = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from stella.candidates.candidate import Candidate
from tests.making.candidates import spaces
from tests.making.faults import at_step, die

async def main():
    here = spaces(Path(sys.argv[2]), sys.argv[3])
    print("ready", flush=True)
    at_step(int(sys.argv[4]), die)
    one = await here.create("solver")
    print(one.handle if isinstance(one, Candidate) else one, flush=True)
    sys.stdin.read()

asyncio.run(main())
"""


@contextmanager
def host(root: Path, path: str = PATH, step: int = 10**6) -> Iterator[subprocess.Popen[str]]:
    """A host that makes one candidate and then waits; it kills itself before the given step."""
    command = [sys.executable, "-c", HOST, REPOSITORY, str(root), path, str(step)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.behaviour("T-33", "L2", "N340", "N341")
def test_a_dead_hosts_candidates_are_reclaimed_and_a_living_ones_are_not(tmp_path: Path) -> None:
    """[T-33] by the kernel's lock and by number and start; other work trees are not touched."""
    root = project(tmp_path / "r")
    git(root, "worktree", "add", "--quiet", str(tmp_path / "theirs"))
    shutil.rmtree(tmp_path / "theirs")
    before = standing(root)
    with host(root) as living:
        handle = said(living)
        (folder,) = (path for path in (root / ".stella/candidates").iterdir() if path.is_dir())
        with host(root) as dying:
            other = said(dying)
            assert reclaimed(root) == []
            dying.kill()
            dying.wait()
            assert reclaimed(root) == [other]
        assert (folder / "a").read_text() == "one\n"
        assert reclaimed(root) == []
        living.kill()
        living.wait()
    assert reclaimed(root) == [handle]
    assert standing(root) == before
    assert str(tmp_path / "theirs") in git(root, "worktree", "list"), "not ours to prune"


@pytest.mark.behaviour("D-54")
def test_a_host_killed_at_any_moment_of_the_making_leaves_nothing(tmp_path: Path) -> None:
    """[D-54, T-33] the note comes first, so there is never a workspace without one."""
    root = project(tmp_path / "r")
    before = standing(root)
    word, step = "", 0
    for step in range(2, ENOUGH, STRIDE):
        with host(root, step=step) as process:
            word = said(process)
            process.kill()
            process.wait()
        assert len(reclaimed(root)) <= 1
        assert standing(root) == before, step
        if word:
            break
    assert word
    assert step > 30


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("question", ["worktree", "read-tree"])
def test_a_host_killed_while_git_works_leaves_nothing(
    tmp_path: Path, question: str, moment: str
) -> None:
    """[T-33] git's own half-made records go with the candidate."""
    root = project(tmp_path / "r")
    before = standing(root)
    kill = f"kill -9 $(cat {tmp_path}/host); sleep 0.1"
    parts = [kill, 'git "$@"'] if moment == "before" else ['git "$@"', kill]
    script = (
        f"#!/bin/sh\nPATH={PATH}\ncase \"$*\" in *' {question} '*) {'; '.join(parts)};; "
        '*) exec git "$@";; esac\n'
    )
    put(tmp_path / "bin/git", script, 0o755)
    with host(root, str(tmp_path / "bin")) as process:
        put(tmp_path / "host", str(process.pid))
        assert said(process) == ""
        assert process.wait() == -signal.SIGKILL
    assert len(reclaimed(root)) == 1
    assert standing(root) == before


def test_a_number_that_another_process_has_by_now_counts_as_gone(tmp_path: Path) -> None:
    """[T-33] the same number with another start; and a living process keeps what is its own."""
    root = project(tmp_path / "r")
    with host(root) as process:
        handle = said(process)
        process.kill()
        process.wait()
    (note,) = path_of(root, NOTES).glob("*.json")
    written = json.loads(note.read_text())
    me = own()
    note.write_text(json.dumps(written | {"host": {"pid": me.pid, "started": me.started}}))
    assert reclaimed(root) == []
    note.write_text(json.dumps(written | {"host": {"pid": me.pid, "started": "1"}}))
    assert reclaimed(root) == [handle]


def test_a_note_that_says_nothing_keeps_what_it_is_for(tmp_path: Path) -> None:
    """[N341] nobody knows whose it is, so it stays and is told."""
    root = project(tmp_path / "r")
    notes = path_of(root, NOTES)
    put(notes / f"{'a' * 16}.json", "garbage", 0o600)
    put(notes / "README.json", "{}", 0o600)
    (notes / f"{'b' * 16}.json").symlink_to(root / "a")
    notes.chmod(0o700)
    notes.parent.chmod(0o700)
    put(root / f".stella/candidates/{'a' * 16}/x")
    one, two = asyncio.run(spaces(root).reclaim())
    assert isinstance(one, Leaked)
    assert (one.handle, one.reason) == ("", "its note cannot be read")
    assert isinstance(two, Leaked)
    assert two.reason == "its note cannot be opened: Too many levels of symbolic links"
    assert (root / f".stella/candidates/{'a' * 16}/x").exists()
    assert (root / "a").exists()


def test_only_what_is_noted_and_directly_there_is_deleted(tmp_path: Path) -> None:
    """[T-33] a note that names another place, and a directory without a note."""
    root = project(tmp_path / "r")
    with host(root) as process:
        handle = said(process)
        process.kill()
        process.wait()
    (note,) = path_of(root, NOTES).glob("*.json")
    precious = put(tmp_path / "precious/file")
    written = json.loads(note.read_text())
    note.write_text(json.dumps(written | {"root": str(precious.parent)}))
    put(root / ".stella/candidates/mine/file")
    assert reclaimed(root) == [handle]
    assert precious.exists()
    assert [path.name for path in path_of(root, WORK).iterdir() if path.is_dir()] == ["mine"]


@pytest.mark.behaviour("N343")
def test_records_that_are_locked_go_with_a_dead_host(tmp_path: Path) -> None:
    root = project(tmp_path / "r")
    before = standing(root)
    with host(root) as process:
        handle = said(process)
        (name,) = (path.name for path in path_of(root, WORK).iterdir() if path.is_dir())
        git(root, "worktree", "lock", str(path_of(root, WORK) / name))
        shutil.rmtree(path_of(root, WORK) / name)
        assert reclaimed(root) == []
        process.kill()
        process.wait()
    assert reclaimed(root) == [handle]
    assert standing(root) == before


def test_without_a_repository_the_note_stays(tmp_path: Path) -> None:
    """[T-33] what git keeps cannot be looked for, so it is told and tried again."""
    root = project(tmp_path / "r")
    with host(root) as process:
        handle = said(process)
        process.kill()
        process.wait()
    told = asyncio.run(spaces(root, "").reclaim())
    (root / ".git").rename(tmp_path / "aside")
    told += asyncio.run(spaces(root).reclaim())
    assert len(told) == 2
    for each in told:
        assert isinstance(each, Leaked)
        assert each.reason == "git does not say where it keeps its records of work trees"
        assert each.handle == handle
    (tmp_path / "aside").rename(root / ".git")
    assert reclaimed(root) == [handle]


def test_a_candidate_full_of_traps_is_taken_away(tmp_path: Path) -> None:
    """[D-85] links out, closed and deep directories, special files; nothing outside is touched."""
    root = project(tmp_path / "r")
    outside = put(tmp_path / "outside/kept").parent
    here = spaces(root)
    candidate = made(here)
    (candidate.root / "out").symlink_to(outside)
    (candidate.root / "up").symlink_to("..")
    os.mkfifo(candidate.root / "pipe")
    put(candidate.root / "closed/x").parent.chmod(0)
    deep = candidate.root
    for _ in range(60):
        deep /= "d" * 30
    deep.mkdir(parents=True)
    (told,) = asyncio.run(here.discard_all())
    assert not isinstance(told, Leaked), told
    assert (outside / "kept").exists()
    assert not path_of(root, WORK).exists()


def test_what_the_system_does_not_let_go_is_told() -> None:
    """[D-85] as nobody, because root may delete anything."""
    with open_folder() as folder:

        def work() -> str:
            root, candidate = bare(folder)
            work = path_of(root, WORK)
            work.chmod(0o555)
            problem = remove(root, candidate.name, folder)
            assert (candidate.root).exists()
            work.chmod(0o755)
            assert remove(root, candidate.name, folder) is None
            assert not candidate.root.exists()
            put(path_of(root, NOTES) / f"{candidate.name}.json")
            path_of(root, NOTES).chmod(0o500)
            path_of(root, NOTES).parent.chmod(0o700)
            note = remove(root, candidate.name, folder)
            path_of(root, NOTES).chmod(0o700)
            return f"{problem} | {note}"

        name = "a" * 16
        said = said_by_nobody(work)
        no = "Permission denied"
        assert said == f"{name}: {no} | its note cannot be taken away: {no}"


def test_undoing_an_adoption_may_be_killed_at_any_step_too(tmp_path: Path) -> None:
    """[N346] the next one goes on where it ended."""
    killed = 0
    for number in range(1, ENOUGH, STRIDE):
        root, candidate = bare(tmp_path / str(number))
        tried(candidate)
        changes, before = changes_in(root, candidate), snapshot(root)

        def adoption(it: Candidate = candidate, at: Path = root) -> None:
            def late(event: str, args: tuple[object, ...]) -> None:
                if event == "os.link" and "added" in str(args[1]):
                    os.kill(os.getpid(), signal.SIGKILL)

            sys.addaudithook(late)
            landed(at, it, changes, bounds=Bounds(), stop=never())  # noqa: B023

        def undoing(n: int = number, at: Path = root) -> None:
            at_step(n, die)
            remove(at, candidate.name, tmp_path)  # noqa: B023

        os.waitpid(start(adoption), 0)
        assert snapshot(root) != before
        _, status = os.waitpid(start(undoing), 0)
        killed += os.WIFSIGNALED(status)
        assert remove(root, candidate.name, tmp_path) is None
        assert snapshot(root) == before, number
        shutil.rmtree(tmp_path / str(number))
        if os.WIFEXITED(status):
            break
    assert killed > 10


def test_an_unfinished_adoption_that_somebody_changed_is_kept_and_named(tmp_path: Path) -> None:
    """[D-57, D-80] what was replaced is where the message says; deleting it is the way out."""
    root, candidate = bare(tmp_path)
    notes = path_of(root, NOTES)
    put(candidate.root / "text", "new\n")
    changes = changes_in(root, candidate)

    def adoption() -> None:
        def late(event: str, args: tuple[object, ...]) -> None:
            if event == "os.remove" and str(args[0]) == "plan.json":
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(late)
        landed(root, candidate, changes, bounds=Bounds(), stop=never())

    os.waitpid(start(adoption), 0)
    put(root / "text", "the person's\n")
    stage = notes / stage_of(candidate.name)
    with held(os.open(notes, DIRECTORY)) as opened, adopting(opened) as alone:
        assert alone
        assert remove(root, candidate.name, tmp_path) == "another adoption is under way"
    expected = (
        "changed by somebody since an adoption that was not finished: text; "
        f"what it replaced is kept in {stage}"
    )
    assert remove(root, candidate.name, tmp_path) == expected
    assert (stage / "old-0").read_text() == "old\n"
    assert (root / "text").read_text() == "the person's\n"
    shutil.rmtree(stage)
    assert remove(root, candidate.name, tmp_path) is None
    assert remove(root, candidate.name, tmp_path / "no repository") is None
