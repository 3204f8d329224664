"""The one list of plugins: what is accepted, what is not, and nothing hidden by anything."""

import os
from pathlib import Path

import pytest

from stella import limits
from stella.errors import NotInstalled
from stella.process.program import Program
from stella.roster.plugin import State
from stella.roster.roster import Roster
from stella.roster.roster import before_start
from stella.roster.roster import cleared
from stella.roster.roster import read_roster
from stella.roster.roster import records_changed
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.scope import places
from stella.roster.switch import Off
from tests.making.child import open_folder
from tests.making.child import said_by_nobody
from tests.making.packages import lookup
from tests.making.packages import meter
from tests.making.packages import notes
from tests.making.packages import programs
from tests.making.packages import put
from tests.making.packages import seen
from tests.making.packages import settled
from tests.making.plugins import arbiter
from tests.making.plugins import steering


def states(roster: Roster) -> dict[str, str]:
    return {plugin.name: plugin.state.value for plugin in roster.plugins}


def placed(here: Places, scope: Scope, directory: str, name: str) -> Path:
    """A directory put into a tier by hand."""
    return notes(here.tier(scope).path / directory, name)


def test_nothing_installed_is_an_empty_roster(tmp_path: Path) -> None:
    assert read_roster(settled(tmp_path), None) == Roster(plugins=(), notices=())


def test_a_roster_is_sorted_by_name_and_writes_nothing(tmp_path: Path) -> None:
    """I-40, I-42, Q-12."""
    here = settled(tmp_path)
    put(notes(tmp_path / "b", "bee"), here, Scope.USER)
    put(notes(tmp_path / "c", "cat"), here)
    put(notes(tmp_path / "a", "ant"), here)
    (here.tier(Scope.PROJECT).path / ".staging-left").mkdir()
    (here.tier(Scope.PROJECT).path / "ant" / "__pycache__").mkdir()
    before = seen(tmp_path)
    roster = read_roster(here, None)
    assert states(roster) == {"ant": "ok", "bee": "ok", "cat": "ok"}
    assert [plugin.name for plugin in roster.plugins] == ["ant", "bee", "cat"]
    left = here.tier(Scope.PROJECT).path / ".staging-left"
    (notice,) = roster.notices
    assert notice == (
        f"{left}: left by a command that is at work or was cut off; the next one that changes "
        "plugins takes it away"
    )
    assert seen(tmp_path) == before


@pytest.mark.behaviour("I-34")
@pytest.mark.parametrize("scope", Scope)
def test_a_directory_placed_by_hand_is_not_accepted(tmp_path: Path, scope: Scope) -> None:
    """K-163, A37, O365, I-30, I-34: it is listed, and the way to use it is named."""
    here = settled(tmp_path)
    placed(here, scope, "notes", "notes")
    roster = read_roster(here, None)
    assert states(roster) == {"notes": "not-accepted"}
    plugin = roster.plugin("notes")
    assert roster.notices == plugin.notices == roster.told == (plugin.barrier,)
    others = ", or `stella trust` for all that this workspace brings, "
    others += "or STELLA_TRUST_PROJECT=1 in the environment of one run"
    assert plugin.barrier == (
        "notes does not run: nobody accepted it here; to use it: `stella plugin accept notes`"
        f"{others if scope is Scope.PROJECT else ''}"
    )
    assert before_start(plugin, lookup(here)) == plugin.barrier


def test_a_plugin_accepted_in_one_workspace_is_not_accepted_in_another(tmp_path: Path) -> None:
    """I-34, A37: a copy that arrives with a repository brings no consent."""
    here = settled(tmp_path)
    done = put(notes(tmp_path / "source"), here)
    (tmp_path / "clone/.stella/plugins").mkdir(parents=True)
    notes(tmp_path / "clone/.stella/plugins/notes")
    there = places(here.home, tmp_path / "clone")
    assert states(read_roster(here, None)) == {"notes": "ok"}
    assert states(read_roster(there, None)) == {"notes": "not-accepted"}
    assert done.directory.is_dir()


