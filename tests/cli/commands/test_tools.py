"""`stella tools` as a person uses it."""

import json
from pathlib import Path

import pytest

from tests.making.commands import shell
from tests.making.content import put
from tests.making.content import tool
from tests.making.packages import seen


def test_every_tool_is_listed_and_nothing_is_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """T2-61, P-67: of an untrusted workspace nothing is read, and a notice says so."""
    with shell(tmp_path, capsys) as here:
        tool(here.home, "own_tool")
        put(here.root / ".stella" / "tools" / "bad.toml", "= \n")
        before = seen(tmp_path)
        said = here.stella("tools", "list")
        assert said.code == 0
        assert "own_tool  user  may change things, high risk  on\n" in said.out
        assert "bad.toml" not in said.out
        assert said.err.startswith("notice  ")
        assert "`stella trust`" in said.err
        rows = json.loads(here.stella("tools", "list", "--json").out)
        assert rows[-1]["name"] == "own_tool"
        assert rows[-1]["file"] == f"{here.home}/tools/own_tool.toml"
        assert seen(tmp_path) == before


def test_faults_end_a_validation_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """T2-61."""
    with shell(tmp_path, capsys) as here:
        nothing = here.stella("tools", "validate")
        assert (nothing.code, nothing.out) == (0, "")
        assert nothing.err == "there are no tool files here\n"
        tool(here.home, "own_tool")
        tool(here.root / "mine", "mine")
        sound = here.stella("tools", "validate")
        assert (sound.code, sound.out) == (0, f"{here.home}: 1 sound tool file, 0 faults\n")
        put(here.root / ".stella" / "tools" / "bad.toml", "= \n")
        faulty = here.stella("tools", "validate")
        assert faulty.code == 1
        assert f"{here.root}/.stella/tools/bad.toml: the file is not TOML" in faulty.out
        assert f"{here.home}: 1 sound tool file, 0 faults\n" in faulty.out
        assert here.stella("tools", "validate", "mine").code == 0
        gone = here.stella("tools", "validate", "gone")
        assert gone.code == 1
        assert "No such file" in gone.err
