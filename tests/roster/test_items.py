"""[I-53, I-55, Q-1] What a project contributes besides plugins: which files, and which are none."""

import os
import socket
from pathlib import Path

import pytest

from stella import limits
from stella.roster.items import Items
from stella.roster.items import differing
from stella.roster.items import digest_of
from stella.roster.items import items_of

EMPTY = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def made(workspace: Path, *paths: str) -> Path:
    for path in paths:
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).touch()
        (workspace / path).chmod(0o644)
    return workspace


@pytest.mark.behaviour("Q-1", "I-53")
def test_the_items_are_the_settings_and_what_is_in_stella_but_what_the_host_writes(
    tmp_path: Path,
) -> None:
    """[I-53, Q-1] Compiled files are items too: what imports them would run them."""
    made(
        tmp_path,
        "stella.toml",
        ".stella/mcp.toml",
        ".stella/tools/a.toml",
        ".stella/tools/__pycache__/a.pyc",
        ".stella/tools/private/b",
        ".stella/.hidden",
    )
    kept = {*items_of(tmp_path).files}
    made(
        tmp_path,
        "AGENTS.md",
        "src/main.py",
        "sub/.stella/tools/a.toml",
        ".stella/.gitignore",
        ".stella/private/sessions/x",
        ".stella/plugins/p/plugin.toml",
        ".stella/candidates/c",
    )
    (tmp_path / ".stella/plugins/p/link").symlink_to("/")
    found = items_of(tmp_path)
    assert found.fault is None
    assert {*found.files} == kept
    assert kept == {
        "stella.toml",
        ".stella/mcp.toml",
        ".stella/tools/a.toml",
        ".stella/tools/__pycache__/a.pyc",
        ".stella/tools/private/b",
        ".stella/.hidden",
    }
    assert found.files["stella.toml"] == f"0644 {EMPTY}"
    assert list(found.files) == sorted(found.files)


def test_a_workspace_without_anything_has_no_items(tmp_path: Path) -> None:
    """[Q-1] Neither a session's own folder nor an empty one is something."""
    assert items_of(tmp_path) == Items()
    (tmp_path / ".stella/tools").mkdir(parents=True)
    assert items_of(tmp_path) == Items()
    assert items_of(tmp_path / "none").fault == f"{tmp_path}/none: No such file or directory"


@pytest.mark.behaviour("I-55.links", "D97")
@pytest.mark.parametrize("at", ["stella.toml", ".stella", ".stella/tools", ".stella/tools/a.toml"])
@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "socket"])
def test_what_is_no_regular_file_is_a_fault_that_names_it(
    tmp_path: Path, at: str, kind: str
) -> None:
    """[I-55, attacks D97] Nothing is opened that could hold the host up."""
    path = tmp_path / "w" / at
    path.parent.mkdir(parents=True)
    if kind in ("link", "dangling"):
        (tmp_path / "real").mkdir()
        path.symlink_to(tmp_path / ("real" if kind == "link" else "none"))
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        here = os.open(path.parent, os.O_RDONLY)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(f"/proc/self/fd/{here}/{path.name}")
        os.close(here)
    word = {"pipe": "fifo", "socket": "socket"}.get(kind, "symbolic link")
    fault = items_of(tmp_path / "w").fault
    assert fault == f"{at}: is a {word}; trust is only about regular files of the workspace"


def test_a_settings_directory_and_a_stella_file_are_faults(tmp_path: Path) -> None:
    """[I-53]"""
    (tmp_path / "a/stella.toml").mkdir(parents=True)
    assert "stella.toml: is a directory" in (items_of(tmp_path / "a").fault or "")
    made(tmp_path / "b", ".stella")
    assert ".stella: is a regular file" in (items_of(tmp_path / "b").fault or "")


def test_a_name_that_is_no_text_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / ".stella").mkdir()
    (tmp_path / os.fsdecode(b".stella/a\xff")).touch()
    assert items_of(tmp_path).fault == r".stella/a\u{DCFF}: the name is not UTF-8"


@pytest.mark.behaviour("D97.bounds")
def test_how_much_is_looked_at_is_bounded(tmp_path: Path) -> None:
    """[attacks D97] limits.TRUST_FILES, limits.TRUST_BYTES, limits.PACKAGE_DEPTH: at and past."""
    many = tmp_path / "many/.stella"
    many.mkdir(parents=True)
    for number in range(limits.TRUST_FILES):
        (many / f"{number:04}").touch()
    assert len(items_of(many.parent).files) == limits.TRUST_FILES
    (many / "z").touch()
    fault = f".stella/z: {limits.TRUST_FILES + 1} files and directories"
    assert items_of(many.parent).fault == f"{fault}; the limit is {limits.TRUST_FILES}"
    large = made(tmp_path / "large", ".stella/a", ".stella/b")
    os.truncate(large / ".stella/a", limits.TRUST_BYTES)
    assert items_of(large).fault is None
    os.truncate(large / ".stella/b", 1)
    assert f"{limits.TRUST_BYTES + 1} bytes in total" in (items_of(large).fault or "")
    deep = tmp_path / "deep"
    deep.joinpath(".stella", *["d"] * limits.PACKAGE_DEPTH).mkdir(parents=True)
    assert items_of(deep).fault is None
    deep.joinpath(".stella", *["d"] * (limits.PACKAGE_DEPTH + 1)).mkdir(parents=True)
    assert f"{limits.PACKAGE_DEPTH + 1} levels of depth" in (items_of(deep).fault or "")


def test_the_digest_is_over_paths_modes_and_bytes(tmp_path: Path) -> None:
    """[I-53] And what differs is told by its path."""
    made(tmp_path, ".stella/a", ".stella/b", "stella.toml")
    before = items_of(tmp_path)
    assert before.digest == digest_of(before.files)
    assert differing(before.files, items_of(tmp_path).files) == ()
    (tmp_path / ".stella/a").chmod(0o755)
    (tmp_path / "stella.toml").write_text("#")
    (tmp_path / ".stella/b").rename(tmp_path / ".stella/c\x1b")
    after = items_of(tmp_path)
    assert before.digest != after.digest
    assert differing(before.files, after.files) == (
        "changed .stella/a",
        "removed .stella/b",
        r"added .stella/c\u{1B}",
        "changed stella.toml",
    )
