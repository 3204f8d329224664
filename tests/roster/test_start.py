"""Consent shows the program that is started, and looking for it starts nothing."""

import os
from pathlib import Path

import pytest

from stella.consent.text import Resolution
from stella.errors import PackageRefused
from stella.files import tree
from stella.files.tree import Package
from stella.manifest.plugin import PluginManifest
from stella.manifest.read import read_manifest
from stella.manifest.runtime import Runtime
from stella.roster.start import Lookup
from stella.roster.start import Start
from stella.roster.start import line_end_warning
from stella.roster.start import refuse_unstartable
from stella.roster.start import replaced
from stella.roster.start import resolution
from stella.roster.start import start
from tests.making.packages import lookup
from tests.making.packages import meter
from tests.making.packages import notes
from tests.making.packages import programs
from tests.making.packages import settled
from tests.making.plugins import executable

OBSERVER = """\
name = "meter"
[loop]
participation = "observer"
[runtime]
argv = {argv}
timeout_secs = 30
"""
PLACE = Path("/tier/meter")


def manifest(*argv: str) -> PluginManifest:
    words = ", ".join(f"'{word}'" for word in argv)
    return read_manifest(OBSERVER.format(argv=f"[{words}]").encode()).manifest


def walked(root: Path) -> Package:
    with tree.opened(root) as opened:
        return tree.walk(opened)


def started(word: str, directory: Path, where: Lookup) -> Start:
    return start(Runtime(argv=(word, "-x"), timeout_secs=1), directory, where)


def test_only_the_exact_placeholder_is_replaced_and_every_time() -> None:
    """M-34, B20, B56: a directory with spaces and quotes stays one word."""
    words = ("${plugin_dir}/a:${plugin_dir}", "${plugin_dir", "$plugin_dir", "${HOME}", "$(id)")
    place = Path("/a b/'\"$x")
    assert replaced(words, place) == (f"{place}/a:{place}", *words[1:])


def test_a_name_is_looked_up_on_the_path(tmp_path: Path) -> None:
    """T-3, E131: shown and started as the same absolute path."""
    here = settled(tmp_path)
    where = lookup(here, programs(tmp_path / "bin"))
    found = str(tmp_path / "bin/python3")
    root = notes(tmp_path / "package")
    assert started("python3", PLACE, where) == Start(argv=(found, "-x"))
    assert resolution(manifest("python3"), walked(root), PLACE, where) == Resolution(runtime=found)
    assert not (tmp_path / "bin/was-started").exists()


def test_a_name_that_is_nowhere_is_not_started_and_the_message_says_where_it_was_looked_for(
    tmp_path: Path,
) -> None:
    """T-8."""
    here = settled(tmp_path)
    found = started("python4", PLACE, lookup(here, str(tmp_path)))
    assert found.argv == ("python4", "-x")
    assert found.not_started == f"python4: no such program; looked in {tmp_path}"
    root = notes(tmp_path / "package")
    shown = resolution(manifest("python4"), walked(root), PLACE, lookup(here, str(tmp_path)))
    assert shown == Resolution()


def test_an_interpreter_in_the_workspace_is_never_used(tmp_path: Path) -> None:
    """Q-30, E131: neither by an absolute nor by a relative entry of PATH."""
    here = settled(tmp_path)
    inside = programs(here.workspace / "bin")
    for path in (inside, "bin", ".", ""):
        found = started("python3", PLACE, lookup(here, path))
        assert found.not_started is not None
    root = notes(tmp_path / "package")
    assert (
        resolution(manifest("python3"), walked(root), PLACE, lookup(here, inside)).runtime is None
    )


@pytest.mark.parametrize(
    "word", ["${plugin_dir}/bin/meter", "./bin/meter", "bin/meter", "bin/../bin/meter"]
)
def test_a_program_of_the_package_is_shown_where_it_will_be(tmp_path: Path, word: str) -> None:
    """T-3: before it is there, by what the package holds."""
    root = meter(tmp_path / "package")
    where = lookup(settled(tmp_path))
    shown = resolution(manifest(word), walked(root), PLACE, where)
    assert shown == Resolution(runtime="/tier/meter/bin/meter")
    refuse_unstartable(manifest(word), walked(root), PLACE)
    (argv0, _) = started(word, PLACE, where).argv
    assert os.path.normpath(argv0) == "/tier/meter/bin/meter"


