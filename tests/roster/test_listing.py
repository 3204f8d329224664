"""What `list` and `show` say is safe to read, exact to parse, and about this very tree."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stella import codec
from stella.files.tree import Package
from stella.manifest.plugin import PluginManifest
from stella.roster.carried import carried
from stella.roster.drift import Accepted
from stella.roster.install import Installed
from stella.roster.listing import list_json
from stella.roster.listing import list_lines
from stella.roster.listing import printable
from stella.roster.listing import row
from stella.roster.listing import show_lines
from stella.roster.plugin import Plugin
from stella.roster.plugin import State
from stella.roster.roster import Roster
from stella.roster.roster import read_roster
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.ships import accepted_ships
from stella.roster.switch import Off
from tests.making.content import bundle
from tests.making.content import rules
from tests.making.content import skill
from tests.making.content import tool
from tests.making.packages import lookup
from tests.making.packages import meter
from tests.making.packages import notes
from tests.making.packages import put
from tests.making.packages import settled
from tests.making.plugins import arbiter

GUARD = """\
name = "{name}"
description = "Bad\\u001b[2J \\u202e words."
[loop]
participation = "arbiter"
hooks = ["Stop", "PreToolUse", "SessionStart"]
[requirements]
done = "it is done"
[runtime]
argv = ["python3", "${{plugin_dir}}/main.py", "two  words", 'say "x"']
timeout_secs = 7
env = ["PATH", "MY_TOKEN", "a b"]
"""


def installed(root: Path) -> tuple[Roster, Places]:
    here = settled(root)
    put(arbiter(root / "a", "print(1)\n"), here)
    put(meter(root / "b"), here, Scope.USER)
    put(notes(root / "c"), here)
    return read_roster(here, None), here


def test_an_empty_roster_prints_a_hint_and_an_empty_array() -> None:
    """I-60, I-62."""
    empty = Roster(plugins=(), notices=())
    (hint,) = list_lines(empty, frozenset())
    assert "`stella plugin install DIR`" in hint
    assert list_json(empty) == "[]"


@pytest.mark.behaviour("I-62")
def test_the_array_has_every_key_in_the_order_of_the_contract(tmp_path: Path) -> None:
    """K-166, I-62."""
    roster, here = installed(tmp_path)
    judge, meters, plain = json.loads(list_json(roster))
    keys = (
        "name scope grade state directory description hooks points events calls wrapper runtime "
        "ships digest notices"
    )
    assert [" ".join(each) for each in (judge, meters, plain)] == [keys] * 3
    assert judge == {
        "name": "judge",
        "scope": "project",
        "grade": "arbiter",
        "state": "ok",
        "directory": str(here.tier(Scope.PROJECT).path / "judge"),
        "description": "A test.",
        "hooks": ["Stop"],
        "points": ["after_turn"],
        "events": [],
        "calls": [],
        "wrapper": "judge",
        "runtime": {
            "argv": ["python3", "-I", "-S", "${plugin_dir}/main.py"],
            "timeout_secs": 20,
            "env": ["PATH"],
        },
        "ships": {"tools": [], "skills": [], "records": []},
        "digest": _digest(roster, "judge"),
        "notices": [],
    }
    assert (meters["scope"], meters["grade"], meters["events"]) == (
        "user",
        "observer",
        ["agent.turn.*"],
    )
    assert (plain["grade"], plain["runtime"], plain["wrapper"], plain["description"]) == (
        "none",
        None,
        None,
        None,
    )


def _digest(roster: Roster, name: str) -> str:
    record = roster.plugin(name).record
    assert record is not None
    return record.digest


def test_the_array_says_what_is_wrong_and_which_tree_it_is_about(tmp_path: Path) -> None:
    """I-61, I-62: a changed tree has its own digest, one nobody accepted has none."""
    roster, here = installed(tmp_path)
    accepted = _digest(roster, "judge")
    (roster.plugin("judge").directory / "more").touch()
    notes(here.tier(Scope.PROJECT).path / "placed", "placed", 'name = "{name}"\n')
    judge, _, _, placed = json.loads(list_json(read_roster(here, None)))
    assert (judge["state"], placed["state"]) == ("changed", "not-accepted")
    assert judge["digest"].startswith("sha256:")
    assert judge["digest"] != accepted
    assert placed["digest"] is None
    assert "added more" in judge["notices"][0]


@pytest.mark.behaviour("I-60")
def test_what_stands_on_disk_is_listed_sorted_with_a_mark_when_it_is_not_declared(
    tmp_path: Path,
) -> None:
    """I-60, I-62, K-69: also of a plugin that may not use it."""
    here = settled(tmp_path)
    root = bundle(here.tier(Scope.USER).path / "pack", "pack", tools=("zip", "add"))
    skill(root, "loose\u202e")
    rules(root, "l")
    roster = read_roster(here, None)
    ships = row(roster.plugin("pack")).ships
    assert (ships.tools, ships.skills, ships.records) == (("add", "zip"), ("loose\u202e",), ("l",))
    lines = list_lines(roster, frozenset())
    assert [line.strip() for line in lines if "ships" in line] == [
        "ships tools: add, zip",
        "ships skills: loose\\u{202E} (not declared)",
        "ships records: l (not declared)",
    ]
    assert lines[0] == "pack  user  none  not-accepted"
    root.rename(root.parent / "gone")
    assert row(roster.plugin("pack")).ships.tools == ()


@pytest.mark.behaviour("K-69")
def test_a_tool_put_into_an_installed_package_counts_for_nothing(tmp_path: Path) -> None:
    """I-31, I-61: the list shows it, marked, and nothing of the package is used."""
    here = settled(tmp_path)
    done = put(bundle(tmp_path / "pack", "pack", tools=("own_tool",)), here)
    tool(done.directory, "extra")
    roster = read_roster(here, None)
    lines = list_lines(roster, frozenset())
    assert lines[0] == "pack  project  none  changed"
    assert "  ships tools: extra (not declared), own_tool" in lines
    assert carried(here, roster, trusted=True).plugins == ()


def test_a_withheld_plugin_says_why(tmp_path: Path) -> None:
    """P-9, I-63."""
    here = settled(tmp_path)
    plugin = read(here, put(bundle(tmp_path / "pack", "pack", tools=("one_tool",)), here))
    missing = PluginManifest(name="pack")
    withheld = replace(plugin, ships=accepted_ships(plugin.directory, missing, package_of(plugin)))
    assert withheld.state is State.WITHHELD
    assert withheld.barrier is None
    assert any("what it ships is withheld: " in line for line in show_lines(withheld, lookup(here)))


def read(here: Places, done: Installed) -> Plugin:
    return read_roster(here, None).plugin(done.manifest.name)


def package_of(plugin: Plugin) -> Package:
    assert isinstance(plugin.acceptance, Accepted)
    return plugin.acceptance.package


def test_the_array_is_exact_and_of_printable_ascii(tmp_path: Path) -> None:
    """C76, I-62: author text reaches a program as it is and a terminal as nothing but text."""
    here = settled(tmp_path)
    put(notes(tmp_path / "source", "guard", GUARD), here)
    text = list_json(read_roster(here, None))
    assert text.isascii()
    assert text.isprintable()
    (guard,) = json.loads(text)
    assert guard["description"] == "Bad\x1b[2J \u202e words."
    assert guard["runtime"]["argv"][2:] == ["two  words", 'say "x"']


@given(st.text())
def test_any_text_survives_the_way_through_the_array(text: str) -> None:
    """I-62, for all text that a manifest can hold: beyond the basic plane too."""
    line = printable(codec.encode([text]).decode())
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line) == [text]


def test_each_plugin_is_listed_with_its_state_place_and_process(tmp_path: Path) -> None:
    """I-60."""
    roster, here = installed(tmp_path)
    project, user = (tier.path for tier in here.tiers)
    assert list_lines(roster, frozenset()) == (
        "judge  project  arbiter  ok",
        "  A test.",
        f"  {project}/judge",
        "  runs: python3 -I -S ${plugin_dir}/main.py (stopped after 20s), environment: PATH",
        "meter  user  observer  ok",
        f"  {user}/meter",
        "  runs: ${plugin_dir}/bin/meter (stopped after 30s), environment: nothing",
        "notes  project  none  ok",
        f"  {project}/notes",
        "  runs: no process",
        "hook judge  Stop  bound by the pipeline",
    )


def test_author_text_forges_no_line_and_words_stay_apart(tmp_path: Path) -> None:
    """C64, C65, C76, C-5; I-60: hooks in the catalogue's order, then what is withheld."""
    here = settled(tmp_path)
    done = put(notes(tmp_path / "source", "guard", GUARD), here)
    lines = list_lines(read_roster(here, None), frozenset({"PATH"}))
    words = r'"two\u{20}\u{20}words" "say \"x\""'
    argv = f"python3 {done.directory}/main.py {words}"
    runs = f"python3 ${{plugin_dir}}/main.py {words} (stopped after 7s)"
    assert lines == (
        "guard  project  arbiter  ok",
        r"  Bad\u{1B}[2J \u{202E} words.",
        f"  {done.directory}",
        f"  runs: {runs}, environment: PATH, MY_TOKEN, a b",
        f"hook guard  SessionStart  {argv}",
        f"hook guard  PreToolUse  {argv}",
        f"hook guard  Stop  {argv}",
        "withheld guard  PATH",
        "withheld guard  MY_TOKEN",
    )
    assert all(line.isprintable() for line in lines)


