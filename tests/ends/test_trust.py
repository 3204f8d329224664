"""[I-34, I-50 to I-56, A-70 to A-72] `stella run` in workspaces of strangers, trusted and not."""

from pathlib import Path

import pytest

from stella.roster.items import items_of
from stella.roster.trust_file import put_trusted
from stella.roster.trust_file import trusted_now
from tests.making.clocks import NOON
from tests.making.content import rules
from tests.making.content import skill
from tests.making.content import tool
from tests.making.ends import HONEST
from tests.making.ends import TEST
from tests.making.ends import Done
from tests.making.ends import Place
from tests.making.ends import granted
from tests.making.ends import place
from tests.making.ends import says
from tests.making.ends import tree
from tests.making.ends import works
from tests.making.packages import notes
from tests.making.plugins import arbiter
from tests.making.plugins import hooking

VARIABLE = "STELLA_TRUST_PROJECT"
MARKING = "import pathlib, sys\npathlib.Path({flag!r}).touch()\nsys.stdin.read()\nprint('{{}}')\n"


def brings(where: Place) -> Path:
    """A workspace of every kind; the file that its plugin makes when it is started."""
    flag = where.root.parent / "was-started"
    root = where.root
    hooking(root / ".stella/plugins/guard", MARKING.format(flag=str(flag)), "SessionStart")
    notes(root / ".stella/plugins/notes")
    tool(root / ".stella", "a_tool")
    skill(root / ".stella", "s")
    rules(root / ".stella")
    (root / ".stella/mcp.toml").write_text("x = 1\n")
    (root / "AGENTS.md").write_text("be good\n")
    settings = '[[hooks.Stop]]\nhooks = [{ command = "touch x" }]\n[pipeline]\nmax_holds = 1\n'
    (root / "stella.toml").write_text(f'{settings}test_timeout_secs = 9\n[plugins]\nnotes = "on"\n')
    return flag


def trusted(where: Place) -> None:
    where.home.mkdir(exist_ok=True)
    put_trusted(where.home, trusted_now(where.root, items_of(where.root), NOON), mark="m")


def ran(where: Place, *words: str, **env: str) -> Done:
    """Run one plain turn in the JSON format."""
    where.scripted(says())
    return where.stella("run", "go", *where.asked, *words, env=env)


def opened(where: Place) -> bool:
    """Whether the last session was told that its workspace is trusted."""
    found: bool = where.told("session_opened")[-1]["trusted"]
    return found


@pytest.mark.behaviour("D80", "H4", "A-72", "I-51", "D98")
def test_a_headless_run_among_strangers_says_each_kind_once_and_starts_nothing(
    tmp_path: Path,
) -> None:
    """[A-72, I-51, attacks D80 D98, reports H4] It neither hangs nor takes them for trusted."""
    where = place(tmp_path)
    flag = brings(where)
    done = ran(where)
    assert (done.code, opened(where), flag.exists()) == (0, False, False)
    because = "because it is not trusted (nobody trusted this workspace); `stella trust` shows it"
    root = where.root
    kinds = [
        "stella.toml: 1 hook command left out",
        "stella.toml: 1 value left out: pipeline.test_timeout_secs",
        ".stella/tools: 1 item left out",
        ".stella/skills: 1 item left out",
        ".stella/rules: 1 item left out",
        ".stella/mcp.toml: left out",
        "AGENTS.md: left out",
    ]
    texts = [data["text"] for data in where.told("notice")]
    assert texts[:-1] == [f"{root}: {'; '.join(kinds)}; {because} and asks"]
    assert texts[-1].startswith("2 plugins of this workspace do not run, because nobody accepted")
    assert "`stella trust` for all" in texts[-1]
    assert all(done.err.count(text) == 1 for text in texts)


@pytest.mark.behaviour("A-72.require-run", "D98.require")
def test_where_all_is_required_the_run_ends_before_it_spends(tmp_path: Path) -> None:
    """[A-72, S-7, attacks D98]"""
    where = place(tmp_path)
    brings(where)
    where.scripted(says())
    before = tree(tmp_path)
    done = where.run("--require-plugins")
    assert (done.code, done.result["error"]["code"]) == (1, "trust")
    assert "guard does not run: nobody accepted it here" in done.err
    assert tree(tmp_path) == before


