"""[A-71, I-67, S-4, attacks D80 D95] What strangers put into a workspace never runs by being there.

System calls are counted, not messages: programs started, connections made, modules opened. The
commands run in workspaces of every known trap; the last tests prove that the counter counts.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path

import pytest

from stella.roster.items import items_of
from stella.roster.scope import Scope
from stella.roster.trust_file import put_trusted
from stella.roster.trust_file import trusted_now
from tests.making.asking import TALK
from tests.making.asking import manifest
from tests.making.clocks import NOON
from tests.making.counter import MARK
from tests.making.counter import Call
from tests.making.counter import counted
from tests.making.ends import asks
from tests.making.ends import says
from tests.making.hostile import TRAPS
from tests.making.hostile import hostile
from tests.making.plugins import written
from tests.making.processes import linux_only
from tests.making.repositories import NAMED
from tests.making.sessions import installed

pytestmark = linux_only

STELLA = Path(sys.executable).parent / "stella"
PATH = "/usr/local/bin:/usr/bin:/bin"
IMPORTABLE = (".py", ".pyc", ".pth", "._pth", ".so", "pyvenv.cfg")

READING = (
    ("plugin", "list"),
    ("plugin", "list", "--json"),
    ("plugin", "show", "{plugin}"),
    ("plugin", "check", ".stella/plugins/{plugin}"),
    ("plugin", "check", ".", "--json"),
    ("journal", "list"),
    ("journal", "show", "last"),
    ("journal", "verify", "--all"),
    ("version",),
    ("version", "--json"),
    ("--version",),
    ("--help",),
    ("plugin", "--help"),
    ("run", "--help"),
    ("trust", "--list"),
    ("trust",),
    ("tools", "list"),
    ("tools", "validate"),
    ("skills", "list"),
    ("hooks", "list"),
    ("mcp", "list"),
    ("config", "show"),
    ("doctor",),
)
"""Every command that only reads, those of later releases too; `trust` has no terminal here."""

READ = f"""\
import json, os, sys
places, base = json.load(open(sys.argv[1])), sys.argv[2]
from stella.cli.main import run
for name, root, path, lines in places:
    os.chdir(root)
    os.environ["PATH"] = path
    for words in lines:
        try:
            os.open({MARK!r} + name + "/" + " ".join(words), os.O_RDONLY)
        except OSError:
            pass
        run(words)
files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
print("THEIRS", [file for file in files if file.startswith(base)])
"""
"""Runs many command lines in many places, and marks in its calls where it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """All hostile workspaces, below `base`, a home beside them, and what springs when one does."""

    base: Path
    home: Path
    canary: Path
    places: tuple[tuple[str, Path], ...] = field(default_factory=tuple)

    def env(self, root: Path | None = None, **more: str) -> dict[str, str]:
        """The environment of a person whose `PATH` leads into the workspace as well."""
        own = {"HOME": str(self.home.parent / "person"), "STELLA_HOME": str(self.home)}
        return {"PATH": path_in(root) if root else PATH, **own, **more}

    def log(self) -> Path:
        return self.home.parent / "calls.log"

    def within(self, call: Call) -> bool:
        return Path(call.path).is_relative_to(self.base)

    def imports(self, calls: list[Call]) -> list[str]:
        """What was opened of a workspace that an interpreter would run.

        The bytes of plugins and of what is checked as one are read to be told, and are apart.
        """
        return [
            call.path
            for call in calls
            if call.opens
            and self.within(call)
            and call.path.endswith(IMPORTABLE)
            and "/.stella/" not in call.path
            and not call.mark.endswith(" check . --json")
        ]

    def unsprung(self) -> None:
        """Nothing of theirs ran, by what it would have left."""
        assert not self.canary.exists(), self.canary.read_text()


def path_in(root: Path) -> str:
    """A `PATH` as careless as there are: the workspace's own folders go first."""
    return f"{root}/bin:.:node_modules/.bin::{root}/.venv/bin:{PATH}"


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Field:
    folder = tmp_path_factory.mktemp("hostile")
    made = Field(base=folder / "theirs", home=folder / "home", canary=folder / "canary")
    for path in (made.base, folder / "person", made.home):
        path.mkdir()
    places = tuple(hostile(made.base, made.canary))
    made.unsprung()
    return Field(base=made.base, home=made.home, canary=made.canary, places=places)


