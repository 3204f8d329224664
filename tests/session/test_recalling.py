"""What a plugin finds in the workspace and in the person's notes."""

from pathlib import Path

import pytest

from tests.making.asking import asked
from tests.making.sessions import project
from tests.making.sessions import says


@pytest.mark.behaviour("D-51")
def test_notes_and_files_are_found_and_nothing_is_an_empty_object(tmp_path: Path) -> None:
    """[D-51, W-33]"""
    root = project(tmp_path / "work")
    (root / "week.py").write_text("def parse(text):\n    return text  # weeks begin on Monday\n")
    notes = tmp_path / "home" / "memory"
    notes.mkdir(parents=True)
    (notes / "dates.md").write_text("# Dates\n\nWeeks begin on Monday here.\n")
    program = """
ask("recall", goal="weeks monday", limit=8)
ask("recall", goal="zep" + "pelin")
answer()
"""
    played = asked(tmp_path, program, says("done"), root=root)
    first, second = played.calls
    frames = (first.ok or {})["frames"]
    assert {(f["kind"], f["source"], f.get("uri")) for f in frames} >= {
        ("memory", "notes", None),
        ("file", "workspace", "week.py"),
    }
    assert second.ok == {}


def test_an_index_that_cannot_be_built_is_unavailable(tmp_path: Path) -> None:
    """[D-51]"""
    root = project(tmp_path / "work")
    private = root / ".stella" / "private"
    private.mkdir(parents=True)
    private.chmod(0o700)
    (private / "recall").write_text("in the way")
    played = asked(tmp_path, 'ask("recall", goal="x")\nanswer()\n', says("done"), root=root)
    (call,) = played.calls
    assert call.refusal is not None
    assert call.refusal.refusal.value == "unavailable"
    assert ".stella/private/recall" in call.refusal.detail
