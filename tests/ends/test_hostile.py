"""[A-71, I-67, S-4, attacks D80 D95] What strangers put into a workspace never runs by being there.

System calls are counted, not messages: programs started, connections made, modules opened. The
commands run in workspaces of every known trap; the last tests prove that the counter counts.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path

import click
import pytest

from stella.cli.main import stella
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
from tests.making.hostile import DEPENDENCIES
from tests.making.hostile import TRAPS
from tests.making.hostile import Ground
from tests.making.hostile import hostile
from tests.making.plugins import written
from tests.making.processes import linux_only
from tests.making.repositories import NAMED
from tests.making.sessions import installed

pytestmark = linux_only

STELLA = Path(sys.executable).parent / "stella"
INTERPRETER = str(Path(sys.executable).resolve())
PATH = f"{Path(INTERPRETER).parent}:/usr/bin:/bin"
IMPORTABLE = (".py", ".pyc", ".pth", "._pth", ".so", "pyvenv.cfg")

WRITING = {
    ("run",),
    ("demo",),
    ("plugin", "install"),
    ("plugin", "accept"),
    ("plugin", "enable"),
    ("plugin", "disable"),
    ("plugin", "remove"),
}
"""Commands that are given to start something or to change something; a run has its own test."""

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
"""Every command that only reads, and how else one asks; `trust` has no terminal here.

Some are not built yet: what is wrong with a command line is told in a workspace as well.
"""

NO_SESSION = ("journal", "show", "last")
"""Where no session was, this line is one that cannot be meant."""

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
        print("EXIT", name, run(words), *words)
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
        """What was opened of a workspace by who follows links, and what an interpreter would run.

        The host opens what it only reads, such as the bytes of a plugin, through no link; what
        imports a module does not ask for that.
        """
        return [
            call.path
            for call in calls
            if call.opens
            and self.within(call)
            and (call.path.endswith(IMPORTABLE) and "O_NOFOLLOW" not in call.line)
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
    """The reading commands, about the first plugin that stands there, and each command's help."""
    tier = root / ".stella/plugins"
    found = tier.iterdir() if tier.is_dir() else ()
    plugin = min((path.name for path in found if path.name[0] != "."), default="none")
    lines = [[word.format(plugin=plugin) for word in words] for words in READING]
    return lines + [[*words, "--help"] for words in leaves(stella)]


def read_everything(ground: Field, env: dict[str, str]) -> list[Call]:
    """Run every reading command in every workspace and return the calls that this made.

    No command line of a command that exists is one it did not understand.
    """
    spec = ground.home.parent / "spec.json"
    rows = [(name, str(root), path_in(root), commands(root)) for name, root in ground.places]
    spec.write_text(json.dumps(rows), "utf-8")
    # -B: what Python would keep of a module that was never imported before is no command's write.
    driver = [sys.executable, "-IB", "-c", READ, str(spec), str(ground.base)]
    code, said, calls = counted(driver, env=ground.env() | env, cwd=Path("/"), log=ground.log())
    assert (code, "this is a bug" in said) == (0, False), said[-3000:]
    assert said.rstrip().endswith("THEIRS []"), said[-1000:]
    told = [line.split() for line in said.splitlines() if line.startswith("EXIT ")]
    assert len(told) == sum(len(lines) for _, _, _, lines in rows)
    there = set(leaves(stella))
    misread = {(*words,) for _, _, code, *words in told if code == "2"} - {NO_SESSION}
    assert not [words for words in misread if words[:1] in there or words[:2] in there]
    made = [call for call in calls if call.mark]
    # It went through all of them, and looked at what is there.
    assert {call.mark.partition("/")[0] for call in made} == {name for name, _ in ground.places}
    assert any(ground.within(call) for call in made)
    return made


def test_there_are_many_ways_and_each_is_laid_out(ground: Field) -> None:
    """[A-71] Sixty workspaces at least, no two of them alike."""
    assert len(TRAPS) == len(set(TRAPS))
    assert len(ground.places) >= 60
    assert len({shape(root) for _, root in ground.places}) == len(ground.places)


def shape(root: Path) -> frozenset[tuple[str, str]]:
    """What lies in a workspace: paths and texts, but for where it lies itself."""
    paths = (path for path in root.rglob("*") if path.suffix != ".pyc")
    return frozenset(
        (str(path.relative_to(root)), text_of(path).replace(str(root), ""))
        for path in paths
        if path.parent.name != "objects" and path.name not in {"index", "COMMIT_EDITMSG"}
    )


