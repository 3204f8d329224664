"""What a package sets is put back, and nothing is believed of a journal that was forged."""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from stella.errors import PackageRefused
from stella.errors import RosterError
from stella.files import tree
from stella.manifest.package import Configure
from stella.roster.configure import refuse_settings
from stella.roster.configure import unset
from stella.roster.install import Installed
from stella.roster.remove import Removed
from stella.roster.remove import remove
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.settings.sections import SETTABLE
from tests.making.clocks import HandClock
from tests.making.packages import notes
from tests.making.packages import put
from tests.making.packages import seen
from tests.making.packages import settled
from tests.making.packages import skin

SETTINGS = "# mine\n[ui]\ntheme = 'default'  # as it comes\n"
JOURNAL = ".stella-configured.json"


def setting(key: str, value: object) -> tuple[Configure, ...]:
    return (Configure(key=key, value=value, purpose="x"),)


@pytest.mark.parametrize(
    ("key", "value"),
    [("ui.live", False), ("ui.color", "never"), ("ui.theme", "high-contrast")],
)
def test_the_keys_that_are_open_may_be_set(key: str, value: object) -> None:
    """S2-15, S2-27."""
    refuse_settings(setting(key, value), SETTABLE)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("ui.themes", "plain", "no setting that a plugin may set; did you mean ui.theme?"),
        ("tools.x", 1, "no setting that a plugin may set; legal here: ui.live, ui.color, ui.theme"),
        ("ui.theme.x", "plain", "no setting that a plugin may set"),
        ("ui.live", 1, "expected true or false, got 1"),
        ("ui.live", "true", "expected true or false, got 'true'"),
        ("ui.color", "always", "expected one of auto, never, got 'always'"),
        ("ui.theme", True, "expected one of default, plain, high-contrast, got True"),
    ],
)
@pytest.mark.behaviour("I-21")
def test_another_key_or_a_value_of_another_type_is_refused(
    key: str, value: object, said: str
) -> None:
    """I-21, S2-15, Q-24."""
    with pytest.raises(PackageRefused) as caught:
        refuse_settings(setting(key, value), SETTABLE)
    assert said in str(caught.value)


def installed(folder: Path, scope: Scope, text: str | None) -> tuple[Places, Installed, Path]:
    here = settled(folder)
    path = here.tier(scope).settings_path
    if text is not None:
        path.write_text(text, "utf-8")
        path.chmod(0o640)
    return here, put(skin(folder / "source"), here, scope), path


def gone(here: Places) -> Removed:
    return remove("skin", here, HandClock(), settable=SETTABLE)


@pytest.mark.parametrize("scope", Scope)
@pytest.mark.behaviour("I-20", "I-23", "K-72")
def test_a_value_that_was_there_comes_back_byte_for_byte(tmp_path: Path, scope: Scope) -> None:
    """K-72, I-20, I-22, I-23."""
    here, done, path = installed(tmp_path, scope, SETTINGS)
    assert path.read_text("utf-8") == SETTINGS.replace("'default'", '"plain"')
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert done.configured == 1
    assert json.loads((done.directory / JOURNAL).read_bytes()) == {
        "plugin": "skin",
        "config": str(path),
        "prior": [{"key": "ui.theme", "value": "'default'", "created": None}],
    }
    removed = gone(here)
    assert removed.restored == (f"ui.theme in {path}",)
    assert removed.left == ()
    assert path.read_text("utf-8") == SETTINGS
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("scope", Scope)
@pytest.mark.parametrize("text", [None, "# mine\n[pipeline]\nmax_holds = 1\n"])
def test_an_absent_key_goes_with_the_table_it_made(
    tmp_path: Path, scope: Scope, text: str | None
) -> None:
    """K-72, I-23: and with the file, when there was none."""
    here, done, path = installed(tmp_path, scope, text)
    assert path.read_text("utf-8").endswith('[ui]\ntheme = "plain"\n')
    assert b'"created":"ui"' in (done.directory / JOURNAL).read_bytes()
    gone(here)
    assert (path.read_text("utf-8") if path.exists() else None) == text


def test_a_key_that_somebody_changed_is_left_alone_and_told(tmp_path: Path) -> None:
    """I-23."""
    here, _, path = installed(tmp_path, Scope.PROJECT, SETTINGS)
    mine = path.read_text("utf-8").replace("plain", "high-contrast")
    path.write_text(mine, "utf-8")
    removed = gone(here)
    assert removed.restored == ()
    (line,) = removed.left
    assert line == (
        f"not restored: ui.theme in {path}: it is not what the plugin set any more, so it is left "
        "as it is"
    )
    assert path.read_text("utf-8") == mine


def _with(**changed: Any) -> Callable[[Path], None]:
    def forge(path: Path) -> None:
        path.write_text(json.dumps(json.loads(path.read_bytes()) | changed), "utf-8")

    return forge


def _prior(**row: Any) -> Callable[[Path], None]:
    return _with(prior=[{"key": "ui.theme", "value": None, "created": None} | row])


