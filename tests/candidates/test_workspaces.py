"""Candidates from outside: what a plugin may do with them, and what a person finds afterwards."""

import asyncio
import os
import re
import shutil
from pathlib import Path

import pytest

from stella import limits
from stella.candidates.candidate import Adopted
from stella.candidates.candidate import Denial
from stella.candidates.candidate import Discarded
from stella.candidates.candidate import Failed
from stella.candidates.candidate import Leaked
from stella.candidates.place import NOTES
from stella.candidates.place import path_of
from stella.candidates.removal import adopting
from stella.candidates.workspaces import Workspaces
from stella.clock import SystemClock
from stella.files.tree import DIRECTORY
from stella.files.tree import held
from stella.witness.changes import changes
from stella.witness.tree import Tree
from stella.witness.tree import survey
from tests.making.candidates import adopted
from tests.making.candidates import changed
from tests.making.candidates import discarded
from tests.making.candidates import made
from tests.making.candidates import project
from tests.making.candidates import put
from tests.making.candidates import reclaimed
from tests.making.candidates import refused
from tests.making.candidates import snapshot
from tests.making.candidates import spaces
from tests.making.candidates import standing
from tests.making.candidates import unmade
from tests.making.repositories import PATH
from tests.making.repositories import git


@pytest.mark.behaviour("L1")
def test_three_candidates_side_by_side_leave_nothing_behind(tmp_path: Path) -> None:
    """[D-54, D-57] work trees, branches, index, status and configuration are as at the start."""
    root = project(tmp_path / "r")
    before, tree = standing(root), snapshot(root)
    here = spaces(root)
    three = [made(here) for _ in range(limits.FANOUT_WIDTH)]
    assert len({each.root for each in three}) == limits.FANOUT_WIDTH
    assert git(root, "worktree", "list").count("\n") == 1 + limits.FANOUT_WIDTH
    assert git(root, "status", "--porcelain") == before.said[1]
    for number, each in enumerate(three):
        put(each.root / "a", f"{number}\n")
    assert [(each.root / "a").read_text() for each in three] == ["0\n", "1\n", "2\n"]
    assert snapshot(root) == tree
    assert discarded(here) == [each.handle for each in three]
    assert standing(root) == before
    assert snapshot(root) == tree


def test_the_witness_sees_no_candidate_in_the_tree_and_everything_in_a_candidate(
    tmp_path: Path,
) -> None:
    """[T2-52, D-55] even when nothing of the host's is ignored; and whatever `.git` says there."""
    root = project(tmp_path / "r")
    (root / ".stella/.gitignore").unlink()
    here, clock = spaces(root), SystemClock()
    before = asyncio.run(survey(root, path_value=PATH, clock=clock))
    candidate = made(here)
    assert isinstance(before, Tree)
    during = asyncio.run(survey(root, path_value=PATH, clock=clock))
    assert isinstance(during, Tree)
    assert during.files.keys() == before.files.keys()

    def look(previous: Tree | None = None) -> Tree:
        tree = asyncio.run(
            survey(
                candidate.root,
                path_value=PATH,
                clock=clock,
                previous=previous,
                within=candidate.repository,
            )
        )
        assert isinstance(tree, Tree), tree
        return tree

    start = look()
    (candidate.root / ".git").write_text("gitdir: /nowhere\n")
    put(candidate.root / "a", "one\ntwo\n")
    (candidate.root / "sub/b").unlink()
    found = changes(start, look(start))
    assert [(each.path, each.kind, each.added, each.removed) for each in found] == [
        ("a", "modified", 1, 0),
        ("sub/b", "deleted", 0, 1),
    ]
    assert changed(here, candidate) == {each.path: each.kind for each in found}
    discarded(here)


def test_a_handle_is_random_and_of_one_form(tmp_path: Path) -> None:
    """[D-56] and the place on disk does not tell it."""
    here = spaces(project(tmp_path / "r"))
    one, two = made(here), made(here)
    assert all(re.fullmatch(r"c-[0-9a-f]{32}", each.handle) for each in (one, two))
    assert one.handle != two.handle
    assert one.handle.removeprefix("c-") not in str(one.root)
    discarded(here)


