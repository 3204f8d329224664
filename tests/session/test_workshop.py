"""What agents share, and what each one is given."""

from dataclasses import replace
from pathlib import Path

import pytest

from stella.authority.gate import Mode
from stella.clock import SystemClock
from stella.providers.all import open_model
from stella.session.facts import SystemPrompt
from stella.session.facts import ToolsOffered
from stella.session.steered import Steered
from stella.session.workshop import Workshop
from stella.session.workshop import side_by_side
from stella.session.workshop import tools_digest
from stella.tools.all import TOOLS
from tests.making.records import governed
from tests.making.records import guarded
from tests.making.sessions import Line
from tests.making.sessions import project
from tests.making.sessions import script
from tests.session.test_telling import telling


def workshop(folder: Path, *replies: Line) -> Workshop:
    """The means of a session whose worker and planner are two scripts."""
    clock = SystemClock()
    folder.mkdir(parents=True, exist_ok=True)
    worker = open_model(f"script:{script(folder / 'worker.jsonl', *replies)}", clock=clock)
    planner = open_model(f"script:{script(folder / 'planner.jsonl')}", clock=clock)
    return Workshop(
        telling=telling(folder / "told"),
        clock=clock,
        model=worker,
        models={"plan": planner},
        mode=Mode.WORKSPACE,
        environment={"PATH": "/usr/bin:/bin"},
        path_value="/usr/bin:/bin",
        umask=0o077,
    )


def test_an_agent_is_introduced_with_its_own_root_model_and_tools(tmp_path: Path) -> None:
    """[E-130, E-131, J2-40]"""
    shop = workshop(tmp_path)
    root = project(tmp_path / "copy")
    reading = tuple(tool for tool in TOOLS if tool.contract.trusted_read_only)
    with shop.hands(root, reading, "plugin:a/planner#1") as hands:
        text = shop.introduce(hands, seat="plan", agent="t1.a1", more="You are a child.")
        assert side_by_side(hands) == {tool.contract.name for tool in reading}
        assert len(tools_digest(hands)) == 64
    assert f"workspace root: {root}" in text
    assert "planner.jsonl" in text
    assert text.endswith("\n\nYou are a child.")
    prompt, offered = shop.telling.every
    assert isinstance(prompt, SystemPrompt)
    assert [part.name for part in prompt.parts] == ["base", "environment", "agent"]
    assert isinstance(offered, ToolsOffered)
    assert offered.agent == "t1.a1"
    assert shop.telling.told == []


def test_the_lead_is_told_no_more_than_base_and_environment(tmp_path: Path) -> None:
    """[E-130]"""
    shop = workshop(tmp_path)
    with shop.hands(project(tmp_path / "work"), TOOLS, "user") as hands:
        text = shop.introduce(hands, seat="worker")
    assert "worker.jsonl" in text
    assert text.splitlines()[-1].startswith("model: ")
    offered = shop.telling.told[1]
    assert isinstance(offered, ToolsOffered)
    assert offered.agent is None


def test_hands_are_not_given_in_a_root_that_leads_elsewhere_by_now(tmp_path: Path) -> None:
    """[D-54] A worker may have put a link in the place of another one's copy."""
    shop = workshop(tmp_path)
    root = project(tmp_path / "copy")
    root.rename(tmp_path / "moved")
    root.symlink_to(tmp_path / "moved")
    with (
        pytest.raises(NotADirectoryError, match="another directory"),
        shop.hands(root, TOOLS, "plugin:a/builder#1"),
    ):
        pass


def test_the_texts_of_a_session_stand_in_the_prefix_of_every_agent(tmp_path: Path) -> None:
    """[E-130] The parts are told with their lengths; guards come with the hands."""
    table = guarded()
    said = Steered(
        agents="## AGENTS.md\n\na", pinned="## R", governed=governed([table], approved=[table])
    )
    shop = replace(workshop(tmp_path), steered=said)
    with shop.hands(project(tmp_path / "work"), TOOLS, "user") as hands:
        text = shop.introduce(hands, seat="worker", context="c")
        assert [guard.lineage for guard in hands.guards] == ["one"]
    assert text.endswith("\n\n## AGENTS.md\n\na\n\n## R\n\n## Session context\n\nc")
    prompt = shop.telling.told[0]
    assert isinstance(prompt, SystemPrompt)
    assert [part.name for part in prompt.parts] == [
        "base",
        "environment",
        "agents",
        "records",
        "session_context",
    ]
