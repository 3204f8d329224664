"""The names of what is installed where a test's interpreter looks, found without running it.

A module of such a name in front of the installed one is read in its place; pytest loads some
of them by itself [Q-26].
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from stella.witness.appearing import entries
from stella.witness.pattern import module_of

AUTOLOADED: Final = frozenset(
    ("xdist", "execnet", "pytest_cov", "coverage", "hypothesis", "_hypothesis_pytestplugin")
).union(
    ("_hypothesis_ftz_detector", "_hypothesis_globals", "sortedcontainers", "anyio", "sniffio"),
    ("pytest_asyncio", "pytest_mock", "pytest_timeout", "pytest_randomly", "pytest_django"),
    ("pytest_benchmark", "pytest_metadata", "pytest_html", "pytest_rerunfailures"),
    ("pytest_sugar", "pytest_forked", "pytest_httpx", "pytest_socket", "pytest_subtests"),
    ("pytest_repeat", "pytest_order", "pytest_env", "pytest_bdd", "pytest_flask", "respx"),
    ("faker", "syrupy", "typeguard", "ddtrace", "allure_pytest", "allure_commons", "twisted"),
)
"""What pytest is known to load unasked, for an interpreter whose directories are not found."""

_STRAY: Final = frozenset(("bin", "docs", "doc", "examples", "scripts", "src", "test", "tests"))
"""Names that distributions install by mistake and every project uses for itself."""

_LIBRARIES: Final = ("lib", "lib64", "local/lib")
_SITES: Final = ("site-packages", "dist-packages")
_SHEBANG: Final = re.compile(rb"(/[^\s'\"]*python[\w.]*)")
_SHARING: Final = re.compile(r"(?im)^\s*include-system-site-packages\s*=\s*true\s*$")
_HEAD: Final = 1024


def installed(root: Path, started: Path | None) -> frozenset[str]:
    """Return the top-level names that the interpreter behind `started` finds installed.

    `started` is an interpreter or a script that names one. An environment at `.venv` beneath
    `root` counts too: launchers take it without being told.
    """
    seen = set(_sites(root / ".venv"))
    if started is not None:
        for prefix in _prefixes(_interpreter(started)):
            seen.update(_sites(prefix))
    found = {name for directory in seen for name in modules(directory)}
    return frozenset(found - _STRAY) or AUTOLOADED


def modules(directory: Path) -> frozenset[str]:
    """Return the names that can be imported from a directory: modules, and directories of them.

    A directory counts when a Python file lies directly in it.
    """
    return frozenset(
        module_of(name) or name
        for name in entries(directory)
        if module_of(name) or _is_package(directory / name)
    )


def _is_package(place: Path) -> bool:
    named = place.name.isidentifier() and place.name != "__pycache__"
    return named and any(map(module_of, entries(place)))


def _interpreter(program: Path) -> Path:
    """Return the interpreter that a script names in its first lines, else `program` itself."""
    try:
        with program.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return program
    match = _SHEBANG.search(b"\n".join(head.splitlines()[:2])) if head[:2] == b"#!" else None
    return Path(os.fsdecode(match.group(1))) if match else program


def _prefixes(interpreter: Path) -> Iterator[Path]:
    own = interpreter.parent.parent
    yield own
    try:
        alone = not _SHARING.search((own / "pyvenv.cfg").read_text("utf-8", "replace"))
    except OSError:
        alone = False
    if not alone:
        yield Path(os.path.realpath(interpreter)).parent.parent
        yield Path(os.path.expanduser("~/.local"))  # noqa: PTH111  # never fails, Path.home may


def _sites(prefix: Path) -> Iterator[Path]:
    for library in _LIBRARIES:
        for name in entries(prefix / library):
            if name.startswith("python"):
                yield from (prefix / library / name / site for site in _SITES)