@pytest.mark.parametrize("word", ["${plugin_dir}/bin/none", "bin", "${plugin_dir}/"])
def test_a_program_the_package_does_not_hold_is_refused(tmp_path: Path, word: str) -> None:
    """G7: it could never be started."""
    package = walked(meter(tmp_path / "package"))
    if word == "bin":
        word = "./bin"
    with pytest.raises(PackageRefused, match=r"\[runtime\] argv entry 1: the package has no file"):
        refuse_unstartable(manifest(word), package, PLACE)


def test_a_program_without_the_right_to_be_executed_is_refused_with_the_fix(
    tmp_path: Path,
) -> None:
    """G7."""
    root = meter(tmp_path / "package")
    (root / "bin/meter").chmod(0o644)
    with pytest.raises(PackageRefused, match=r"bin/meter may not be executed; .* chmod \+x"):
        refuse_unstartable(manifest("bin/meter"), walked(root), PLACE)
    where = lookup(settled(tmp_path))
    assert resolution(manifest("bin/meter"), walked(root), PLACE, where).runtime is None


@pytest.mark.parametrize("word", ["python3", "/usr/bin/env", "${plugin_dir}/../other/x"])
def test_a_program_outside_the_package_is_not_the_packages_business(
    tmp_path: Path, word: str
) -> None:
    refuse_unstartable(manifest(word), walked(notes(tmp_path / "package")), PLACE)


def test_an_absolute_program_is_shown_when_it_can_be_executed(tmp_path: Path) -> None:
    where = lookup(settled(tmp_path))
    package = walked(notes(tmp_path / "package"))
    program = executable(tmp_path / "run", "#!/bin/sh\n")
    found = [
        resolution(manifest(word), package, PLACE, where).runtime
        for word in (str(program), f"{tmp_path}/x/../run", f"{tmp_path}/none", str(tmp_path))
    ]
    assert found == [str(program), str(program), None, None]


def test_a_plugin_without_a_process_has_no_program(tmp_path: Path) -> None:
    root = notes(tmp_path / "package")
    bare = read_manifest(b'name = "notes"').manifest
    where = lookup(settled(tmp_path))
    refuse_unstartable(bare, walked(root), PLACE)
    assert resolution(bare, walked(root), PLACE, where) == Resolution()
    with tree.opened(root) as opened:
        assert line_end_warning(bare, opened, PLACE) is None


@pytest.mark.parametrize(
    ("program", "warned"),
    [
        ("#!/bin/sh\r\necho\r\n", True),
        ("#!/bin/sh\r\n", True),
        ("#!/bin/sh\necho\r\n", False),
        ("echo\r\n", False),
        ("", False),
    ],
)
def test_a_script_with_the_wrong_line_end_is_warned_about(
    tmp_path: Path, program: str, *, warned: bool
) -> None:
    """G8."""
    root = meter(tmp_path / "package")
    (root / "bin/meter").write_bytes(program.encode())
    with tree.opened(root) as opened:
        warning = line_end_warning(manifest("bin/meter"), opened, PLACE)
    assert (warning or "").startswith(
        "bin/meter: its first line ends with a carriage return"
    ) is warned


def test_the_oracles_own_command_is_looked_up_the_same_way(tmp_path: Path) -> None:
    """C-1, M-24: it is shown and never started."""
    text = """\
name = "judge"
[loop]
participation = "arbiter"
hooks = ["Stop"]
points = ["after_turn"]
[requirements]
done = "it is done"
[oracle]
flip = "required"
command = { argv = ["${plugin_dir}/bin/meter"], timeout_secs = 1 }
"""
    root = meter(tmp_path / "package")
    loaded = read_manifest(text.encode()).manifest
    shown = resolution(loaded, walked(root), PLACE, lookup(settled(tmp_path)))
    assert shown == Resolution(oracle="/tier/meter/bin/meter")