@pytest.mark.behaviour("K-126", "D-56", "G-2")
def test_a_handle_means_something_to_its_own_plugin_only(tmp_path: Path) -> None:
    """[D-56, G-2] unknown, foreign, adopted and discarded are one and the same."""
    here = spaces(project(tmp_path / "r"))
    mine, used, dropped = made(here), made(here), made(here)
    assert here.find("solver", mine.handle) == mine
    assert here.find("other", mine.handle) is None
    assert here.find("solver", "c-" + "0" * 32) is None
    assert here.find("solver", "host-tree") is None
    put(used.root / "a", "used\n")
    assert adopted(here, used) == {"a": "modified"}
    assert isinstance(asyncio.run(here.discard(dropped)), Discarded)
    assert here.find("solver", used.handle) is None
    assert here.find("solver", dropped.handle) is None
    assert here.live() == (mine,)
    discarded(here)
    assert here.live() == ()


@pytest.mark.behaviour("G173", "D-57")
def test_what_may_not_be_adopted_any_more_changes_nothing(tmp_path: Path) -> None:
    """[D-57] adopted twice, discarded, and of another run."""
    root = project(tmp_path / "r")
    here, there = spaces(root), spaces(root)
    used, dropped, foreign = made(here), made(here), made(there)
    for each in (used, dropped, foreign):
        put(each.root / "a", "tried\n")
    adopted(here, used)
    asyncio.run(here.discard(dropped))
    put(used.root / "a", "again\n")
    before = snapshot(root)
    for each in (used, dropped, foreign):
        failed = asyncio.run(here.adopt(each))
        assert isinstance(failed, Failed)
        assert failed.denial is Denial.UNKNOWN_HANDLE
        assert failed.reason == f'"{each.handle}": there is no such candidate'
    assert snapshot(root) == before
    assert asyncio.run(here.discard(dropped)) == Discarded(handle=dropped.handle, plugin="solver")
    discarded(here)
    discarded(there)


@pytest.mark.behaviour("L7")
def test_one_is_adopted_and_nothing_of_the_others(tmp_path: Path) -> None:
    """[D-57] and what landed has a digest of its own."""
    root = project(tmp_path / "r")
    here = spaces(root)
    one, two = made(here), made(here)
    put(one.root / "a", "first\n")
    put(two.root / "sub/b", "second\n")
    done = asyncio.run(here.adopt(two))
    assert isinstance(done, Adopted)
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", done.digest)
    assert (root / "sub/b").read_text() == "second\n"
    assert (root / "a").read_text() == "one\n"
    assert here.find("solver", one.handle) == one
    discarded(here)
    assert git(root, "worktree", "list").count("\n") == 1


def test_changes_are_measured_on_disk_whatever_the_candidates_git_says(tmp_path: Path) -> None:
    """[D-55] a commit, a branch, an ignored name, a forced add: only the files count."""
    root = project(tmp_path / "r")
    here = spaces(root)
    candidate = made(here)
    assert changed(here, candidate) == {}
    put(candidate.root / "a", "committed\n")
    put(candidate.root / ".gitignore", "*.log\n")
    put(candidate.root / "x.log")
    (candidate.root / "sub/b").rename(candidate.root / "moved")
    git(candidate.root, "checkout", "--quiet", "-b", "attempt")
    git(candidate.root, "add", "--all")
    git(candidate.root, "add", "--force", "x.log")
    git(candidate.root, "commit", "--quiet", "--message", "mine")
    expected = {".gitignore": "created", "a": "modified", "moved": "created", "sub/b": "deleted"}
    assert changed(here, candidate) == expected
    head = git(root, "rev-parse", "HEAD")
    assert adopted(here, candidate) == expected
    assert git(root, "rev-parse", "HEAD") == head
    assert git(root, "diff", "--cached", "--name-only") == ""
    discarded(here)
    assert git(root, "worktree", "list").count("\n") == 1


