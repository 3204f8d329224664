"""Which test runner a command starts, by its words alone [G-14].

Pure. What the runner's exit status means is the business of `readings`, which files it
reads the business of `watched`; a runner that is not recognised here is `other` to both.
"""

import re
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from stella.codec import Word


class Runner(Word):
    """A test runner whose exit status has a table [G-14]."""

    PYTEST = "pytest"
    UNITTEST = "unittest"
    CARGO_TEST = "cargo test"
    CARGO_NEXTEST = "cargo nextest"
    GO = "go test"
    JEST = "jest"
    VITEST = "vitest"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised:
    """The runner of a command, and its words once launchers are looked through [G-14].

    `program` is the word that names the runner or the interpreter; `args` are the words after
    the runner's own name, so `python -m pytest -q` leaves `-q`. `module` is what a Python
    interpreter is given by `-m`, `script` the file or directory an interpreter is to run.
    """

    runner: Runner
    program: str
    args: tuple[str, ...]
    module: str = ""
    script: str = ""

    @property
    def python(self) -> bool:
        """Whether the words start a Python interpreter, under whatever runner."""
        named = base_name(self.program).startswith("python")
        return named or self.runner in (Runner.PYTEST, Runner.UNITTEST)


_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_MODULES: Final = {"pytest": Runner.PYTEST, "unittest": Runner.UNITTEST}
_NAMES: Final = {
    "pytest": Runner.PYTEST,
    "py.test": Runner.PYTEST,
    "jest": Runner.JEST,
    "vitest": Runner.VITEST,
}
_LAUNCHERS: Final[Mapping[str, str | None]] = {
    "uv": "run",
    "poetry": "run",
    "pipenv": "run",
    "pnpm": "exec",
    "npx": None,
    "bunx": None,
}
# Options of launchers and runners whose value is the next word; every other one stands alone.
_VALUED: Final = frozenset(
    ("-C", "-p", "-w", "--python", "--with", "--extra", "--group", "--package", "--project")
).union(("--directory", "--env-file", "--filter", "--manifest-path", "--config", "--color"))
_PYTHON_VALUED: Final = frozenset("WX")
_SHELLS: Final = frozenset(("sh", "bash", "dash", "ksh", "zsh"))
_OTHERS: Final = frozenset(("node", "perl", "php", "ruby"))
_SHELL_CODE: Final = re.compile(r"-[A-Za-z]*c[A-Za-z]*")
_OTHER_CODE: Final = re.compile(r"-[A-Za-z]*[eEpr]|--(?:eval|print|run)\b.*")


def recognise(words: Sequence[str]) -> Recognised:
    """Return the runner that `words` start; at least one word is given [G-14]."""
    inner = unwrapped(words)
    name = base_name(inner[0])
    if name in _NAMES:
        return Recognised(runner=_NAMES[name], program=inner[0], args=inner[1:])
    if name.startswith("python"):
        return _python(inner[0], inner[1:])
    if name in ("cargo", "go"):
        return _subcommand(name, inner)
    return Recognised(
        runner=Runner.OTHER, program=inner[0], args=inner[1:], script=_script(name, words, inner)
    )


def unwrapped(words: Sequence[str]) -> tuple[str, ...]:
    """Return `words` without the launchers before the real program [G-14].

    What leaves no program (`env` alone) comes back as it was.
    """
    rest = tuple(words)
    while inner := _within(rest):
        rest = inner
    return rest


def base_name(word: str) -> str:
    """Return the last component of a program word."""
    return PurePath(word).name


def _within(words: tuple[str, ...]) -> tuple[str, ...]:
    name = base_name(words[0])
    if name == "env":
        at = 1
        while at < len(words) and _ASSIGNMENT.match(words[at]):
            at += 1
        # Options of env are not read: what follows one may be its value or the program.
        return () if at < len(words) and words[at].startswith("-") else words[at:]
    if name not in _LAUNCHERS:
        return ()
    rest = _past_options(words[1:])
    command = _LAUNCHERS[name]
    if command is None:
        return rest
    return _past_options(rest[1:]) if rest[:1] == (command,) else ()


def _past_options(words: tuple[str, ...]) -> tuple[str, ...]:
    at = 0
    while at < len(words) and words[at].startswith(("-", "+")):
        if words[at] == "--":
            return words[at + 1 :]
        at += 2 if words[at] in _VALUED else 1
    return words[at:]


def _python(program: str, words: tuple[str, ...]) -> Recognised:
    """Return what an interpreter is told to run, clusters of options such as `-Im` read."""
    at = 0
    while at < len(words) and words[at].startswith("-") and len(words[at]) > 1:
        word = words[at]
        at += 1
        if word.startswith("--"):
            continue
        for place, letter in enumerate(word[1:], 2):
            joined = word[place:]
            if letter == "m":
                module = joined or "".join(words[at : at + 1])
                runner = _MODULES.get(module, Runner.OTHER)
                args = words if runner is Runner.OTHER else words[at if joined else at + 1 :]
                return Recognised(runner=runner, program=program, args=args, module=module)
            if letter == "c":
                return Recognised(runner=Runner.OTHER, program=program, args=words)
            if letter in _PYTHON_VALUED:
                at += not joined
                break
    script = "".join(words[at : at + 1]).removeprefix("-")
    return Recognised(runner=Runner.OTHER, program=program, args=words, script=script)


def _script(name: str, words: Sequence[str], inner: tuple[str, ...]) -> str:
    """Return the script of another interpreter, or of a launcher that runs one itself.

    The options are not read, so a word must look like a file; code on the line is no script.
    """
    if name.endswith(".py") and len(inner) < len(words):
        return inner[0]
    code = _SHELL_CODE if name in _SHELLS else _OTHER_CODE
    if name in _SHELLS | _OTHERS and not any(map(code.fullmatch, inner)):
        plain = (word for word in inner[1:] if not word.startswith("-"))
        return next((word for word in plain if "/" in word or "." in word), "")
    return ""


def _subcommand(name: str, words: tuple[str, ...]) -> Recognised:
    rest = _past_options(words[1:])
    command, args = rest[:1], rest[1:]
    runner = Runner.OTHER
    if command == ("test",):
        runner = Runner.GO if name == "go" else Runner.CARGO_TEST
    elif name == "cargo" and command == ("nextest",):
        inner = _past_options(args)
        if inner[:1] == ("run",):
            runner, args = Runner.CARGO_NEXTEST, inner[1:]
    known = runner is not Runner.OTHER
    return Recognised(runner=runner, program=words[0], args=args if known else words[1:])
