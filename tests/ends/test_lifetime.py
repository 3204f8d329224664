"""The life of an installed plugin under the real command: only what was accepted ever runs.

Each program here leaves its word in a file, so what ran and what did not is seen by that.
"""

import json
import py_compile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from shutil import rmtree
from typing import Final

import pytest

from tests.making.commands import Shell
from tests.making.commands import shell
from tests.making.ends import PATIENCE
from tests.making.ends import Place
from tests.making.ends import place
from tests.making.ends import says
from tests.making.ends import works
from tests.making.packages import notes
from tests.making.packages import seen
from tests.making.packages import skin
from tests.making.plugins import hooking
from tests.making.processes import eventually
from tests.making.terminal import conversed
from tests.making.watched import watched

ALLOW: Final = (
    'import json, sys\nsys.stdin.readline()\nprint(json.dumps({"action": "allow"}), flush=True)\n'
)


def words(where: Place) -> Path:
    """The file in which programs leave their words."""
    return where.root.parent / "words"


def program(where: Place, word: str, also: str = "") -> str:
    """A program that leaves its word, does `also`, and allows everything."""
    return (
        f"with open({str(words(where))!r}, 'a', encoding='utf-8') as file:\n"
        f"    file.write({word!r})\n{also}{ALLOW}"
    )


def guard(where: Place, word: str = "first", also: str = "") -> Path:
    """Write a plugin that listens to one hook, in place of the one that was there."""
    folder = where.root.parent / "guard"
    rmtree(folder, ignore_errors=True)
    return hooking(folder, program(where, word, also), "PreToolUse")


def widened(folder: Path) -> None:
    """Let a plugin ask for one variable more."""
    manifest = folder / "plugin.toml"
    text = manifest.read_text("utf-8")
    assert 'env = ["PATH"]' in text
    manifest.write_text(text.replace('env = ["PATH"]', 'env = ["PATH", "HOME"]'), "utf-8")


def installed(where: Place, name: str = "guard") -> Path:
    return where.root / ".stella/plugins" / name


def ran(where: Place) -> tuple[str, str]:
    """Run once; return what plugins left meanwhile and what was said on standard error."""
    words(where).unlink(missing_ok=True)
    (where.root / "answer.txt").unlink(missing_ok=True)
    where.scripted(works(), says())
    done = where.run()
    left = words(where).read_text("utf-8") if words(where).exists() else ""
    return left, done.err


def state(where: Place, name: str = "guard") -> str:
    rows = json.loads(where.stella("plugin", "list", "--json").out)
    return next((row["state"] for row in rows if row["name"] == name), "none")


# ── what changed does not run ─────────────────────────────────────────────────────────


def _byte(folder: Path) -> None:
    path = folder / "main.py"
    path.write_bytes(path.read_bytes().replace(b"first", b"fyrst"))


def _added(folder: Path) -> None:
    (folder / "json.py").write_text("", "utf-8")


def _mode(folder: Path) -> None:
    (folder / "main.py").chmod(0o755)


GRANT: Final = "      environment: PATH and nothing else"
WIDER: Final = "      environment: PATH, HOME and nothing else"


@pytest.mark.behaviour("A31", "I-30", "I-31", "K-161", "G5")
@pytest.mark.parametrize(
    ("change", "named", "lines"),
    [
        (_byte, "changed main.py", ()),
        (_added, "added json.py", ()),
        (_mode, "a mode or a directory is not as it was", ()),
        (widened, "changed plugin.toml", (f"  - {GRANT}", f"  + {WIDER}")),
    ],
)
def test_what_changed_does_not_run_until_the_difference_is_accepted(
    tmp_path: Path, change: Callable[[Path], None], named: str, lines: tuple[str, ...]
) -> None:
    """[I-30, I-31, I-33] One byte, one file, one mode, one word of the grant."""
    where = place(tmp_path)
    where.install(guard(where))
    assert ran(where)[0] == "first"
    change(installed(where))
    left, err = ran(where)
    assert left == ""
    assert f"guard is not what was accepted: {named}" in err, err
    assert "`stella plugin accept guard`" in err
    assert state(where) == "changed"
    details = where.stella("plugin", "show", "guard").out
    assert all(f"{line}\n" in details for line in lines)
    shown = where.stella("plugin", "accept", "guard")
    assert shown.code == 1
    assert f"Files, against what was accepted before: {named}\n" in shown.err
    assert all(f"{line}\n" in shown.err for line in lines)
    assert ran(where)[0] == ""
    assert where.stella("plugin", "accept", "guard", "--yes").code == 0
    assert state(where) == "ok"
    assert ran(where)[0] in ("first", "fyrst")


