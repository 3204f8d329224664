"""A page whose every block is done, in order: files are written, commands run, output compared.

A fence says what its block is: ```` ```console ```` holds commands behind `$ ` and what they print,
```` ```diff FILE ```` a change of a file, and any other language followed by a name a whole file.
What stands behind `[y/N] ` in an output is typed, on a terminal.
"""

import re
import subprocess
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.making.terminal import answered

FENCE = "```"
PROMPT = "$ "
ANYTHING = "…"
QUESTION = re.compile(r"\[y/N\] (.+)$", re.MULTILINE)
WIDE = 400
"""Columns of a terminal on which no line of a page is broken."""

PATIENCE = 120
"""Seconds after which a command has hung."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block; `line` is the number of its fence, from 1."""

    line: int
    language: str
    name: str
    text: str


def blocks(page: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    lines = iter(enumerate(page.split("\n"), 1))
    for number, line in lines:
        assert FENCE not in line or line.startswith(FENCE), f"line {number}: an indented fence"
        if not line.startswith(FENCE):
            continue
        language, _, name = line.removeprefix(FENCE).partition(" ")
        inside: list[str] = []
        for _, each in lines:
            if each == FENCE:
                break
            inside.append(each + "\n")
        yield Block(line=number, language=language, name=name, text="".join(inside))


def steps(text: str) -> Iterator[tuple[str, str]]:
    """Yield the commands of a console with what each prints."""
    command, printed = "", ""
    for line in text.splitlines(keepends=True):
        if line.startswith(PROMPT):
            if command:
                yield command, printed
            command, printed = line.removeprefix(PROMPT), ""
        elif command.endswith("\\\n") and not printed:
            command += line
        else:
            assert command, f"output before any command: {line}"
            printed += line
    assert command, "a console without a command"
    yield command, printed


def pattern(printed: str) -> re.Pattern[str]:
    """Return what an output must match: `…` in a line is any text, alone it is any lines."""
    parts = []
    for line in printed.splitlines(keepends=True):
        if line.strip() == ANYTHING:
            parts.append(r"(?:.*\n)*")
        else:
            parts.append(".*".join(re.escape(part) for part in line.split(ANYTHING)))
    return re.compile("".join(parts))


def changed(text: str, diff: str) -> str:
    """Return a file after a change whose every hunk fits in one place."""
    for hunk in re.split(r"^@@.*\n", diff, flags=re.MULTILINE):
        if not hunk:
            continue
        lines = hunk.splitlines(keepends=True)
        assert all(line[0] in " -+" for line in lines), hunk
        old = "".join(line[1:] for line in lines if line[0] in " -")
        new = "".join(line[1:] for line in lines if line[0] in " +")
        assert text.count(old) == 1, f"expected once:\n{old}"
        text = text.replace(old, new)
    return text


@dataclass(slots=True, kw_only=True)
class Reader:
    """Somebody who does what a page says, beginning in `place`; files are named from `top`."""

    top: Path
    place: Path
    env: Mapping[str, str]

    def does(self, block: Block) -> None:
        """Do one block; what comes out must be what the page says."""
        if block.language == "console":
            assert not block.name, f"line {block.line}"
            for command, printed in steps(block.text):
                self.runs(command, printed, block.line)
            return
        assert block.name, f"line {block.line}: a block that nobody does"
        path = self.top / block.name
        if block.language == "diff":
            path.write_text(changed(path.read_text("utf-8"), block.text), "utf-8")
        else:
            path.write_text(block.text, "utf-8")

    def runs(self, command: str, printed: str, line: int) -> None:
        """Run a command as a shell would that is kept open, its two streams as one."""
        where = self.top / ".where"
        shell = ("/bin/sh", "-c", f"trap 'pwd >{where}' EXIT\n{command}")
        code, said = self.told(shell, QUESTION.search(printed))
        told = f"below line {line}: {command}{said}"
        assert code == 0, told
        assert pattern(printed).fullmatch(said), f"{told}--- the page says\n{printed}"
        self.place = Path(where.read_text("utf-8").strip())

    def told(self, words: tuple[str, ...], asked: re.Match[str] | None) -> tuple[int, str]:
        """Return the exit code of a program and what it says; with a question, on a terminal."""
        if asked is not None:
            typed = asked.group(1).encode() + b"\n"
            done = answered(words, env=self.env, cwd=self.place, typed=typed, columns=WIDE)
            return done.code, "\n".join(done.rows)
        ran = subprocess.run(
            words,
            cwd=self.place,
            env=dict(self.env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=PATIENCE,
        )
        return ran.returncode, ran.stdout.decode()


def followed(page: Path, top: Path, env: Mapping[str, str]) -> tuple[Path, set[str]]:
    """Do a whole page below the new directory `top`.

    Returns where one stands in the end, and the languages of the blocks that were done.
    """
    top.mkdir()
    reader = Reader(top=top, place=top, env=env)
    done = set()
    for block in blocks(page.read_text("utf-8")):
        reader.does(block)
        done.add(block.language)
    return reader.place, done
