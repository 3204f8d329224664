"""Plugins that only say something: each saying has one outcome and one line, at both points."""

import re
from pathlib import Path

import pytest

from stella.wire.points import Point
from tests.making.zoo import cage
from tests.zoo.sayings import SAYINGS
from tests.zoo.sayings import cases
from tests.zoo.sayings import fault_of
from tests.zoo.sayings import seen

SPEAKS = ("sh", "-c", "exec cat words")


@pytest.mark.behaviour("E118", "W-50", "W-51", "W-54", "T-14", "T-15", "T-17")
@pytest.mark.parametrize(
    ("point", "name"), cases(), ids=lambda part: part.value if isinstance(part, Point) else part
)
def test_a_saying_has_its_one_line_and_decides_nothing(
    tmp_path: Path, point: Point, name: str
) -> None:
    """[W-50, W-51, W-54, D-29, D-77]"""
    words, line = SAYINGS[point][name]
    visit = cage(tmp_path, SPEAKS, point, {"words": words}).visit()
    visit.untouched(fault_of(line))
    pattern = seen(line, point)
    if pattern is None:
        assert visit.line is None
        assert visit.used
    else:
        assert re.match(pattern, visit.line or ""), visit.line
