"""A further work tree is made and only its records are written."""

import asyncio
from pathlib import Path

import pytest

from stella import limits
from stella.process.git import Repository
from stella.process.git import Unanswered
from stella.process.git import repository as found
from stella.process.worktree import add_worktree
from stella.process.worktree import commit_of
from stella.process.worktree import read_commit
from stella.process.worktree import records_of
from tests.making.repositories import PATH
from tests.making.repositories import git
from tests.making.repositories import repository


def within(root: Path) -> Repository:
    answer = found(root)
    assert answer is not None
    return answer


def test_the_commit_that_is_checked_out_is_told(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a": "1"})
    head = git(root, "rev-parse", "HEAD").strip()
    assert asyncio.run(commit_of(within(root), env_path=PATH)) == head
    git(root, "checkout", "--quiet", "--orphan", "HEAD^{commit}x".replace("^{commit}", "-"))
    unborn = asyncio.run(commit_of(within(root), env_path=PATH))
    assert isinstance(unborn, Unanswered)
    assert "no commit yet" in unborn.reason


def test_the_shared_records_are_found_from_a_linked_work_tree_too(tmp_path: Path) -> None:
    root = repository(tmp_path / "r\nnew line", {"a": "1"})
    git(root, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    for at in (root, tmp_path / "linked"):
        assert asyncio.run(records_of(within(at), env_path=PATH)) == root / ".git"


def test_a_work_tree_is_empty_detached_and_has_an_index(tmp_path: Path) -> None:
    """[D-54] no branch is made; nothing is checked out."""
    root = repository(tmp_path / "r", {"a": "1", "sub/b": "2"})
    refs, head = git(root, "for-each-ref"), git(root, "rev-parse", "HEAD").strip()
    place = tmp_path / "--new"
    assert asyncio.run(add_worktree(within(root), place, head, env_path=PATH)) is None
    assert [each.name for each in place.iterdir()] == [".git"]
    inner = Repository(top=place, directory=root / ".git/worktrees/--new", fence=root)
    assert asyncio.run(read_commit(inner, head, env_path=PATH)) is None
    assert git(place, "ls-files") == "a\nsub/b\n"
    assert git(place, "status", "--porcelain") == " D a\n D sub/b\n"
    assert git(root, "for-each-ref") == refs
    assert git(root, "status", "--porcelain") == ""


def test_what_git_refuses_comes_back_in_its_words(tmp_path: Path) -> None:
    """limits.WORKTREE_SECS bounds it; here git is quicker."""
    assert limits.WORKTREE_SECS > 0
    root = repository(tmp_path / "r", {"a": "1"})
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken/x").touch()
    taken = asyncio.run(add_worktree(within(root), tmp_path / "taken", "HEAD", env_path=PATH))
    assert isinstance(taken, Unanswered)
    assert taken.reason.endswith("already exists")
    wrong = asyncio.run(read_commit(within(root), "nothing", env_path=PATH))
    assert wrong == Unanswered(reason="git read-tree: fatal: Not a valid object name nothing")


@pytest.mark.parametrize("question", [commit_of, records_of])
def test_without_git_there_is_no_answer(tmp_path: Path, question: object) -> None:
    root = repository(tmp_path / "r", {"a": "1"})
    answer = asyncio.run(question(within(root), env_path=""))  # type: ignore[operator]
    assert answer == Unanswered(reason="there is no git outside the workspace on PATH")
