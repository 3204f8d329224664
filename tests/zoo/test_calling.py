"""Plugins that make host calls, odd or hostile, in a run of this process.

What becomes of each is one line or nothing, every refusal is kept, and no candidate stays.
"""

import re
from pathlib import Path

import pytest

from stella.wire.points import Point
from tests.making.zoo import WORK
from tests.zoo.calling import CALLERS
from tests.zoo.leaks import candidates
from tests.zoo.sayings import fault_of
from tests.zoo.sayings import seen

CLEAN = {"worktrees": 1, "branches": 1, "candidates": 0, "registrations": 0, "stages": 0}


@pytest.mark.behaviour("W-50", "T-14")
@pytest.mark.parametrize(
    ("name", "point"),
    [(name, point) for name, caller in CALLERS.items() for point in caller.points],
    ids=lambda part: part.value if isinstance(part, Point) else part,
)
def test_a_caller_has_its_one_line_its_refusals_and_decides_nothing(
    tmp_path: Path, name: str, point: Point
) -> None:
    """[D-48, D-49, D-85, T-18 to T-23, W-30 to W-37, W-50, W-54]"""
    caller = CALLERS[name]
    visit = caller.caged(tmp_path, point).visit(turns=caller.turns, test=caller.test)
    visit.untouched(fault_of(caller.line))
    pattern = seen(caller.line, point)
    assert (visit.line is None) == (pattern is None), visit.line
    assert re.match(pattern or "", visit.line or ""), visit.line
    assert visit.used == (caller.line is None)
    refused = [each.refusal for each in visit.served]
    words = "".join(f"{'ok' if it is None else it.refusal.value} " for it in refused)
    assert re.fullmatch(caller.got, words), words
    details = [it.detail for it in refused if it is not None]
    for part, detail in zip(caller.said, details, strict=False):
        assert part in detail
    assert len(caller.said) <= len(details)
    if caller.tracked:
        assert candidates(visit.root) == CLEAN


def test_what_a_caller_adopted_stands_whatever_it_said_then(tmp_path: Path) -> None:
    """[D-57, W-50] And what it did not adopt is nowhere."""
    caller = CALLERS["adopts one and says nonsense"]
    visit = caller.caged(tmp_path, Point.AFTER_TURN).visit(turns=caller.turns)
    assert (visit.root / "two.txt").read_text("utf-8") == "an attempt\n"
    assert not (visit.root / "one.txt").exists()
    assert (visit.root / "answer.txt").read_text("utf-8") == WORK
