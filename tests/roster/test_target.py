"""The settings file of a scope is read and written whole, and nothing else in its place."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from stella import limits
from stella.errors import RosterError
from stella.roster.scope import Scope
from stella.roster.target import Target
from stella.roster.target import read_target
from stella.roster.target import refuse_other_format
from stella.roster.target import write_target
from tests.making.packages import settled


@pytest.mark.parametrize(("scope", "mode"), [(Scope.USER, 0o600), (Scope.PROJECT, 0o644)])
def test_a_new_file_has_the_mode_of_its_scope(tmp_path: Path, scope: Scope, mode: int) -> None:
    """I-22: whatever the umask."""
    tier = settled(tmp_path).tier(scope)
    target = read_target(tier)
    assert target == Target(text=None, mode=mode)
    assert target.digest == ""
    write_target(tier, "a = 1\n", target.mode, mark="x")
    assert read_target(tier) == Target(text="a = 1\n", mode=mode)
    assert stat.S_IMODE(tier.settings_path.stat().st_mode) == mode
    write_target(tier, None, mode, mark="x")
    assert not tier.settings_path.exists()


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    """I-22."""
    tier = settled(tmp_path).tier(Scope.PROJECT)
    tier.settings_path.write_text("a = 1\n")
    tier.settings_path.chmod(0o640)
    write_target(tier, "b = 1\n", read_target(tier).mode, mark="x")
    assert stat.S_IMODE(tier.settings_path.stat().st_mode) == 0o640
    assert list(tier.anchor.iterdir()) == [tier.settings_path]


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda path: path.symlink_to("other.toml"), "symbolic link"),
        (os.mkfifo, "fifo"),
        (Path.mkdir, "directory"),
    ],
)
def test_what_is_no_regular_file_is_refused(
    tmp_path: Path, make: Callable[[Path], None], kind: str
) -> None:
    """S2-2: a link is not followed and a pipe stops nobody."""
    tier = settled(tmp_path).tier(Scope.PROJECT)
    make(tier.settings_path)
    with pytest.raises(RosterError, match=f"expected a regular file, got a {kind}"):
        read_target(tier)


def test_a_file_is_utf_8_of_a_bounded_size(tmp_path: Path) -> None:
    """S2-2."""
    tier = settled(tmp_path).tier(Scope.USER)
    tier.settings_path.write_bytes(b"a = '\xff'")
    with pytest.raises(RosterError, match="byte 5 is not UTF-8"):
        read_target(tier)
    tier.settings_path.write_bytes(b"#" * limits.SETTINGS_BYTES)
    assert len(read_target(tier).text or "") == limits.SETTINGS_BYTES
    tier.settings_path.write_bytes(b"#" * (limits.SETTINGS_BYTES + 1))
    with pytest.raises(RosterError, match=f"more than {limits.SETTINGS_BYTES} bytes"):
        read_target(tier)
    write_target(tier, "#" * limits.SETTINGS_BYTES, 0o600, mark="x")
    with pytest.raises(RosterError, match=f"the limit is {limits.SETTINGS_BYTES}"):
        write_target(tier, "#" * (limits.SETTINGS_BYTES + 1), 0o600, mark="x")


def test_a_json_file_alone_is_refused_and_both_are_named(tmp_path: Path) -> None:
    """I-21."""
    tier = settled(tmp_path).tier(Scope.PROJECT)
    refuse_other_format(tier)
    other = tier.anchor / "settings.json"
    other.touch()
    with pytest.raises(RosterError) as caught:
        refuse_other_format(tier)
    assert str(other) in str(caught.value)
    assert str(tier.settings_path) in str(caught.value)
    tier.settings_path.touch()
    refuse_other_format(tier)
