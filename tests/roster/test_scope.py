"""The two tiers: where they are, how they are entered, who may change one and when."""

import hashlib
import os
import stat
from pathlib import Path

import pytest

from stella import limits
from stella.errors import RosterError
from stella.errors import UsageError
from stella.roster.scope import CONSENT
from stella.roster.scope import Scope
from stella.roster.scope import Tier
from stella.roster.scope import alone
from stella.roster.scope import entered
from stella.roster.scope import kept
from stella.roster.scope import places
from tests.making.child import holding
from tests.making.child import open_folder
from tests.making.child import said_by_nobody
from tests.making.packages import settled


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_tiers_and_their_records_are_where_the_contract_says(tmp_path: Path) -> None:
    """I-1, I-26, S2-40."""
    here = settled(tmp_path)
    user, project = here.tier(Scope.USER), here.tier(Scope.PROJECT)
    assert user.path == tmp_path / "home/plugins"
    assert user.record_path == tmp_path / "home/plugins.lock.toml"
    assert project.path == tmp_path / "shop/.stella/plugins"
    key = hashlib.sha256(os.fsencode(tmp_path / "shop")).hexdigest()[:32]
    assert project.record_path == tmp_path / f"home/consent/{key}.lock.toml"
    assert here.tiers == (project, user)


def test_a_workspace_has_one_key_by_any_of_its_names(tmp_path: Path) -> None:
    """I-26, Q-11: the canonical path decides."""
    here = settled(tmp_path)
    (tmp_path / "link").symlink_to("shop")
    assert places(tmp_path / "home", tmp_path / "link") == here
    (tmp_path / "other").mkdir()
    other = places(tmp_path / "home", tmp_path / "other")
    assert other.tier(Scope.PROJECT).key != here.tier(Scope.PROJECT).key


@pytest.mark.parametrize(("home", "shop"), [("a", "a"), ("a/b", "a"), ("a", "a/b")])
def test_records_never_lie_in_a_workspace_nor_a_workspace_among_them(
    tmp_path: Path, home: str, shop: str
) -> None:
    """I-56, A32."""
    (tmp_path / "a/b").mkdir(parents=True)
    with pytest.raises(UsageError, match="must lie apart"):
        places(tmp_path / home, tmp_path / shop)


@pytest.mark.parametrize("scope", Scope)
def test_a_tier_that_is_not_there_is_none_and_is_not_made_by_looking(
    tmp_path: Path, scope: Scope
) -> None:
    here = settled(tmp_path)
    with entered(here.tier(scope), make=False) as directory:
        assert directory is None
    assert [*(tmp_path / "home").iterdir(), *(tmp_path / "shop").iterdir()] == []


def test_a_home_or_workspace_that_is_not_there_has_no_tier(tmp_path: Path) -> None:
    here = places(tmp_path / "none", tmp_path / "shop")
    for tier in here.tiers:
        with entered(tier, make=False) as directory:
            assert directory is None
    with entered(here.tier(Scope.PROJECT), make=True) as directory:
        assert directory is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_what_is_made_has_the_modes_of_the_contract_whatever_the_umask(
    tmp_path: Path, umask: int
) -> None:
    """S2-40: home and consent 0700, plugins 0755."""
    (tmp_path / "shop").mkdir()
    here = places(tmp_path / "deep/home", tmp_path / "shop")
    old = os.umask(umask)
    try:
        for tier in here.tiers:
            with alone(tier), entered(tier, make=True) as directory:
                assert directory is not None
    finally:
        os.umask(old)
    modes = {"deep/home": 0o700, "deep/home/consent": 0o700, "deep/home/plugins": 0o755}
    modes |= {"shop/.stella": 0o755, "shop/.stella/plugins": 0o755}
    assert {path: mode(tmp_path / path) for path in modes} == modes
    assert mode(tmp_path / "deep/home/consent/user.lock") == 0o600


