"""What version control holds of a tree, asked so that a hostile repository runs nothing."""

import asyncio
import os
import subprocess
from pathlib import Path

from stella import limits
from stella.process.git import Repository
from stella.process.git import listed
from stella.process.git import repository as found
from tests.making.plugins import executable
from tests.making.repositories import NAMED
from tests.making.repositories import PATH
from tests.making.repositories import git
from tests.making.repositories import repository


def asked(root: Path, path: str = PATH, seconds: float = limits.TREE_SECS) -> list[bytes] | None:
    names = asyncio.run(listed(str(root), env_path=path, seconds=seconds))
    return None if names is None else list(names)


def planted(place: Path, name: str, canary: Path) -> Path:
    """A program that leaves a canary when it runs."""
    place.mkdir(parents=True, exist_ok=True)
    program = place / name
    program.write_text(f'#!/bin/sh\necho "$0" >> {canary}\n')
    program.chmod(0o755)
    return program


def test_tracked_and_untracked_files_are_listed_and_ignored_ones_are_not(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a": "1", "sub/b": "2"}, ignored="*.log\n/out/\n")
    (root / "new").write_text("3")
    (root / "x.log").write_text("4")
    (root / "out").mkdir()
    (root / "out" / "y").write_text("5")
    (root / "empty").mkdir()
    assert asked(root) == [b".gitignore", b"a", b"new", b"sub/b"]


def test_names_come_as_the_bytes_they_are(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"plain": ""})
    strange = [b"\xff\xfe", b"new\nline", b'quo"te', "é".encode()]
    for name in strange:
        (root / os.fsdecode(name)).touch()
    assert asked(root) == sorted([b"plain", *strange])


