"""The real command as a process, in places of its own: a workspace, two homes, a scripted model.

Everything lies under one directory. `PATH` carries a mark that no other process of the machine
has, so that whatever the command or one of its children leaves behind can be found.
"""

import hashlib
import json
import os
import stat
import subprocess
import sys
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from typing import Any

from stella.journal import recover
from tests.making.processes import marked
from tests.making.processes import new_mark
from tests.making.processes import watchers

Json = dict[str, Any]

PATIENCE = 60
"""Seconds after which a command has hung; no test waits for them."""

CHECK = """\
import pathlib, sys
path = pathlib.Path("answer.txt")
sys.exit(not (path.exists() and path.read_bytes().startswith(b"42")))
"""
TEST = "python3 -S check.py"
WORK = "42 is the answer \N{EN DASH} \N{CHECK MARK}\r\nno newline at the end"
"""What the scripted model writes into `answer.txt`, so that the check passes."""


def one_object(out: str) -> Json:
    """Return the JSON object that an output is, together with a newline [S-22]."""
    assert out.endswith("\n"), out
    assert out.count("\n") == 1, out
    found: Json = json.loads(out)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A command that is over."""

    code: int
    out: str
    err: str

    @property
    def result(self) -> Json:
        """The one JSON object on standard output, which holds nothing else [S-22]."""
        return one_object(self.out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one test plays: a workspace `root`, Stella's `home` and the `person`'s own."""

    root: Path
    home: Path
    person: Path
    mark: str = field(default_factory=new_mark)

    @property
    def env(self) -> dict[str, str]:
        """The whole environment of a command; nothing of the test run's own goes on."""
        own = Path(sys.executable).parent
        return {
            "PATH": f"{own}:/usr/local/bin:/usr/bin:/bin:/nowhere/{self.mark}",
            "HOME": str(self.person),
            "STELLA_HOME": str(self.home),
        }

    @property
    def sessions(self) -> Path:
        return self.root / ".stella" / "private" / "sessions"

    def started(self, *words: str, **terms: Any) -> subprocess.Popen[bytes]:
        """Start a command with three pipes, or what `terms` say; `command` replaces `stella`.

        `env` is added to that of the place, or with `bare` stands alone.
        """
        env = terms.pop("env", {})
        if not terms.pop("bare", False):
            env = self.env | env
        command = terms.pop("command", (sys.executable, "-m", "stella"))
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen(
            [*command, *words],
            **{"env": env, "cwd": self.root} | pipes | terms,
        )

    def stella(self, *words: str, stdin: bytes = b"", **terms: Any) -> Done:
        """Run a command to its end."""
        with self.started(*words, **terms) as process:
            try:
                out, err = process.communicate(stdin, timeout=PATIENCE)
            finally:
                process.kill()
        assert b"bug of stella" not in err, err.decode()
        return Done(code=process.returncode, out=out.decode(), err=err.decode())

    def shell(self, script: str, *words: str) -> Done:
        """Run a shell script whose `$0` is the interpreter, for what only a shell can set up."""
        done = subprocess.run(
            ["/bin/sh", "-c", script, sys.executable, *words],
            env=self.env,
            cwd=self.root,
            capture_output=True,
            check=False,
            timeout=PATIENCE,
        )
        return Done(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())

    def run(self, *words: str) -> Done:
        """Run `stella run` in the JSON format with the script of `scripted`."""
        return self.stella("run", "go", *self.asked, *words)

    @property
    def asked(self) -> tuple[str, ...]:
        """The flags of `run` that every test gives."""
        return ("--model", f"script:{self.script}", "--output-format", "json")

    @property
    def script(self) -> Path:
        return self.root.parent / "replies.jsonl"

    def scripted(self, *replies: Json) -> None:
        """Have the model of the next run give these replies."""
        text = "".join(json.dumps(reply) + "\n" for reply in replies)
        self.script.write_text(text, "utf-8")

    def install(self, *folders: Path) -> None:
        """Install plugins into the workspace, as somebody who says yes in advance."""
        for folder in folders:
            done = self.stella("plugin", "install", str(folder), "--yes")
            assert done.code == 0, done.err

    def left(self, host: int) -> list[int]:
        """The processes that a command, which is over, has left behind; `host` was its number."""
        return marked(self.mark) + watchers(host)

    def journals(self) -> list[Path]:
        return sorted(self.sessions.glob("*/journal.jsonl")) if self.sessions.exists() else []

    def records(self) -> list[Json]:
        """The records of the only session there is."""
        (path,) = self.journals()
        return [json.loads(line) for line in path.read_bytes().splitlines()]

    def told(self, kind: str) -> list[Json]:
        """The data of the records of one type."""
        return [record["data"] for record in self.records() if record["type"] == kind]

    def whole(self) -> bool:
        """Whether every journal is what was written, to its last byte; no command is run."""
        reports = [recover.verify(path) for path in self.journals()]
        return bool(reports) and all(r.ok and r.torn is None for r in reports)

    def verified(self) -> str:
        """What `stella journal verify --all` says, which must be that all is well."""
        done = self.stella("journal", "verify", "--all")
        assert done.code == 0, done.out + done.err
        return done.out


def place(folder: Path) -> Place:
    """Make a workspace whose test fails, and a home for the person who works in it."""
    made = Place(root=folder / "work", home=folder / "home", person=folder / "person")
    for directory in (made.root, made.person):
        directory.mkdir()
    (made.root / "check.py").write_text(CHECK, "utf-8")
    return made


def says(text: str = "Done.", **more: Any) -> Json:
    """A reply without calls."""
    return {"text": text, **more}


def asks(tool: str, **given: Any) -> Json:
    """A reply that calls one tool."""
    return {"tool_calls": [{"name": tool, "input": given}]}


def works(text: str = WORK) -> Json:
    """A reply that writes the answer."""
    return asks("write_file", path="answer.txt", content=text)


HONEST = """\
import json, pathlib, sys
body = json.loads(sys.stdin.readline())["body"]
path = pathlib.Path(body["candidate"]["root"], "answer.txt")
right = path.exists() and path.read_bytes().startswith(b"42")
flip = "achieved" if right else "not-achieved"
evidence = {"flip": flip, "measurements": {"test-command-exit-code": int(not right)}}
answer = {"protocol_version": 1, "evidence": evidence}
print(json.dumps({"point": "after_turn", "body": answer}))
"""
"""A plugin that looks at the work itself, for tests that are not about the shipped one."""


STUBBORN = """\
import os, pathlib, signal, time
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
else:
    pathlib.Path({flag!r}).touch()
time.sleep(600)
"""
"""A program that touches `flag` and then neither ends nor heeds anybody, nor does its child."""


def granted(name: str, test: str = TEST) -> tuple[str, ...]:
    """The flags that select a plugin and grant it the test."""
    return ("--pipeline", name, "--test-command", test)


def head(path: Path) -> str:
    """The hash of a journal's last line [J2-11]."""
    return hashlib.sha256(path.read_bytes().splitlines()[-1]).hexdigest()


def tree(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything in a folder: mode, time of the last change and content of each path."""
    found: dict[str, tuple[int, int, bytes]] = {}
    for path in sorted([folder, *folder.rglob("*")]):
        state = path.lstat()
        content = b""
        if stat.S_ISREG(state.st_mode):
            content = path.read_bytes()
        elif stat.S_ISLNK(state.st_mode):
            content = os.fsencode(path.readlink())
        found[str(path)] = (state.st_mode, state.st_mtime_ns, content)
    return found
