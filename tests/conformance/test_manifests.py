"""The one manifest in three languages: what makes it, and that one line of it may differ."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.making.shipped import CONFORMANCE
from tests.making.shipped import PLUGINS
from tests.making.shipped import SHIPPED

GENERATE = CONFORMANCE.with_name("generate_manifests.py")
COMPARE = CONFORMANCE.with_name("check_manifests_identical.py")
NAMES = tuple(plugin.directory.name for plugin in SHIPPED)


def ran(program: Path, *words: str | Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-I", "-S", program, *words], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.returncode, done.stdout


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """The three manifests, where they may be changed."""
    for name in NAMES:
        (tmp_path / name).mkdir()
        shutil.copy(PLUGINS / name / "plugin.toml", tmp_path / name)
    return tmp_path


def test_the_manifests_that_are_committed_are_the_ones_that_are_made() -> None:
    assert ran(GENERATE, "--check") == (0, "3 manifests are what the template makes\n")
    assert ran(COMPARE) == (0, "3 manifests differ in the line of argv alone\n")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("at", [0, 200, -2])
def test_one_changed_byte_fails_both_checks(plugins: Path, name: str, at: int) -> None:
    manifest = plugins / name / "plugin.toml"
    data = bytearray(manifest.read_bytes())
    data[at] ^= 1
    manifest.write_bytes(data)
    for program, words in ((GENERATE, ("--check",)), (COMPARE, ())):
        code, said = ran(program, *words, "--plugins", plugins)
        assert code == 1
        assert name in said


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_byte_of_argv_is_seen_by_the_one_that_knows_what_it_should_be(
    plugins: Path, name: str
) -> None:
    manifest = plugins / name / "plugin.toml"
    manifest.write_text(manifest.read_text("utf-8").replace("${plugin_dir}", "${plugin_dir}/"))
    code, said = ran(GENERATE, "--check", "--plugins", plugins)
    assert code == 1
    assert "-argv = [" in said
    assert "+argv = [" in said


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("max_holds = 2\n", "max_holds = 3\n", "the tables differ at loop"),
        ("\n[runtime]\n", "\n# a comment\n[runtime]\n", "lines, the other"),
        ("max_holds = 2\n", "max_holds = 2 \n", "2 lines differ, expected 1"),
        ("argv = ", "args = ", "no [runtime] argv that can be read: KeyError('argv')"),
        ("[runtime]\n", "[runtime\n", "no [runtime] argv that can be read: TOMLDecodeError"),
    ],
)
def test_what_differs_is_named(plugins: Path, before: str, after: str, said: str) -> None:
    manifest = plugins / "verify-ts" / "plugin.toml"
    text = manifest.read_text("utf-8")
    assert text.count(before) == 1
    manifest.write_text(text.replace(before, after), "utf-8")
    code, out = ran(COMPARE, "--plugins", plugins)
    assert code == 1
    assert said in out


def test_a_missing_language_is_told(plugins: Path) -> None:
    (plugins / "verify-rs" / "plugin.toml").unlink()
    assert ran(COMPARE, "--plugins", plugins)[0] == 1
    assert ran(GENERATE, "--check", "--plugins", plugins)[0] == 1


def test_a_changed_manifest_is_made_anew(plugins: Path) -> None:
    (plugins / "verify-rs" / "plugin.toml").write_text("name = 1\n", "utf-8")
    assert ran(GENERATE, "--plugins", plugins) == (0, "")
    assert ran(GENERATE, "--check", "--plugins", plugins)[0] == 0