def test_a_tracked_file_that_is_gone_is_still_listed(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a": "", "b": ""})
    (root / "a").unlink()
    assert asked(root) == [b"a", b"b"]


def test_below_the_top_of_a_repository_paths_are_relative_to_the_root(tmp_path: Path) -> None:
    top = repository(tmp_path / "r", {"a": "", "sub/b": "", "sub/deep/c": ""})
    assert asked(top / "sub") == [b"b", b"deep/c"]


def test_a_repository_inside_is_one_entry(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a": ""})
    repository(root / "inner", {"secret": ""})
    assert asked(root) == [b"a", b"inner/"]
    git(root, "-c", "advice.addEmbeddedRepo=false", "add", "inner")
    assert asked(root) == [b"a", b"inner"]


def test_a_linked_worktree_is_listed(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a": ""})
    git(root, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    (tmp_path / "linked" / "b").touch()
    assert asked(tmp_path / "linked") == [b"a", b"b"]


def test_a_tree_is_asked_about_as_another_repository_knows_it(tmp_path: Path) -> None:
    """N349: whatever `.git` the tree itself has, and whatever it says there."""
    root = repository(tmp_path / "r", {"a": "", "sub/b": ""}, ignored="*.log\n")
    tree = tmp_path / "tree"
    canary = tmp_path / "canary"
    inner = repository(tree, {"a": "", "c": ""}, ignored="*.tmp\n")
    git(inner, "config", "core.fsmonitor", str(planted(tmp_path, "evil", canary)))
    for name in ("x.log", "x.tmp"):
        (tree / name).touch()
    of_root = found(root)
    assert of_root is not None
    within = Repository(top=tree, directory=of_root.directory, fence=root)
    names = asyncio.run(listed(str(tree), env_path=PATH, within=within))
    assert names == (b".gitignore", b"a", b"c", b"sub/b", b"x.log")
    assert not canary.exists()


def test_there_is_no_answer_outside_a_repository(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    assert asked(tmp_path) is None


def test_there_is_no_answer_when_the_repository_around_ignores_the_root(tmp_path: Path) -> None:
    top = repository(tmp_path / "r", {"a": ""}, ignored="/build/\n")
    (top / "build").mkdir()
    (top / "build" / "b").touch()
    assert asked(top / "build") is None


def test_an_empty_repository_is_empty_and_not_unknown(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {})
    assert asked(root) == []


def test_there_is_no_answer_from_a_broken_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert asked(tmp_path) is None


def test_there_is_no_answer_without_git(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a": ""})
    assert asked(root, path="") is None
    assert asked(root, path=str(tmp_path)) is None


def test_there_is_no_answer_after_the_time_is_up(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a": ""})
    (tmp_path / "bin").mkdir()
    executable(tmp_path / "bin" / "git", "#!/bin/sh\nexec sleep 600\n")
    assert asked(root, f"{tmp_path / 'bin'}:{PATH}", 0.2) is None


def test_more_names_than_are_read_are_no_answer(tmp_path: Path) -> None:
    """The listing is read up to a bound; half a listing would call the rest ignored."""
    root = repository(tmp_path / "r", {"a": ""})
    blob = git(root, "hash-object", "a").strip()
    name = "x" * 4000
    count = limits.GIT_LIST_BYTES // (len(name) + 6) + 1
    lines = "".join(f"100644 {blob}\t{number:05}{name}\n" for number in range(count))
    command = ["git", "update-index", "--index-info"]
    subprocess.run(command, cwd=root, env=NAMED, input=lines.encode(), check=True)
    assert asked(root) is None


def test_a_git_of_the_repository_is_not_run(tmp_path: Path) -> None:
    """Q-30, E131: neither by an entry of PATH inside it nor by a relative one."""
    root = repository(tmp_path / "r", {"a": ""})
    canary = tmp_path / "canary"
    planted(root / "bin", "git", canary)
    planted(root, "git", canary)
    assert asked(root, path=f"{root}/bin::.:bin") is None
    assert asked(root, path=f"{root}/bin:.:{PATH}") == [b"a", b"bin/git", b"git"]
    assert not canary.exists()


def test_a_work_tree_that_the_configuration_names_is_not_looked_at(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a": ""})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret").touch()
    git(root, "config", "core.worktree", str(tmp_path / "elsewhere"))
    assert asked(root) == [b"a"]


def hostile(root: Path, program: Path) -> None:
    """Name `program` everywhere a repository can name one."""
    hooks = root / "hooks"
    names = ("post-index-change", "pre-commit", "post-checkout", "fsmonitor-watchman")
    for place in (hooks, root / ".git" / "hooks"):
        place.mkdir(exist_ok=True)
        for name in names:
            (place / name).write_bytes(program.read_bytes())
            (place / name).chmod(0o755)
    (root / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    (root / "included").write_text(f"[core]\n\tfsmonitor = {program}\n")
    for key, value in {
        "core.fsmonitor": program,
        "core.hooksPath": hooks,
        "core.sshCommand": program,
        "core.gitProxy": program,
        "core.editor": program,
        "core.pager": program,
        "core.askPass": program,
        "core.alternateRefsCommand": program,
        "pager.ls-files": program,
        "alias.ls-files": f"!{program}",
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
        "uploadpack.packObjectsHook": program,
        "include.path": root / "included",
        "trace2.eventTarget": root / "trace",
    }.items():
        git(root, "config", "--add", key, str(value))


def test_a_hostile_configuration_runs_nothing(tmp_path: Path) -> None:
    """D95, N349: every name is there and reachable, as plain git shows, and none is used."""
    root = repository(tmp_path / "r", {"a": "1", "sub/b": "2"})
    canary = tmp_path / "canary"
    hostile(root, planted(tmp_path, "evil", canary))
    (root / "a").write_text("changed")
    plain = ["git", "status", "--porcelain"]
    subprocess.run(plain, cwd=root, env=NAMED, check=False, capture_output=True)
    assert canary.exists(), "the repository is not hostile"
    canary.unlink()
    names = asked(root)
    assert names is not None
    assert {b"a", b"sub/b", b".gitattributes", b"included"} <= set(names)
    assert not canary.exists()
    assert not (root / "trace").exists()


def test_a_partial_clone_fetches_nothing_by_the_program_it_names(tmp_path: Path) -> None:
    """A sparse index needs trees; one that is missing would be fetched by `uploadpack`."""
    origin = repository(tmp_path / "origin", {"in/a": "", "out/b": ""})
    root = tmp_path / "r"
    git(tmp_path, "clone", "--quiet", str(origin), str(root))
    git(root, "sparse-checkout", "set", "--sparse-index", "in")
    tree = git(root, "rev-parse", "HEAD:out").strip()
    (root / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    canary = tmp_path / "canary"
    program = planted(tmp_path, "evil", canary)
    git(root, "config", "core.repositoryFormatVersion", "1")
    git(root, "config", "extensions.partialClone", "origin")
    git(root, "config", "remote.origin.promisor", "true")
    git(root, "config", "remote.origin.uploadpack", str(program))
    plain = ["git", "ls-files"]
    subprocess.run(plain, cwd=root, env=NAMED, check=False, capture_output=True)
    assert canary.exists(), "the clone fetches nothing by itself"
    canary.unlink()
    asked(root)
    assert not canary.exists()
