"""A tier is read directory by directory, and no faulty one hides another."""

import os
from pathlib import Path

import pytest

from stella import limits
from stella.errors import PackageRefused
from stella.files import tree
from stella.manifest.read import Loaded
from stella.manifest.read import Unloadable
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.scope import entered
from stella.roster.shelf import Standing
from stella.roster.shelf import full_report
from stella.roster.shelf import manifest_bytes
from stella.roster.shelf import one_line
from stella.roster.shelf import shelf
from tests.making.child import open_folder
from tests.making.child import said_by_nobody
from tests.making.packages import notes
from tests.making.packages import settled


def stood(here: Places) -> tuple[tuple[Standing, ...], tuple[str, ...]]:
    tier = here.tier(Scope.PROJECT)
    with entered(tier, make=False) as directory:
        return shelf(tier, directory)


def test_a_tier_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert stood(settled(tmp_path)) == ((), ())


def test_directories_stand_in_byte_order_and_all_else_is_passed_over(tmp_path: Path) -> None:
    """I-41: names that begin with a dot, files, and what a crash left."""
    here = settled(tmp_path)
    tier = here.tier(Scope.PROJECT).path
    for name in ("b", "a", "Z", "é", ".staging-x", ".removing-x", ".old-x", ".git"):
        notes(tier / name)
    (tier / "file").touch()
    os.mkfifo(tier / "fifo")
    standing, notices = stood(here)
    assert [each.directory for each in standing] == [tier / name for name in ("Z", "a", "b", "é")]
    assert {each.declared for each in standing} == {"notes"}
    assert notices == ()


def test_each_directory_says_what_is_wrong_with_it_and_no_more(tmp_path: Path) -> None:
    """F10, I-41, I-44: without a manifest, faulty, no TOML, not a file, too large."""
    here = settled(tmp_path)
    tier = here.tier(Scope.PROJECT).path
    (tier / "empty").mkdir(parents=True)
    notes(tier / "faulty", manifest='name = "{name}"\n[lop]\n')
    notes(tier / "nameless", manifest="name = 7\n")
    notes(tier / "no-toml", manifest="name\n")
    notes(tier / "good")
    for name, make in (("fifo", os.mkfifo), ("directory", os.mkdir)):
        (tier / name).mkdir()
        make(tier / name / "plugin.toml")
    (tier / "link").mkdir()
    (tier / "link" / "plugin.toml").symlink_to("plugin.toml")
    (tier / "big").mkdir()
    (tier / "big" / "plugin.toml").write_bytes(b"#" * (limits.MANIFEST_BYTES + 1))
    found = {each.directory.name: each for each in stood(here)[0]}
    assert found["empty"].found is None
    assert isinstance(found["good"].found, Loaded)
    assert isinstance(found["faulty"].found, Unloadable)
    assert found["fifo"].found == "plugin.toml: expected a regular file, got a fifo"
    assert found["directory"].found == "plugin.toml: expected a regular file, got a directory"
    assert found["link"].found == "plugin.toml: expected a regular file, got a symbolic link"
    assert found["big"].found == f"plugin.toml: has more than {limits.MANIFEST_BYTES} bytes"
    assert {name: each.declared for name, each in found.items() if each.declared} == {
        "good": "notes",
        "faulty": "notes",
    }


def test_a_manifest_of_the_largest_size_is_read(tmp_path: Path) -> None:
    """M-1."""
    text = b'name = "notes"\n'
    data = text + b"#" * (limits.MANIFEST_BYTES - len(text))
    (tmp_path / "plugin.toml").write_bytes(data)
    with tree.opened(tmp_path) as root:
        assert manifest_bytes(root) == data
        with (tmp_path / "plugin.toml").open("ab") as file:
            file.write(b"#")
        with pytest.raises(PackageRefused):
            manifest_bytes(root)


def test_a_link_in_a_tier_is_left_out_with_a_notice(tmp_path: Path) -> None:
    """Q-11."""
    here = settled(tmp_path)
    tier = here.tier(Scope.PROJECT).path
    notes(tier / "good")
    (tier / "li\x1bnk").symlink_to(notes(tmp_path / "elsewhere", "other"))
    standing, notices = stood(here)
    assert [each.declared for each in standing] == ["notes"]
    assert notices == (rf"{tier}/li\u{{1B}}nk: a symbolic link is not followed; left out",)


def test_a_tier_has_room_for_so_many_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    """D97: a workspace must not make the host read for ever."""
    here = settled(tmp_path)
    tier = here.tier(Scope.PROJECT).path
    for number in range(limits.TIER_PLUGINS):
        (tier / f"{number:04}").mkdir(parents=True)
    standing, notices = stood(here)
    assert (len(standing), notices) == (limits.TIER_PLUGINS, ())
    (tier / "9998").mkdir()
    (tier / "9999").mkdir()
    standing, notices = stood(here)
    assert len(standing) == limits.TIER_PLUGINS
    (notice,) = notices
    assert notice == (
        f"{tier}: holds more than {limits.TIER_PLUGINS} directories; "
        "9998 and what follows it are left out"
    )


def test_what_may_not_be_read_is_said_so() -> None:
    """F10."""
    with open_folder() as folder:
        here = settled(folder)
        tier = here.tier(Scope.PROJECT).path
        notes(tier / "closed").chmod(0)
        notes(tier / "sealed")
        (tier / "sealed" / "plugin.toml").chmod(0)

        def work() -> str:
            return "\n".join(f"{each.directory.name}: {each.found}" for each in stood(here)[0])

        assert said_by_nobody(work).splitlines() == [
            f"closed: {tier}/closed: Permission denied",
            "sealed: plugin.toml: Permission denied",
        ]


def test_a_manifest_is_told_in_one_line_or_in_full(tmp_path: Path) -> None:
    """M-12."""
    here = settled(tmp_path)
    manifest = 'name = "{name}"\n[loop]\nmax_holds = 0\nmax_calls = 0\n'
    notes(here.tier(Scope.PROJECT).path / "faulty", manifest=manifest)
    (each,) = stood(here)[0]
    assert isinstance(each.found, Unloadable)
    line = one_line(each.found)
    assert line.startswith(f"plugin.toml has {len(each.found.faults)} faults; first: R-")
    assert "\n" not in line
    assert full_report(each.found).startswith("plugin.toml cannot be loaded: ")
    assert len(full_report(each.found).splitlines()) > len(each.found.faults)
