"""Names and globs: which file a test runner or a person would mean by them.

Pure text; nothing here touches the disk.
"""

import re
import sys
from pathlib import PurePath
from typing import Final

from stella.errors import UsageError
from stella.escape import visible
from stella.files.fence import lexical
from stella.witness.runners import Runner

CONFTEST: Final = "conftest.py"
PYPROJECT: Final = "pyproject.toml"
PACKAGE: Final = "__init__.py"
MAIN: Final = "__main__.py"
PYTEST_CONFIG: Final = (
    CONFTEST,
    "pytest.toml",
    ".pytest.toml",
    "pytest.ini",
    ".pytest.ini",
    PYPROJECT,
    "tox.ini",
    "setup.cfg",
)
"""What pytest reads its configuration from, per directory [G-31, Q-26]."""

_STARTUP: Final = frozenset({"sitecustomize.py", "usercustomize.py"})
_PYTEST_MODULES: Final = frozenset(
    ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments")
).union(("exceptiongroup", "tomli", "colorama", "attr", "attrs"))
_MODULE_FILE: Final = re.compile(r"(\w+)(?:\.[\w-]+)?\.(?:py|pyc|so|pyd)", re.ASCII)
_WILD: Final = re.compile(r"[*?]")


def is_test(name: str) -> bool:
    """Return whether a file is a test by its name [G-31]."""
    return name.endswith("_test.py") or (name.startswith("test_") and name.endswith(".py"))


def is_startup(name: str) -> bool:
    """Return whether an interpreter would read the file when it starts [G-31]."""
    return name in _STARTUP or name.endswith(".pth")


def is_cache(path: str) -> bool:
    """Return whether a file is a compiled cache, which no glob matches [Q-31]."""
    return path.endswith(".pyc") or "__pycache__" in path.split("/")


def is_metadata(name: str) -> bool:
    """Return whether an entry is the metadata of a distribution, which may load plugins [Q-26]."""
    return name.endswith((".dist-info", ".egg-info"))


def module_of(name: str) -> str | None:
    """Return the module a file would be imported as, or None when it is none."""
    match = _MODULE_FILE.fullmatch(name)
    return match.group(1) if match else None


def module_paths(dotted: str) -> tuple[str, ...]:
    """Return the files that importing or running a module would read, its packages first."""
    parts = dotted.split(".")
    if not all(part.isidentifier() for part in parts):
        return ()
    whole = "/".join(parts)
    packages = ("/".join(parts[:at]) for at in range(1, len(parts) + 1))
    return (*(f"{package}/{PACKAGE}" for package in packages), f"{whole}.py", f"{whole}/{MAIN}")


def shadowed(module: str, runner: Runner) -> bool:
    """Return whether a module of that name would stand before one the runner imports [Q-26]."""
    return module in sys.stdlib_module_names or (
        runner is Runner.PYTEST and module in _PYTEST_MODULES
    )


def start_of(glob: str) -> str:
    """Return the directory that holds everything a glob can match, "" for the root."""
    kept: list[str] = []
    for part in _parts(glob)[:-1]:
        if _WILD.search(part):
            break
        kept.append(part)
    return "/".join(kept)


def matcher(glob: str) -> "re.Pattern[str]":
    """Return the pattern of a watch glob over root-relative paths, to be matched in full [G-31].

    `*` and `?` stay within a name, `**` as a whole component spans directories, none
    included; everything else is literal. Raises `UsageError` for a glob that leaves the root.
    """
    if (denial := lexical(glob)) is not None:
        raise UsageError(
            f'--watch-tests "{visible(glob)}": expected a pattern relative to the workspace, '
            f"such as tests/**, got a path that is not ({denial.value})"
        )
    pieces: list[str] = []
    parts = _parts(glob)
    for at, part in enumerate(parts):
        last = at == len(parts) - 1
        if part != "**":
            pieces.append(_component(part) + ("" if last else "/"))
        elif last:
            pieces.append(".+")
        elif parts[at + 1] != "**":
            pieces.append("(?:[^/]+/)*")
    return re.compile("".join(pieces), re.DOTALL)


def _parts(glob: str) -> tuple[str, ...]:
    # A double slash and a "." name nothing; a final slash is what a shell completes.
    return PurePath(glob).parts


def _component(part: str) -> str:
    pieces = re.split(r"(\*+|\?)", part)
    # Split with a group: text and wildcards take turns, text first.
    pieces[::2] = map(re.escape, pieces[::2])
    pieces[1::2] = ("[^/]" if piece == "?" else "[^/]*" for piece in pieces[1::2])
    return "".join(pieces)