@pytest.mark.behaviour("K-70")
@pytest.mark.parametrize(
    ("value", "runs"), [("false", False), ("on", True), ("1", True), ("2", False), ("", False)]
)
def test_the_variable_uses_all_or_leaves_all_out(tmp_path: Path, value: str, *, runs: bool) -> None:
    """[I-34, I-50, K-70] Consent text and all; a second run shows nothing again."""
    where = place(tmp_path)
    flag = brings(where)
    done = ran(where, **{VARIABLE: value})
    assert (done.code, opened(where), flag.exists()) == (0, runs, runs)
    assert done.err.count("Install the plugin `guard`?") == runs
    assert done.err.count("Install the plugin `notes`?") == runs
    assert ("left out" in done.err) is not runs
    if runs:
        flag.unlink()
        again = where.stella("run", "go", *where.asked, env={VARIABLE: value})
        assert (again.code, flag.exists(), "Install the plugin" in again.err) == (0, True, False)
        assert again.err.count("was never trusted by itself") == 1


@pytest.mark.behaviour("Q-3.run", "I-34.record")
def test_a_plugin_that_a_person_accepted_here_runs_whatever_the_variable_says(
    tmp_path: Path,
) -> None:
    """[I-34, Q-3]"""
    where = place(tmp_path)
    where.install(arbiter(tmp_path / "judge", HONEST))
    for value in ("", "0"):
        where.scripted(works(), says())
        done = where.stella("run", "go", *where.asked, *granted("judge"), env={VARIABLE: value})
        assert done.result["status"] == "met"


@pytest.mark.behaviour("K-163a.run")
def test_a_byte_changed_is_shown_once_and_runs_while_the_variable_is_set(tmp_path: Path) -> None:
    """[I-34, K-163a] Without the variable it does not run at all."""
    where = place(tmp_path)
    arbiter(where.root / ".stella/plugins/judge", HONEST)
    judged = (*where.asked, *granted("judge"))
    shown = []
    for number in range(4):
        if number == 2:
            with (where.root / ".stella/plugins/judge/main.py").open("a") as program:
                program.write("#\n")
        where.scripted(works(), says())
        done = where.stella("run", "go", *judged, env={VARIABLE: "yes"})
        assert done.result["status"] == "met"
        shown.append((done.err.count("Install the plugin"), done.err.count("changed main.py")))
    assert shown == [(1, 0), (0, 0), (0, 1), (0, 0)]
    refused = where.run(*granted("judge"))
    assert (refused.code, refused.result["error"]["code"]) == (1, "not_accepted")


@pytest.mark.behaviour("A-70", "I-53.session")
def test_a_trusted_project_may_choose_and_its_own_sessions_do_not_end_that(tmp_path: Path) -> None:
    """[A-70, Q-1, S2-13] The pipeline and the model of its settings; what a session writes."""
    where = place(tmp_path)
    where.install(arbiter(tmp_path / "judge", HONEST))
    chosen = f'[model]\ndefault = "script:{where.script}"\n[pipeline]\ndefault = "judge"\n'
    (where.root / "stella.toml").write_text(chosen)
    trusted(where)
    for _ in range(2):
        where.scripted(works(), says())
        done = where.stella("run", "go", "--output-format", "json", "--test-command", TEST)
        assert (done.result["pipeline"], done.result["status"]) == ("judge", "met")
        assert "left out" not in done.err
        (where.root / "answer.txt").unlink()
    (where.root / "stella.toml").write_text(chosen.replace("judge", "evil"))
    done = ran(where)
    assert (done.result["pipeline"], opened_last(where)) == (None, False)
    assert "it is not what was trusted on 2026-08-11T12:00:00Z: changed stella.toml" in done.err


