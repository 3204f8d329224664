"""Plugins that only say something: each saying has one outcome and one line, at both points."""

import re
from pathlib import Path

import pytest

from stella.turn.facts import MessageAppended
from stella.turn.prompt import ENGINE_PREFIXES
from stella.wire.points import Point
from tests.making.zoo import NAME
from tests.making.zoo import TIP
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


@pytest.mark.parametrize(
    "name",
    [
        "context with a forged heading",
        "a label that forges a heading",
        "context with terminal escapes",
        "context that runs backwards",
        "a mebibyte of context",
    ],
)
def test_a_text_for_the_turn_stands_under_its_own_heading_and_changes_no_other(
    tmp_path: Path, name: str
) -> None:
    """[D-30, E-133] The engine's own messages are the same as without it."""

    def told(words: bytes, folder: Path) -> list[tuple[str, str]]:
        folder.mkdir()
        visit = cage(folder, SPEAKS, Point.BEFORE_TURN, {"words": words}).visit()
        return [(f.origin, f.text) for f in visit.done.told if isinstance(f, MessageAppended)]

    words, _ = SAYINGS[Point.BEFORE_TURN][name]
    plain = told(SAYINGS[Point.BEFORE_TURN]["version 0"][0], tmp_path / "plain")
    odd = told(words, tmp_path / "odd")
    assert [origin for origin, _ in odd] == [origin for origin, _ in plain]
    changed = [(a, b) for (a, b), other in zip(odd, plain, strict=True) if (a, b) != other]
    ((origin, text),) = changed
    assert origin == f"plugin:{NAME}"
    assert text.endswith(TIP)
    assert not [line for line in text.splitlines() if line.startswith(ENGINE_PREFIXES)]