@pytest.mark.behaviour("A29", "I-36")
def test_the_old_version_of_a_declined_upgrade_still_runs(tmp_path: Path) -> None:
    """[I-36, I-37] Whatever way it was declined; after a yes the new one does."""
    where = place(tmp_path)
    where.install(guard(where))
    source = guard(where, "second")
    widened(source)
    before = seen(where.root), seen(where.home)
    upgrade = ("plugin", "install", str(source), "--upgrade")
    for typed in (b"n\n", b"\x04", b"\x03"):
        shown = conversed(where, *upgrade, typed=typed)
        assert f"  - {GRANT}" in shown.rows
        assert f"  + {WIDER}" in shown.rows
        assert (seen(where.root), seen(where.home)) == before
    assert where.stella(*upgrade).code == 1
    assert state(where) == "ok"
    assert ran(where)[0] == "first"
    assert where.stella(*upgrade, "--yes").code == 0
    assert ran(where)[0] == "second"


@pytest.mark.behaviour("I-38")
def test_without_a_record_the_whole_text_is_new(tmp_path: Path) -> None:
    """[I-38, I-30] A copy that nobody accepted does not run, and is no base of a difference."""
    where = place(tmp_path)
    source = guard(where)
    where.install(source)
    for record in (where.home / "consent").glob("*.toml"):
        record.unlink()
    assert ran(where)[0] == ""
    assert state(where) == "not-accepted"
    done = where.stella("plugin", "install", str(source), "--upgrade", "--yes")
    assert done.code == 0
    head, _, text = done.err.partition("\nInstall the plugin `guard`?\n")
    new = [line.removeprefix("  + ") for line in head.splitlines() if line.startswith("  + ")]
    assert new[0] == "Install the plugin `guard`?"
    assert all(line in text for line in new[1:])
    assert "  - " not in {line[:4] for line in head.splitlines()}
    assert ran(where)[0] == "first"


