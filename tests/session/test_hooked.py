"""Who listens to hooks in a session: what was accepted, as a person was shown it [D-61, D-69]."""

from dataclasses import replace
from pathlib import Path

import pytest

from stella import limits
from stella.errors import NotAccepted
from stella.errors import Untrusted
from stella.errors import UsageError
from stella.process.program import Program
from stella.roster.roster import read_roster
from stella.roster.scope import Scope
from stella.roster.scope import places
from stella.roster.switch import Off
from stella.session.enabled import enabled
from stella.session.hooked import Hooked
from stella.session.hooked import hooked
from stella.session.hooked import refuse_missing
from stella.session.hooked import standing
from stella.session.options import Options
from stella.turn.facts import Noticed
from stella.wire.points import Hook
from tests.making.plugins import hooking
from tests.making.sessions import finished
from tests.making.sessions import installed
from tests.making.sessions import options
from tests.making.sessions import project
from tests.making.sessions import says
from tests.making.sessions import script
from tests.making.sessions import verifying


def wanted(tmp_path: Path, **more: object) -> Options:
    root = tmp_path / "work"
    if not root.exists():
        project(root)
    return options(root, tmp_path / "home", script(tmp_path / "m", says("x")), **more)


def found(given: Options) -> Hooked:
    where = places(given.home, given.workspace)
    roster = read_roster(where, given.env["PATH"])
    plugins = enabled(given, given.workspace, roster)
    return hooked(given, where, roster, plugins, session="ses-x")


def heard(tmp_path: Path, *hooks: str, **more: object) -> Options:
    """The options of a session in which one plugin listens."""
    given = wanted(tmp_path)
    folder = tmp_path / str(more.get("name", "guard"))
    source = hooking(folder, "", *hooks, **more)  # type: ignore[arg-type]  # as given
    installed(given.workspace, given.home, source)
    return given


def listening(of: Hooked) -> dict[str, list[tuple[str, int]]]:
    return {
        hook.value: [(each.by, each.holds) for each in listeners]
        for hook, listeners in of.listeners.items()
    }


def test_plugins_listen_by_name_to_what_they_list(tmp_path: Path) -> None:
    """[D-61, D-63]"""
    given = heard(tmp_path, "PreToolUse", name="zeta")
    heard(tmp_path, "TurnEnd", "PreToolUse", name="alpha")
    of = found(given)
    two = limits.HOLDS_DEFAULT
    assert listening(of) == {
        "PreToolUse": [("plugin:alpha", two), ("plugin:zeta", two)],
        "TurnEnd": [("plugin:alpha", two)],
    }
    assert set(of.processes) == {"plugin:alpha", "plugin:zeta"}
    assert (of.cwd, of.session, of.notices) == (str(given.workspace), "ses-x", ())


@pytest.mark.parametrize(
    ("more", "most", "holds"),
    [
        ("", 8, 8),
        ("max_holds = 3\n", 8, 3),
        ("max_holds = 3\n", 2, 2),
        ("max_holds = 3\n", 0, 0),
    ],
)
def test_the_lower_of_wish_and_ceiling_bounds_the_holds(
    tmp_path: Path, more: str, most: int, holds: int
) -> None:
    """[D-68, D-45]"""
    given = heard(tmp_path, "Stop", grade="arbiter", more=more)
    asked = wanted(tmp_path, pipeline=verifying(max_holds=most))
    assert asked.workspace == given.workspace
    assert listening(found(asked)) == {"Stop": [("plugin:guard", holds)]}


def test_whoever_answers_after_the_turn_does_not_listen_to_stop(tmp_path: Path) -> None:
    """[D-67] Neither when its package has changed."""
    given = heard(tmp_path, "Stop", "TurnEnd", grade="arbiter", more='points = ["after_turn"]\n')
    assert set(listening(found(given))) == {"TurnEnd"}
    main = given.workspace / ".stella/plugins/guard/main.py"
    main.write_text("# changed\n", "utf-8")
    assert set(listening(found(given))) == {"TurnEnd"}


