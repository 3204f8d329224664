"""What lies in the workspace at one moment [T2-51 to T2-53]."""

import asyncio
import hashlib
import os
import shutil
import time
from datetime import UTC
from datetime import datetime
from pathlib import Path

import pytest

from stella import limits
from stella.clock import SystemClock
from stella.witness.tree import Reach
from stella.witness.tree import Tree
from stella.witness.tree import Unmeasured
from stella.witness.tree import glance
from stella.witness.tree import survey
from tests.making.child import open_folder
from tests.making.child import said_by_nobody
from tests.making.clocks import HandClock
from tests.making.repositories import PATH
from tests.making.repositories import git
from tests.making.repositories import repository
from tests.making.workspaces import fill
from tests.making.workspaces import program
from tests.making.workspaces import workspace


def surveyed(
    root: Path,
    *,
    path: str = PATH,
    clock: HandClock | SystemClock | None = None,
    previous: Tree | None = None,
    reach: Reach | None = None,
) -> Tree | Unmeasured:
    return asyncio.run(
        survey(root, path_value=path, clock=clock or SystemClock(), previous=previous, reach=reach)
    )


def measured(root: Path, *, previous: Tree | None = None, path: str = PATH) -> Tree:
    found = surveyed(root, previous=previous, path=path)
    assert isinstance(found, Tree)
    return found


def later() -> HandClock:
    """A clock an hour ahead, to which every file of a test is old."""
    return HandClock(moment=datetime.fromtimestamp(time.time() + 3600, UTC))


# ── which files ───────────────────────────────────────────────────────────────────────


def test_outside_a_repository_every_file_and_link_counts(tmp_path: Path) -> None:
    """[T2-52]"""
    root = workspace(tmp_path / "r", "a", ".hidden/b", "node_modules/c")
    fill(root, ".stella/private/journal", ".stella/settings.toml", ".git/config", "sub/.git/config")
    fill(root, ".stella/candidates/c1/a")
    (root / "link").symlink_to("nowhere")
    (root / "to-directory").symlink_to(".hidden")
    os.mkfifo(root / "pipe")
    assert sorted(measured(root).files) == [
        ".hidden/b",
        ".stella/settings.toml",
        "a",
        "link",
        "node_modules/c",
        "to-directory",
    ]


def test_in_a_repository_ignored_files_do_not_count(tmp_path: Path) -> None:
    """[T2-52]"""
    root = repository(tmp_path / "r", {"a": "1", "gone": "2"}, ignored="*.log\nout/\n").resolve()
    fill(root, "new", "x.log", "out/y", ".stella/private/journal")
    (root / "gone").unlink()
    found = measured(root)
    assert sorted(found.files) == [".gitignore", "a", "new"]
    assert found.ignoring


def test_without_git_every_file_of_a_repository_counts(tmp_path: Path) -> None:
    """[T2-52]"""
    root = repository(tmp_path / "r", {"a": "1"}, ignored="*.log\n").resolve()
    fill(root, "x.log")
    found = measured(root, path="")
    assert sorted(found.files) == [".gitignore", "a", "x.log"]
    assert not found.ignoring


def test_below_the_top_of_a_repository_only_what_lies_there_counts(tmp_path: Path) -> None:
    top = repository(tmp_path / "r", {"a": "1", "sub/b": "2"}, ignored="*.log\n").resolve()
    fill(top, "sub/x.log")
    assert sorted(measured(top / "sub").files) == ["b"]


def test_files_of_a_repository_inside_count_and_its_git_does_not(tmp_path: Path) -> None:
    """A nested `.git` is neither entered nor asked."""
    root = repository(tmp_path / "r", {"a": "1"}).resolve()
    repository(root / "inner", {"b": "2"}, ignored="*.log\n")
    fill(root, "inner/x.log")
    assert sorted(measured(root).files) == ["a", "inner/.gitignore", "inner/b", "inner/x.log"]


