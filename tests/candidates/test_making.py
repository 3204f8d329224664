"""A candidate is the tree as it is now, and nothing of the repository runs to make it."""

import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from stella.candidates.candidate import Bounds
from tests.making.candidates import adopted
from tests.making.candidates import changed
from tests.making.candidates import discarded
from tests.making.candidates import made
from tests.making.candidates import ours_in
from tests.making.candidates import project
from tests.making.candidates import put
from tests.making.candidates import snapshot
from tests.making.candidates import spaces
from tests.making.candidates import standing
from tests.making.candidates import unmade
from tests.making.repositories import NAMED
from tests.making.repositories import git
from tests.making.repositories import repository


@pytest.mark.behaviour("L5")
def test_a_copy_holds_what_is_there_now_and_the_persons_state_stays(tmp_path: Path) -> None:
    """[D-54] staged, unstaged, intent-to-add, deleted, untracked, binary, CRLF; not the ignored."""
    root = project(tmp_path / "r", a="one\n", b="two\n", c="three\n", d="four\n")
    put(root / ".gitignore", "*.log\n")
    put(root / "a", "staged\n")
    git(root, "add", "a")
    put(root / "a", "and changed again\n")
    (root / "b").unlink()
    git(root, "rm", "--quiet", "--cached", "c")
    put(root / "later", "to be added\n")
    git(root, "add", "--intent-to-add", "later")
    put(root / "x.log")
    (root / "binary").write_bytes(bytes(range(256)))
    (root / "crlf").write_bytes(b"one\r\ntwo\r\n")
    git(root, "config", "core.autocrlf", "true")
    before, tree = standing(root), snapshot(root)
    here = spaces(root)
    candidate = made(here)
    tree.pop("x.log")
    assert snapshot(candidate.root) == tree
    assert changed(here, candidate) == {}
    assert git(candidate.root, "ls-files") == "a\nb\nc\nd\n"
    discarded(here)
    assert standing(root) == before


def test_strange_names_modes_and_links_are_copied_as_they_are(tmp_path: Path) -> None:
    """[D-54] no link is followed, and no permission is widened."""
    root = project(tmp_path / "r")
    outside = put(tmp_path / "outside/secret").parent
    for name in (b"with space", b"new\nline", b"\xff\xfe", b'quo"te', "é".encode(), b"-x"):
        put(root / "odd" / os.fsdecode(name), "odd\n", 0o640)
    put(root / "run.sh", "#!/bin/sh\n", 0o755)
    put(root / "sticky", "x\n").chmod(0o4755)
    (root / "inside").symlink_to("a")
    (root / "nowhere").symlink_to("not/there")
    (root / "out").symlink_to(outside)
    (root / "sub/up").symlink_to("..")
    here = spaces(root)
    candidate = made(here)
    expected = snapshot(root)
    expected["sticky"] = (oct(0o100755), b"x\n")
    assert snapshot(candidate.root) == expected
    assert changed(here, candidate) == {}
    discarded(here)
    assert (outside / "secret").exists()


def test_what_is_special_or_closed_is_told_and_left_out(tmp_path: Path) -> None:
    """[D-54] inside of another repository, where git does not look, there may be anything."""
    root = project(tmp_path / "r")
    inner = repository(root / "inner", {"x": "1", "y/z": "2"})
    os.mkfifo(inner / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(inner / "socket"))
    here = spaces(root)
    candidate = made(here)
    assert candidate.skipped == ("inner/pipe: a fifo", "inner/socket: a socket")
    found = {str(path.relative_to(candidate.root)) for path in candidate.root.rglob("*")}
    assert {"inner/x", "inner/y/z"} <= found
    assert not {name for name in found if name.startswith("inner/.git")}
    put(candidate.root / "inner/x", "changed\n")
    assert adopted(here, candidate) == {"inner/x": "modified"}
    discarded(here)
    assert git(inner, "status", "--porcelain") == " M x\n"


def test_a_submodule_is_files_and_not_a_repository(tmp_path: Path) -> None:
    """[D-54, N355] nothing is fetched, its records are not copied."""
    origin = repository(tmp_path / "origin", {"s": "1"})
    root = project(tmp_path / "r")
    allow = ("-c", "protocol.file.allow=always")
    git(root, *allow, "submodule", "--quiet", "add", str(origin), "module")
    git(root, "commit", "--quiet", "--message", "with a module")
    before = standing(root)
    here = spaces(root)
    candidate = made(here)
    assert (candidate.root / "module/s").read_text() == "1"
    assert not (candidate.root / "module/.git").exists()
    discarded(here)
    assert standing(root) == before


