"""Three plugins of one run: a search, a plan, and `verify`, which judges."""

import json
from pathlib import Path

import pytest

from tests.making.ends import granted
from tests.making.ends import place
from tests.making.ends import says
from tests.making.ends import works
from tests.making.examples import EXAMPLES
from tests.making.examples import context
from tests.making.examples import played
from tests.making.examples import served
from tests.making.shipped import PLUGIN


@pytest.mark.behaviour("D-38")
def test_recall_and_plan_help_the_turn_that_verify_judges(tmp_path: Path) -> None:
    """[D-34, D-37, D-38, D-39] Stages stand in one order, whatever the order of selection."""
    where = place(tmp_path)
    (where.root / "notes.md").write_text("# Go\n\nThe answer to go is a number.\n")
    where.install(EXAMPLES / "steering-plan", EXAMPLES / "steering-recall", PLUGIN)
    planner = tmp_path / "planner.jsonl"
    planner.write_text(json.dumps(says("1. Write the number.")) + "\n")
    where.scripted(works("41\n"), says("There."), works("42\n"), says("Now."))
    names = "steering-plan,steering-recall,verify"
    result = played(where, *granted(names), "--tier", f"plan=script:{planner}")
    assert (result["status"], result["rounds"], result["pipeline"]) == ("met", 2, names)
    assert result["faults"] == []
    asked = [
        (told["plugin"], told["point"], told["stage"], told["round"])
        for told in where.told("plugin_exchange")
    ]
    rounds = [[each for each in asked if each[3] == number] for number in (0, 1)]
    assert len(rounds[0]) == len(rounds[1]) == 3
    before = [(plugin, stage) for plugin, _, stage, _ in rounds[0][:2]]
    assert before == [("steering-recall", "recall"), ("steering-plan", "plan")]
    (bound,) = where.told("pipeline_bound")
    assert bound["variant"] == names
    assert rounds[0][2][:2] == ("verify", "after_turn")
    assert served(where) == [("recall", "ok"), ("child_turn", "ok"), ("recall", "ok")]
    headings = [text.split("\n")[0] for text in context(where)]
    assert headings == ["## from this workspace", "## a plan", "## from this workspace"]
