"""What a directory carries: the known files at their depth, the inert rest, and every fault."""

import os
from pathlib import Path

import pytest

from stella import limits
from stella.files import tree
from stella.roster.content import LEDGERS
from stella.roster.content import Found
from stella.roster.content import Told
from stella.roster.content import read_content
from tests.making.child import open_folder
from tests.making.child import said_by_nobody
from tests.making.content import put
from tests.making.content import rules
from tests.making.content import skill
from tests.making.content import tool


def read(root: Path, *, skipped: frozenset[str] = frozenset(), most: int = 100) -> Found:
    with tree.opened(root) as opened:
        return read_content(opened, root, skipped=skipped, most=most)


def paths(found: Found) -> list[str]:
    content = found.content
    return [
        *(each.path for each in content.tools),
        *(each.path for each in content.skills),
        *(each.path for each in content.rules),
    ]


@pytest.mark.behaviour("P-4")
def test_known_files_are_read_and_sorted_by_path(tmp_path: Path) -> None:
    for name in ("beta", "alpha"):
        tool(tmp_path, name)
    skill(tmp_path, "fix")
    rules(tmp_path)
    found = read(tmp_path)
    assert paths(found) == [
        "tools/alpha.toml",
        "tools/beta.toml",
        "skills/fix/SKILL.md",
        "rules/shop.toml",
    ]
    assert (found.content.inert, found.faults, found.notes) == ((), (), ())
    assert found.content.place("rules/shop.toml") == f"{tmp_path}/rules/shop.toml"


INERT = [
    "tools/helper.sh",
    "tools/sub/deep.toml",
    "tools/.toml",
    "tools/X.TOML",
    "skills/SKILL.md",
    "skills/x/notes.md",
    "skills/x/skill.md",
    "skills/x/y/SKILL.md",
    "rules/a.md",
    "rules/sub/b.toml",
    "rules/plain.toml/within",
]


@pytest.mark.behaviour("P-3")
@pytest.mark.parametrize("path", INERT)
def test_every_other_file_is_inert_whatever_its_name_and_depth(tmp_path: Path, path: str) -> None:
    put(tmp_path / path, 'name = "lint_fix"\n')
    found = read(tmp_path)
    assert found.content.inert == (path,)
    assert (paths(found), found.faults) == ([], ())


@pytest.mark.parametrize("name", ["Tools", "lib", "tool", "RULES"])
def test_only_the_three_directories_at_the_root_are_looked_at(tmp_path: Path, name: str) -> None:
    put(tmp_path / name / "x.toml", "x\n")
    put(tmp_path / "lib" / "tools" / "x.toml", "x\n")
    put(tmp_path / "rules", "a plain file\n")
    found = read(tmp_path)
    assert (paths(found), found.content.inert, found.faults) == ([], (), ())


def test_a_file_that_does_not_parse_is_a_fault_of_that_file_alone(tmp_path: Path) -> None:
    tool(tmp_path, "good")
    put(tmp_path / "tools" / "bad.toml", "name = \n")
    found = read(tmp_path)
    assert paths(found) == ["tools/good.toml"]
    assert [each.path for each in found.faults] == ["tools/bad.toml"]
    assert str(found.faults[0]).startswith("tools/bad.toml: the file is not TOML: ")


def test_an_unknown_key_is_a_note_and_no_fault(tmp_path: Path) -> None:
    tool(tmp_path, more='color = "red"\n')
    found = read(tmp_path)
    assert found.faults == ()
    assert found.notes == (
        Told(path="tools/lint_fix.toml", says='the key "color" is unknown and ignored'),
    )


def test_links_and_special_files_are_never_followed(tmp_path: Path) -> None:
    """I-55: whatever a known name leads to, it is not read through a link."""
    elsewhere = tool(tmp_path / "elsewhere")
    root = tmp_path / "root"
    for folder in ("tools", "skills", "rules"):
        (root / folder).mkdir(parents=True)
    (root / "tools" / "link.toml").symlink_to(elsewhere)
    (root / "tools" / "other").symlink_to(elsewhere)
    (root / "skills" / "linked").symlink_to(tmp_path)
    os.mkfifo(root / "rules" / "pipe.toml")
    found = read(root)
    assert paths(found) == []
    assert found.content.inert == ("tools/other",)
    assert [str(each) for each in found.faults] == [
        "rules/pipe.toml: is a fifo",
        "skills/linked: a symbolic link is not followed",
        "tools/link.toml: a symbolic link is not followed",
    ]


