"""A package with content is refused as a whole, in one line that says what may be installed."""

from pathlib import Path

import pytest

from stella.errors import PackageRefused
from stella.files import tree
from stella.manifest.read import read_manifest
from stella.roster.content import refuse_content
from tests.making.packages import notes

TOOL = '[[tools]]\nname = "fix"\ndescription = "Fixes."\n'
SKILL = '[[skills]]\nslug = "fix"\ndescription = "Fixes."\n'
RECORD = '[[records]]\nlineage = "fix"\nstatement = "Fix."\n'
SETTING = '[[configure]]\nkey = "ui.theme"\nvalue = "plain"\npurpose = "To read."\n'


def judged(root: Path) -> None:
    with tree.opened(root) as opened:
        package = tree.walk(opened)
    refuse_content(read_manifest((root / "plugin.toml").read_bytes()).manifest, package)


def refusal(root: Path) -> str:
    with pytest.raises(PackageRefused) as caught:
        judged(root)
    message = str(caught.value)
    assert "\n" not in message
    assert "this release installs plugins without content" in message
    return message


@pytest.mark.parametrize(
    ("table", "name"),
    [
        (TOOL, "[[tools]]"),
        (SKILL, "[[skills]]"),
        (RECORD, "[[records]]"),
    ],
)
def test_declared_content_is_refused_by_name(tmp_path: Path, table: str, name: str) -> None:
    root = notes(tmp_path / "package", manifest=f'name = "{{name}}"\n{table}')
    assert refusal(root).startswith(f"the package has {name}; ")


@pytest.mark.parametrize("name", ["tools", "skills", "rules", "Tools"])
def test_a_directory_of_content_is_refused_even_when_it_is_empty(tmp_path: Path, name: str) -> None:
    """A later release, or a file system that ignores case, would read it."""
    root = notes(tmp_path / "package")
    (root / name).mkdir()
    assert refusal(root).startswith(f"the package has {name}/; ")


def test_everything_is_named_at_once(tmp_path: Path) -> None:
    root = notes(tmp_path / "package", manifest=f'name = "{{name}}"\n{TOOL}{SKILL}{SETTING}')
    (root / "tools").mkdir()
    assert refusal(root).startswith("the package has [[tools]], [[skills]], tools/; ")


def test_directories_of_that_name_deeper_down_and_files_are_the_plugins_own(
    tmp_path: Path,
) -> None:
    """P-1: only those at the root carry content."""
    root = notes(tmp_path / "package")
    (root / "lib" / "tools").mkdir(parents=True)
    (root / "rules").touch()
    judged(root)
