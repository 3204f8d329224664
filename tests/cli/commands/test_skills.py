"""`stella skills` as a person uses it."""

import json
from pathlib import Path

import pytest

from tests.making.commands import shell
from tests.making.content import put
from tests.making.content import skill
from tests.making.packages import seen


def test_every_skill_is_listed_and_nothing_is_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[P-33, P-67] Of an untrusted workspace nothing is read, and a notice says so."""
    with shell(tmp_path, capsys) as here:
        file = skill(here.home, "mine")
        bad = put(here.home / "skills" / "bad" / "SKILL.md", "nothing")
        skill(here.root / ".stella", "theirs")
        before = seen(tmp_path)
        said = here.stella("skills", "list")
        assert said.code == 0
        assert said.out.startswith(f"mine  user  on\n  Fixes.\n  {file}\n")
        assert f"(no skill)  user  faulty\n  {bad}\n  faulty: expected frontmatter" in said.out
        assert "theirs" not in said.out
        assert "`stella trust`" in said.err
        rows = json.loads(here.stella("skills", "list", "--json").out)
        assert [(row["name"], row["state"]) for row in rows] == [("mine", "on"), (None, "faulty")]
        assert seen(tmp_path) == before
