"""What the words of a test plan name beneath the root: files, directories, configuration.

It reads words and asks the disk only what stands at the places they name [G-31, G-32].
"""

import os
import stat
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from stella.escape import visible
from stella.witness.artifact import ChangeKind
from stella.witness.artifact import locate
from stella.witness.installed import installed
from stella.witness.pattern import MAIN
from stella.witness.pattern import module_paths
from stella.witness.plan import ResolvedPlan
from stella.witness.runners import Recognised
from stella.witness.runners import Runner
from stella.witness.runners import base_name
from stella.witness.runners import recognise

_MAKES: Final = frozenset({"make", "gmake"})
_MAKEFILES: Final = ("GNUmakefile", "makefile", "Makefile")
_FILE: Final = ("-f", "--file", "--makefile")
_DIRECTORY: Final = ("-C", "--directory")
_CONFIG: Final = ("-c", "--config-file")
_PLUGIN: Final = ("-p",)
_NODE: Final = ("package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", "pnpm-workspace.yaml")
_TASKS: Final = {
    "npm": _NODE,
    "yarn": _NODE,
    "pnpm": (*_NODE, ".pnpmfile.cjs"),
    "bun": (*_NODE, "bunfig.toml"),
    "deno": ("deno.json", "deno.jsonc", "package.json"),
    "just": ("justfile", "Justfile", ".justfile"),
    "nox": ("noxfile.py",),
    "tox": ("tox.ini", "tox.toml", "setup.cfg"),
}
"""What says which command such a program runs."""
_TASK_DIRECTORY: Final = ("-C", "--prefix", "--cwd", "--dir")
_MAKE_VALUED: Final = frozenset((*_FILE, *_DIRECTORY, "-I", "-o", "-W", "-l"))
# Options whose value is the next word, so that the value is not taken for a path.
_PYTEST_VALUED: Final = frozenset(_CONFIG).union(
    ("-k", "-m", "-n", "-o", "-p", "-r", "-W", "--assert", "--basetemp", "--capture"),
    ("--code-highlight", "--color", "--confcutdir", "--cov-config", "--cov-report"),
    ("--deselect", "--dist", "--doctest-glob", "--durations", "--durations-min", "--ignore"),
    ("--ignore-glob", "--import-mode", "--junit-prefix", "--junit-xml", "--junitxml"),
    ("--log-cli-level", "--log-file", "--log-level", "--maxfail", "--numprocesses"),
    ("--override-ini", "--pdbcls", "--pythonwarnings", "--reruns", "--rootdir"),
    ("--show-capture", "--tb", "--timeout", "--verbosity"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What the words name, as paths relative to the root; "" is the root itself.

    `script` is a program word that is itself the test, `programs` every other one. `files`
    are test artifacts, `directories` directory arguments, `config` configuration files,
    whether they exist or not. What is in `appearing` counts as added when it appears, and so
    does a module with a name in `installed` where the interpreter looks first.
    `notices` name what cannot be watched: with one the watch is incomplete [G-41].
    """

    recognised: Recognised
    script: str | None = None
    programs: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    directories: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    appearing: frozenset[str] = frozenset()
    installed: frozenset[str] = frozenset()
    notices: tuple[str, ...] = ()


def named(plan: ResolvedPlan, root: Path) -> Named:
    """Return what the plan's words name beneath the canonical `root`, at this moment."""
    recognised = recognise(plan.words)
    script, programs = _programs(plan, recognised, root)
    arguments = _Arguments(root)
    for word in _plain(plan.args, _valued(recognised)):
        if word != recognised.program:
            arguments.look(word)
    if recognised.runner is Runner.PYTEST and not _names_a_path(recognised.args, root):
        arguments.directories.append("")  # [G-32]
    config, appearing = _configuration(recognised, root)
    tests = _run(recognised, root)
    files = [path for path in tests if os.path.lexists(root / path)]
    return Named(
        recognised=recognised,
        script=script,
        programs=programs,
        files=tuple(dict.fromkeys((*arguments.files, *files))),
        directories=tuple(arguments.directories),
        config=config,
        appearing=appearing.union(config, plan.shims, tests),
        installed=_taken(plan, recognised, root) if recognised.python else frozenset(),
        notices=tuple(arguments.notices),
    )


def script_missing(recognised: Recognised, root: Path) -> str:
    """Return the script that an interpreter is to run when nothing can be run there, else ""."""
    place = root / recognised.script
    if recognised.python and place.is_dir():
        place /= MAIN
    return recognised.script if recognised.script and not place.exists() else ""


def relative(root: Path, word: str) -> str | None:
    """Return the root-relative path a word names, or None when it lies outside.

    A link on the way is kept: whoever observes the path meets it. A `..` that crosses a link
    is resolved, since dropping it would name another file.
    """
    typed = root / word
    plain, real = Path(os.path.normpath(typed)), Path(os.path.realpath(typed))
    if real != Path(os.path.realpath(plain)):
        plain = real
    for spot in (plain, real):
        if spot.is_relative_to(root):
            return "" if spot == root else str(spot.relative_to(root))
    return None


class _Arguments:
    """Sorts arguments by what stands at the place they name."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: list[str] = []
        self.directories: list[str] = []
        self.notices: list[str] = []

    def look(self, word: str) -> None:
        """Keep `word` when it names a regular file, also as `path::node`, or a directory [G-31].

        pytest reads further arguments from a file that is named with `@` before it.
        """
        for name in (word, word.partition("::")[0], word.removeprefix("@")):
            path = relative(self.root, name) if name else None
            mode = 0 if path is None else mode_of(self.root / path)
            if path is None or not mode:
                continue
            if stat.S_ISREG(mode):
                self.files.append(path)
            elif stat.S_ISDIR(mode) and path and locate(self.root, path) is ChangeKind.SYMLINKED:
                self.notices.append(
                    f"{visible(path)} is reached through a symbolic link; what lies there is not "
                    "watched; name the directory it leads to"
                )
            elif stat.S_ISDIR(mode):
                self.directories.append(path)
            return


def _programs(
    plan: ResolvedPlan, recognised: Recognised, root: Path
) -> tuple[str | None, tuple[str, ...]]:
    """Return the program word that is the test itself, and the others, beneath the root."""
    inner = relative(root, recognised.program) if "/" in recognised.program else None
    outer = relative(root, str(plan.path))
    # An interpreter or a runner decides how a test runs and is not the test: pinning it alone
    # says nothing about whether the test was touched.
    is_test = recognised.runner is Runner.OTHER and not recognised.python
    script = inner if is_test and inner else None
    others = (path for path in (inner, outer) if path and path != script)
    return script, tuple(dict.fromkeys(others))


def _run(recognised: Recognised, root: Path) -> tuple[str, ...]:
    """Return what an interpreter is told to run, whether it exists or not.

    A directory is run by a file in it. The module of a runner is not the test.
    """
    if script := recognised.script:
        inside = recognised.python and (root / script).is_dir()
        path = relative(root, f"{script}/{MAIN}" if inside else script)
        return (path,) if path else ()
    return module_paths(recognised.module) if recognised.runner is Runner.OTHER else ()


def _taken(plan: ResolvedPlan, recognised: Recognised, root: Path) -> frozenset[str]:
    """Return the top-level names that a new module must not take from where they lead now."""
    asked = [recognised.module]
    if recognised.runner is Runner.PYTEST:
        asked += _values(recognised.args, _PLUGIN)
    return installed(root, plan.started).union(name.partition(".")[0] for name in asked)


def _configuration(recognised: Recognised, root: Path) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the configuration files the words name, and what must not appear beside them."""
    if recognised.runner is Runner.PYTEST:
        given = (relative(root, name) for name in _values(recognised.args, _CONFIG))
        plugins = (module_paths(name) for name in _values(recognised.args, _PLUGIN))
        return (*(path for path in given if path), *chain.from_iterable(plugins)), frozenset()
    name = base_name(recognised.program)
    if name in _MAKES:
        return _makefiles(recognised.args, root)
    if name in _TASKS:
        base = Path(root, *_values(recognised.args, _TASK_DIRECTORY))
        paths = (relative(root, str(base / task)) for task in _TASKS[name])
        return tuple(path for path in paths if path), frozenset()
    return (), frozenset()


def _makefiles(args: Sequence[str], root: Path) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the makefile that make would read, and what would change that [Q-26]."""
    base = Path(root, *_values(args, _DIRECTORY))
    given = tuple(_values(args, _FILE))
    read = given or tuple(name for name in _MAKEFILES if os.path.lexists(base / name))[:1]
    goals = [word for word in _plain(args, _MAKE_VALUED) if "=" not in word]
    before = () if given else _MAKEFILES[: _MAKEFILES.index(read[0])] if read else _MAKEFILES
    paths = [relative(root, str(base / name)) for name in (*read, *before, *goals)]
    config = tuple(path for path in paths[: len(read)] if path)
    return config, frozenset(path for path in paths[len(read) :] if path)


def _valued(recognised: Recognised) -> frozenset[str]:
    if recognised.runner is Runner.PYTEST:
        return _PYTEST_VALUED
    return _MAKE_VALUED if base_name(recognised.program) in _MAKES else frozenset()


def _plain(args: Sequence[str], valued: frozenset[str]) -> Iterator[str]:
    """Yield the words that are neither options nor the value of one of `valued`."""
    before = ""
    for word in args:
        if not word.startswith("-") and before not in valued:
            yield word
        before = word


def _values(args: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """Yield what is given for an option: `-c x`, `-cx`, `--file x`, `--file=x`."""
    for at, word in enumerate(args):
        for name in names:
            if word == name:
                yield from args[at + 1 : at + 2]
            elif word.startswith(f"{name}="):
                yield word[len(name) + 1 :]
            elif word.startswith(name) and not name.startswith("--"):
                yield word[len(name) :]


def _names_a_path(args: Sequence[str], root: Path) -> bool:
    """Return whether pytest is given a path, one that does not exist yet included [G-32].

    A word after a long option that is not known here may be its value: then it must look
    like a path or exist.
    """
    before = ""
    for word in args:
        if not word.startswith(("-", "@")) and before not in _PYTEST_VALUED:
            known = not before.startswith("--") or "=" in before
            looks = "/" in word or "::" in word or word.endswith(".py")
            if known or looks or mode_of(root / word):
                return True
        before = word
    return False


def mode_of(path: Path) -> int:
    """Return the mode of what a path leads to, or 0 when nothing can be seen there."""
    try:
        return path.stat().st_mode
    except OSError:
        return 0