@pytest.mark.parametrize(
    "forge",
    [
        _with(config="/etc/passwd"),
        _with(plugin="other"),
        _with(more=1),
        _prior(value='"x"\n[providers]\na = 1'),
        _prior(value="not toml"),
        _prior(key="ui.live"),
        Path.unlink,
        lambda path: path.write_text("{", "utf-8"),
        lambda path: (path.unlink(), path.symlink_to("/etc/passwd")),
        lambda path: path.write_bytes(b" " * 2**20 + b"{}"),
    ],
)
@pytest.mark.behaviour("I-24", "K-73")
def test_a_forged_journal_changes_nothing(tmp_path: Path, forge: Callable[[Path], None]) -> None:
    """K-73, I-24: every key is told as not restorable, and the plugin goes all the same."""
    here, done, path = installed(tmp_path, Scope.USER, SETTINGS)
    before = path.read_bytes()
    forge(done.directory / JOURNAL)
    removed = gone(here)
    assert (removed.directories, removed.restored) == ((done.directory,), ())
    (line,) = removed.left
    assert line.startswith(f"not restored: ui.theme in {path}: ")
    assert path.read_bytes() == before


def test_without_a_manifest_the_keys_are_not_restorable(tmp_path: Path) -> None:
    """I-23, I-66: they come from the manifest."""
    here, done, path = installed(tmp_path, Scope.PROJECT, SETTINGS)
    before = path.read_bytes()
    (done.directory / "plugin.toml").write_text("name = 7", "utf-8")
    removed = gone(here)
    assert removed.left == (
        f"not restored: ui.theme in {path}: the manifest that says what was set cannot be read",
    )
    assert path.read_bytes() == before
    assert not done.directory.exists()


def test_a_key_that_is_not_open_is_not_put_back(tmp_path: Path) -> None:
    """S2-15: a manifest that was changed since opens nothing."""
    here, _, path = installed(tmp_path, Scope.PROJECT, SETTINGS)
    before = path.read_bytes()
    assert len(remove("skin", here, HandClock()).left) == 1
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ui = 3\n", r'ui\.theme: "ui" is no table there'),
        ("[ui\n", r"ui\.theme: it is not TOML"),
    ],
)
def test_a_file_that_cannot_be_changed_refuses_the_install(
    tmp_path: Path, text: str, said: str
) -> None:
    """I-2, step 6; I-22: before the question."""
    here = settled(tmp_path)
    path = here.tier(Scope.PROJECT).settings_path
    path.write_text(text, "utf-8")
    before = seen(here.workspace)
    with pytest.raises(RosterError, match=rf"{said}.*; nothing was copied$"):
        put(skin(tmp_path / "source"), here)
    assert seen(here.workspace) == before


def test_a_json_file_in_its_place_refuses_the_install(tmp_path: Path) -> None:
    """I-21."""
    here = settled(tmp_path)
    (here.workspace / "settings.json").touch()
    with pytest.raises(RosterError, match=r"settings\.json is there and .*stella\.toml is not"):
        put(skin(tmp_path / "source"), here)
    put(notes(tmp_path / "plain"), here)


def test_a_settings_file_that_is_gone_or_broken_by_then_stops_no_removal(tmp_path: Path) -> None:
    here, done, path = installed(tmp_path, Scope.PROJECT, SETTINGS)
    path.write_text("[ui\n", "utf-8")
    (line,) = gone(here).left
    assert "it is not TOML" in line
    put(skin(tmp_path / "again"), settled(tmp_path / "more"))
    path.unlink()
    put(skin(tmp_path / "third"), here)
    path.unlink()
    path.symlink_to("elsewhere")
    (line,) = gone(here).left
    assert "got a symbolic link" in line
    assert not done.directory.exists()


def test_several_keys_are_put_back_in_the_opposite_order(tmp_path: Path) -> None:
    """I-23: so that the table goes with the last of them."""
    here = settled(tmp_path)
    more = '[[configure]]\nkey = "ui.color"\nvalue = "never"\npurpose = "x"\n'
    put(skin(tmp_path / "source", more=more), here)
    assert gone(here).restored == tuple(
        f"{key} in {here.workspace}/stella.toml" for key in ("ui.theme", "ui.color")
    )
    assert not (here.workspace / "stella.toml").exists()


def test_what_an_install_did_not_set_is_known(tmp_path: Path) -> None:
    """I-33."""
    _, done, _ = installed(tmp_path, Scope.PROJECT, None)
    keys = (*setting("ui.theme", "plain"), *setting("ui.live", False))  # a value
    with tree.opened(done.directory) as root:
        assert unset(root, keys) == ("ui.live",)
        (done.directory / JOURNAL).unlink()
        assert unset(root, keys) == ("ui.theme", "ui.live")


@pytest.mark.parametrize("scope", Scope)
def test_an_upgrade_puts_back_before_it_sets(tmp_path: Path, scope: Scope) -> None:
    """I-37: what is recorded of a key is the person's own value, never the old copy's."""
    here, _, path = installed(tmp_path, scope, SETTINGS)
    put(skin(tmp_path / "new", theme="high-contrast"), here, scope, upgrade=True)
    assert 'theme = "high-contrast"' in path.read_text("utf-8")
    put(notes(tmp_path / "plain", "skin"), here, scope, upgrade=True)
    assert path.read_text("utf-8") == SETTINGS


def test_of_two_copies_of_one_name_each_puts_back_its_own(tmp_path: Path) -> None:
    """I-23, I-66: what the second finds changed it leaves alone and tells."""
    here, done, path = installed(tmp_path, Scope.PROJECT, SETTINGS)
    copytree(done.directory, done.directory.with_name("twin"))
    removed = gone(here)
    assert removed.restored == (f"ui.theme in {path}",)
    assert len(removed.left) == 1
    assert removed.left[0].startswith(f"not restored: ui.theme in {path}: ")
    assert path.read_text("utf-8") == SETTINGS
