"""A plugin is switched off and on in a settings file that stays as it is otherwise [I-65]."""

from pathlib import Path

import pytest

from stella.errors import NotInstalled
from stella.errors import RosterError
from stella.roster.scope import Scope
from stella.roster.switching import disable
from stella.roster.switching import enable
from stella.roster.switching import offs
from tests.making.clocks import HandClock
from tests.making.packages import notes
from tests.making.packages import put
from tests.making.packages import settled


@pytest.mark.parametrize("scope", Scope)
@pytest.mark.parametrize(
    "text", [None, "# mine\n[ui]\nlive = true\n", "[plugins]\nother = 'off'\n"]
)
@pytest.mark.behaviour("I-65")
def test_off_is_written_and_taken_back_byte_for_byte(
    tmp_path: Path, scope: Scope, text: str | None
) -> None:
    """I-65, K-166."""
    here = settled(tmp_path)
    put(notes(tmp_path / "source"), here)
    path = here.tier(scope).settings_path
    if text is not None:
        path.write_text(text, "utf-8")
    done = disable("notes", here, scope, HandClock())
    assert (done.path, done.written) == (path, True)
    assert path.read_text("utf-8").endswith('notes = "off"\n')
    assert offs("notes", here) == (path,)
    assert not disable("notes", here, scope, HandClock()).written
    back = enable("notes", here, scope, HandClock())
    assert (back.written, back.also_off) == (True, ())
    assert (path.read_text("utf-8") if path.exists() else None) == text
    assert not enable("notes", here, scope, HandClock()).written


def test_enabling_tells_that_another_scope_still_holds_an_off(tmp_path: Path) -> None:
    """I-65."""
    here = settled(tmp_path)
    put(notes(tmp_path / "source"), here)
    for scope in Scope:
        disable("notes", here, scope, HandClock())
    done = enable("notes", here, Scope.USER, HandClock())
    assert done.also_off == (here.workspace / "stella.toml",)


def test_an_unknown_name_is_refused_with_the_near_ones(tmp_path: Path) -> None:
    """I-65, M-8."""
    here = settled(tmp_path)
    put(notes(tmp_path / "source"), here)
    for switch in (disable, enable):
        with pytest.raises(NotInstalled, match=r"did you mean notes\?"):
            switch("ntoes", here, Scope.USER, HandClock())
    assert not (here.home / "stella.toml").exists()


def test_a_name_that_is_gone_or_faulty_can_still_be_switched(tmp_path: Path) -> None:
    """G2, S-5: a broken plugin can be switched off, and an off outlives no way back."""
    here = settled(tmp_path)
    broken = here.tier(Scope.PROJECT).path / "broken"
    broken.mkdir(parents=True)
    (broken / "plugin.toml").write_text("name = 7", "utf-8")
    assert disable("broken", here, Scope.USER, HandClock()).written
    (broken / "plugin.toml").unlink()
    broken.rmdir()
    assert enable("broken", here, Scope.USER, HandClock()).written


@pytest.mark.parametrize("text", ["plugins = 1\n", "[plugins\n"])
def test_a_file_that_cannot_be_changed_is_named_and_left(tmp_path: Path, text: str) -> None:
    here = settled(tmp_path)
    put(notes(tmp_path / "source"), here)
    path = here.workspace / "stella.toml"
    path.write_text(text, "utf-8")
    for switch in (disable, enable):
        with pytest.raises(RosterError) as caught:
            switch("notes", here, Scope.PROJECT, HandClock())
        assert str(caught.value).startswith(f"{path}: ")
    assert path.read_text("utf-8") == text
    assert offs("notes", here) == ()