def hostile_git(candidate: Path, target: Path) -> None:
    """Put something in the place of the candidate's own `.git`."""
    (candidate / ".git").unlink()
    if target.name == "file":
        (candidate / ".git").write_text(f"gitdir: {target.parent / 'repository'}\n")
    elif target.name == "link":
        (candidate / ".git").symlink_to(target.parent / "repository")
    else:
        shutil.copytree(target.parent / "repository", candidate / ".git")


@pytest.mark.parametrize("how", ["file", "link", "directory", "nothing", "pruned", "moved"])
def test_a_candidates_own_git_is_never_believed(tmp_path: Path, how: str) -> None:
    """[D-57, N349] it names another repository, a program, nothing; and everything still works."""
    root = project(tmp_path / "r")
    before = standing(root)
    here = spaces(root)
    candidate = made(here)
    evil = project(tmp_path / "e")
    canary = tmp_path / "canary"
    program = put(tmp_path / "evil", f"#!/bin/sh\necho ran >> {canary}\n", 0o755)
    for key in ("core.fsmonitor", "filter.x.clean", "filter.x.smudge", "core.sshCommand"):
        git(evil, "config", key, str(program))
    git(evil, "config", "core.worktree", "/")
    (evil / ".git").rename(tmp_path / "repository")
    if how in {"file", "link", "directory"}:
        hostile_git(candidate.root, tmp_path / how)
    elif how == "nothing":
        (candidate.root / ".git").unlink()
    elif how == "pruned":
        (candidate.root / ".git").rename(candidate.root / "kept")
        git(root, "worktree", "prune", "--expire", "now")
        (candidate.root / "kept").rename(candidate.root / ".git")
    else:
        (root / ".git/worktrees" / candidate.name / "gitdir").write_text("/nowhere/.git\n")
    put(candidate.root / "a", "tried\n")
    put(candidate.root / ".gitattributes", "* filter=x\n")
    expected = {".gitattributes": "created", "a": "modified"}
    assert changed(here, candidate) == expected
    assert adopted(here, candidate) == expected
    (root / ".gitattributes").unlink()
    put(root / "a", "one\n")
    discarded(here)
    assert not canary.exists()
    assert (tmp_path / "repository" / "config").exists()
    git(root, "update-index", "--refresh")
    assert standing(root).said == before.said
    assert standing(root).ours == before.ours


@pytest.mark.parametrize("how", ["deleted", "link", "file"])
def test_a_root_that_is_not_there_any_more_is_said_to_be(tmp_path: Path, how: str) -> None:
    """[D-57, G-52] nothing is adopted, nothing behind a link is looked at, and it is discarded."""
    root = project(tmp_path / "r")
    before = standing(root)
    here = spaces(root)
    candidate = made(here)
    elsewhere = project(tmp_path / "elsewhere", a="stolen\n")
    shutil.rmtree(candidate.root)
    if how == "link":
        candidate.root.symlink_to(elsewhere)
    elif how == "file":
        candidate.root.write_text("a file\n")
    failed = refused(here, candidate)
    assert failed.denial is Denial.ROOT_UNAVAILABLE
    assert str(candidate.root) in failed.reason
    assert isinstance(asyncio.run(here.changed(candidate)), Failed)
    discarded(here)
    assert standing(root) == before
    assert (elsewhere / "a").read_text() == "stolen\n"


def test_a_workspace_below_the_top_of_its_repository(tmp_path: Path) -> None:
    """[D-54] the candidate has the whole tree, its root is the same place in it."""
    top = project(tmp_path / "r", **{"above": "1\n", "in/a": "2\n", "in/deep/b": "3\n"})
    root = top / "in"
    put(root / "new")
    put(root / ".stella/.gitignore", "private/\ncandidates/\n")
    here = spaces(root)
    candidate = made(here)
    assert candidate.root == root / ".stella/candidates" / candidate.name / "in"
    assert (candidate.root.parent / "above").read_text() == "1\n"
    assert git(root, "status", "--porcelain") == "?? .stella/\n?? in/.stella/\n?? in/new\n"
    assert git(candidate.root, "status", "--porcelain") == git(root, "status", "--porcelain")
    put(candidate.root / "a", "changed\n")
    put(candidate.root / "deep/more")
    put(candidate.root.parent / "above", "not mine\n")
    expected = {"a": "modified", "deep/more": "created"}
    git(candidate.root, "add", "--all")
    assert changed(here, candidate) == expected
    assert adopted(here, candidate) == expected
    assert (root / "a").read_text() == "changed\n"
    assert (top / "above").read_text() == "1\n"
    discarded(here)
    assert git(top, "worktree", "list").count("\n") == 1
    assert not (root / ".stella/candidates").exists()