def text_of(path: Path) -> str:
    if path.is_symlink():
        return f"a link to {path.readlink()}"
    return path.read_bytes().decode("latin-1") if path.is_file() else str(path.stat().st_mode)


def leaves(command: click.Command, *path: str) -> Iterator[tuple[str, ...]]:
    """The words of every command there is."""
    if not isinstance(command, click.Group):
        yield path
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from leaves(below, *path, name)


@pytest.mark.behaviour("A-71.tables")
def test_every_command_there_is_reads_or_is_known_to_write() -> None:
    """[A-71] A command that is added stands in one of the two tables before it is released."""
    there = set(leaves(stella))
    read = {words for words in there if any(line[: len(words)] == words for line in READING)}
    assert there - read - WRITING == set()
    assert there >= WRITING
    assert WRITING & read == set()


@pytest.mark.behaviour("A-71", "H1", "I-67.counted")
@pytest.mark.parametrize("trusted", [False, True])
def test_no_command_that_reads_starts_connects_or_imports_anything(
    ground: Field, *, trusted: bool
) -> None:
    """[A-71, I-40, I-67, S-4, reports H1] Nor where the workspace is trusted: reading is reading.

    Nothing is opened to be written either, wherever it lies.
    """
    env = {"STELLA_TRUST_PROJECT": "1"} if trusted else {}
    if trusted:
        for number, (_, root) in enumerate(ground.places):
            items = items_of(root)
            if items.fault is None:
                put_trusted(ground.home, trusted_now(root, items, NOON), mark=str(number))
    made = read_everything(ground, env)
    (ground.home / "trust.toml").unlink(missing_ok=True)
    assert [call.line for call in made if call.starts] == []
    assert [call.line for call in made if call.connects] == []
    assert [call.line for call in made if call.writes] == []
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
OURS = {"python", "python3", Path(INTERPRETER).name, "git"}
"""The only programs that a run starts here: the host's own, its git, a person's plugin."""


@pytest.mark.behaviour("D95.run", "D80.run", "H4.run")
def test_a_run_among_strangers_starts_the_hosts_own_programs_and_no_other(ground: Field) -> None:
    """[A-71, attacks D80 D95, reports H4] Tools that list and search, recall, and git for both."""
    declared = manifest(calls=("recall",), roles={}).replace('"python3"', json.dumps(INTERPRETER))
    source = written(ground.home.parent / "asks", declared, TALK + RECALL)
    installed(ground.base / "observer", ground.home, source, Scope.USER)
    replies = ground.home.parent / "replies.jsonl"
    calling = (asks("list_files", path="."), asks("search", pattern="weeks"), says())
    replies.write_text("".join(json.dumps(reply) + "\n" for reply in calling), "utf-8")
    words = ["run", "go", "--model", f"script:{replies}", "--pipeline", "asks"]
    spec = ground.home.parent / "spec.json"
    rows = [(name, str(root), path_in(root), [words]) for name, root in ground.places]
    spec.write_text(json.dumps(rows), "utf-8")
    driver = [sys.executable, "-I", "-c", READ, str(spec), str(ground.base)]
    code, said, calls = counted(driver, env=ground.env(), cwd=Path("/"), log=ground.log())
    assert (code, "this is a bug" in said) == (0, False), said[-3000:]
    assert said.rstrip().endswith("THEIRS []")
    exits = dict(line.split()[1:3] for line in said.splitlines() if line.startswith("EXIT "))
    assert len(exits) == len(ground.places)
    refused = {name for name, exit_code in exits.items() if exit_code != "0"}
    assert refused <= {"settings_hooks", *(name for name in exits if "mixed" in name)} | FAULTY
    starts = [call for call in calls[1:] if call.starts]
    assert {Path(call.path).name for call in starts} <= OURS
    assert [call.line for call in starts if ground.within(call)] == []
    # A program that takes another's path is given none of theirs to run.
    assert [call.line for call in starts if led_into(ground, call)] == []
    assert [call.line for call in calls if call.connects] == []
    git = {call.mark.partition("/")[0] for call in starts if Path(call.path).name == "git"}
    assert git >= {"fsmonitor", "hooks_path", "filters", "pager", "textconv", "transport"}
    ground.unsprung()


FAULTY = {
    "links",
    "own_places",
    "private_link",
    "settings_faulty",
    "settings_link",
    "settings_pipe",
    "stella_link",
}
"""Workspaces in which no run begins: a file of settings, or where the host writes, is none."""