def test_a_record_that_lies_in_the_workspace_is_ignored_with_a_notice(tmp_path: Path) -> None:
    """I-26, A32: a repository cannot bring its own acceptance."""
    here = settled(tmp_path)
    done = put(notes(tmp_path / "source"), here)
    record = here.tier(Scope.PROJECT).record_path
    data = record.read_bytes()
    record.unlink()
    for place in ("plugins.lock.toml", ".stella/plugins.lock.toml", ".stella/consent/x.toml"):
        (here.workspace / place).parent.mkdir(exist_ok=True)
        (here.workspace / place).write_bytes(data)
    (done.directory.parent / "plugins.lock.toml").symlink_to("/nowhere")
    roster = read_roster(here, None)
    assert states(roster) == {"notes": "not-accepted"}
    assert [notice.partition(": ")[0] for notice in roster.notices[:4]] == [
        f"{here.workspace}/plugins.lock.toml",
        f"{here.workspace}/.stella/plugins.lock.toml",
        f"{here.workspace}/.stella/consent",
        f"{here.workspace}/.stella/plugins/plugins.lock.toml",
    ]
    assert all("ignored" in notice for notice in roster.notices[:4])


def test_a_changed_plugin_is_listed_and_barred_with_the_whole_message(tmp_path: Path) -> None:
    """A31, K-160, K-161, I-31: with the command that asks anew."""
    here = settled(tmp_path)
    done = put(arbiter(tmp_path / "source", "print(1)\n"), here, Scope.USER)
    manifest = done.directory / "plugin.toml"
    manifest.write_text(manifest.read_text("utf-8").replace("holds = 2", "holds = 3"), "utf-8")
    roster = read_roster(here, None)
    assert states(roster) == {"judge": "changed"}
    plugin = roster.plugin("judge")
    assert plugin.barrier == (
        "judge is not what was accepted: changed plugin.toml; `stella plugin accept judge` "
        "shows what it is now and asks, `stella plugin remove judge` takes it away"
    )
    assert plugin.explained == (
        plugin.barrier,
        "consent then (-) and now (+):",
        "  -   - may hold a finished turn open: up to 2 times per run",
        "  +   - may hold a finished turn open: up to 3 times per run",
    )
    assert before_start(plugin, lookup(here)) == plugin.barrier


def test_a_change_during_a_session_is_seen_before_the_next_start(tmp_path: Path) -> None:
    """I-30, T-2, Q-29: the digest is taken anew each time."""
    here = settled(tmp_path)
    done = put(meter(tmp_path / "source"), here)
    plugin = read_roster(here, None).plugin("meter")
    program = Program(path=f"{done.directory}/bin/meter")
    assert cleared(plugin, lookup(here)) == program
    (done.directory / "main.py").write_text("import evil\n", "utf-8")
    assert "changed main.py" in str(cleared(plugin, lookup(here)))
    (done.directory / "main.py").write_text("print(1)\n", "utf-8")
    assert cleared(plugin, lookup(here)) == program


def test_a_change_of_the_record_during_a_session_has_no_effect(tmp_path: Path) -> None:
    """Q-29, A32: what was read when the session opened is what holds."""
    here = settled(tmp_path)
    done = put(notes(tmp_path / "source"), here)
    put(notes(tmp_path / "steady", "steady"), here, Scope.USER)
    roster = read_roster(here, None)
    plugin = roster.plugin("notes")
    assert records_changed(roster, here) == ()
    here.tier(Scope.PROJECT).record_path.unlink()
    assert before_start(plugin, lookup(here)) is None
    (notice,) = records_changed(roster, here)
    assert notice.startswith("notes: what was accepted has changed on disk")
    assert states(read_roster(here, None)) == {"notes": "not-accepted", "steady": "ok"}
    (done.directory / "more").touch()
    put(notes(tmp_path / "other", "other"), here)
    assert before_start(plugin, lookup(here)) is not None


def test_a_removed_plugin_does_not_start_in_a_session_that_knew_it(tmp_path: Path) -> None:
    """G1, J280."""
    here = settled(tmp_path)
    done = put(notes(tmp_path / "source"), here)
    plugin = read_roster(here, None).plugin("notes")
    done.directory.rename(tmp_path / "gone")
    assert "No such file" in str(before_start(plugin, lookup(here)))