def test_a_cancel_while_a_candidate_is_made_leaves_it_to_be_found(tmp_path: Path) -> None:
    """[T-23, D-54] at several moments; `discard_all` then leaves nothing."""
    root = project(tmp_path / "r")
    before = standing(root)
    for calls in range(1, 6):
        here = spaces(root, str(_git_that_waits(tmp_path, calls)))

        async def cancelled(here: object = here) -> None:
            task = asyncio.ensure_future(here.create("solver"))  # type: ignore[attr-defined]
            while not (tmp_path / "reached").exists():
                assert not task.done(), task.result()
                await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(cancelled())
        (tmp_path / "reached").unlink()
        assert here.live() == ()
        discarded(here)
        assert standing(root) == before


def _git_that_waits(place: Path, number: int) -> Path:
    """A git whose question of that number does its work and then does not come to an end."""
    folder = place / f"waits-{number}"
    count = place / f"count-{number}"
    script = (
        f"#!/bin/sh\nPATH={PATH}\necho x >> {count}\n"
        f'git "$@"\ncode=$?\n[ $(wc -l < {count}) -eq {number} ] || exit $code\n'
        f"touch {place / 'reached'}\nsleep 60\n"
    )
    put(folder / "git", script, 0o755)
    return folder


def test_what_cannot_be_taken_away_is_told_and_tried_again(tmp_path: Path) -> None:
    """[D-80, D-85] never an exception, nothing through a link; noted until nothing is left."""
    root = project(tmp_path / "r")
    before = standing(root)
    here = spaces(root)
    candidate = made(here)
    elsewhere = put(tmp_path / "elsewhere" / candidate.name / "kept").parent
    (root / ".git/worktrees").rename(root / ".git/aside")
    (root / ".git/worktrees").symlink_to(elsewhere.parent)
    told = asyncio.run(here.discard_all())
    assert isinstance(told[0], Leaked)
    assert (told[0].handle, told[0].plugin) == (candidate.handle, "solver")
    assert told[0].place == str(candidate.root)
    assert told[0].reason == "worktrees: Not a directory"
    assert here.find("solver", candidate.handle) is None
    assert (elsewhere / "kept").exists()
    assert reclaimed(root) == [], "its host lives"
    (root / ".git/worktrees").unlink()
    (root / ".git/aside").rename(root / ".git/worktrees")
    assert discarded(here) == [candidate.handle]
    assert standing(root) == before


def test_a_failure_that_cannot_be_cleaned_up_says_so(tmp_path: Path) -> None:
    root = project(tmp_path / "r")
    swap = f"mv {root}/.git/worktrees {root}/.git/aside; ln -s / {root}/.git/worktrees"
    script = f'#!/bin/sh\nPATH={PATH}\ncase "$*" in *read-tree*) {swap};; esac\nexec git "$@"\n'
    put(tmp_path / "bin/git", script, 0o755)
    here = spaces(root, str(tmp_path / "bin"))
    assert unmade(here).endswith("some of it is left: worktrees: Not a directory")
    (root / ".git/worktrees").unlink()
    (root / ".git/aside").rename(root / ".git/worktrees")
    assert len(discarded(here)) == 1


def test_records_behind_a_link_are_not_written_to(tmp_path: Path) -> None:
    root = project(tmp_path / "r")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (root / ".git/worktrees").symlink_to(elsewhere)
    assert unmade(spaces(root)) == f"{root}/.git/worktrees: is a symbolic link"
    assert not list(elsewhere.iterdir())
    assert not (root / ".stella/private").exists()