def commands(root: Path) -> list[list[str]]:
    """The reading commands, about the first plugin that stands in the workspace."""
    tier = root / ".stella/plugins"
    names = sorted(path.name for path in tier.iterdir()) if tier.is_dir() else []
    plugin = names[0] if names else "none"
    return [[word.format(plugin=plugin) for word in words] for words in READING]


def read_everything(ground: Field, **env: str) -> list[Call]:
    """Run every reading command in every workspace and return the calls that this made."""
    spec = ground.home.parent / "spec.json"
    rows = [(name, str(root), path_in(root), commands(root)) for name, root in ground.places]
    spec.write_text(json.dumps(rows), "utf-8")
    driver = [sys.executable, "-I", "-c", READ, str(spec), str(ground.base)]
    code, said, calls = counted(driver, env=ground.env(**env), cwd=Path("/"), log=ground.log())
    assert (code, "this is a bug" in said) == (0, False), said[-3000:]
    assert said.rstrip().endswith("THEIRS []"), said[-1000:]
    made = [call for call in calls if call.mark]
    # It went through all of them, and looked at what is there.
    assert {call.mark.partition("/")[0] for call in made} == {name for name, _ in ground.places}
    assert any(ground.within(call) for call in made)
    return made


def test_there_are_many_ways_and_each_is_laid_out(ground: Field) -> None:
    assert len(TRAPS) == len(set(TRAPS))
    assert len(ground.places) >= 60


@pytest.mark.behaviour("A-71", "H1", "I-67.counted")
@pytest.mark.parametrize("trusted", [False, True])
def test_no_command_that_reads_starts_connects_or_imports_anything(
    ground: Field, *, trusted: bool
) -> None:
    """[A-71, I-67, S-4, reports H1] Nor where the workspace is trusted: reading is reading."""
    env = {"STELLA_TRUST_PROJECT": "1"} if trusted else {}
    if trusted:
        for number, (_, root) in enumerate(ground.places):
            items = items_of(root)
            if items.fault is None:
                put_trusted(ground.home, trusted_now(root, items, NOON), mark=str(number))
    made = read_everything(ground, **env)
    (ground.home / "trust.toml").unlink(missing_ok=True)
    assert [call.line for call in made if call.starts] == []
    assert [call.line for call in made if call.connects] == []
    assert ground.imports(made) == []
    ground.unsprung()


SHADOWING = {"modules", "namesakes", "customize", "path_files", "compiled", "environment"}


@pytest.mark.behaviour("A-71.fresh", "H1.fresh")
def test_a_fresh_command_imports_nothing_from_where_it_is_started(ground: Field) -> None:
    """[A-71, reports H1] The installed command; each of them in some workspace."""
    for number, (name, root) in enumerate(ground.places):
        every = commands(root)
        chosen = every[::4] if name in SHADOWING else every[number % len(every) :: len(every)]
        for words in chosen:
            env = ground.env(root)
            _, said, calls = counted([str(STELLA), *words], env=env, cwd=root, log=ground.log())
            assert "this is a bug" not in said, said
            assert [call.line for call in calls[1:] if call.starts] == [], words
            assert [call.line for call in calls if call.connects] == [], words
            assert ground.imports(calls) == [], words
    ground.unsprung()


RECALL = """
found = ask("recall", goal="text about weeks")
answer(context=[{"label": "recall", "text": json.dumps(found)[:2000]}])
"""
OURS = {"python", "python3", Path(sys.executable).resolve().name, "git"}
"""The only programs that a run starts here: the host's own, its git, a person's plugin."""

RUN = READ.replace("run(words)", "print('EXIT', name, run(words))")