def test_a_changed_package_never_runs_in_the_session_that_found_it_so(tmp_path: Path) -> None:
    """[D-69, I-31] Its words may be another's, so that putting bytes back is not enough."""
    given = heard(tmp_path, "PreToolUse")
    manifest = given.workspace / ".stella/plugins/guard/plugin.toml"
    before = manifest.read_text("utf-8")
    manifest.write_text(before.replace("PreToolUse", "TurnEnd"), "utf-8")
    of = found(given)
    manifest.write_text(before, "utf-8")
    assert list(of.listeners) == [Hook.PRE_TOOL_USE]
    assert "guard is not what was accepted: changed plugin.toml" in why(of)


def why(of: Hooked) -> str:
    """Why the plugin may not start, which it must not."""
    cleared = of.processes["plugin:guard"].plugin.cleared()
    assert isinstance(cleared, str)
    return cleared


def test_a_package_that_is_gone_is_not_silent(tmp_path: Path) -> None:
    """[D-69]"""
    given = heard(tmp_path, "PreToolUse")
    (given.workspace / ".stella/plugins/guard").rename(tmp_path / "away")
    assert "guard was accepted and its package is gone or cannot be read" in why(found(given))


def test_a_package_in_front_of_an_accepted_one_does_not_silence_it(tmp_path: Path) -> None:
    """[D-69, A-70] The person's own is asked on, whatever stands beside it."""
    given = wanted(tmp_path)
    source = hooking(tmp_path / "guard", "", "PreToolUse")
    installed(given.workspace, given.home, source, Scope.USER)
    hooking(given.workspace / ".stella" / "plugins" / "guard", "", "TurnEnd")
    of = found(given)
    assert list(of.listeners) == [Hook.PRE_TOOL_USE]
    cleared = of.processes["plugin:guard"].plugin.cleared()
    assert isinstance(cleared, Program)
    assert cleared.not_started is None


def test_a_plugin_without_a_process_is_not_asked(tmp_path: Path) -> None:
    given = wanted(tmp_path)
    folder = tmp_path / "quiet"
    folder.mkdir()
    (folder / "plugin.toml").write_text('name = "quiet"\n', "utf-8")
    installed(given.workspace, given.home, folder)
    assert found(given).listeners == {}


def test_a_plugin_that_was_never_accepted_gets_one_notice(tmp_path: Path) -> None:
    """[D-69] Told once, with a pipeline as without."""
    given = wanted(tmp_path)
    plugins = given.workspace / ".stella" / "plugins"
    hooking(plugins / "guard", "", "PreToolUse")
    of = found(given)
    assert of.listeners == {}
    ((code, text),) = of.notices
    assert code == "hooks_not_asked"
    assert text.startswith("guard does not run: nobody accepted it here")
    installed(given.workspace, given.home)
    for pipeline in (None, verifying()):
        done = finished(wanted(tmp_path, pipeline=pipeline))
        notices = [fact.text for fact in done.told if isinstance(fact, Noticed)]
        assert notices.count(text) == 1


def test_a_home_inside_the_workspace_refuses_only_where_something_was_accepted(
    tmp_path: Path,
) -> None:
    """[I-56] What was accepted must lie apart; without any of it a plain run needs nothing."""
    given = wanted(tmp_path)
    inside = options(given.workspace, given.workspace / "home", tmp_path / "m")
    assert standing(inside, given.workspace) is None
    with pytest.raises(UsageError, match="must lie apart from the workspace"):
        standing(
            options(
                given.workspace, given.workspace / "home", tmp_path / "m", pipeline=verifying()
            ),
            given.workspace,
        )
    assert finished(inside).result.status.value == "completed"
    source = hooking(tmp_path / "guard", "", "PreToolUse")
    installed(tmp_path / "elsewhere", inside.home, source, Scope.USER)
    with pytest.raises(UsageError, match="must lie apart from the workspace"):
        finished(inside)


