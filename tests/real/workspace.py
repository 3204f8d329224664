"""Lays out a published bug as a project to work on, and writes what a model does to it.

A script is the lines of a script model [M2-20]. It reads every file before it changes it and
reads it to its end, as the file tools ask [T2-33]. Nothing here starts a host.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from stella import limits
from tests.real import fetch
from tests.real.cases import Case

Script = tuple[str, ...]

_LEFT_OUT: Final = ("*.dist-info", "*.data")
_DATE: Final = "2020-01-01T00:00:00+00:00"
_GIT: Final = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "Somebody",
    "GIT_AUTHOR_EMAIL": "somebody@example.invalid",
    "GIT_AUTHOR_DATE": _DATE,
    "GIT_COMMITTER_NAME": "Somebody",
    "GIT_COMMITTER_EMAIL": "somebody@example.invalid",
    "GIT_COMMITTER_DATE": _DATE,
}


def trees(case: Case, cache: Path) -> tuple[Path, Path]:
    """Return the unpacked releases with the bug and with the fix, fetched into `cache`."""
    buggy, fixed = case.buggy, case.fixed
    return (
        fetch.source(case.package, buggy.version, buggy.sha256, cache),
        fetch.source(case.package, fixed.version, fixed.sha256, cache),
    )


def prepare(case: Case, target: Path, cache: Path) -> Path:
    """Make the new folder `target` a git repository of one commit and return it.

    It holds the release with the bug and the test files of the release with the fix. Its own
    `pytest.ini` ends the search for settings there, whatever stands above `target`.
    """
    buggy, fixed = trees(case, cache)
    shutil.copytree(buggy, target, ignore=shutil.ignore_patterns(*_LEFT_OUT))
    for name in case.tests:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(fixed / name, target / name)
    (target / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (target / ".gitignore").write_text("__pycache__/\n.pytest_cache/\n", encoding="utf-8")
    git(target, "init", "--quiet", "--initial-branch=main")
    git(target, "add", "--all")
    git(target, "commit", "--quiet", f"--message={case.package} {case.buggy.version}")
    return target


def git(root: Path, *words: str) -> str:
    """Return what one git command prints in `root`, with no settings of this machine."""
    env = without(os.environ, "GIT_") | _GIT
    done = subprocess.run(
        ("git", *words), cwd=root, env=env, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


def without(environment: Mapping[str, str], *prefixes: str) -> dict[str, str]:
    """Return the environment less every variable whose name begins with one of `prefixes`."""
    return {name: value for name, value in environment.items() if not name.startswith(prefixes)}


def command(case: Case, python: str) -> tuple[str, ...]:
    """Return the words that run the granted test from the root of the workspace."""
    return (python, "-m", "pytest", "-q", "-p", "no:cacheprovider", case.test)


def fix_script(case: Case, cache: Path) -> Script:
    """Return the script that brings the published fix: one round of three replies."""
    buggy, fixed = trees(case, cache)
    reads = [call for name in case.sources for call in _reads(name, _text(buggy / name))]
    writes = [_write(name, _text(fixed / name)) for name in case.sources]
    return (_calls(*reads), _calls(*writes), _says("The fix is in place."))


def wrong_script(case: Case, cache: Path, rounds: int = 3) -> Script:
    """Return the script that adds another comment to the bystander in each of `rounds` rounds.

    Each round is three replies and ends by claiming success.
    """
    buggy, _fixed = trees(case, cache)
    text = _text(buggy / case.bystander)
    lines: list[str] = []
    for number in range(rounds):
        old = _tail(text)
        new = f"{old.rstrip()}\n\n# looked at in round {number}\n"
        edit = {"path": case.bystander, "old_string": old, "new_string": new}
        lines += (
            _calls(*_reads(case.bystander, text)),
            _calls({"name": "edit_file", "input": edit}),
            _says(f"Fixed, attempt {number}."),
        )
        text = text.removesuffix(old) + new
    return tuple(lines)


def cheating_script(case: Case, cache: Path, rounds: int = 3) -> Script:
    """Return the script that puts an empty test of the same node id in the test's place.

    Each of `rounds` rounds is three replies, writes another text and claims success.
    """
    _buggy, fixed = trees(case, cache)
    path, *names = case.test.split("::")
    text = _text(fixed / path)
    lines: list[str] = []
    for number in range(rounds):
        reads = _reads(path, text)
        text = f"# round {number}\n{_empty_test(names)}"
        lines += (
            _calls(*reads),
            _calls(_write(path, text)),
            _says(f"The test passes now, attempt {number}."),
        )
    return tuple(lines)


def _empty_test(names: list[str]) -> str:
    """Return a module whose test `names` (a class and a method, or a function) asks for nothing."""
    match names:
        case [function]:
            return f"def {function}():\n    pass\n"
        case [kind, method]:
            return f"class {kind}:\n    def {method}(self):\n        pass\n"
        case _:
            raise ValueError(f"{'::'.join(names)}: expected a function, or a class and a method")


def _reads(path: str, text: str) -> Iterator[dict[str, object]]:
    """Yield the calls that show the whole file, as many lines at a time as one call shows."""
    count = text.count("\n") + (not text.endswith("\n"))
    for offset in range(1, count + 1, limits.READ_LINES):
        places = {"path": path, "offset": offset, "limit": limits.READ_LINES}
        yield {"name": "read_file", "input": places}


def _write(path: str, content: str) -> dict[str, object]:
    return {"name": "write_file", "input": {"path": path, "content": content}}


def _tail(text: str) -> str:
    """Return the shortest end of the text, in whole lines, that occurs nowhere else in it."""
    lines = text.splitlines(keepends=True)
    ends = ("".join(lines[at:]) for at in reversed(range(len(lines))))
    return next(end for end in ends if end.strip() and text.count(end) == 1)


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


def _calls(*calls: Mapping[str, object]) -> str:
    return json.dumps({"tool_calls": calls})


def _says(text: str) -> str:
    return json.dumps({"text": text})
