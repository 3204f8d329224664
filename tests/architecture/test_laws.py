"""The laws of the house that a linter does not see, each as a search through the source."""

import ast
import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
ROOT = REPOSITORY / "src" / "stella"
MODULES = sorted(path for path in ROOT.rglob("*.py") if "shipped" not in path.parts)


def callers(pattern: str) -> set[str]:
    """The modules in which a call's function matches `pattern`."""
    found = set()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and re.fullmatch(pattern, ast.unparse(node.func)):
                found.add(str(path.relative_to(ROOT)))
    return found


def importers(module: str) -> set[str]:
    """The modules that import `module` or anything of it."""
    found = set()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                named = [node.module or ""]
            if any(name == module or name.startswith(f"{module}.") for name in named):
                found.add(str(path.relative_to(ROOT)))
    return found


def test_outside_data_enters_by_one_door() -> None:
    assert importers("json") <= {"process/warden.py"}
    assert importers("jiter") == {"strict.py"}
    assert importers("tomllib") == {"strict.py"}
    assert callers(r"msgspec\.(json|toml|yaml)\.decode|msgspec\.convert") <= {"codec.py"}


@pytest.mark.behaviour("H14.door")
def test_a_child_starts_in_one_place() -> None:
    started = callers(r"subprocess\..*|os\.(fork|forkpty|system|posix_spawn.*|exec.*|spawn.*)")
    assert {path.split("/")[0] for path in started} == {"process"}
    assert not callers(r"asyncio\.(subprocess\.)?create_subprocess_(exec|shell)")


def test_the_environment_is_read_in_one_place() -> None:
    reading = set()
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and ast.unparse(node) in {"os.environ", "os.getenv"}:
                reading.add(str(path.relative_to(ROOT)))
    assert reading <= {"settings/ambient.py", "process/warden.py"}


def test_only_the_gate_makes_a_permit() -> None:
    assert callers("Permit") == {"authority/gate.py"}


def test_only_the_toolbox_runs_a_tool_and_only_the_drive_holds_it() -> None:
    assert importers("stella.tools.toolbox") <= {
        "session/drive.py",
        "session/hands.py",
        "session/workshop.py",
    }


def test_the_drive_alone_writes_the_journal() -> None:
    writers = callers(r".*\bjournal\.append")
    assert {path.split("/")[0] for path in writers} == {"session"}


def test_judging_imports_nothing_that_acts() -> None:
    for path in sorted((ROOT / "verdict").glob("*.py")):
        used = {name for name in importers_of(path) if name.startswith("stella.")}
        rooms = {name.split(".")[1] for name in used}
        assert rooms <= {"codec", "escape", "limits", "manifest", "verdict", "wire"}, path.name


def importers_of(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


_POSSESSIVE = re.compile(r"(.{0,5})\)(?:[*+?]|\{\{?[0-9,]*\}\}?)\+")


def test_a_possessive_group_ends_with_an_alternative_that_only_fails() -> None:
    """Before Python 3.11.5 the last try of such a group, when it fails half-way, does not go back.

    An alternative that can only fail makes it start, and end, where the try began.
    """
    groups = [
        (path.name, found[0])
        for path in MODULES
        for found in _POSSESSIVE.finditer(path.read_text("utf-8"))
    ]
    assert len(groups) > 10
    assert [each for each in groups if "|(?!))" not in each[1]] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_fault_is_swallowed(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.ExceptHandler):
            continue
        broad = node.type is None or ast.unparse(node.type) in {"Exception", "BaseException"}
        allowed = {"cli/fault.py", "tools/toolbox.py", "wrapper/object.py"}
        assert not broad or str(path.relative_to(ROOT)) in allowed, f"line {node.lineno}"
