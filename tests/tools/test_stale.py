"""What dead sessions left is removed, what living ones write and all else is not."""

import asyncio
import inspect
from collections.abc import Callable
from pathlib import Path

from stella import limits
from stella.files.write import TEMPORARY
from stella.tools.batch import KEPT
from stella.tools.paths import held_root
from stella.tools.stale import swept
from tests.making.hands import SESSION
from tests.making.hands import hands
from tests.making.hands import picture

DEAD = "ses-20250101T000000Z-zzzzzzzz"
OWN = f"{TEMPORARY}{DEAD}-abcdefghijkl.1"


def sweep(
    root: Path, alive: Callable[[str], bool] = lambda _: False, most: int = limits.TREE_ENTRIES
) -> list[str]:
    with held_root(str(root)) as held:
        return list(asyncio.run(swept(held, alive, most=most)))


def furnish(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()


def test_what_dead_sessions_left_is_removed_at_any_depth(tmp_path: Path) -> None:
    """T2-35."""
    furnish(tmp_path, OWN, f"a/b/{OWN}", "a/file")
    assert sweep(tmp_path) == [OWN, f"a/b/{OWN}"]
    assert sorted(picture(tmp_path)) == ["a", "a/b", "a/file"]


def test_what_a_living_session_writes_stays(tmp_path: Path) -> None:
    """T2-35."""
    furnish(tmp_path, OWN, f"{TEMPORARY}{SESSION}-abc.1")
    asked: list[str] = []

    def alive(session: str) -> bool:
        asked.append(session)
        return session == SESSION

    assert sweep(tmp_path, alive) == [OWN]
    assert sorted(asked) == [DEAD, SESSION]


def test_the_names_the_tools_make_are_the_ones_that_are_swept(tmp_path: Path) -> None:
    with hands(tmp_path) as own:
        furnish(tmp_path, f"{TEMPORARY}{own.context.token()}.1")
        assert sweep(tmp_path, lambda session: session == SESSION) == []
        assert len(sweep(tmp_path, lambda session: session != SESSION)) == 1


def test_all_else_stays(tmp_path: Path) -> None:
    """What is kept for a person, what has no session, directories, and version control's own."""
    furnish(
        tmp_path,
        *(f"{KEPT}{DEAD}-abc.1", TEMPORARY, f"{TEMPORARY}x", f"{TEMPORARY}-x", f"x{OWN}"),
        *(f"{TEMPORARY}{DEAD}-", f".git/{OWN}", f".stella/private/{OWN}"),
    )
    (tmp_path / f"{OWN}2").mkdir()
    before = picture(tmp_path)
    assert sweep(tmp_path) == []
    assert picture(tmp_path) == before


def test_no_link_is_followed_and_one_that_was_kept_is_removed_itself(tmp_path: Path) -> None:
    root, outside = tmp_path / "ws", tmp_path / "outside"
    root.mkdir()
    furnish(outside, OWN)
    (root / "out").symlink_to(outside)
    (root / OWN).symlink_to(outside / OWN)
    assert sweep(root) == [OWN]
    assert (outside / OWN).exists()


def test_only_so_many_entries_are_looked_at(tmp_path: Path) -> None:
    furnish(tmp_path, "a/x", "a/y", f"a/b/{OWN}")
    assert sweep(tmp_path, most=1) == []
    assert sweep(tmp_path, most=5) == [f"a/b/{OWN}"]
    assert inspect.signature(swept).parameters["most"].default == limits.TREE_ENTRIES