def test_a_directory_that_is_a_link_or_something_else_is_a_fault(tmp_path: Path) -> None:
    tool(tmp_path / "elsewhere")
    root = tmp_path / "root"
    root.mkdir()
    (root / "tools").symlink_to(tmp_path / "elsewhere" / "tools")
    os.mkfifo(root / "rules")
    found = read(root)
    assert paths(found) == []
    assert [each.path for each in found.faults] == ["rules", "tools"]


def test_what_the_system_does_not_let_us_read_is_a_fault() -> None:
    with open_folder() as folder:
        tool(folder, "secret").chmod(0)
        (folder / "rules").mkdir(mode=0)
        (folder / "skills" / "fix").mkdir(parents=True)
        (folder / "skills").chmod(0o744)
        said = said_by_nobody(lambda: "\n".join(map(str, read(folder).faults)))
        (folder / "rules").chmod(0o755)
        assert said.split("\n") == [
            "rules: Permission denied",
            "skills/fix: Permission denied",
            "tools/secret.toml: Permission denied",
        ]


def test_a_file_has_a_limit(tmp_path: Path) -> None:
    head = 'name = "at_most"\ndescription = "Fixes."\ncommand = ["true"]\n#'
    put(tmp_path / "tools" / "a.toml", head.ljust(limits.CONTENT_BYTES, "x"))
    put(tmp_path / "tools" / "b.toml", head.ljust(limits.CONTENT_BYTES + 1, "x"))
    found = read(tmp_path)
    assert paths(found) == ["tools/a.toml"]
    assert [str(each) for each in found.faults] == [
        f"tools/b.toml: has more than {limits.CONTENT_BYTES} bytes"
    ]


def test_all_files_together_have_a_limit(tmp_path: Path) -> None:
    """[P-3] Reading them costs each command; the one that makes too many is left out, and told."""
    number = limits.CONTENT_TOTAL_BYTES // limits.CONTENT_BYTES
    head = "---\ndescription: Fixes.\n---\n"
    for at in range(number):
        put(tmp_path / "skills" / f"s{at}" / "SKILL.md", head.ljust(limits.CONTENT_BYTES, "x"))
    found = read(tmp_path)
    assert (len(found.content.skills), found.faults) == (number, ())
    put(tmp_path / "skills" / "last" / "SKILL.md", f"{head}x")
    found = read(tmp_path)
    assert len(found.content.skills) == number
    most = f"more than {limits.CONTENT_TOTAL_BYTES} bytes"
    assert [str(each) for each in found.faults] == [
        f"skills/s{number - 1}/SKILL.md: with the files before it, it makes {most}"
    ]


def test_no_more_entries_are_looked_at_than_any_package_may_hold(tmp_path: Path) -> None:
    assert limits.CONTENT_ENTRIES == limits.PACKAGE_FILES + limits.PACKAGE_DIRECTORIES
    for number in range(3):
        put(tmp_path / "rules" / f"{number}.md", "x\n")
    assert read(tmp_path, most=3).faults == ()
    found = read(tmp_path, most=2)
    assert [str(each) for each in found.faults] == ["rules: holds more than is looked at"]
    assert len(found.content.inert) == 2


def test_a_depth_no_package_may_have_is_a_fault(tmp_path: Path) -> None:
    inner = "/".join("d" for _ in range(limits.PACKAGE_DEPTH - 1))
    put(tmp_path / "rules" / inner / "x.md", "x\n")
    assert [str(each).rpartition(": ")[2] for each in read(tmp_path).faults] == []
    put(tmp_path / "rules" / inner / "d" / "x.md", "x\n")
    assert [each.says for each in read(tmp_path).faults] == ["is deeper than is looked at"]


def test_the_decisions_of_a_person_and_a_repository_are_no_rules(tmp_path: Path) -> None:
    """P-65: they are read by who judges records."""
    rules(tmp_path, file="approved.toml")
    rules(tmp_path, file="promoted.toml")
    rules(tmp_path, "other")
    assert paths(read(tmp_path, skipped=LEDGERS)) == ["rules/shop.toml"]
    assert len(paths(read(tmp_path))) == 3


def test_bytes_other_than_the_expected_ones_are_a_fault(tmp_path: Path) -> None:
    tool(tmp_path, "same")
    tool(tmp_path, "other")
    with tree.opened(tmp_path) as opened:
        package = tree.walk(opened)
        tool(tmp_path, "other", "# edited\n")
        found = read_content(opened, tmp_path, expected=package.files)
    assert paths(found) == ["tools/same.toml"]
    assert [str(each) for each in found.faults] == ["tools/other.toml: changed while it was read"]