@pytest.mark.behaviour("D95.run", "D80.run", "H4.run")
def test_a_run_among_strangers_starts_the_hosts_own_programs_and_no_other(ground: Field) -> None:
    """[A-71, attacks D80 D95, reports H4] Tools that list and search, recall, and git for both."""
    source = written(
        ground.home.parent / "asks", manifest(calls=("recall",), roles={}), TALK + RECALL
    )
    installed(ground.base / "observer", ground.home, source, Scope.USER)
    replies = ground.home.parent / "replies.jsonl"
    calling = (asks("list_files", path="."), asks("search", pattern="weeks"), says())
    replies.write_text("".join(json.dumps(reply) + "\n" for reply in calling), "utf-8")
    words = ["run", "go", "--model", f"script:{replies}", "--pipeline", "asks"]
    spec = ground.home.parent / "spec.json"
    rows = [(name, str(root), path_in(root), [words]) for name, root in ground.places]
    spec.write_text(json.dumps(rows), "utf-8")
    driver = [sys.executable, "-I", "-c", RUN, str(spec), str(ground.base)]
    code, said, calls = counted(driver, env=ground.env(), cwd=Path("/"), log=ground.log())
    assert (code, "this is a bug" in said) == (0, False), said[-3000:]
    assert said.rstrip().endswith("THEIRS []")
    exits = dict(line.split()[1:] for line in said.splitlines() if line.startswith("EXIT "))
    assert len(exits) == len(ground.places)
    refused = {name for name, exit_code in exits.items() if exit_code != "0"}
    assert refused <= {"settings_hooks", *(name for name in exits if "mixed" in name)} | FAULTY
    starts = [call for call in calls[1:] if call.starts]
    assert {Path(call.path).name for call in starts} == OURS
    assert [call.line for call in starts if ground.within(call)] == []
    # A program that takes another's path is given none of theirs to run.
    assert [call.line for call in starts if led_into(ground, call)] == []
    assert [call.line for call in calls if call.connects] == []
    git = {call.mark.partition("/")[0] for call in starts if Path(call.path).name == "git"}
    assert git >= {"fsmonitor", "hooks_path", "filters", "pager", "textconv", "transport"}
    ground.unsprung()


FAULTY = {"settings_faulty", "settings_pipe", "own_places", "links"}
"""Workspaces in which no run begins, because what should be a file of settings is none."""


def led_into(ground: Field, call: Call) -> bool:
    """Whether an interpreter was given a file of a workspace; git is told where to look only."""
    if Path(call.path).name == "git":
        return False
    return any(text.startswith(str(ground.base)) for text in call.texts[1:])


def test_the_counter_sees_a_start_a_connection_and_an_import(ground: Field) -> None:
    """What the tests above claim not to have seen is seen where it happens."""
    root = dict(ground.places)["modules"]
    script = (
        "import os, socket, subprocess, sys\n"
        f"os.chdir({str(root)!r})\n"
        "subprocess.run(['./evil.sh'])\n"
        "subprocess.run(['/bin/sh', 'missing.sh'], stderr=subprocess.DEVNULL)\n"
        "socket.socket().connect_ex(('127.0.0.1', 9))\n"
        "sys.path.insert(0, '')\n"
        "import sched\n"
    )
    words = [sys.executable, "-I", "-c", script]
    code, _, calls = counted(words, env=ground.env(root), cwd=Path("/"), log=ground.log())
    assert code == 0
    started = [call for call in calls[1:] if call.starts and ground.within(call)]
    assert {call.path for call in started} == {f"{root}/evil.sh"}
    assert [call.path for call in calls[1:] if call.starts and not ground.within(call)] != []
    assert any(call.connects and 'inet_addr("127.0.0.1")' in call.line for call in calls)
    assert ground.imports(calls) == [f"{root}/sched.py"]
    assert ground.canary.read_text().count("evil.sh") == 2
    ground.canary.unlink()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fsmonitor", ("status",)),
        ("hooks_path", ("update-index", "--refresh", "--really-refresh")),
        ("filters", ("status",)),
        ("textconv", ("diff",)),
        ("included", ("status",)),
        ("git_file", ("status",)),
        ("commondir", ("status",)),
    ],
)
def test_the_traps_spring_for_who_is_not_careful(
    ground: Field, name: str, words: tuple[str, ...]
) -> None:
    """[attacks D95] Plain git, in the same folders."""
    root = dict(ground.places)[name]
    subprocess.run(["git", *words], cwd=root, env=NAMED, check=False, capture_output=True)
    assert ground.canary.exists()
    ground.canary.unlink()


def test_a_python_that_looks_where_it_stands_springs(ground: Field) -> None:
    """[A-71] Why the documentation names the command and not `python -m`."""
    root = dict(ground.places)["namesakes"]
    words = (sys.executable, "-m", "stella", "version")
    subprocess.run(words, cwd=root, env=ground.env(root), check=False, capture_output=True)
    assert ground.canary.exists()
    ground.canary.unlink()