def test_a_hook_without_a_process_is_said_so(tmp_path: Path) -> None:
    here = settled(tmp_path)
    manifest = 'name = "{name}"\n[loop]\nparticipation = "steering"\nhooks = ["PreToolUse"]\n'
    put(notes(tmp_path / "source", manifest=manifest), here)
    assert list_lines(read_roster(here, None), frozenset())[-1] == (
        "hook notes  PreToolUse  no process"
    )


def only(here: Places) -> Plugin:
    (plugin,) = read_roster(here, None).plugins
    return plugin


@pytest.mark.behaviour("I-63")
def test_show_has_consent_record_state_and_files(tmp_path: Path) -> None:
    """I-63: the record without its text."""
    here = settled(tmp_path)
    done = put(meter(tmp_path / "source"), here)
    (done.directory / "bin").chmod(0o755)
    lines = show_lines(only(here), lookup(here))
    text = done.record.consent_text.split("\n")
    assert list(lines[: len(text)]) == text
    files = done.record.files
    size = (done.directory / "plugin.toml").stat().st_size
    assert lines[len(text) :] == (
        "",
        "record: accepted 2026-08-11T12:00:00Z by tty",
        f"  source   {tmp_path}/source",
        f"  digest   {done.record.digest}",
        f"  consent  {done.record.consent}",
        f"  program  {done.directory}/bin/meter",
        "state: ok",
        f"files of {done.directory}, {done.record.digest}:",
        "  bin  0 bytes  0755  directory",
        f"  bin/meter  10 bytes  0755  {files['bin/meter']}",
        f"  main.py  9 bytes  0644  {files['main.py']}",
        f"  plugin.toml  {size} bytes  0644  {files['plugin.toml']}",
    )


