"""What is there and not used: faulty files, and the content of plugins that are barred."""

from pathlib import Path

from stella.roster.carried import carried
from stella.roster.content import RULES
from stella.roster.content import TOOLS
from stella.roster.plugin import State
from stella.roster.roster import read_roster
from stella.roster.scope import Places
from stella.roster.switch import Off
from stella.session.unused import Barred
from stella.session.unused import barred
from stella.session.unused import faulty
from tests.making.content import bundle
from tests.making.content import put
from tests.making.content import rules
from tests.making.packages import put as install
from tests.making.packages import settled


def shut(here: Places, *, off: str = "") -> list[Barred]:
    switched = Off(person=frozenset({off}), project=frozenset(), trusted=False)
    return list(barred(read_roster(here, None, switched=switched)))


def test_a_faulty_file_is_one_with_every_reason(tmp_path: Path) -> None:
    """[P-14]"""
    here = settled(tmp_path)
    put(here.home / "tools" / "bad.toml", 'name = "X"\ndescription = " "\ncommand = []\n')
    rules(here.home).write_text("= \n")
    found = carried(here, read_roster(here, None), trusted=False)
    [tool] = faulty(found, TOOLS)
    assert (tool.origin, tool.place) == ("user", f"{here.home}/tools/bad.toml")
    assert tool.reason.startswith("name: expected ")
    assert "; description: is blank" in tool.reason
    assert "; command: expected a program" in tool.reason
    [record] = faulty(found, RULES)
    assert record.place == f"{here.home}/rules/shop.toml"


def test_what_a_barred_plugin_ships_is_told_with_the_reason(tmp_path: Path) -> None:
    """[I-31, I-43, P-9]"""
    here = settled(tmp_path)
    for name in ("fine", "changed", "off"):
        install(bundle(tmp_path / name, name, tools=(f"{name}_tool",)), here)
    there = here.workspace / ".stella/plugins"
    put(there / "changed" / "more", "x\n")
    bundle(there / "found", "found", tools=("found_tool",))
    changed, found, off = shut(here, off="off")
    assert [each.origin for each in (changed, found, off)] == [
        "plugin:changed",
        "plugin:found",
        "plugin:off",
    ]
    assert [each.state for each in (changed, found, off)] == [
        State.CHANGED,
        State.NOT_ACCEPTED,
        State.OFF,
    ]
    assert off.reason == "the plugin is switched off in settings"
    assert changed.reason is not None
    assert "added more" in changed.reason
    assert [each.value.name for each in found.content.tools] == ["found_tool"]
    assert [each.origin for each in shut(here)] == ["plugin:changed", "plugin:found"]
