"""What is said of every tool: the built-in, the claimed, the faulty and the barred."""

import json
from pathlib import Path

import pytest

from stella.errors import PackageRefused
from stella.roster.carried import carried
from stella.roster.roster import read_roster
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.session.tool_list import Row
from stella.session.tool_list import list_json
from stella.session.tool_list import list_lines
from stella.session.tool_list import rows
from stella.session.tool_list import validated
from stella.tools.all import TOOLS
from tests.making.content import bundle
from tests.making.content import put
from tests.making.content import rules
from tests.making.content import tool
from tests.making.packages import put as install
from tests.making.packages import settled


def listed(here: Places, *, trusted: bool = True) -> tuple[Row, ...]:
    roster = read_roster(here, None)
    return rows(carried(here, roster, trusted=trusted), roster)


def own(here: Places) -> list[tuple[str | None, str, str]]:
    return [(row.name, row.origin, row.state) for row in listed(here)[len(TOOLS) :]]


def test_without_any_file_there_are_the_built_in_tools(tmp_path: Path) -> None:
    """T2-61."""
    found = listed(settled(tmp_path))
    assert [row.name for row in found] == [each.contract.name for each in TOOLS]
    assert {(row.origin, row.provenance, row.state) for row in found} == {
        ("builtin", "builtin", "on")
    }
    lines = list(list_lines(found))
    assert lines[0] == "read_file  builtin  read-only, low risk  on"


@pytest.mark.behaviour("T2-61")
def test_every_tool_has_its_origin_its_state_and_the_reason(tmp_path: Path) -> None:
    """T2-61: a broken file hides no other."""
    here = settled(tmp_path)
    there = here.workspace / ".stella"
    tool(there, "a_tool", 'risk = "destructive"\n')
    tool(here.home, "a_tool")
    tool(here.home, "b_tool", "[foundry]\n")
    bad = put(here.home / "tools" / "bad.toml", 'name = "X"\ndescription = " "\ncommand = []\n')
    rules(here.home).write_text("= \n")
    install(bundle(tmp_path / "one", "one", tools=("one_tool",)), here)
    done = install(bundle(tmp_path / "two", "two", tools=("two_tool",)), here, Scope.USER)
    put(done.directory / "more", "x\n")
    bundle(here.home / "plugins" / "three", "three", tools=("three_tool",))
    assert own(here) == [
        ("a_tool", "workspace", "on"),
        ("a_tool", "user", "left-out"),
        ("b_tool", "user", "left-out"),
        ("one_tool", "plugin:one", "on"),
        (None, "user", "faulty"),
        ("three_tool", "plugin:three", "not-accepted"),
        ("two_tool", "plugin:two", "changed"),
    ]
    found = listed(here)[len(TOOLS) :]
    assert [row.risk for row in found][:2] == ["destructive", "high"]
    assert found[4].file == str(bad)
    assert found[4].reason is not None
    assert found[4].reason.startswith("name: ")
    assert "description: is blank" in found[4].reason
    text = "\n".join(list_lines(found))
    assert "(no tool)  user  may change things, unknown risk  faulty" in text
    assert f"  left-out: the name a_tool is taken by {there}/tools/a_tool.toml" in text
    assert "  changed: two is not what was accepted: added more" in text


def test_what_an_author_wrote_forges_no_line(tmp_path: Path) -> None:
    """C-3, C-5."""
    here = settled(tmp_path)
    text = 'name = "a_tool"\ndescription = "x\\n  bash\\u001b[2J\\u202e"\ncommand = ["true"]\n'
    put(here.home / "tools" / "a\n.toml", text)
    found = listed(here)
    lines = list(list_lines(found))
    assert not [line for line in lines if "\n" in line or "\x1b" in line or "\u202e" in line]
    assert "  x bash\\u{1B}[2J\\u{202E}" in lines
    document = list_json(found)
    assert document.isascii()
    assert "\n" not in document
    rows_told = json.loads(document)
    assert rows_told[-1]["description"] == "x\n  bash\x1b[2J\u202e"
    assert list(rows_told[0]) == [
        "name",
        "origin",
        "provenance",
        "read_only",
        "risk",
        "state",
        "file",
        "description",
        "reason",
    ]


def test_a_directory_with_tools_in_it_is_validated_whole(tmp_path: Path) -> None:
    """T2-61: all faults of all files; other kinds of content are not its business."""
    tool(tmp_path, "good", 'color = "red"\n')
    put(tmp_path / "tools" / "bad.toml", 'name = "X"\ndescription = " "\ncommand = ["true"]\n')
    put(tmp_path / "rules" / "bad.toml", "= \n")
    lines, passed = validated(tmp_path)
    assert not passed
    assert [line.partition(f"{tmp_path}/tools/")[2].partition(" e")[0] for line in lines[:2]] == [
        "bad.toml: name:",
        "bad.toml: description: is blank; say what the tool does",
    ]
    assert lines[2:] == (
        f'{tmp_path}/tools/good.toml: note: the key "color" is unknown and ignored',
        f"{tmp_path}: 1 sound tool file, 2 faults",
    )


def test_two_files_of_one_name_are_a_fault(tmp_path: Path) -> None:
    """[T2-61, P-14] Only one of them would be offered."""
    tool(tmp_path, "good")
    same = (tmp_path / "tools" / "good.toml").read_text("utf-8")
    put(tmp_path / "tools" / "twin.toml", same)
    lines, passed = validated(tmp_path)
    assert not passed
    where = f"{tmp_path}/tools"
    assert lines[0] == f"{where}/twin.toml: the name good is taken by {where}/good.toml"


def test_a_folder_of_tool_files_is_validated_too(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    tool(tmp_path / "x")
    (tmp_path / "x" / "tools").rename(folder)
    put(folder / "notes.md", "x\n")
    put(folder / "sub" / "bad.toml", "= \n")
    assert validated(folder) == ((f"{folder}: 1 sound tool file, 0 faults",), True)
    put(folder / "bad.toml", "= \n")
    lines, passed = validated(folder)
    assert not passed
    assert lines[0].startswith(f"{folder}/bad.toml: the file is not TOML: ")


def test_what_is_no_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PackageRefused, match="No such file"):
        validated(tmp_path / "gone")
