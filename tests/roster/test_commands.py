"""The programs of a package's tools: refused when they cannot start, doubted when they may not."""

from pathlib import Path

import pytest

from stella.files import tree
from stella.manifest.read import read_manifest
from stella.roster.commands import doubtful
from stella.roster.commands import unstartable
from stella.roster.content import read_content
from stella.roster.ships import Ships
from stella.roster.ships import ships
from tests.making.content import bundle
from tests.making.content import put

SCRIPT = "#!/bin/sh\n"


def package(root: Path, *command: str) -> Path:
    """A package whose one tool starts these words."""
    bundle(root, tools=("fix",))
    words = ", ".join(f'"{word}"' for word in command)
    text = f'name = "fix"\ndescription = "Fixes."\ncommand = [{words}]\n'
    put(root / "tools" / "fix.toml", text)
    return root


def looked_at(root: Path) -> Ships:
    with tree.opened(root) as opened:
        manifest = read_manifest((root / "plugin.toml").read_bytes()).manifest
        return ships(opened, Path("/installed/p"), manifest, tree.walk(opened))


def faults(root: Path) -> list[str]:
    return [each.message for each in looked_at(root).findings]


@pytest.mark.behaviour("G7")
def test_a_script_that_may_be_executed_is_no_finding_and_one_that_may_not_is(
    tmp_path: Path,
) -> None:
    """P-15: the fix is named."""
    root = package(tmp_path / "p", "${plugin_dir}/scripts/fix.sh")
    script = put(root / "scripts" / "fix.sh", SCRIPT, 0o755)
    assert faults(root) == []
    script.chmod(0o644)
    [fault] = faults(root)
    assert fault.startswith('tools/fix.toml: command[0] = "${plugin_dir}/scripts/fix.sh": ')
    assert fault.endswith("fix.sh may not be executed; give it that right with chmod +x")
    script.unlink()
    assert faults(root)[0].endswith('the package has no file "scripts/fix.sh"')


@pytest.mark.parametrize("word", ["${plugin_dir}/../x", "${plugin_dir}x", "/a/${plugin_dir}/x"])
def test_a_program_outside_the_package_is_not_its_own(tmp_path: Path, word: str) -> None:
    """B56."""
    root = package(tmp_path / "p", word)
    assert faults(root)[0].endswith("got a path that leaves it")


@pytest.mark.parametrize("word", ["ruff", "./gradlew", "/usr/bin/true"])
def test_a_program_of_the_machine_or_the_workspace_is_no_finding(tmp_path: Path, word: str) -> None:
    root = package(tmp_path / "p", word)
    assert faults(root) == []
    assert looked_at(root).doubts == ()


@pytest.mark.behaviour("G8")
def test_a_script_no_system_can_start_is_a_warning_that_names_it(tmp_path: Path) -> None:
    root = package(tmp_path / "p", "${plugin_dir}/fix.sh", "${plugin_dir}/gone.txt")
    put(root / "fix.sh", "#!/bin/sh\r\necho\r\n", 0o755)
    found = looked_at(root)
    assert found.findings == ()
    assert [line.partition(",")[0] for line in found.lines] == [
        "warning: tools/fix.toml: fix.sh: its first line ends with a carriage return",
        'warning: tools/fix.toml: command[1]: the package has no file "gone.txt"',
    ]


def test_a_script_that_is_gone_since_it_was_listed_raises_nothing(tmp_path: Path) -> None:
    root = package(tmp_path / "p", "${plugin_dir}/fix.sh")
    put(root / "fix.sh", SCRIPT, 0o755)
    with tree.opened(root) as opened:
        listed = tree.walk(opened)
        content = read_content(opened, root).content
        (root / "fix.sh").unlink()
        (root / "fix.sh").symlink_to("/bin/sh")
        assert list(unstartable(content, listed, root)) == []
        [doubt] = doubtful(content, listed, root, opened)
    assert doubt.startswith("tools/fix.toml: fix.sh: expected a regular file")