def test_compiled_files_go_before_a_start(tmp_path: Path) -> None:
    """K-165, I-32."""
    here = settled(tmp_path)
    done = put(notes(tmp_path / "source"), here)
    (done.directory / "__pycache__").mkdir()
    plugin = read_roster(here, None).plugin("notes")
    assert (done.directory / "__pycache__").is_dir()
    assert before_start(plugin, lookup(here)) is None
    assert not (done.directory / "__pycache__").exists()


# ── two of a name ─────────────────────────────────────────────────────────────────────


@pytest.mark.behaviour("I-42")
def test_the_projects_copy_replaces_the_persons_as_a_whole_with_a_notice(tmp_path: Path) -> None:
    """[I-42, E23]"""
    here = settled(tmp_path)
    user = put(notes(tmp_path / "source"), here, Scope.USER)
    project = put(notes(tmp_path / "again"), here)
    roster = read_roster(here, None)
    (plugin,) = roster.plugins
    assert (plugin.scope, plugin.directory) == (Scope.PROJECT, project.directory)
    (notice,) = roster.notices
    assert notice == (
        f"notes: the copy of the project scope at {project.directory} is used in place of the "
        f"one of the user scope at {user.directory}"
    )
    project.directory.joinpath("more").touch()
    assert states(read_roster(here, None)) == {"notes": "changed"}


@pytest.mark.behaviour("A-70.plugins")
def test_a_copy_nobody_accepted_takes_the_place_of_none_that_the_person_did(
    tmp_path: Path,
) -> None:
    """[A-70, I-43] A repository must not silence a person's guard by a name alone."""
    here = settled(tmp_path)
    user = put(notes(tmp_path / "source"), here, Scope.USER)
    project = placed(here, Scope.PROJECT, "notes", "notes")
    roster = read_roster(here, None)
    assert [plugin.directory for plugin in roster.plugins] == [user.directory]
    assert [plugin.directory for plugin in roster.every] == [user.directory, project]
    assert roster.plugin("notes").barrier is None
    (told,) = roster.told
    assert told == (
        f"notes: the copy of the user scope at {user.directory} is used; the one of the project "
        f"scope at {project} is not, because nobody accepted it here; to use that one: "
        "`stella plugin accept notes --scope project`"
    )
    by_variable = read_roster(here, None, by_variable=True)
    assert by_variable.plugin("notes").directory == project
    here.tier(Scope.USER).record_path.unlink()
    assert states(read_roster(here, None)) == {"notes": "not-accepted"}
    assert read_roster(here, None).plugin("notes").directory == project


@pytest.mark.behaviour("I-41")
def test_of_two_in_one_tier_the_last_is_used_with_a_notice(tmp_path: Path) -> None:
    """I-41."""
    here = settled(tmp_path)
    done = put(notes(tmp_path / "source"), here)
    other = placed(here, Scope.PROJECT, "z-other", "notes")
    roster = read_roster(here, None)
    (plugin,) = roster.plugins
    assert plugin.directory == other
    assert (
        f"notes: declared by {done.directory} and by {other}; the latter is used" in roster.notices
    )
    assert plugin.state is State.OK  # the bytes are the ones that were accepted


@pytest.mark.behaviour("I-41")
def test_a_directory_of_another_name_is_used_with_a_notice(tmp_path: Path) -> None:
    """I-41, I-45: the name is the manifest's."""
    here = settled(tmp_path)
    path = placed(here, Scope.USER, "My Notes", "notes")
    roster = read_roster(here, None)
    assert states(roster) == {"notes": "not-accepted"}
    assert f'{path}: its manifest calls it "notes"' in roster.notices


# ── faulty ones hide nothing ──────────────────────────────────────────────────────────