@pytest.mark.behaviour("I-43.guard", "K-173.hooks")
def test_a_guard_that_is_switched_off_is_not_asked_and_does_not_bar(tmp_path: Path) -> None:
    """[I-43, D-69] Off is a person's word; gone is not, and a repository has no say over it."""
    given = wanted(tmp_path)
    source = hooking(tmp_path / "guard", "", "PreToolUse")
    installed(given.workspace, given.home, source, Scope.USER)
    for off in (Off(person=frozenset({"guard"})), Off(project=frozenset({"guard"}), trusted=True)):
        stands = standing(replace(given, switched=off), given.workspace)
        assert stands is not None
        assert hooked(replace(given, switched=off), *stands, (), session="s").listeners == {}
    theirs = replace(given, switched=Off(project=frozenset({"guard"})))
    (given.home / "plugins" / "guard").rename(tmp_path / "away")
    stands = standing(theirs, given.workspace)
    assert stands is not None
    of = hooked(theirs, *stands, (), session="s")
    assert list(of.listeners) == [Hook.PRE_TOOL_USE]


def test_all_that_nobody_accepted_is_one_notice(tmp_path: Path) -> None:
    """[A-72, D-69]"""
    given = wanted(tmp_path)
    plugins = given.workspace / ".stella" / "plugins"
    for name in ("one", "two"):
        hooking(plugins / name, "", "PreToolUse", name=name)
    notices = [fact.text for fact in finished(given).told if isinstance(fact, Noticed)]
    (notice,) = notices
    assert notice.startswith("2 plugins of this workspace do not run")


@pytest.mark.behaviour("A-72.require", "H7")
@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("nothing", ""),
        ("accepted", ""),
        ("off", ""),
        ("left out", "trust"),
        ("not accepted", "not_accepted"),
        ("changed", "not_accepted"),
        ("faulty", "not_accepted"),
        ("waiting", "not_accepted"),
    ],
)
def test_a_session_that_requires_all_is_refused_for_what_would_not_run(
    tmp_path: Path, kind: str, code: str
) -> None:
    """[A-72, reports H7] Before anything is spent or written, and nothing else refuses it."""
    given = wanted(tmp_path, require_plugins=True)
    plugins = given.workspace / ".stella" / "plugins"
    if kind in ("accepted", "changed", "off"):
        installed(given.workspace, given.home, hooking(tmp_path / "guard", "", "TurnEnd"))
    if kind == "changed":
        (plugins / "guard" / "main.py").write_text("print(1)\n")
    if kind == "off":
        given = replace(given, switched=Off(person=frozenset({"guard"})))
    if kind == "not accepted":
        hooking(plugins / "guard", "", "TurnEnd")
    if kind == "waiting":
        source = hooking(tmp_path / "guard", "", "TurnEnd")
        installed(given.workspace, given.home, source, Scope.USER)
        hooking(plugins / "guard", "", "TurnEnd")
    if kind == "faulty":
        hooking(plugins / "guard", "", "TurnEnd")
        (plugins / "guard" / "plugin.toml").write_text("[")
    if kind == "left out":
        given = replace(given, left_out=("x left out",))
    stands = standing(given, given.workspace)
    assert stands is not None
    refuse_missing(replace(given, require_plugins=False), stands[1])
    if not code:
        refuse_missing(given, stands[1])
        refuse_missing(given, None)
        return
    with pytest.raises(NotAccepted if code == "not_accepted" else Untrusted) as refused:
        refuse_missing(given, stands[1])
    head, told = refused.value.message.split("\n")
    assert (refused.value.code, refused.value.exit_code) == (code, 1)
    assert head == "--require-plugins: this would not run:"
    assert "guard" in told or told == "x left out"
    with pytest.raises(type(refused.value)):
        finished(given)
    assert not (given.workspace / ".stella" / "private").exists()