def test_a_repository_inside_is_not_asked(tmp_path: Path) -> None:
    """Its configuration names programs; none of them runs [D95, N349]."""
    canary = tmp_path / "canary"
    hostile = program(tmp_path / "hostile", f"#!/bin/sh\n: > {canary}\n")
    root = repository(tmp_path / "r", {"a": "1"}).resolve()
    inner = repository(root / "inner", {"b": "2"})
    for place in (root, inner):
        for key in ("core.fsmonitor", "core.sshCommand", "core.pager", "core.editor"):
            git(place, "config", key, str(hostile))
        git(place, "config", "core.hooksPath", str(hostile.parent))
    assert sorted(measured(root).files) == ["a", "inner/b"]
    assert not canary.exists()


def test_a_git_of_the_workspace_is_not_run(tmp_path: Path) -> None:
    """[Q-30]"""
    canary = tmp_path / "canary"
    root = repository(tmp_path / "r", {"a": "1"}).resolve()
    program(root / "bin" / "git", f"#!/bin/sh\n: > {canary}\n")
    assert sorted(measured(root, path=f"{root}/bin").files) == ["a", "bin/git"]
    assert not canary.exists()


def test_a_tracked_file_behind_a_link_is_not_followed(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"sub/a": "1", "sub/deep/c": "", "b": "2"}).resolve()
    shutil.move(root / "sub", tmp_path / "away")
    (root / "sub").symlink_to(tmp_path / "away")
    assert sorted(measured(root).files) == ["b", "sub"]


