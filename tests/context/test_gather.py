"""[D-51] Which files a recall searches, and which it never looks at."""

import asyncio
import os
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from stella import limits
from stella.context.folders import Folders
from stella.context.gather import Bounds
from stella.context.gather import Origin
from stella.context.gather import TooMuch
from stella.context.gather import notes
from stella.context.gather import offers
from stella.context.gather import workspace
from stella.files.tree import DIRECTORY
from stella.files.tree import held
from stella.process.git import listed
from tests.making.repositories import PATH
from tests.making.repositories import git
from tests.making.repositories import repository
from tests.making.workspaces import fill


def found(root: Path, *, path: str = PATH, bounds: Bounds | None = None) -> list[str]:
    """The files of a workspace that are offered, as paths."""
    names = asyncio.run(listed(str(root), env_path=path))
    with held(os.open(root, DIRECTORY)) as top, closing(Folders(top=top)) as folders:
        offered = list(workspace(folders, names, bounds or Bounds()))
    assert {each.origin for each in offered} <= {Origin.WORKSPACE}
    assert all(each.look.mark for each in offered)
    return [each.path for each in offered]


def noted(root: Path, *above: str) -> list[str]:
    with held(os.open(root, DIRECTORY)) as top, closing(Folders(top=top)) as folders:
        return [each.path for each in notes(folders, above, Origin.PERSON)]


PLAIN = {"a.txt": "a", "src/b.py": "b", "src/deep/c.md": "c"}


def test_what_version_control_does_not_ignore_is_offered(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", PLAIN | {"gone.txt": "x"}, ignored="*.log\nbuild/\n")
    fill(root, "new.txt", "x.log", "build/out.txt")
    (root / "gone.txt").unlink()
    assert found(root) == [".gitignore", "a.txt", "new.txt", "src/b.py", "src/deep/c.md"]


def test_without_version_control_everything_is_walked(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", PLAIN, ignored="*.log\n")
    fill(root, "x.log")
    assert found(root, path="/nowhere") == [
        ".gitignore", "a.txt", "src/b.py", "src/deep/c.md", "x.log"
    ]  # fmt: skip
    fill(tmp_path / "plain", *PLAIN)
    assert found(tmp_path / "plain") == list(PLAIN)


def test_a_file_that_is_a_directory_by_now_is_offered_once_and_the_reverse_too(
    tmp_path: Path,
) -> None:
    """Git names what it tracks, which may not be what is there."""
    root = repository(tmp_path / "r", PLAIN, ignored="*.log\n")
    (root / "a.txt").unlink()
    fill(root, "a.txt/x", "a.txt/deep/y", "a.txt/no.log")
    shutil.rmtree(root / "src")
    fill(root, "src")
    assert found(root) == [".gitignore", "a.txt/deep/y", "a.txt/x", "src"]


def test_a_repository_inside_is_walked(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a.txt": "a"})
    repository(root / "inner", {"b.txt": "b"})
    repository(root / "sub", {"c.txt": "c"})
    git(root, "-c", "protocol.file.allow=always", "add", "sub")
    assert found(root) == ["a.txt", "inner/b.txt", "sub/c.txt"]


@pytest.mark.parametrize("versioned", [True, False])
def test_what_is_the_hosts_or_secret_is_never_offered(tmp_path: Path, *, versioned: bool) -> None:
    """[D-51, H-42]"""
    root = tmp_path / "r"
    hidden = (
        *(".stella/private/sessions/s/journal.jsonl", ".stella/candidates/c/a.txt"),
        *(".stella/memory/note.md", ".Stella/Private/x.txt", ".env", "conf/.env.local"),
        *("inner/.stella/private/sessions/s/journal.jsonl", "deploy/server.key"),
        *(".stella/plugins/verify/README.md", "inner/.stella/plugins/verify/main.py"),
        *("deploy/other.pem", "id_rsa", "my-secrets/a.txt", "src/.stella-tmp-abc"),
    )
    if versioned:
        repository(root, {})
    fill(root, "a.txt", ".stella/skills/s.md", *hidden)
    (root / "sub").mkdir()
    (root / "sub/.git").write_text("gitdir: /nowhere\n")
    assert found(root) == [".stella/skills/s.md", "a.txt"]


@pytest.mark.parametrize("versioned", [True, False])
def test_only_regular_files_with_names_of_text_are_offered(
    tmp_path: Path, *, versioned: bool
) -> None:
    root = tmp_path / "r"
    fill(root, "real/a.txt", "\N{SNOWMAN}.txt")
    fill(tmp_path / "out", "b.txt")
    (root / "link.txt").symlink_to("real/a.txt")
    (root / "through").symlink_to("real")
    (root / "out").symlink_to(tmp_path / "out")
    os.mkfifo(root / "pipe")
    (root / os.fsdecode(b"caf\xe9.txt")).write_text("x")
    (root / os.fsdecode(b"d\xff")).mkdir()
    (root / os.fsdecode(b"d\xff") / "x.txt").write_text("x")
    if versioned:
        repository(root, {})
    assert found(root) == ["real/a.txt", "\N{SNOWMAN}.txt"]


def test_a_directory_that_became_a_link_is_not_followed(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"d/a.txt": "a", "e.txt": "e"})
    (root / "d").rename(tmp_path / "moved")
    (root / "d").symlink_to(tmp_path / "moved")
    assert found(root) == ["e.txt"]


def test_as_many_files_are_offered_as_the_bound_says(tmp_path: Path) -> None:
    fill(tmp_path, "a", "b", "c")
    assert found(tmp_path, bounds=Bounds(files=3)) == ["a", "b", "c"]
    with pytest.raises(TooMuch, match="more than 2 files"):
        found(tmp_path, bounds=Bounds(files=2))


def test_as_many_entries_are_walked_as_the_bound_says(tmp_path: Path) -> None:
    fill(tmp_path, "a", "d/b")
    assert found(tmp_path, bounds=Bounds(entries=3)) == ["a", "d/b"]
    with pytest.raises(TooMuch, match="more files and directories"):
        found(tmp_path, bounds=Bounds(entries=2))


def test_the_bounds_are_the_limits() -> None:
    assert Bounds() == Bounds(
        files=limits.RECALL_FILES, entries=limits.TREE_ENTRIES, bytes=limits.RECALL_BYTES
    )


def test_a_file_is_offered_down_to_the_limit_of_depth() -> None:
    assert offers(("d",) * limits.RECALL_DEPTH)
    assert not offers(("d",) * (limits.RECALL_DEPTH + 1))


def test_notes_are_the_markdown_files_of_one_directory(tmp_path: Path) -> None:
    fill(
        tmp_path,
        "memory/b.md",
        "memory/a.md",
        "memory/x.txt",
        "memory/deep/c.md",
        "memory/secret.md",
    )
    (tmp_path / "memory/link.md").symlink_to(tmp_path / "memory/a.md")
    (tmp_path / "memory/dir.md").mkdir()
    assert noted(tmp_path) == ["memory/a.md", "memory/b.md"]
    assert noted(tmp_path, ".stella") == []
    fill(tmp_path, ".stella/memory/p.md")
    assert noted(tmp_path, ".stella") == [".stella/memory/p.md"]


def test_notes_are_not_read_through_a_link(tmp_path: Path) -> None:
    fill(tmp_path / "real", "memory/a.md")
    (tmp_path / "home").mkdir()
    (tmp_path / "home/memory").symlink_to(tmp_path / "real/memory")
    assert noted(tmp_path / "home") == []