@pytest.mark.behaviour("I-44")
def test_no_broken_directory_hides_another(tmp_path: Path) -> None:
    """F10, I-41, I-44, S-5: each is left out with a notice of one line."""
    here = settled(tmp_path)
    put(notes(tmp_path / "source", "good"), here)
    tier = here.tier(Scope.PROJECT).path
    (tier / "no-manifest").mkdir()
    (tier / "file").touch()
    notes(tier / "no-toml", manifest="name")
    notes(tier / "unknown", manifest='name = "{name}"\nmore = 1\n')
    notes(tier / "Bad", "Bad")
    notes(tier / "path", "../path")
    (tier / "loop").symlink_to("loop")
    (tier / "fifo").mkdir()
    os.mkfifo(tier / "fifo/plugin.toml")
    roster = read_roster(here, None)
    assert states(roster) == {"good": "ok"}
    told = sorted(notice.partition(": ")[0] for notice in roster.notices)
    assert told == sorted(
        f"{tier}/{name}" for name in ("no-toml", "unknown", "Bad", "path", "loop", "fifo")
    )
    assert all(notice.isprintable() for notice in roster.notices)


@pytest.mark.behaviour("I-44")
def test_a_tier_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    """I-44."""
    here = settled(tmp_path)
    put(notes(tmp_path / "source"), here, Scope.USER)
    (here.workspace / ".stella").symlink_to(tmp_path)
    roster = read_roster(here, None)
    assert states(roster) == {"notes": "ok"}
    (notice,) = roster.notices
    assert notice == (
        "the plugins of the project scope are left out: "
        f"{here.workspace}/.stella: expected a directory, got a symbolic link"
    )


def test_records_that_cannot_be_believed_are_told(tmp_path: Path) -> None:
    """I-27, A32."""
    here = settled(tmp_path)
    put(notes(tmp_path / "source"), here)
    here.tier(Scope.PROJECT).record_path.chmod(0o666)
    roster = read_roster(here, None)
    assert states(roster) == {"notes": "not-accepted"}
    assert "others may write the file" in roster.notices[0]


def test_an_unreadable_plugin_is_told_and_hides_no_other() -> None:
    with open_folder() as folder:
        here = settled(folder)
        placed(here, Scope.USER, "good", "good")
        closed = placed(here, Scope.USER, "closed", "closed")
        closed.chmod(0)

        def work() -> str:
            roster = read_roster(here, None)
            return f"{states(roster)} {roster.notices[0]}"

        assert said_by_nobody(work) == (
            f"{{'good': 'not-accepted'}} {closed}: left out: {closed}: Permission denied"
        )


def test_a_tampered_tree_is_changed_whatever_was_done(tmp_path: Path) -> None:
    """A31: a link in place of the directory is left out, as any link in a tier."""
    here = settled(tmp_path)
    done = put(notes(tmp_path / "source"), here)
    done.directory.rename(tmp_path / "moved")
    done.directory.symlink_to(tmp_path / "moved")
    roster = read_roster(here, None)
    assert roster.plugins == ()
    assert "a symbolic link is not followed; left out" in roster.notices[0]


# ── one plugin ────────────────────────────────────────────────────────────────────────


def test_an_unknown_name_is_an_error_with_near_words(tmp_path: Path) -> None:
    here = settled(tmp_path)
    with pytest.raises(NotInstalled, match=r'^there is no plugin "n\\u\{1B\}"$'):
        read_roster(here, None).plugin("n\x1b")
    put(notes(tmp_path / "source"), here)
    with pytest.raises(NotInstalled, match=r'"nots"; did you mean notes\?'):
        read_roster(here, None).plugin("nots")


def test_only_what_can_be_asked_at_a_point_can_be_selected(tmp_path: Path) -> None:
    """D-8, M-36."""
    here = settled(tmp_path)
    put(arbiter(tmp_path / "a", ""), here)
    put(steering(tmp_path / "b", ""), here)
    put(meter(tmp_path / "c"), here)
    put(notes(tmp_path / "d"), here)
    named = steering(tmp_path / "e", "", name="named")
    with (named / "plugin.toml").open("a") as file:
        file.write('[wrapper]\nid = "named-v1"\n[[wrapper.stages]]\nname = "execute"\n')
    put(named, here)
    assert {plugin.name: plugin.pipeline for plugin in read_roster(here, None).plugins} == {
        "guide": "guide",
        "judge": "judge",
        "meter": None,
        "named": "named-v1",
        "notes": None,
    }


