"""[D-51, K-46] A goal is looked up in notes and in the text of a real workspace."""

import asyncio
import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stella import limits
from stella.clock import SystemClock
from stella.context.gather import Bounds
from stella.context.recall import Recall
from stella.context.recall import Unbuilt
from stella.wire.host_result import Frame
from stella.wire.host_result import HostResult
from stella.wire.host_result import RecallOk
from stella.wire.host_result import write_result
from tests.making.child import open_folder
from tests.making.child import said_by_nobody
from tests.making.child import start
from tests.making.repositories import PATH
from tests.making.repositories import repository
from tests.making.workspaces import fill

HOSTILE = (
    'a" OR "b NEAR(',
    "\0whale\0",
    "whale\ud800",
    "* ^ : - + ( )",
    "x" * limits.MIB,
    "é" * limits.MIB,
    "'; DROP TABLE passages; --",
)


def recall(root: Path, **more: Any) -> Recall:
    given: dict[str, Any] = {
        "root": root,
        "home": root.parent / "home",
        "directory": root / ".stella/private/recall",
        "path_value": PATH,
        "clock": SystemClock(),
    }
    return Recall(**(given | more))


def found(searching: Recall, goal: str = "whale", limit: int | None = None) -> tuple[Frame, ...]:
    frames = asyncio.run(searching.search(goal, limit))
    assert isinstance(frames, tuple), frames
    return frames


def unbuilt(searching: Recall) -> str:
    answer = asyncio.run(searching.search("whale"))
    assert isinstance(answer, Unbuilt)
    return answer.reason


def index_of(root: Path) -> Path:
    return root / ".stella/private/recall/index.db"


def place(folder: Path, **texts: str) -> Path:
    fill(folder / "w", **texts)
    return folder / "w"


@pytest.mark.behaviour("K-46", "D-51")
def test_at_most_eight_passages_are_returned_and_nothing_found_is_an_empty_object(
    tmp_path: Path,
) -> None:
    """[D-45, D-51, W-33]"""
    root = place(tmp_path, **{f"f{number:02}_txt": "the whale" for number in range(20)})
    names = [f"f{number:02}.txt" for number in range(20)]
    for limit in (1000, None, 0, limits.RECALL_FRAMES, limits.RECALL_FRAMES + 1):
        frames = found(recall(root), limit=limit)
        assert [frame.uri for frame in frames] == names[: limits.RECALL_FRAMES]
    assert [frame.uri for frame in found(recall(root), limit=3)] == names[:3]
    nothing = found(recall(root), "shark", 1000)
    outcome = RecallOk(frames=nothing)
    assert write_result(HostResult(id=1, outcome=outcome)) == b'{"result":1,"ok":{}}\n'


@pytest.mark.behaviour("D-51.sources")
def test_notes_and_what_version_control_does_not_ignore_are_searched(tmp_path: Path) -> None:
    """[D-51]"""
    root = repository(tmp_path / "w", {"src/a.py": "whale = 1\n"}, ignored="*.log\n")
    fill(root, x_log="whale", new_txt="whale")
    fill(root, ".stella/private/x.txt", ".env")
    (root / ".stella/private/x.txt").write_text("whale")
    (root / ".stella/private").chmod(0o700)
    (root / ".env").write_text("WHALE=1")
    (root / "link.txt").symlink_to("/etc/passwd")
    fill(tmp_path / "home", memory__mine_md="# Mine\nwhale\n")
    (root / ".stella/memory").mkdir()
    (root / ".stella/memory/theirs.md").write_text("# Theirs\nwhale\n")
    rows = {(f.kind, f.source, f.uri, f.label) for f in found(recall(root))}
    ours = {
        ("memory", "notes", None, "Mine"),
        ("file", "workspace", "new.txt", "new.txt:1-1"),
        ("file", "workspace", "src/a.py", "src/a.py:1-1"),
    }
    assert rows == ours
    trusting = {(f.kind, f.source, f.uri, f.label) for f in found(recall(root, trusted=True))}
    assert trusting == ours | {("memory", "notes", ".stella/memory/theirs.md", "Theirs")}
    assert {(f.kind, f.source, f.uri, f.label) for f in found(recall(root))} == ours


def test_a_search_follows_the_files(tmp_path: Path) -> None:
    root = place(tmp_path, a_txt="whale", b_txt="whale")
    searching = recall(root)
    assert [f.uri for f in found(searching)] == ["a.txt", "b.txt"]
    (root / "a.txt").write_text("shark")
    (root / "b.txt").unlink()
    (root / "c.txt").write_text("whales")
    assert [f.uri for f in found(searching)] == ["c.txt"]


@pytest.mark.parametrize("goal", ["", " \n", "?!", "\0", "\ud800"])
def test_a_goal_without_a_word_finds_nothing_and_builds_nothing(tmp_path: Path, goal: str) -> None:
    root = place(tmp_path, a_txt="whale")
    assert found(recall(root), goal) == ()
    assert not (root / ".stella").exists()