def test_the_hosts_own_directories_are_not_copied(tmp_path: Path) -> None:
    """[Q-1] even when version control does not ignore them, and not of another workspace."""
    root = project(tmp_path / "r")
    (root / ".stella/.gitignore").unlink()
    put(root / ".stella/private/sessions/s/journal.jsonl")
    put(root / "sub/.stella/private/secret")
    put(root / ".stella/rules/one.md")
    (root / ".stella/private").chmod(0o700)
    here = spaces(root)
    one, two = made(here), made(here)
    for each in (one, two):
        found = {str(path.relative_to(each.root)) for path in each.root.rglob(".stella/**/*")}
        assert found == {".stella/rules", ".stella/rules/one.md"}
    assert ".stella/candidates" not in git(root, "status", "--porcelain", "-uall")
    discarded(here)


def test_without_a_commit_a_repository_or_git_there_is_no_candidate(tmp_path: Path) -> None:
    """[D-54] and nothing is left of the attempt."""
    plain = tmp_path / "plain"
    plain.mkdir()
    assert unmade(spaces(plain)) == f"{plain}: is in no git repository"
    unborn = tmp_path / "unborn"
    unborn.mkdir()
    git(unborn, "init", "--quiet")
    put(unborn / "a")
    no_commit = "the repository has no commit yet that a candidate could stand on"
    assert unmade(spaces(unborn)) == no_commit
    root = project(tmp_path / "r")
    assert unmade(spaces(root, "")) == "there is no git outside the workspace on PATH"
    put(root / "bin/git", "#!/bin/sh\n", 0o755)
    within = f"{root}/bin"
    assert unmade(spaces(root, within)) == "there is no git outside the workspace on PATH"
    broken = tmp_path / "broken"
    (broken / ".git").mkdir(parents=True)
    assert unmade(spaces(broken)).startswith("git rev-parse: fatal: not a git repository")
    for each in (plain, unborn, broken):
        assert not (each / ".stella").exists()
    ignored = root / "build"
    put(root / ".gitignore", "/build/\n")
    put(ignored / "x")
    assert unmade(spaces(ignored)) == f"{ignored}: git knows nothing of what it holds"


def test_a_commit_that_cannot_be_read_is_a_failure_that_leaves_nothing(tmp_path: Path) -> None:
    root = project(tmp_path / "r")
    tree = git(root, "rev-parse", "HEAD^{tree}").strip()
    before = standing(root)
    (root / ".git/objects" / tree[:2] / tree[2:]).unlink()
    assert "git read-tree: " in unmade(spaces(root))
    assert not (root / ".git/worktrees").exists()
    assert not (root / ".stella/candidates").exists()
    assert ours_in(root) == before.ours


@pytest.mark.parametrize("place", ["candidates", "private", ".stella"])
def test_a_link_in_the_place_of_the_hosts_directories_is_not_followed(
    tmp_path: Path, place: str
) -> None:
    """[S2-42] nothing is made where it leads."""
    root = project(tmp_path / "r")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    link = root / ".stella" / place if place != ".stella" else root / ".stella"
    if place == ".stella":
        (root / ".stella/.gitignore").unlink()
        link.rmdir()
    link.symlink_to(elsewhere)
    assert "a symbolic link, which is not followed" in unmade(spaces(root))
    assert not list(elsewhere.iterdir())
    assert not (root / ".git/worktrees").exists()


@pytest.mark.behaviour("N353")
def test_a_tree_beyond_the_bounds_is_not_copied(tmp_path: Path) -> None:
    """[T2-53] files, bytes and entries, each at the bound and one past it; nothing is left."""
    root = project(tmp_path / "r", a="12345", b="67890")
    repository(root / "inner", {"x": "1", "y": "2"})
    before = standing(root)
    size = sum(path.stat().st_size for path in (root / "a", root / "b"))
    size += 2 + (root / ".stella/.gitignore").stat().st_size
    good = Bounds(files=5, bytes=size, entries=3)
    here = spaces(root, bounds=good)
    made(here)
    discarded(here)
    for bounds, reason in (
        (Bounds(files=4), "there are more than 4 files"),
        (Bounds(bytes=size - 1), f"there are more than {size - 1} bytes"),
        (Bounds(entries=2), "there are more than 2 entries"),
        (Bounds(milliseconds=-1), "it takes longer than -1 seconds"),
    ):
        assert unmade(spaces(root, bounds=bounds)) == reason
    assert standing(root) == before