def test_a_place_of_notes_that_is_not_private_is_not_used(tmp_path: Path) -> None:
    """[S2-42] it is refused and told, not repaired."""
    root = project(tmp_path / "r")
    (root / ".stella/private").mkdir(mode=0o755)
    said = "private: expected mode 0700, got 0755, which lets others in"
    assert unmade(spaces(root)).startswith(f"no candidate can be noted: {said}")
    (told,) = asyncio.run(spaces(root).reclaim())
    assert isinstance(told, Leaked)
    assert told.reason == said
    assert told.place == str(path_of(root, NOTES))


@pytest.mark.behaviour("N344")
def test_of_two_adoptions_at_once_one_wins(tmp_path: Path) -> None:
    """The other finds that the tree is not what it started from, or that it is not its turn."""
    root = project(tmp_path / "r")
    here = spaces(root)
    one, two = made(here), made(here)
    put(one.root / "a", "first\n")
    put(two.root / "a", "second\n")

    async def both() -> list[Adopted | Failed]:
        return list(await asyncio.gather(here.adopt(one), here.adopt(two)))

    done = asyncio.run(both())
    assert sorted(type(each).__name__ for each in done) == ["Adopted", "Failed"]
    won = one if isinstance(done[0], Adopted) else two
    assert (root / "a").read_text() == (won.root / "a").read_text()
    lost = two if won is one else one
    assert "is not the same any more in the real tree" in refused(here, lost).reason
    with held(os.open(path_of(root, NOTES), DIRECTORY)) as notes, adopting(notes) as alone:
        assert alone
        assert "another adoption is under way" in refused(here, lost).reason
    discarded(here)


def test_git_that_does_not_answer_about_a_candidate_is_a_failure(tmp_path: Path) -> None:
    root = project(tmp_path / "r")
    here = spaces(root)
    candidate = made(here)
    here.means = type(here.means)(path_value="", clock=here.means.clock, bounds=here.means.bounds)
    assert refused(here, candidate).reason == "git does not say what the candidate holds"
    discarded(here)


@pytest.mark.behaviour("N356")
def test_cleaning_up_three_times_is_as_good_as_once(tmp_path: Path) -> None:
    root = project(tmp_path / "r")
    before = standing(root)
    here = spaces(root)
    made(here)
    assert [len(discarded(here)) for _ in range(3)] == [1, 0, 0]
    assert [reclaimed(root) for _ in range(3)] == [[], [], []]
    assert standing(root) == before


def test_what_a_cancel_kept_from_being_told_is_told_by_the_next_call(tmp_path: Path) -> None:
    """[D-85] Every candidate that was made is told to be gone, once."""
    root = project(tmp_path / "r")
    here = _Interrupted(root, path_value=PATH, clock=SystemClock())
    first, second = made(here), made(here)

    async def cancelled() -> None:
        here.task = task = asyncio.ensure_future(here.discard_all())
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert discarded(here) == [first.handle, second.handle]
    assert discarded(here) == []


class _Interrupted(Workspaces):
    """A cancel comes when the first of all is gone."""

    task: asyncio.Future[tuple[Discarded | Leaked, ...]] | None = None

    async def _removed(self, name: str) -> Discarded | Leaked:
        done = await super()._removed(name)
        if self.task is not None:
            self.task.cancel()
            self.task = None
        return done


def test_what_was_not_seen_is_not_adopted(tmp_path: Path) -> None:
    """[D-57, T2-51] Or it would be in the tree and in nobody's books."""
    root = project(tmp_path / "r")
    here = spaces(root)
    candidate = made(here)
    put(candidate.root / "first")
    seen = asyncio.run(here.changed(candidate))
    assert isinstance(seen, tuple)
    put(candidate.root / "second")
    failed = asyncio.run(here.adopt(candidate, seen))
    assert isinstance(failed, Failed)
    assert failed.reason == "it was changed while it was adopted; nothing was adopted"
    assert not (root / "first").exists()
    seen = asyncio.run(here.changed(candidate))
    assert isinstance(seen, tuple)
    done = asyncio.run(here.adopt(candidate, seen))
    assert isinstance(done, Adopted)
    assert done.changes == seen
    discarded(here)