@pytest.mark.behaviour("I-32", "K-165")
def test_a_compiled_file_that_nobody_accepted_never_runs(tmp_path: Path) -> None:
    """[I-32] One that Python would take for the module, whatever the module says."""
    where = place(tmp_path)
    also = (
        "import pathlib, sys\nsys.path.insert(0, str(pathlib.Path(__file__).parent))\n"
        "import helper\n"
    )
    source = guard(where, "first", also)
    (source / "helper.py").write_text("", "utf-8")
    evil = where.root.parent / "evil.py"
    evil.write_text(f"open({str(words(where))!r}, 'a').write(' and evil')\n", "utf-8")
    for cached in (source / "__pycache__", installed(where) / "__pycache__"):
        compiled = cached / "helper.cpython-311.pyc"
        if cached.parent == source:
            cached.mkdir()
        else:
            where.install(source)
            assert not cached.exists()
            assert ran(where)[0] == "first"
            cached.mkdir(exist_ok=True)
        py_compile.compile(
            str(evil),
            str(compiled),
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
        assert compiled.exists()
    assert ran(where)[0] == "first"
    assert state(where) == "ok"


# ── where it is kept, and what none of the commands does ──────────────────────────────


@pytest.mark.behaviour("I-1", "I-26")
def test_where_a_plugin_and_its_record_are_kept(tmp_path: Path) -> None:
    """[I-1, I-26] In the project by default; what was accepted only ever in the home, private."""
    where = place(tmp_path)
    source = str(notes(tmp_path / "source"))
    where.install(Path(source))
    assert (where.root / ".stella/plugins/notes/main.py").is_file()
    assert not (where.home / "plugins").exists()
    assert where.stella("plugin", "install", source, "--scope", "user", "--yes").code == 0
    assert (where.home / "plugins/notes/main.py").is_file()
    without = {name: value for name, value in where.env.items() if name != "STELLA_HOME"}
    line = ("plugin", "install", source, "--scope", "user", "--yes")
    assert where.stella(*line, env=without, bare=True).code == 0
    assert (where.person / ".stella/plugins/notes/main.py").is_file()
    records = sorted(path for path in tmp_path.rglob("*.lock.toml"))
    assert {path.parent for path in records} == {
        where.home,
        where.home / "consent",
        where.person / ".stella",
    }
    assert {path.stat().st_mode & 0o777 for path in records} == {0o600}


@pytest.mark.behaviour("I-26")
def test_a_record_inside_a_workspace_accepts_nothing(tmp_path: Path) -> None:
    """[I-26] Not even one that the person's own command wrote: it is told and not read."""
    where = place(tmp_path)
    where.install(guard(where))
    (record,) = (where.home / "consent").glob("*.lock.toml")
    for place_ in (".stella/plugins.lock.toml", "plugins.lock.toml"):
        (where.root / place_).write_bytes(record.read_bytes())
    record.unlink()
    left, err = ran(where)
    assert left == ""
    assert f"{where.root}/plugins.lock.toml" in where.stella("plugin", "list").err
    assert "guard" in err
    assert state(where) == "not-accepted"


@pytest.mark.behaviour("A40", "I-67")
def test_no_command_about_plugins_starts_anything(tmp_path: Path) -> None:
    """[I-67] Not the plugin, not what lies about in the package, nothing at all."""
    where = place(tmp_path)
    source = guard(where)
    trap = f"open({str(words(where))!r}, 'a').write('trap')\n"
    for name in ("setup.py", "conftest.py", "__init__.py", "sitecustomize.py", "json.py"):
        (source / name).write_text(trap, "utf-8")
    for name in ("postinstall", "install.sh"):
        (source / name).write_text(f"#!/bin/sh\necho trap >> {words(where)}\n", "utf-8")
        (source / name).chmod(0o755)
    lines = (
        ("check", str(source)),
        ("install", str(source), "--yes"),
        ("install", str(source), "--yes", "--scope", "user"),
        ("list",),
        ("list", "--json"),
        ("show", "guard"),
        ("install", str(source), "--upgrade", "--yes"),
        ("disable", "guard"),
        ("enable", "guard"),
        ("accept", "guard", "--yes"),
        ("remove", "guard"),
    )
    for line in lines:
        if line[0] == "accept":
            widened(installed(where))
        found = watched(where, "plugin", *line)
        assert (found.done.code, found.started) == (0, ()), (line, found.done.err)
    assert not words(where).exists()


# ── removal ───────────────────────────────────────────────────────────────────────────


@pytest.mark.behaviour("A35")
@pytest.mark.parametrize("broken", [False, True])
def test_a_removed_plugin_is_gone_from_both_tiers_and_never_runs(
    tmp_path: Path, broken: bool
) -> None:
    """[I-66] Also when its manifest cannot be read any more."""
    where = place(tmp_path)
    source = guard(where)
    where.install(source)
    assert where.stella("plugin", "install", str(source), "--scope", "user", "--yes").code == 0
    copies = (installed(where), where.home / "plugins/guard")
    if broken:
        for copy in copies:
            (copy / "plugin.toml").write_text("name = [", "utf-8")
    done = where.stella("plugin", "remove", "guard")
    assert done.code == 0, done.err
    assert done.out.startswith("".join(f"removed {copy}\n" for copy in copies))
    assert not any(copy.exists() for copy in copies)
    assert state(where) == "none"
    assert ran(where)[0] == ""
    kept = [path for path in where.home.rglob("*.toml") if b"guard" in path.read_bytes()]
    assert kept == []


@pytest.mark.behaviour("A34")
def test_a_link_in_the_place_of_a_plugin_is_not_followed(tmp_path: Path) -> None:
    """[I-66, S2-40] What it leads to stays, and so does the link."""
    where = place(tmp_path)
    precious = notes(tmp_path / "precious")
    where.install(notes(tmp_path / "source"))
    rmtree(installed(where, "notes"))
    installed(where, "notes").symlink_to(precious)
    before = seen(tmp_path)
    for line in (("remove", "notes"), ("install", str(tmp_path / "source"), "--upgrade", "--yes")):
        done = where.stella("plugin", *line)
        assert done.code == 1
        assert done.err.rstrip("\n").count("\n") == 0
    assert seen(tmp_path) == before


# ── at the same time ──────────────────────────────────────────────────────────────────

HELD: Final = """\
import pathlib, time
here = pathlib.Path({folder!r})
(here / "asked").touch()
while not (here / "go").exists():
    time.sleep(0.01)
"""


@pytest.mark.behaviour("G10")
@pytest.mark.parametrize("line", ["remove", "upgrade", "disable"])
def test_a_change_while_a_plugin_answers_lets_it_answer(tmp_path: Path, line: str) -> None:
    """[I-37, I-66] The session ends as it should, and no process of it is left."""
    where = place(tmp_path)
    where.install(guard(where, "first", HELD.format(folder=str(tmp_path))))
    source = str(guard(where, "second"))
    change = {
        "remove": ("remove", "guard"),
        "upgrade": ("install", source, "--upgrade", "--yes"),
        "disable": ("disable", "guard"),
    }[line]
    where.scripted(works(), says())
    with where.started("run", "go", *where.asked) as run:
        try:
            eventually((tmp_path / "asked").exists)
            assert where.stella("plugin", *change).code == 0
            (tmp_path / "go").touch()
            _, err = run.communicate(timeout=PATIENCE)
        finally:
            run.kill()
    assert run.returncode == 0, err.decode()
    assert words(where).read_text("utf-8") == "first"
    assert (where.root / "answer.txt").exists()
    assert where.whole()
    assert where.left(run.pid) == []
    assert ran(where)[0] == ("second" if line == "upgrade" else "")


@pytest.mark.behaviour("A26", "G11")
def test_twenty_installs_and_removes_at_once_end_as_some_order_would(tmp_path: Path) -> None:
    """[Q-15, I-2, I-66] Of several names and of one; tier, records and settings agree."""
    where = place(tmp_path)
    where.install(notes(tmp_path / "old", "old"))
    sources = {name: skin(tmp_path / name, name) for name in ("one", "two", "three")}
    lines = [
        *(("install", str(sources[name]), "--yes") for name in ("one", "one", "two", "three")),
        ("remove", "one"),
        ("remove", "two"),
        ("install", str(sources["one"]), "--upgrade", "--yes"),
        ("remove", "one"),
        ("install", str(sources["one"]), "--yes"),
        ("install", str(sources["two"]), "--yes"),
    ] * 2
    processes = [where.started("plugin", *line) for line in lines]
    came = Counter[tuple[str, str]]()
    for line, process in zip(lines, processes, strict=True):
        with process:
            _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode in (0, 1), err.decode()
        assert b"bug of stella" not in err
        if process.returncode == 0 and "--upgrade" not in line:
            came[line[0], Path(line[1]).name] += 1
    left = {name for name in sources if came["install", name] - came["remove", name] == 1}
    assert all(came["install", name] - came["remove", name] in (0, 1) for name in sources)
    rows = json.loads(where.stella("plugin", "list", "--json").out)
    assert {row["name"]: row["state"] for row in rows} == dict.fromkeys({"old", *left}, "ok")
    assert {path.name for path in installed(where).parent.iterdir()} == {"old", *left}
    for name in (*left, "old"):
        assert where.stella("plugin", "remove", name).code == 0
    assert list(installed(where).parent.iterdir()) == []
    assert not [path for path in where.root.iterdir() if path.name.startswith(".stella-tmp")]


# ── no way in without a way out ───────────────────────────────────────────────────────


def _byte_of(folder: Path) -> None:
    (folder / "main.py").write_text("print(2)\n", "utf-8")


def _grant_of(folder: Path) -> None:
    (folder / "plugin.toml").write_text('name = "notes"\ndescription = "More."\n', "utf-8")


def _broken(folder: Path) -> None:
    (folder / "plugin.toml").write_text("name = [", "utf-8")


def _mute(folder: Path) -> None:
    (folder / "plugin.toml").unlink(missing_ok=True)


def _unrecorded(folder: Path) -> None:
    for record in (folder.parents[3] / "home/consent").glob("*.lock.toml"):
        record.unlink()


DEEDS: Final = (_byte_of, _grant_of, _broken, _mute, _unrecorded, rmtree)
"""What happens to an installed plugin without a command."""

INSTALL: Final = ("install", "source", "--yes")
UPGRADE: Final = (*INSTALL, "--upgrade")
ACCEPT: Final = ("accept", "notes", "--yes")
OFF: Final = ("disable", "notes")
ON: Final = ("enable", "notes")
REMOVE: Final = ("remove", "notes")


def _key(here: Shell) -> tuple[object, ...]:
    """What a person can tell of the plugin: its state, whether it is there, recorded, off."""
    folder = here.root / ".stella/plugins/notes"
    listed = here.stella("plugin", "list", "--json")
    assert listed.code == 0
    rows = {row["name"]: row["state"] for row in json.loads(listed.out)}
    recorded = any(b"notes" in path.read_bytes() for path in here.home.rglob("*.lock.toml"))
    settings = here.home / "stella.toml"
    off = settings.exists() and "off" in settings.read_text("utf-8")
    return rows.get("notes"), folder.exists(), recorded, off


@pytest.mark.behaviour("G2")
def test_every_state_has_a_command_that_leaves_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[I-33, I-61, I-65, I-66] Each ends at nothing by a removal, and at `ok` while it is there."""
    with shell(tmp_path, capsys) as here:
        notes(here.root / "source")
        here.home.mkdir()
        folder = here.root / ".stella/plugins/notes"
        model = tmp_path / "model"

        def kept(number: int) -> None:
            for root in (here.root, here.home):
                copytree(root, model / str(number) / root.name)

        def back(number: int) -> None:
            for root in (here.root, here.home):
                for path in root.iterdir():
                    rmtree(path) if path.is_dir() else path.unlink()
                copytree(model / str(number) / root.name, root, dirs_exist_ok=True)

        nothing = _key(here)
        kept(0)
        met = [nothing]
        for number, key in enumerate(met):
            for deed in (INSTALL, UPGRADE, ACCEPT, OFF, ON, REMOVE, *(DEEDS if key[1] else ())):
                back(number)
                if isinstance(deed, tuple):
                    here.stella("plugin", *deed)
                else:
                    deed(folder)
                if (after := _key(here)) not in met:
                    kept(len(met))
                    met.append(after)
        assert len(met) >= 12, met
        assert {key[0] for key in met} == {None, "ok", "changed", "not-accepted", "off"}
        for number, key in enumerate(met):
            back(number)
            here.stella("plugin", *REMOVE)
            here.stella("plugin", *ON)
            assert _key(here) == nothing, key
            back(number)
            for way in (UPGRADE, INSTALL, ON):
                here.stella("plugin", *way)
            assert _key(here) == ("ok", True, True, False), key