def led_into(ground: Field, call: Call) -> bool:
    """Whether an interpreter was given a file of a workspace; git is told where to look only."""
    if Path(call.path).name == "git":
        return False
    return any(text.startswith(str(ground.base)) for text in call.texts[1:])


def test_the_counter_sees_a_start_a_connection_an_import_and_a_write(ground: Field) -> None:
    """What the tests above claim not to have seen is seen where it happens."""
    root = dict(ground.places)["modules"]
    script = (
        "import os, socket, subprocess, sys\n"
        f"os.chdir({str(root)!r})\n"
        "open('written', 'w').close()\n"
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
    assert f"{root}/sched.py" in ground.imports(calls)
    assert f"{root}/written" in [call.path for call in calls if call.writes]
    assert ground.canary.read_text().count("evil.sh") == 2
    ground.canary.unlink()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("fsmonitor", ("status",)),
        ("hooks_path", ("update-index", "--refresh", "--really-refresh")),
        ("filters", ("diff",)),
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


@pytest.mark.parametrize("name", ["guard", "arbiter"])
def test_the_plugins_run_where_somebody_vouches_for_them(ground: Field, name: str) -> None:
    """[I-34] So nothing but the missing trust kept them from it."""
    root = dict(ground.places)[name]
    replies = ground.home.parent / "one.jsonl"
    replies.write_text(
        json.dumps(asks("list_files", path=".")) + "\n" + json.dumps(says()), "utf-8"
    )
    env = ground.env() | {"STELLA_TRUST_PROJECT": "1"}
    words = (STELLA, "run", "go", "--model", f"script:{replies}")
    subprocess.run(words, cwd=root, env=env, check=False, capture_output=True)
    assert ground.canary.exists()
    ground.canary.unlink()


@pytest.mark.behaviour("A-71.module")
@pytest.mark.parametrize("words", [("version",), ("plugin", "list"), ("trust", "--list")])
def test_the_module_run_safely_imports_nothing_from_where_it_is_started(
    ground: Field, words: tuple[str, ...]
) -> None:
    """[A-71] `python -P -m stella` is as the command, whatever stands there."""
    for name in sorted(SHADOWING):
        root = dict(ground.places)[name]
        line = (sys.executable, "-P", "-m", "stella", *words)
        code, said, calls = counted(line, env=ground.env(root), cwd=root, log=ground.log())
        assert code == 0, said
        assert [call.line for call in calls[1:] if call.starts or call.connects] == []
        assert ground.imports(calls) == []
    ground.unsprung()


BARE = """\
import os, subprocess, sys
os.chdir(sys.argv[1])
shown = "import sys; print(*{name.partition('.')[0] for name in sys.modules})"
open("empty.py", "w").write(shown)
sys.exit(subprocess.run([sys.executable, "-m", "empty"]).returncode)
"""


@pytest.mark.behaviour("A-71.module-plain")
def test_the_module_imports_nothing_there_once_it_has_begun(ground: Field, tmp_path: Path) -> None:
    """[A-71] Of all modules it could find where it stands, but for those Python itself wants first.

    Those are the names that a module with nothing in it has loaded when it begins.
    """
    first = subprocess.run(
        [sys.executable, "-I", "-c", BARE, str(tmp_path)],
        env=ground.env(),
        check=True,
        capture_output=True,
        text=True,
    )
    root = tmp_path / "shadows"
    root.mkdir()
    trap = Ground(root=root, canary=ground.canary)
    names = {*sys.stdlib_module_names, *DEPENDENCIES} - {*first.stdout.split(), "stella", "runpy"}
    assert {"json", "click", "re", "signal", "typing", "pathlib"} <= names
    for name in names:
        trap.write(f"{name}.py", trap.module)
    for words in (("version",), ("plugin", "list"), ("trust", "--list")):
        line = (sys.executable, "-m", "stella", *words)
        code, said, calls = counted(line, env=ground.env(root), cwd=root, log=ground.log())
        assert code == 0, said
        assert [call.line for call in calls[1:] if call.starts] == []
        opened = {Path(call.path) for call in calls if call.opens and "O_NOFOLLOW" not in call.line}
        assert [path for path in opened if path.is_relative_to(root) and path != root] == []
    ground.unsprung()


def test_a_python_that_looks_where_it_stands_springs(ground: Field) -> None:
    """[A-71] Why the documentation names the command and not `python -m`."""
    root = dict(ground.places)["namesakes"]
    words = (sys.executable, "-m", "stella", "version")
    subprocess.run(words, cwd=root, env=ground.env(root), check=False, capture_output=True)
    assert ground.canary.exists()
    ground.canary.unlink()