def test_names_that_are_no_text_are_measured(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff\n")
    for root in (workspace(tmp_path / "p"), repository(tmp_path / "r", {}).resolve()):
        fill(root, name)
        assert list(measured(root).files) == [name]


def test_what_may_not_be_read_does_not_count() -> None:
    """A worker with the same rights cannot read it either."""
    with open_folder() as folder:
        root = workspace(folder / "r", "a", "secret", "closed/b")
        (root / "secret").chmod(0)
        (root / "closed").chmod(0)

        def look() -> str:
            return str(sorted(glance(root, ["a", "secret", "closed/b"], clock=later()).files))

        said = said_by_nobody(look)
        (root / "closed").chmod(0o700)
    assert said == "['a']"


# ── what is known of a file ───────────────────────────────────────────────────────────


def test_a_file_is_known_by_its_bytes_and_a_link_by_its_text(tmp_path: Path) -> None:
    root = workspace(tmp_path / "r")
    (root / "text").write_bytes(b"target")
    (root / "link").symlink_to("target")
    found = measured(root).files
    assert found["text"].digest == hashlib.sha256(b"target").hexdigest()
    assert found["link"].digest == hashlib.sha256(b"link\0target").hexdigest()


@pytest.mark.parametrize(
    ("data", "binary"),
    [
        (b"text\n", False),
        (b"\xff\xfe", False),
        (b"a" * (limits.BINARY_PROBE_BYTES - 1) + b"\0", True),
        (b"a" * limits.BINARY_PROBE_BYTES + b"\0", False),
    ],
)
def test_a_binary_file_is_one_with_a_nul_near_its_beginning(
    tmp_path: Path, data: bytes, *, binary: bool
) -> None:
    """[T2-12, T2-54]"""
    root = workspace(tmp_path / "r")
    (root / "f").write_bytes(data)
    found = measured(root)
    assert found.files["f"].binary is binary
    assert (found.files["f"].digest in found.texts) is not binary


def test_texts_are_kept_up_to_a_size_each(tmp_path: Path) -> None:
    root = workspace(tmp_path / "r")
    most = limits.TREE_KEPT_FILE_BYTES
    (root / "fits").write_bytes(b"a" * most)
    (root / "larger").write_bytes(b"b" * (most + 1))
    (root / "huge").write_bytes(b"c" * (2 * limits.MIB + 1))
    found = measured(root)
    kept = {name for name, file in found.files.items() if file.digest in found.texts}
    assert kept == {"fits"}
    assert found.files["huge"].digest == hashlib.sha256((root / "huge").read_bytes()).hexdigest()


def test_texts_are_kept_up_to_a_size_in_all(tmp_path: Path) -> None:
    assert Reach().kept_bytes == limits.TREE_KEPT_BYTES
    root = workspace(tmp_path / "r")
    for name in ("a", "b", "c"):
        (root / name).write_text(name * 10)
    (root / "same").write_text("a" * 10)
    for most, kept in ((30, {"a", "b", "c", "same"}), (29, {"a", "b", "same"})):
        found = surveyed(root, reach=Reach(kept_bytes=most))
        assert isinstance(found, Tree)
        assert {name for name, file in found.files.items() if file.digest in found.texts} == kept


# ── measuring again ───────────────────────────────────────────────────────────────────


def test_a_file_whose_stamp_is_the_same_is_not_read_again(tmp_path: Path) -> None:
    """[T2-52]: what was measured is handed on, text and all."""
    root = workspace(tmp_path / "r", "a")
    first = surveyed(root, clock=later())
    assert isinstance(first, Tree)
    second = surveyed(root, clock=later(), previous=first)
    assert isinstance(second, Tree)
    assert second.files["a"] is first.files["a"]
    assert second.texts == first.texts


def test_a_file_whose_stamp_changed_is_read_again(tmp_path: Path) -> None:
    """[T2-52]"""
    root = workspace(tmp_path / "r", "a", "b")
    first = surveyed(root, clock=later())
    assert isinstance(first, Tree)
    assert first.files["a"].settled
    (root / "a").write_text("new")
    second = surveyed(root, clock=later(), previous=first)
    assert isinstance(second, Tree)
    assert second.files["a"].digest == hashlib.sha256(b"new").hexdigest()
    assert second.files["b"] is first.files["b"]


def test_a_file_that_changed_just_now_is_read_again(tmp_path: Path) -> None:
    """Times are coarse: the next change may leave the same stamp."""
    root = workspace(tmp_path / "r", "a")
    first = measured(root)
    assert not first.files["a"].settled
    assert measured(root, previous=first).files["a"] is not first.files["a"]


def test_a_stamp_is_old_enough_after_the_slack(tmp_path: Path) -> None:
    root = workspace(tmp_path / "r", "a")
    changed_ms = (root / "a").lstat().st_ctime_ns / 1_000_000
    for after_ms, settled in ((-1000, False), (1000, True)):
        moment = (changed_ms + limits.TREE_SLACK_MS + after_ms) / 1000
        clock = HandClock(moment=datetime.fromtimestamp(moment, UTC))
        found = surveyed(root, clock=clock)
        assert isinstance(found, Tree)
        assert found.files["a"].settled is settled


def test_an_edit_that_restores_size_and_times_is_seen(tmp_path: Path) -> None:
    """The change time of a file cannot be set back [I16, I198]."""
    root = repository(tmp_path / "r", {"a": "old"}).resolve()
    git(root, "update-index", "--assume-unchanged", "a")
    first = measured(root)
    times = (root / "a").stat()
    (root / "a").write_text("new")
    os.utime(root / "a", ns=(times.st_atime_ns, times.st_mtime_ns))
    second = measured(root, previous=first)
    assert second.files["a"].digest == hashlib.sha256(b"new").hexdigest()


def test_a_change_cannot_be_hidden_by_ignoring_the_file(tmp_path: Path) -> None:
    root = repository(tmp_path / "r", {"a": "1"}).resolve()
    fill(root, "untracked", "kept/b")
    first = measured(root)
    (root / ".gitignore").write_text("untracked\nkept/\nlater\n")
    fill(root, "later", untracked="changed")
    git(root, "rm", "--quiet", "--cached", "a")
    second = measured(root, previous=first)
    assert sorted(second.files) == [".gitignore", "a", "kept/b", "untracked"]
    (root / "untracked").unlink()
    assert "untracked" not in measured(root, previous=second).files


def test_a_repository_that_is_gone_leaves_the_tree_unmeasured(tmp_path: Path) -> None:
    """What was ignored could no longer be told from what was made."""
    root = repository(tmp_path / "r", {"a": "1"}, ignored="*.log\n").resolve()
    first = measured(root)
    shutil.rmtree(root / ".git")
    found = surveyed(root, previous=first)
    assert found == Unmeasured(reason="version control does not answer any more what it ignores")


def test_a_repository_that_was_made_meanwhile_hides_nothing(tmp_path: Path) -> None:
    root = workspace(tmp_path / "r", "a", "x.log")
    first = measured(root)
    repository(root, {"b": "2"}, ignored="*.log\n")
    assert sorted(measured(root, previous=first).files) == [".gitignore", "a", "b", "x.log"]


# ── bounds ────────────────────────────────────────────────────────────────────────────


def test_the_bounds_are_those_of_the_rule() -> None:
    """[T2-53]"""
    assert (limits.TREE_FILES, limits.TREE_SECS) == (50_000, 20)
    assert Reach() == Reach(files=50_000, milliseconds=20_000)


def test_as_many_files_as_allowed_are_measured_and_one_more_is_too_many(tmp_path: Path) -> None:
    """[T2-53]"""
    root = workspace(tmp_path / "r", "a", "b", "c")
    assert isinstance(surveyed(root, reach=Reach(files=3)), Tree)
    assert surveyed(root, reach=Reach(files=2)) == Unmeasured(reason="there are more than 2 files")


class Impatient(HandClock):
    """A clock that goes on by ten milliseconds at each look."""

    def ticks(self) -> int:
        self.turn(10)
        return super().ticks()


def test_measuring_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    """[T2-53]"""
    root = workspace(tmp_path / "r", *(f"{n}" for n in range(20)))
    assert isinstance(surveyed(root, clock=Impatient(), reach=Reach(milliseconds=10_000)), Tree)
    found = surveyed(root, clock=Impatient(), reach=Reach(milliseconds=200))
    assert found == Unmeasured(reason="it takes longer than 0 seconds")


def test_a_file_that_takes_too_long_is_given_up_in_the_middle(tmp_path: Path) -> None:
    root = workspace(tmp_path / "r")
    (root / "huge").write_bytes(b"x" * (30 * limits.MIB))
    found = surveyed(root, clock=Impatient(), reach=Reach(milliseconds=200))
    assert isinstance(found, Unmeasured)


def test_more_entries_than_a_walk_visits_leave_the_tree_unmeasured(
    tmp_path: Path,
) -> None:
    root = workspace(tmp_path / "r", "a", "b", "c")
    assert isinstance(surveyed(root, reach=Reach(entries=3)), Tree)
    found = surveyed(root, reach=Reach(entries=2))
    assert found == Unmeasured(reason="there are more than 2 directory entries")


def test_a_survey_that_is_cancelled_stops_reading(tmp_path: Path) -> None:
    root = workspace(tmp_path / "r", "a")

    class Stopping(HandClock):
        """Cancels the survey from within, as soon as it reads files."""

        def ticks(self) -> int:
            if asks:
                loop.call_soon_threadsafe(asks[0].cancel)
            return 0

    asks: list[asyncio.Task[Tree | Unmeasured]] = []

    async def cancelled() -> None:
        asks.append(asyncio.create_task(survey(root, path_value=PATH, clock=Stopping())))
        with pytest.raises(asyncio.CancelledError):
            await asks[0]

    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(cancelled())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()


# ── named files only ──────────────────────────────────────────────────────────────────


def test_a_glance_measures_the_named_files_only(tmp_path: Path) -> None:
    """[T2-51]"""
    root = workspace(tmp_path / "r", "a", "b", "d/c")
    found = glance(root, ["a", "d/c", "missing", "d", "a"], clock=SystemClock())
    assert sorted(found.files) == ["a", "d/c"]
    assert set(found.texts.values()) == {b"a\n", b"d/c\n"}