@pytest.mark.parametrize("goal", HOSTILE, ids=range(len(HOSTILE)))
def test_no_goal_breaks_the_search(tmp_path: Path, goal: str) -> None:
    root = place(tmp_path, a_txt="whale", b_sql="'); DROP TABLE files; --")
    assert isinstance(found(recall(root), goal), tuple)
    assert [f.uri for f in found(recall(root))] == ["a.txt"]


def test_a_pipe_and_a_name_that_is_no_text_are_passed_over(tmp_path: Path) -> None:
    root = place(tmp_path, a_txt="whale")
    os.mkfifo(root / "pipe")
    (root / os.fsdecode(b"\xff.txt")).write_text("whale")
    assert [f.uri for f in found(recall(root))] == ["a.txt"]


@pytest.mark.behaviour("D-51.damaged")
@pytest.mark.parametrize("damage", ["garbage", "cut", "emptied", "pages", "tables"])
def test_a_damaged_index_is_built_anew(tmp_path: Path, damage: str) -> None:
    """[D-51]"""
    root = place(tmp_path, **{f"f{number:02}_txt": f"whale {number}" for number in range(20)})
    before = found(recall(root))
    path = index_of(root)
    data = path.read_bytes()
    match damage:
        case "garbage":
            path.write_bytes(b"garbage" * 1000)
        case "cut":
            path.write_bytes(data[: len(data) // 2])
        case "emptied":
            path.write_bytes(b"")
        case "pages":
            path.write_bytes(data[:1024] + b"\xa5" * (len(data) - 1024))
        case _:
            with closing(sqlite3.connect(path)) as other:
                other.execute("DROP TABLE passages")
                other.commit()
    (root / "f00.txt").touch()
    assert found(recall(root)) == before
    assert path.stat().st_mode == 0o100600


def test_an_index_that_cannot_be_built_says_why(tmp_path: Path) -> None:
    """[D-51]"""
    root = place(tmp_path, a_txt="whale", b_txt="whale")
    assert unbuilt(recall(root, bounds=Bounds(files=1))) == "the workspace has more than 1 files"
    assert unbuilt(recall(root, bounds=Bounds(bytes=9))) == "the text files hold more than 9 bytes"
    index_of(root).unlink()
    index_of(root).mkdir()
    where = "the index in .stella/private/recall"
    assert unbuilt(recall(root)) == f"{where}: Is a directory"
    index_of(root).parent.chmod(0o755)
    assert unbuilt(recall(root)) == f"{where}: expected mode 0700, got 0755, which lets others in"
    gone = replace(recall(root), root=root / "none", directory=root / "none/x")
    assert unbuilt(gone) == "the index in x: No such file or directory"


def test_an_index_that_another_program_keeps_is_no_damage(tmp_path: Path) -> None:
    root = place(tmp_path, a_txt="whale")
    found(recall(root))
    (root / "a.txt").write_text("whale whale")
    before = index_of(root).stat().st_ino
    with closing(sqlite3.connect(index_of(root))) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert unbuilt(recall(root)).endswith("database is locked")
    assert index_of(root).stat().st_ino == before
    assert len(found(recall(root))) == 1


def test_a_workspace_that_cannot_be_written_has_no_index() -> None:
    with open_folder() as folder:
        fill(folder, a_txt="whale")
        folder.chmod(0o555)
        assert said_by_nobody(lambda: unbuilt(recall(folder))).endswith("Permission denied")


@pytest.mark.behaviour("D-51.shared")
def test_sessions_share_an_index(tmp_path: Path) -> None:
    """[D-51] two of one process and one of another, while files change."""
    root = place(tmp_path, **{f"f{number:03}_txt": "whale" for number in range(300)})
    told = tmp_path / "told"

    async def both() -> list[int]:
        counts: list[int] = []
        for number in range(10):
            (root / f"f{number:03}.txt").write_text(f"whale {number}")
            one, two = recall(root), recall(root)
            answers = await asyncio.gather(one.search("whale"), two.search("whale"))
            counts += [len(answer) for answer in answers if isinstance(answer, tuple)]
        return counts

    def search() -> None:
        told.write_text(str([len(found(recall(root))) for _ in range(10)]))

    other = start(search)
    assert asyncio.run(both()) == [8] * 20
    os.waitpid(other, 0)
    assert told.read_text() == str([8] * 10)


@pytest.mark.behaviour("D-51.cancel")
def test_a_cancelled_search_leaves_an_index_that_works(tmp_path: Path) -> None:
    """[D-51] at whatever step it is given up."""
    root = place(tmp_path, **{f"f{number:03}_txt": f"whale {number}" for number in range(600)})

    async def given_up(turns: int) -> bool:
        task = asyncio.ensure_future(recall(root).search("whale"))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait((task,))
        return task.cancelled()

    assert all(asyncio.run(given_up(turns)) for turns in (0, 1, 2, 3, 5, 8, 50))
    assert len(found(recall(root))) == 8


def test_the_loop_goes_on_while_a_search_works(tmp_path: Path) -> None:
    root = place(tmp_path, **{f"f{number:03}_txt": "whale" for number in range(300)})

    async def turned() -> int:
        task = asyncio.ensure_future(recall(root).search("whale"))
        turns = 0
        while not task.done():
            await asyncio.sleep(0)
            turns += 1
        return turns

    assert asyncio.run(turned()) > 20
