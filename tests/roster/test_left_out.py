"""[A-72, I-51] What a workspace holds that lacks trust is counted, kind by kind, and not opened."""

import os
from pathlib import Path

import pytest

from stella import limits
from stella.roster.left_out import left_out


@pytest.mark.behaviour("A-72.kinds")
def test_each_kind_is_told_once_with_its_number(tmp_path: Path) -> None:
    """[A-70, A-72]"""
    assert left_out(tmp_path) == ()
    for folder, number in (("tools", 1), ("skills", 2), ("rules", 0)):
        (tmp_path / ".stella" / folder).mkdir(parents=True)
        for name in range(number):
            (tmp_path / ".stella" / folder / str(name)).touch()
    os.mkfifo(tmp_path / ".stella/mcp.toml")
    (tmp_path / "AGENTS.md").symlink_to("/none")
    assert left_out(tmp_path) == (
        f"{tmp_path}/.stella/tools: 1 item left out",
        f"{tmp_path}/.stella/skills: 2 items left out",
        f"{tmp_path}/.stella/mcp.toml: left out",
        f"{tmp_path}/AGENTS.md: left out",
    )


def test_what_is_no_folder_is_told_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / ".stella").mkdir()
    (tmp_path / ".stella/tools").symlink_to("/")
    (tmp_path / ".stella/rules").touch()
    assert left_out(tmp_path) == (
        f"{tmp_path}/.stella/tools: what is no directory left out",
        f"{tmp_path}/.stella/rules: what is no directory left out",
    )


def test_counting_ends(tmp_path: Path) -> None:
    """limits.TRUST_FILES, at the limit and one past it."""
    tools = tmp_path / ".stella/tools"
    tools.mkdir(parents=True)
    for name in range(limits.TRUST_FILES):
        (tools / str(name)).touch()
    assert left_out(tmp_path) == (f"{tools}: {limits.TRUST_FILES} items left out",)
    (tools / "more").touch()
    assert left_out(tmp_path) == (f"{tools}: more than {limits.TRUST_FILES} items left out",)
