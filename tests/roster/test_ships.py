"""What a package ships, read and held against its declaration."""

from pathlib import Path

import pytest

from stella import limits
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


HEAD = 'schema = "context-record/v0.1"\nset_id = "a"\n'
DEEP = f"a{'.a' * 100_000} = 1\n"
TOO_DEEP = "a key of 100001 parts; at most 64 are read (at line 1)"
HOSTILE = {
    "rules/deep.toml": (DEEP, TOO_DEEP),
    "tools/deep.toml": (DEEP, f"the file is not TOML: {TOO_DEEP}"),
    "rules/nest.toml": (
        f"a = {'[' * 100_000}",
        "more than 64 nested lists and tables (at line 1)",
    ),
    "rules/twice.toml": (f"{HEAD}{HEAD}", "Cannot overwrite a value (at line 3, column 31)"),
    "rules/approved.toml": (
        'schema = "rule-approvals/v1"\n',
        'schema: expected "context-record/v0.1", got "rule-approvals/v1"',
    ),
    "rules/forged.toml": (
        f'{HEAD}[[record]]\nlineage_id = "a\\u001b[2J\\nb"\nkind = "rule"\nstatement = "x"\n',
        'record "a\\u{1B}[2J b" is not declared in [[records]]',
    ),
    "skills/one/SKILL.md": (
        "---\nname: two\x1b[2J\ndescription: d\n---\nx\n",
        'name: "two\\u{1B}[2J" is not the directory\'s, "one"',
    ),
    "skills/yaml/SKILL.md": (
        "---\ndescription:\n  - &a [*a]\n---\n",
        "description: it is missing; write one line that says when it helps",
    ),
    "skills/huge/SKILL.md": (
        "x" * (limits.CONTENT_BYTES + 1),
        f"has more than {limits.CONTENT_BYTES} bytes",
    ),
}


@pytest.mark.parametrize("path", HOSTILE)
def test_a_hostile_file_refuses_its_package_in_one_line(tmp_path: Path, path: str) -> None:
    """[P-4, P-6, C-3] Bombs, forged lines, foreign schemas: the first reason is a plain line."""
    root = bundle(tmp_path / "p", records=("r",))
    data, why = HOSTILE[path]
    put(root / path, data)
    with pytest.raises(PackageRefused) as caught:
        refuse_unreconciled(shipped(root))
    line = next(line for line in str(caught.value).splitlines() if path in line)
    assert line.isprintable()
    assert line.endswith(f"{path}: {why}")


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
