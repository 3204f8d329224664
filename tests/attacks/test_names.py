"""Names no plugin may have, by the real command: refused before any path is made of one."""

from pathlib import Path
from typing import Final

import pytest

from stella.tools.all import TOOLS
from tests.making.ends import Place
from tests.making.ends import place
from tests.making.packages import seen as seen_in
from tests.making.plugins import written
from tests.making.refused import inhabited
from tests.making.refused import refused
from tests.making.watched import watched

PLAIN: Final = 'name = "plain"\n'


@pytest.fixture(name="where")
def _where(tmp_path: Path) -> Place:
    return inhabited(place(tmp_path))


@pytest.fixture(name="package")
def _package(tmp_path: Path) -> Path:
    return written(tmp_path / "package", PLAIN, "print(1)\n")


def named(package: Path, name: str) -> Path:
    """Write a name into the manifest, escaped as TOML wants it."""
    escaped = "".join(f"\\U{ord(char):08X}" for char in name)
    (package / "plugin.toml").write_text(f'name = "{escaped}"\n', "utf-8")
    return package


@pytest.mark.behaviour("attacks-A1", "F5", "I-3")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../x", 'character 1 is "."'),
        ("a/b", 'character 2 is "/"'),
        ("..\\x", 'character 1 is "."'),
        ("/abs", 'character 1 is "/"'),
        (".", 'character 1 is "."'),
        ("..", 'character 1 is "."'),
        (".hidden", 'character 1 is "."'),
        ("C:x", 'character 1 is "C"'),
    ],
)
def test_a_name_that_is_a_path_is_refused_before_any_path_is_made(
    where: Place, package: Path, name: str, said: str
) -> None:
    """[I-3]"""
    refused(where, named(package, name), f'name "{name}": {said}; a plugin\'s name is a letter')


@pytest.mark.behaviour("attacks-A2", "F4")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a\x1b[2J", r'character 2 is "\u{1B}"'),
        ("a\nb", 'character 2 is "'),
        ("a\x9bb", r'character 2 is "\u{9B}"'),
        ("a\0b", r'character 2 is "\u{0}"'),
        ("a\u202eb", r'character 2 is "\u{202E}"'),
        ("a\u200bb", r'character 2 is "\u{200B}"'),
        ("caf\u00e9", 'character 4 is "\u00e9"'),
        ("cafe\u0301", "character 5 is"),
        ("\U0001f600", 'character 1 is "\U0001f600"'),
    ],
)
def test_a_name_with_anything_but_plain_letters_is_refused_and_shown_escaped(
    where: Place, package: Path, name: str, said: str
) -> None:
    """[I-3, C-3]"""
    refused(where, named(package, name), 'name "', said, "a plugin's name is a letter from a to z")


@pytest.mark.behaviour("F4", "K-155")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("__proto__", 'character 1 is "_"'),
        ("Verify", 'character 1 is "V"'),
        ("9x", 'character 1 is "9"'),
        ("x" * 65, "it has 65 characters"),
        ("x" * 300, "it has 300 characters"),
        ("nul", "keep this word for a device"),
        ("con", "keep this word for a device"),
        ("lpt9", "keep this word for a device"),
    ],
)
def test_an_odd_name_is_decided_by_the_one_rule(
    where: Place, package: Path, name: str, said: str
) -> None:
    """[I-3]"""
    refused(where, named(package, name), 'name "', said)


@pytest.mark.behaviour("attacks-A1", "F4")
@pytest.mark.parametrize("name", ["", " ", "\n"])
def test_a_blank_name_is_a_fault_of_the_manifest(where: Place, package: Path, name: str) -> None:
    """[R-2]"""
    named(package, name)
    state = seen_in(where.root.parent)
    found = watched(where, "plugin", "install", str(package), "--yes")
    assert (found.done.code, found.done.out, found.started, found.made) == (1, "", (), ())
    assert "R-2 " in found.done.err
    assert seen_in(where.root.parent) == state


@pytest.mark.behaviour("attacks-A5")
@pytest.mark.parametrize(
    "name",
    [
        "stella",
        "host",
        "user",
        "subagent",
        "plugin",
        "con",
        *(tool.contract.name for tool in TOOLS),
    ],
)
def test_a_word_that_means_somebody_else_or_a_tool_is_refused(
    where: Place, package: Path, name: str
) -> None:
    """[I-3, A-1]"""
    refused(where, named(package, name), f'name "{name}": ')


@pytest.mark.behaviour("attacks-A4", "G4")
@pytest.mark.parametrize("twin", ["Plain", "PLAIN", "plain"])
def test_a_name_that_some_file_system_takes_for_an_installed_one_is_taken(
    where: Place, package: Path, twin: str
) -> None:
    """[I-2, I-3] A directory placed by hand can be called anything."""
    directory = written(where.root / ".stella" / "plugins" / twin, 'name = "other"\n', "")
    refused(
        where,
        package,
        f'"plain" is taken in the project scope by {directory}',
        "`stella plugin remove plain` makes room for it",
    )


@pytest.mark.behaviour("attacks-A4")
def test_a_plugin_that_declares_the_name_holds_it_whatever_its_directory_is_called(
    where: Place, package: Path
) -> None:
    """[I-2]"""
    directory = written(where.root / ".stella" / "plugins" / "elsewhere", PLAIN, "")
    refused(where, package, f'"plain" is taken in the project scope by {directory}')
