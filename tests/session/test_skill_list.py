"""What is said of every skill: those that are used, left out, faulty or barred."""

import json
from pathlib import Path

from stella.roster.carried import carried
from stella.roster.roster import read_roster
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.session.skill_list import Row
from stella.session.skill_list import list_json
from stella.session.skill_list import list_lines
from stella.session.skill_list import rows
from tests.making.content import bundle
from tests.making.content import put
from tests.making.content import rules
from tests.making.content import skill
from tests.making.packages import put as install
from tests.making.packages import settled


def listed(here: Places, *, trusted: bool = True) -> tuple[Row, ...]:
    roster = read_roster(here, None)
    return rows(carried(here, roster, trusted=trusted), roster)


def test_without_any_file_there_is_no_skill(tmp_path: Path) -> None:
    found = listed(settled(tmp_path))
    assert (found, list_json(found), list(list_lines(found))) == ((), "[]", [])


def test_every_skill_has_its_origin_its_state_and_the_reason(tmp_path: Path) -> None:
    """[P-31, P-33, P-9] A broken file hides no other."""
    here = settled(tmp_path)
    there = here.workspace / ".stella"
    skill(there, "one")
    skill(here.home, "one")
    skill(here.home, "two")
    bad = put(here.home / "skills" / "bad" / "SKILL.md", "---\nname: x\n---\n")
    rules(here.home).write_text("= \n")
    install(bundle(tmp_path / "p", "p", skills=("two", "three")), here)
    changed = install(bundle(tmp_path / "q", "q", skills=("four",)), here, Scope.USER)
    put(changed.directory / "more", "x\n")
    bundle(here.home / "plugins" / "r", "r", skills=("five",))
    found = listed(here)
    assert [(row.name, row.origin, row.state) for row in found] == [
        ("one", "user", "left-out"),
        ("two", "user", "on"),
        ("one", "workspace", "on"),
        ("three", "plugin:p", "on"),
        ("two", "plugin:p", "left-out"),
        (None, "user", "faulty"),
        ("four", "plugin:q", "changed"),
        ("five", "plugin:r", "not-accepted"),
    ]
    assert [row.reason is None for row in found] == [row.state == "on" for row in found]
    assert found[0].reason == f"the name one is that of {there}/skills/one/SKILL.md"
    faulty = found[5]
    assert (faulty.file, faulty.description) == (str(bad), None)
    assert faulty.reason is not None
    assert faulty.reason.count("; ") >= 2
    assert json.loads(list_json(found))[5]["reason"] == faulty.reason
    lines = list(list_lines(found))
    assert lines[:4] == [
        "one  user  left-out",
        "  Fixes.",
        f"  {here.home}/skills/one/SKILL.md",
        f"  left-out: {found[0].reason}",
    ]
    assert "(no skill)  user  faulty" in lines
    assert [row.origin for row in listed(here, trusted=False)].count("workspace") == 0


def test_author_text_is_made_visible(tmp_path: Path) -> None:
    """[C-3] Neither a name nor a description moves the cursor."""
    here = settled(tmp_path)
    text = "---\ndescription: a\x1b[2Jb\n---\nbody\n"
    put(here.home / "skills" / "x\x1b" / "SKILL.md", text)
    found = listed(here)
    shown = "\n".join(list_lines(found))
    assert "x\\u{1B}  user  on" in shown
    assert "  a\\u{1B}[2Jb" in shown
    assert "\x1b" not in shown
    assert "\x1b" not in list_json(found)