def opened_last(where: Place) -> bool:
    """Whether the youngest session was trusted."""
    lines = b"".join(path.read_bytes() for path in where.journals()).splitlines()
    found = [line for line in lines if b'"session_opened"' in line]
    return all(b'"trusted":true' in line for line in found)


@pytest.mark.behaviour("K-171.run", "D86.run")
def test_a_nested_repository_of_a_trusted_one_is_a_workspace_of_its_own(tmp_path: Path) -> None:
    """[I-55, K-171, attacks D86]"""
    where = place(tmp_path)
    trusted(where)
    nested = Place(root=where.root / "vendor", home=where.home, person=where.person)
    (nested.root / ".git").mkdir(parents=True)
    (nested.root / ".stella/tools").mkdir(parents=True)
    (nested.root / ".stella/tools/a.toml").touch()
    where.scripted(says())
    done = nested.stella("run", "go", *where.asked)
    assert done.code == 0
    assert opened(nested) is False
    assert f"{nested.root}: .stella/tools: 1 item left out" in done.err


@pytest.mark.behaviour("K-172.run", "H14")
def test_no_file_of_the_workspace_sets_the_variable(tmp_path: Path) -> None:
    """[I-56, S2-33, K-172]"""
    where = place(tmp_path)
    flag = brings(where)
    for name in (".env", ".stella/.env", ".env.local"):
        (where.root / name).write_text(f"export {VARIABLE}=1\n{VARIABLE}=1\n")
    done = ran(where)
    assert (done.code, opened(where), flag.exists()) == (0, False, False)


@pytest.mark.behaviour("K-173.run")
def test_a_stranger_cannot_switch_a_persons_guard_off(tmp_path: Path) -> None:
    """[I-43, K-173] Its own copy of that name neither."""
    where = place(tmp_path)
    flag = tmp_path / "guarded"
    source = hooking(tmp_path / "guard", MARKING.format(flag=str(flag)), "SessionStart")
    assert where.stella("plugin", "install", str(source), "--scope", "user", "--yes").code == 0
    (where.root / "stella.toml").write_text('[plugins]\nguard = "off"\n')
    assert ran(where).code == 0
    assert flag.exists()
    flag.unlink()
    (where.home / "stella.toml").write_text('[plugins]\nguard = "off"\n')
    where.scripted(says())
    assert where.stella("run", "go", *where.asked).code == 0
    assert not flag.exists()


@pytest.mark.behaviour("K-163")
def test_a_folder_put_there_by_hand_is_listed_and_never_started(tmp_path: Path) -> None:
    """[I-30, I-34, K-163] In the person's tier, and in the project's without trust."""
    where = place(tmp_path)
    flags: list[Path] = []
    for tier in (where.home / "plugins", where.root / ".stella/plugins"):
        flags.append(tmp_path / f"flag-{len(flags)}")
        name = f"guard-{len(flags)}"
        hooking(tier / name, MARKING.format(flag=str(flags[-1])), "SessionStart", name=name)
    assert ran(where).code == 0
    assert [flag.exists() for flag in flags] == [False, False]
    listed = where.stella("plugin", "list")
    assert listed.out.count("not-accepted") == 2
    assert listed.code == 0


DENYING = """\
import json, sys
sys.stdin.read()
print(json.dumps({"decision": "deny", "reason": "not today"}))
"""


@pytest.mark.behaviour("I-45.gate")
def test_a_plugin_is_known_at_the_gate_by_the_name_it_declares(tmp_path: Path) -> None:
    """[I-45, I-41] Not by its directory's, which whoever copies it chooses."""
    where = place(tmp_path)
    hooking(where.root / ".stella/plugins/renamed", DENYING, "PreToolUse", name="guard")
    where.scripted(works(), says())
    done = where.stella("run", "go", *where.asked, env={VARIABLE: "1"})
    assert done.result["changed_files"] == []
    (judged,) = where.told("authz")
    deciding = [row["source"] for row in judged["trace"] if row["deciding"]]
    assert (judged["decision"], deciding) == ("deny", ["plugin:guard"])