def hostile(root: Path, program: Path) -> None:
    """Name `program` wherever a repository can name one that a work tree could start."""
    hooks = root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in (
        "post-checkout",
        "post-index-change",
        "pre-commit",
        "reference-transaction",
        "fsmonitor-watchman",
        "post-worktree",
        "pre-auto-gc",
    ):
        (hooks / name).write_bytes(program.read_bytes())
        (hooks / name).chmod(0o755)
    put(root / ".gitattributes", "* filter=evil diff=evil merge=evil text eol=crlf ident\n")
    put(root / "included", f"[core]\n\tfsmonitor = {program}\n\thooksPath = {hooks}\n")
    put(root / ".gitmodules", f'[submodule "s"]\n\tpath = s\n\turl = x\n\tupdate = !{program}\n')
    for key, value in {
        "core.fsmonitor": program,
        "core.hooksPath": hooks,
        "core.sshCommand": program,
        "core.gitProxy": program,
        "core.editor": program,
        "core.pager": program,
        "core.askPass": program,
        "core.alternateRefsCommand": program,
        "core.worktree": "/",
        "core.untrackedCache": "true",
        "alias.worktree": f"!{program}",
        "alias.read-tree": f"!{program}",
        "filter.evil.clean": program,
        "filter.evil.smudge": program,
        "filter.evil.process": program,
        "filter.evil.required": "true",
        "diff.evil.textconv": program,
        "diff.evil.command": program,
        "diff.external": program,
        "merge.evil.driver": program,
        "credential.helper": program,
        "gpg.program": program,
        "submodule.s.update": f"!{program}",
        "submodule.recurse": "true",
        "uploadpack.packObjectsHook": program,
        "include.path": root / "included",
        "trace2.eventTarget": root / "trace",
        "trace2.normalTarget": root / "trace",
        "gc.auto": "1",
        "gc.recentObjectsHook": program,
        "maintenance.auto": "true",
    }.items():
        git(root, "config", "--add", key, str(value))


@pytest.mark.behaviour("D95", "N349")
def test_a_hostile_repository_runs_nothing_from_the_making_to_the_end(tmp_path: Path) -> None:
    """[D-54, D95, N349] every name is there, as plain git shows, and none is used."""
    root = project(tmp_path / "r", a="1\n", **{"sub/b": "2\n"})
    canary = tmp_path / "canary"
    program = put(tmp_path / "evil", f'#!/bin/sh\necho "$0 $*" >> {canary}\ncat\n', 0o755)
    hostile(root, program)
    put(root / ".git/objects/info/alternates", f"{tmp_path}/nowhere\n")
    plain = ["git", "--work-tree=.", "worktree", "add", "--detach", str(tmp_path / "plain")]
    subprocess.run(plain, cwd=root, env=NAMED, check=False, capture_output=True)
    assert canary.exists(), "the repository is not hostile"
    canary.unlink()
    (root / "trace").unlink(missing_ok=True)
    here = spaces(root)
    candidate = made(here)
    put(candidate.root / "a", "2\n")
    put(candidate.root / "new", "3\n")
    assert changed(here, candidate) == {"a": "modified", "new": "created"}
    assert adopted(here, candidate) == {"a": "modified", "new": "created"}
    discarded(here)
    assert (root / "a").read_bytes() == b"2\n"
    assert not canary.exists(), canary.read_text()
    assert not (root / "trace").exists()


def test_a_linked_work_tree_of_the_persons_is_a_workspace_too(tmp_path: Path) -> None:
    """[D-54] its `.git` is a file, and the records are with the repository."""
    main = project(tmp_path / "r")
    linked = tmp_path / "linked"
    git(main, "worktree", "add", "--quiet", str(linked))
    before = git(main, "worktree", "list")
    put(linked / ".stella/.gitignore", "private/\n")
    here = spaces(linked)
    candidate = made(here)
    assert (candidate.root / "a").read_text() == "one\n"
    assert git(main, "worktree", "list").count("\n") == 3
    put(candidate.root / "a", "new\n")
    assert adopted(here, candidate) == {"a": "modified"}
    discarded(here)
    assert git(main, "worktree", "list") == before
    assert (main / "a").read_text() == "one\n"


def test_a_file_that_is_a_directory_by_now_and_the_reverse_are_copied(tmp_path: Path) -> None:
    """[D-54] Git names what it tracks, which may not be there; what is ignored stays behind."""
    root = project(tmp_path / "r")
    (root / ".gitignore").write_text("*.log\n")
    (root / "a").unlink()
    for path in ("a/x", "a/deep/y", "a/no.log"):
        put(root / path)
    shutil.rmtree(root / "sub")
    put(root / "sub")
    here = spaces(root)
    candidate = made(here)
    held = {".gitignore", ".stella/.gitignore", "a/x", "a/deep/y", "sub"}
    assert set(candidate.start) == held
    assert not (candidate.root / "a/no.log").exists()
    put(candidate.root / "a/new")
    assert adopted(here, candidate) == {"a/new": "created"}
    discarded(here)