def interrupted(tier: Tier, *more: str) -> None:
    """Enter a tier, make directories in it and be interrupted there."""
    with pytest.raises(KeyboardInterrupt), entered(tier, make=True):
        _make(tier, more)


def _make(tier: Tier, names: tuple[str, ...]) -> None:
    for name in names:
        (tier.path / name).mkdir()
    raise KeyboardInterrupt


def test_what_was_made_is_taken_away_when_the_block_fails(tmp_path: Path) -> None:
    """I-8; what was there stays, and so does what somebody else uses by now."""
    tier = settled(tmp_path).tier(Scope.PROJECT)
    interrupted(tier)
    assert not (tmp_path / "shop/.stella").exists()
    interrupted(tier, "somebody-elses")
    assert (tier.path / "somebody-elses").is_dir()
    (tier.path / "somebody-elses").rmdir()
    interrupted(tier)
    assert tier.path.is_dir()


@pytest.mark.parametrize("make", [True, False])
@pytest.mark.parametrize("place", [".stella", ".stella/plugins"])
def test_a_link_on_the_way_into_a_tier_is_refused(
    tmp_path: Path, place: str, make: bool
) -> None:  # a parameter of the test
    """Q-11: a repository must not lead an install elsewhere."""
    here = settled(tmp_path)
    (tmp_path / "elsewhere/plugins").mkdir(parents=True)
    (tmp_path / "shop" / place).parent.mkdir(exist_ok=True)
    (tmp_path / "shop" / place).symlink_to(tmp_path / "elsewhere")
    with (
        pytest.raises(RosterError, match="expected a directory, got a symbolic link"),
        entered(here.tier(Scope.PROJECT), make=make),
    ):
        pass
    assert list((tmp_path / "elsewhere/plugins").iterdir()) == []


def test_a_person_may_keep_their_home_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "shop").mkdir()
    (tmp_path / ".stella").symlink_to("dotfiles")
    here = places(tmp_path / ".stella", tmp_path / "shop")
    with alone(here.tier(Scope.USER)), entered(here.tier(Scope.USER), make=True):
        assert (tmp_path / "dotfiles/plugins").is_dir()


def test_what_the_system_refuses_is_named() -> None:
    with open_folder() as folder:
        here = settled(folder)
        (folder / "shop").chmod(0o555)

        def work() -> str:
            with entered(here.tier(Scope.PROJECT), make=True):
                return "entered"

        assert said_by_nobody(work) == f"RosterError: {folder}/shop/.stella: Permission denied"


def test_one_process_at_a_time_changes_a_tier(tmp_path: Path) -> None:
    """Q-15, A26: the other tier is free; the system lets go with the process."""
    here = settled(tmp_path)
    user, project = here.tier(Scope.USER), here.tier(Scope.PROJECT)
    held = alone(project)

    def hold() -> object:
        held.__enter__()
        return held

    with holding(hold):
        with pytest.raises(RosterError, match="another stella command has been changing"):
            alone(project, patience=0.1).__enter__()
        with alone(user, patience=0):
            pass
    with alone(project, patience=0):
        pass


def test_a_tier_is_free_again_after_a_block_that_failed(tmp_path: Path) -> None:
    tier = settled(tmp_path).tier(Scope.USER)
    with pytest.raises(KeyboardInterrupt), alone(tier):
        raise KeyboardInterrupt
    with alone(tier, patience=0):
        pass


def test_whoever_waits_for_a_tier_waits_a_minute() -> None:
    """The longest install copies 256 MiB."""
    assert limits.TIER_LOCK_SECS == 60


def test_a_link_in_place_of_a_private_directory_is_refused(tmp_path: Path) -> None:
    """S2-42."""
    here = settled(tmp_path)
    (tmp_path / "home" / CONSENT).symlink_to(tmp_path)
    for tier in here.tiers:
        with pytest.raises(RosterError, match=f"{tmp_path}/home/consent: "), alone(tier):
            pass
    with pytest.raises(RosterError), kept(here.home, CONSENT):
        pass