def test_reading_looks_up_programs_and_starts_none(tmp_path: Path) -> None:
    """I-40, H1."""
    here = settled(tmp_path)
    path = programs(tmp_path / "bin")
    done = put(arbiter(tmp_path / "source", ""), here)
    (done.directory / "main.py").write_text("x", "utf-8")
    plugin = read_roster(here, path).plugin("judge")
    assert f"+       program: {path}/python3" in "\n".join(plugin.explained)
    assert not (tmp_path / "bin/was-started").exists()


@pytest.mark.behaviour("I-43.roster", "K-71")
def test_what_a_person_switches_off_is_gone_from_both_tiers(tmp_path: Path) -> None:
    """[I-42, I-43, K-71] Before that the project's copy is the one."""
    here = settled(tmp_path)
    put(notes(tmp_path / "mine", "x"), here, Scope.USER)
    put(notes(tmp_path / "theirs", "x"), here)
    (notice,) = read_roster(here, None).notices
    assert "the copy of the project scope" in notice
    (plugin,) = read_roster(here, None).plugins
    assert plugin.scope is Scope.PROJECT
    off = Off(person=frozenset({"x", "other"}))
    roster = read_roster(here, None, switched=off)
    assert (roster.plugins, roster.notices, roster.switched) == ((), (), off)
    assert [(each.scope.value, each.state.value) for each in roster.every] == [
        ("user", "off"),
        ("project", "off"),
    ]
    assert roster.plugin("x").state is State.OFF


@pytest.mark.behaviour("K-173")
@pytest.mark.parametrize("trusted", [True, False])
def test_a_project_switches_its_own_off_and_a_persons_only_when_trusted(
    tmp_path: Path, *, trusted: bool
) -> None:
    """[I-43, K-173] A guard of the person's that the project's copy stood before is back."""
    here = settled(tmp_path)
    put(notes(tmp_path / "mine", "guard"), here, Scope.USER)
    placed(here, Scope.PROJECT, "guard", "guard")
    placed(here, Scope.PROJECT, "theirs", "theirs")
    off = Off(project=frozenset({"guard", "theirs"}), trusted=trusted)
    roster = read_roster(here, None, switched=off)
    left = [] if trusted else [("guard", Scope.USER, State.OK)]
    assert [(each.name, each.scope, each.state) for each in roster.plugins] == left
    assert [each.name for each in roster.off] == ["guard", "guard", "theirs"][not trusted :]


@pytest.mark.behaviour("A-72.plugins", "D80.notice")
def test_many_plugins_that_nobody_accepted_are_one_notice_of_a_session(tmp_path: Path) -> None:
    """[A-72, I-34] With the three ways; every other notice stays."""
    here = settled(tmp_path)
    for number in range(limits.IGNORED_SHOWN + 1):
        placed(here, Scope.PROJECT, f"p{number:02}", f"p{number:02}")
    placed(here, Scope.USER, "mine", "mine")
    broken = here.home / "plugins" / "broken"
    notes(broken, manifest="[")
    roster = read_roster(here, None)
    assert len(roster.notices) == limits.IGNORED_SHOWN + 3
    fault, mine, together = roster.told
    assert fault == roster.faulty[0]
    assert fault.startswith(f"{broken}: left out: ")
    assert mine.startswith("mine does not run: ")
    count = limits.IGNORED_SHOWN + 1
    assert together.startswith(
        f"{count} plugins of this workspace do not run, because nobody accepted them here: p00, "
    )
    assert together.endswith(
        " and 1 more; to use them: `stella plugin accept NAME` for one, `stella trust` for all "
        "that this workspace brings, or STELLA_TRUST_PROJECT=1 in the environment of one run"
    )


@pytest.mark.behaviour("I-43.told")
def test_a_project_that_switches_off_a_persons_plugin_is_told_of(tmp_path: Path) -> None:
    """[I-43, I-44] Each session says so; what the person switched off is no news."""
    here = settled(tmp_path)
    put(notes(tmp_path / "source"), here, Scope.USER)
    name = frozenset({"notes"})
    off = read_roster(here, None, switched=Off(project=name, trusted=True))
    assert off.told == ("notes: your own copy is switched off by the project's settings",)
    both = read_roster(here, None, switched=Off(person=name, project=name, trusted=True))
    assert both.told == ()
