"""[S2-4, I-40] Where a command stands, and what it says of what it could not read."""

from dataclasses import replace
from pathlib import Path

import pytest

from stella.cli.here import looked_at
from stella.cli.here import refuse_session
from stella.cli.here import standing_in
from stella.cli.here import switched_off
from stella.errors import RosterError
from stella.roster.plugin import State
from stella.roster.switch import Off
from stella.roster.trust import By
from stella.roster.trust import Trust
from stella.settings.ambient import surrounding
from stella.settings.load import Settings
from tests.making.commands import shell
from tests.making.content import put
from tests.making.content import tool
from tests.making.packages import notes


def test_a_command_that_reads_sees_what_the_next_session_will(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[I-40, I-43, S2-4]"""
    with shell(tmp_path, capsys, {"STELLA_TRUST_PROJECT": "1"}) as place:
        notes(place.root / ".stella/plugins/a", "a")
        notes(place.root / ".stella/plugins/b", "b")
        (place.root / "stella.toml").write_text('[plugins]\nb = "off"\n')
        place.home.mkdir()
        (place.home / "stella.toml").write_text("[modle]\n")
        here = looked_at(None)
        assert (here.where.workspace, here.trust.by) == (place.root, By.VARIABLE)
        roster = here.roster()
        assert {each.name: each.state for each in roster.every} == {
            "a": State.OK,
            "b": State.OFF,
        }
        here.tell()
        first, second, *others = capsys.readouterr().err.splitlines()
        assert first.startswith("notice  STELLA_TRUST_PROJECT trusts every workspace")
        assert second.endswith("did you mean model?; this file is left out")
        assert others == []
        assert standing_in(str(place.root))[1] == here.where


def test_content_is_read_by_trust_and_what_no_list_shows_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[P-14, P-67, A-72]"""
    with shell(tmp_path, capsys) as here:
        tool(here.root / ".stella", "theirs")
        tool(here.home, "mine", 'color = "red"\n')
        for bad in ("tools/bad.toml", "skills/bad/SKILL.md", "rules/bad.toml"):
            put(here.home / bad, "= \n")
        place = looked_at(None)
        found = place.content(place.roster())
        told = capsys.readouterr().err.splitlines()
        assert ([len(found.user.tools), len(found.workspace.tools)]) == [1, 0]
        assert len(told) == 3
        assert told[0].startswith(f"notice  {here.root}: .stella/tools: 1 item left out; because")
        assert told[1].startswith(f"notice  {here.home}/rules/bad.toml: ")
        assert told[2].startswith(f"notice  {here.home}/tools/mine.toml: the key ")
        trusted = replace(place, trust=Trust(by=By.VARIABLE))
        assert len(trusted.content(place.roster()).workspace.tools) == 1
        assert "not trusted" not in capsys.readouterr().err


def test_what_is_off_is_so_with_the_say_of_a_trusted_project() -> None:
    """[I-43]"""
    settings = Settings(off=frozenset("a"), project_off=frozenset("b"))
    assert switched_off(settings, Trust(by=By.RECORD)) == Off(
        person=frozenset("a"), project=frozenset("b"), trusted=True
    )
    assert not switched_off(settings, Trust()).trusted


def test_a_tool_call_of_a_session_cannot_say_yes_for_a_person() -> None:
    """[I-9]"""
    env = {"HOME": "/nowhere"}
    refuse_session(surrounding(env, Path("/")))
    with pytest.raises(RosterError, match="a running session cannot change what a person"):
        refuse_session(surrounding({**env, "STELLA_SESSION_ID": "ses-1"}, Path("/")))