def test_show_of_a_changed_plugin_has_the_whole_message(tmp_path: Path) -> None:
    """I-31, I-63: the text shown is the one of what stands there now."""
    here = settled(tmp_path)
    done = put(arbiter(tmp_path / "source", ""), here)
    manifest = done.directory / "plugin.toml"
    manifest.write_text(manifest.read_text("utf-8").replace("holds = 2", "holds = 1"), "utf-8")
    plugin = only(here)
    lines = show_lines(plugin, lookup(here))
    assert "  - may hold a finished turn open: once per run" in lines
    start = lines.index("state: changed")
    assert lines[start + 1 : start + 1 + len(plugin.explained)] == tuple(
        f"  {line}" for line in plugin.explained
    )


@pytest.mark.parametrize("scope", Scope)
def test_show_of_a_plugin_nobody_accepted_has_its_files(tmp_path: Path, scope: Scope) -> None:
    """K-163, I-63."""
    here = settled(tmp_path)
    notes(here.tier(scope).path / "notes")
    lines = show_lines(only(here), lookup(here))
    assert lines[0] == "Install the plugin `notes`?"
    assert "record: none" in lines
    assert "state: not-accepted" in lines
    assert lines[-1].startswith("  plugin.toml  ")


def test_show_of_a_plugin_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    here = settled(tmp_path)
    done = put(notes(tmp_path / "source"), here)
    plugin = only(here)
    done.directory.rename(tmp_path / "gone")
    gone = read_roster(here, None)
    assert gone.plugins == ()
    assert show_lines(plugin, lookup(here))[-1].startswith("  plugin.toml  ")
    (tmp_path / "gone").rename(done.directory)
    (done.directory / ("d/" * 40)).mkdir(parents=True)
    lines = show_lines(only(here), lookup(here))
    assert lines[0] == "state: changed"
    assert "33 levels of depth; the limit is 32" in lines[-1]


@pytest.mark.behaviour("I-60.off", "I-61")
def test_what_is_switched_off_is_listed_as_such_and_its_name_at_the_end(tmp_path: Path) -> None:
    """[I-60, I-61, I-62, I-63]"""
    here = settled(tmp_path)
    put(notes(tmp_path / "a", "ant"), here)
    put(notes(tmp_path / "b", "bee"), here)
    off = Off(person=frozenset({"bee", "gone\x1b"}), project=frozenset({"cat"}))
    roster = read_roster(here, None, switched=off)
    lines = list_lines(roster, frozenset())
    assert [line for line in lines if line.startswith(("ant", "bee"))] == [
        "ant  project  none  ok",
        "bee  project  none  off",
    ]
    assert lines[-3:] == (
        "off bee  by the person's settings",
        "off cat  by the project's settings, for its own copy only",
        "off gone\\u{1B}  by the person's settings",
    )
    assert [(each["name"], each["state"]) for each in json.loads(list_json(roster))] == [
        ("ant", "ok"),
        ("bee", "off"),
    ]
    shown = show_lines(roster.plugin("bee"), lookup(here))
    at = shown.index("state: off")
    assert shown[at + 1] == (
        "  switched off in settings; `stella plugin enable bee` switches it on"
    )
    empty = read_roster(settled(tmp_path / "x"), None, switched=Off(person=frozenset("a")))
    assert list_lines(empty, frozenset())[1:] == ("off a  by the person's settings",)


def test_what_the_variable_lets_run_is_listed_with_what_the_next_run_does(tmp_path: Path) -> None:
    """[I-34, I-61, I-63]"""
    here = settled(tmp_path)
    meter(here.workspace / ".stella/plugins/meter")
    roster = read_roster(here, None, by_variable=True)
    (entry,) = json.loads(list_json(roster))
    assert (entry["state"], entry["digest"][:7]) == ("ok", "sha256:")
    assert "STELLA_TRUST_PROJECT lets it run" in entry["notices"][0]
    shown = show_lines(roster.plugin("meter"), lookup(here))
    at = shown.index("state: ok")
    assert "STELLA_TRUST_PROJECT lets it run" in shown[at + 1]
    assert "record: none" in shown
