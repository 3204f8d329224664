"""What the demo checks of its story: one that did not come true is not told as one [S-47]."""

import os
import shutil
from pathlib import Path

import pytest

from stella.cli.demo import Stage
from stella.cli.demo import checked
from stella.cli.demo import set_up
from stella.cli.demo import try_test
from stella.errors import UsageError
from tests.making.sessions import finished
from tests.making.sessions import says
from tests.making.sessions import script


def staged(tmp_path: Path) -> tuple[Stage, list[str]]:
    said: list[str] = []
    stage = Stage(directory=tmp_path, env=dict(os.environ))
    set_up(stage, said.append)
    return stage, said


def test_the_story_as_shipped_comes_true(tmp_path: Path) -> None:
    stage, said = staged(tmp_path)
    assert "  FAILED (errors=2)" in said
    assert not try_test(stage, said.append)
    assert checked(finished(stage.options()), stage.workspace) == ()
    assert try_test(stage, said.append)
    assert said[-1] == "  OK"


def test_another_story_is_not_called_this_one(tmp_path: Path) -> None:
    stage, _ = staged(tmp_path)
    told = stage.options()
    replies = script(tmp_path / "m", says("done"))
    other = type(told)(
        **{name: getattr(told, name) for name in told.__dataclass_fields__ if name != "model"},
        model=f"script:{replies}",
    )
    wrong = checked(finished(other), stage.workspace)
    assert "the second round met" in wrong
    assert "the run met" in wrong
    assert "a journal that verifies" not in wrong


def test_without_a_python3_the_demo_says_what_it_needs(tmp_path: Path) -> None:
    empty = tmp_path / "bin"
    empty.mkdir()
    stage = Stage(directory=tmp_path / "demo", env={"PATH": str(empty)})
    stage.directory.mkdir()
    with pytest.raises(UsageError, match="python3"):
        set_up(stage, lambda _line: None)
    shutil.rmtree(stage.directory)
