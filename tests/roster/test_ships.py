"""What a package ships, read and held against its declaration."""

from pathlib import Path

import pytest

from stella.errors import PackageRefused
from stella.files import tree
from stella.files.tree import Package
from stella.manifest.plugin import PluginManifest
from stella.manifest.read import read_manifest
from stella.roster.ships import Ships
from stella.roster.ships import accepted_ships
from stella.roster.ships import refuse_unreconciled
from stella.roster.ships import ships
from tests.making.content import bundle
from tests.making.content import put
from tests.making.content import skill
from tests.making.content import tool


def parts(root: Path) -> tuple[PluginManifest, Package]:
    with tree.opened(root) as opened:
        package = tree.walk(opened)
    return read_manifest((root / "plugin.toml").read_bytes()).manifest, package


def shipped(root: Path) -> Ships:
    manifest, package = parts(root)
    with tree.opened(root) as opened:
        return ships(opened, root, manifest, package)


def test_a_package_that_ships_what_it_declares_is_not_refused(tmp_path: Path) -> None:
    found = shipped(bundle(tmp_path / "p", tools=("fix",), skills=("s",), records=("r",)))
    refuse_unreconciled(found)
    assert (found.withheld, found.lines, found.findings) == (None, (), ())
    assert [each.value.name for each in found.content.tools] == ["fix"]


@pytest.mark.behaviour("K-174")
def test_what_is_no_content_is_listed_and_what_is_unreadable_refuses(tmp_path: Path) -> None:
    root = bundle(tmp_path / "p")
    for path in ("tools/helper.sh", "skills/x/notes.md", "rules/a.md", "rules/sub/b.toml"):
        put(root / path, "x\n")
    found = shipped(root)
    assert found.lines == (
        "note: rules/a.md: data, never loaded as a tool, a skill or a record",
        "note: rules/sub/b.toml: data, never loaded as a tool, a skill or a record",
        "note: skills/x/notes.md: data, never loaded as a tool, a skill or a record",
        "note: tools/helper.sh: data, never loaded as a tool, a skill or a record",
    )
    assert found.findings == ()
    put(root / "tools" / "x.toml", "name = \n")
    with pytest.raises(PackageRefused, match=r"tools/x\.toml: the file is not TOML") as caught:
        refuse_unreconciled(shipped(root))
    assert caught.value.rule == "P-4"


def test_a_package_that_does_not_reconcile_is_withheld_with_the_first_reason(
    tmp_path: Path,
) -> None:
    """P-9."""
    root = bundle(tmp_path / "p")
    tool(root, "extra")
    assert shipped(root).withheld == (
        'what it ships is withheld: tools/extra.toml: tool "extra" is not declared in [[tools]]'
    )
    skill(root, "more")
    assert str(shipped(root).withheld).endswith("and 1 more finding")


def test_bytes_that_are_not_the_accepted_ones_are_no_content(tmp_path: Path) -> None:
    """I-31: what is read is what was hashed."""
    root = bundle(tmp_path / "p", tools=("fix",))
    manifest, package = parts(root)
    assert accepted_ships(root, manifest, package).findings == ()
    tool(root, "fix", "# edited\n")
    found = accepted_ships(root, manifest, package)
    assert found.content.tools == ()
    assert "changed while it was read" in str(found.findings)


def test_a_package_that_is_gone_ships_nothing(tmp_path: Path) -> None:
    root = bundle(tmp_path / "p", tools=("fix",))
    manifest, package = parts(root)
    root.rename(tmp_path / "elsewhere")
    found = accepted_ships(root, manifest, package)
    assert found.content.tools == ()
    assert found.withheld is not None
