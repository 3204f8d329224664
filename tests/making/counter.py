"""Counting what a process and all its children ask of the system: starts, connections, files.

`strace` writes one line for each call; here it is read back into values. What a test says of a
command is said of these, not of messages.
"""

import codecs
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

PATIENCE = 300
"""Seconds after which what is counted has hung."""

MARK = "/nowhere/counter-mark/"
"""What the counted program opens, in vain, to say where in its work it is."""

_LINE = re.compile(r"(\d+) +(\w+)\((.*)", re.DOTALL)
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_AT = re.compile(r"(?:AT_FDCWD|\d+)<([^>]*)>")
_WRITING = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC")
_CALLS = "execve,execveat,connect,socket,openat,openat2,open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call: by which process, its name, its texts in order, and the whole line.

    `at` is the directory that a relative path is taken from, `mark` what was marked last.
    """

    pid: int
    name: str
    texts: tuple[str, ...]
    at: str
    line: str
    mark: str = ""

    @property
    def path(self) -> str:
        """The absolute path that the call is about, through no link."""
        found = self.texts[0] if self.texts else ""
        return os.path.normpath(Path(self.at or "/", found))

    @property
    def starts(self) -> bool:
        """Whether a program was started, or that was tried."""
        return self.name.startswith("execve")

    @property
    def connects(self) -> bool:
        """Whether a connection was made or tried; a socket without one reaches nobody."""
        return self.name == "connect"

    @property
    def opens(self) -> bool:
        """Whether a file was opened, or that was tried."""
        return self.name.startswith("open")

    @property
    def writes(self) -> bool:
        """Whether a file was opened to be written, made or emptied, or that was tried."""
        return self.opens and any(flag in self.line for flag in _WRITING)


def counted(
    words: Sequence[str], *, env: Mapping[str, str], cwd: Path, log: Path
) -> tuple[int, str, list[Call]]:
    """Run a program to its end and return its exit code, its output and all its calls.

    The first call is its own start. Fails the test where there is no `strace`.
    """
    strace = shutil.which("strace")
    if strace is None:
        pytest.fail(
            "strace is not installed, so nothing can be counted; install the package strace"
        )
    counting = (strace, "-f", "-y", "-qq", "-s", "4096", "--seccomp-bpf", "-e", f"trace={_CALLS}")
    done = subprocess.run(
        [*counting, "-e", "signal=none", "-o", str(log), "--", *words],
        env=dict(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=PATIENCE,
    )
    calls = read_calls(log.read_text("utf-8", "surrogateescape"))
    assert calls, f"strace counted nothing: {done.stdout.decode(errors='replace')}"
    assert calls[0].starts
    return done.returncode, done.stdout.decode(errors="replace"), calls


def read_calls(log: str) -> list[Call]:
    """Return the calls of a log, in order; a call that was interrupted in it counts once."""
    found: list[Call] = []
    mark = ""
    for line in log.splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            # The second half of a line that another process came in between, or an exit.
            assert "resumed>" in line or "+++" in line or "---" in line, line
            continue
        pid, name, rest = match.groups()
        texts = tuple(map(_unescaped, _TEXT.findall(rest)))
        at = _AT.match(rest)
        call = Call(
            pid=int(pid),
            name=name,
            texts=texts,
            at=_unescaped(at.group(1)) if at else "",
            line=line,
            mark=mark,
        )
        if texts and texts[0].startswith(MARK):
            mark = texts[0].removeprefix(MARK)
            continue
        found.append(call)
    return found


def _unescaped(text: str) -> str:
    data, _ = codecs.escape_decode(text.encode("utf-8", "surrogateescape"))
    return os.fsdecode(data)
