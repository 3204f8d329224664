"""The content of every origin, and what is left out of it with a notice."""

from pathlib import Path

import pytest

from stella import limits
from stella.roster.carried import Carried
from stella.roster.carried import carried
from stella.roster.items import items_of
from stella.roster.plugin import State
from stella.roster.roster import read_roster
from stella.roster.scope import Places
from stella.roster.scope import Scope
from tests.making.content import accepted_as_it_stands
from tests.making.content import bundle
from tests.making.content import put
from tests.making.content import rules
from tests.making.content import skill
from tests.making.content import tool
from tests.making.packages import put as install
from tests.making.packages import settled


def gathered(here: Places, *, trusted: bool = True) -> Carried:
    return carried(here, read_roster(here, None), trusted=trusted)


def names(found: Carried) -> dict[str, list[str]]:
    origins = {"user": found.user, "workspace": found.workspace, **dict(found.plugins)}
    return {
        origin: [
            *(each.value.name for each in content.tools),
            *(each.value.slug for each in content.skills),
            *(record.lineage_id for each in content.rules for record in each.value.records),
        ]
        for origin, content in origins.items()
    }


@pytest.mark.behaviour("P-1")
@pytest.mark.behaviour("P-2")
def test_content_of_every_origin_is_found_where_it_lies(tmp_path: Path) -> None:
    here = settled(tmp_path)
    for folder in (here.home, here.workspace / ".stella"):
        tool(folder, "own_tool")
        skill(folder, "own-skill")
        rules(folder, "own-record")
    install(bundle(tmp_path / "zeta", "zeta", tools=("zeta_tool",)), here)
    install(
        bundle(tmp_path / "alpha", "alpha", skills=("alpha-skill",), records=("r",)),
        here,
        Scope.USER,
    )
    found = gathered(here)
    own = ["own_tool", "own-skill", "own-record"]
    assert names(found) == {
        "user": own,
        "workspace": own,
        "alpha": ["alpha-skill", "r"],
        "zeta": ["zeta_tool"],
    }
    assert [name for name, _ in found.plugins] == ["alpha", "zeta"]
    assert found.notices == ()
    assert found.user.directory == here.home


def test_nothing_anywhere_is_nothing_to_tell(tmp_path: Path) -> None:
    found = gathered(settled(tmp_path))
    assert names(found) == {"user": [], "workspace": []}
    assert found.notices == ()


def test_an_untrusted_workspace_contributes_nothing(tmp_path: Path) -> None:
    """P-67: not one byte is read, so that no file in it can say anything."""
    here = settled(tmp_path)
    there = here.workspace / ".stella"
    tool(there)
    put(there / "rules" / "bad.toml", "name = \n")
    tool(here.home, "own_tool")
    found = gathered(here, trusted=False)
    assert names(found) == {"user": ["own_tool"], "workspace": []}
    assert found.notices == ()


def test_a_faulty_file_of_a_person_is_left_out_alone(tmp_path: Path) -> None:
    """P-14."""
    here = settled(tmp_path)
    tool(here.home, "good", 'color = "red"\n')
    bad = put(here.home / "tools" / "bad.toml", "name = \n")
    found = gathered(here)
    assert names(found)["user"] == ["good"]
    assert len(found.notices) == 2
    assert found.notices[0].startswith(f"{bad}: the file is not TOML: ")
    assert found.notices[0].endswith("; left out")
    assert found.notices[1] == (
        f'{here.home}/tools/good.toml: the key "color" is unknown and ignored'
    )


def test_notes_of_one_plugin_hide_none_of_another(tmp_path: Path) -> None:
    """[P-31] The first of many are told, and how many more there are."""
    here = settled(tmp_path)
    for name, number in (("many", limits.IGNORED_SHOWN + 2), ("one", 1)):
        slugs = tuple(f"{name}{at:02}" for at in range(number))
        package = bundle(tmp_path / name, name, skills=slugs)
        for slug in slugs:
            put(package / "skills" / slug / "SKILL.md", SKILL_WITH_A_NOTE)
        install(package, here)
    there = here.workspace / ".stella/plugins"
    notices = gathered(here).notices
    assert len(notices) == limits.IGNORED_SHOWN + 2
    assert notices[limits.IGNORED_SHOWN] == f"{there}/many: 2 more notes"
    assert notices[-1].startswith(f"{there}/one/skills/one00/SKILL.md: effort: ")


SKILL_WITH_A_NOTE = "---\ndescription: Fixes.\neffort: huge\n---\nFix it.\n"


def test_of_a_trusted_workspace_the_very_files_that_were_trusted_are_used(tmp_path: Path) -> None:
    """[I-53] One that came, or changed, after the trust was looked at is left out alone."""
    here = settled(tmp_path)
    there = here.workspace / ".stella"
    for name in ("one", "two"):
        skill(there, name)
    vouched = items_of(here.workspace).files
    tool(there, "late")
    put(there / "skills/two/SKILL.md", "---\ndescription: Other.\n---\nOther.\n")
    found = carried(here, read_roster(here, None), trusted=True, vouched=vouched)
    assert [each.value.slug for each in found.workspace.skills] == ["one"]
    assert found.workspace.tools == ()
    assert found.notices == tuple(
        f"{there}/{path}: changed while it was read; left out"
        for path in ("skills/two/SKILL.md", "tools/late.toml")
    )


def test_a_link_in_the_place_of_a_folder_is_not_followed(tmp_path: Path) -> None:
    here = settled(tmp_path)
    tool(tmp_path / "elsewhere")
    (here.workspace / ".stella").symlink_to(tmp_path / "elsewhere")
    found = gathered(here)
    assert names(found)["workspace"] == []
    assert [each.startswith(f"{here.workspace}/.stella: left out: ") for each in found.notices] == [
        True
    ]


def test_a_changed_or_unaccepted_plugin_contributes_nothing(tmp_path: Path) -> None:
    """I-31: until a person accepts it."""
    here = settled(tmp_path)
    install(bundle(tmp_path / "one", "one", tools=("one_tool",)), here)
    install(bundle(tmp_path / "two", "two", tools=("two_tool",)), here)
    tool(here.workspace / ".stella/plugins/one", "one_tool", "# edited\n")
    bundle(here.home / "plugins" / "three", "three", tools=("three_tool",))
    assert [name for name, _ in gathered(here).plugins] == ["two"]


@pytest.mark.behaviour("P-9")
@pytest.mark.behaviour("I-61")
def test_a_plugin_that_does_not_reconcile_is_withheld(tmp_path: Path) -> None:
    """Its bytes are the accepted ones, and it contributes none of its content all the same."""
    here = settled(tmp_path)
    done = install(bundle(tmp_path / "one", "one", tools=("one_tool",)), here)
    tool(done.directory, "extra")
    accepted_as_it_stands(here, done.directory)
    roster = read_roster(here, None)
    assert roster.plugins[0].state is State.WITHHELD
    why = 'tools/extra.toml: tool "extra" is not declared in [[tools]]'
    assert roster.notices == (f"one: what it ships is withheld: {why}",)
    assert gathered(here).plugins == ()
