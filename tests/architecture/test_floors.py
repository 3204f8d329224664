"""The floor plan, held: every room stands on a floor, the pure floors are pure, modules are short.

That imports go down is the import-linter contract of pyproject.toml; here stands what it
cannot see.
"""

import ast
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
ROOT = REPOSITORY / "src" / "stella"
MODULES = sorted(path for path in ROOT.rglob("*.py") if "shipped" not in path.parts)
MOST_LINES = 400
MOST_FUNCTION_LINES = 60

FLOORS = (
    ("escape", "near", "limits", "errors", "toml_bounds", "strict", "codec"),
    ("authority", "message", "redact"),
    ("wire",),
    ("manifest", "content"),
    ("consent", "verdict"),
    ("turn",),
    ("process", "files", "clock"),
    (
        "settings",
        "roster",
        "context",
        "wrapper",
        "witness",
        "tools",
        "candidates",
        "providers",
        "journal",
    ),
    ("session",),
    ("cli",),
)
PURE = {room for floor in FLOORS[:6] for room in floor}
IMPURE = {
    "asyncio",
    "io",
    "os",
    "pathlib",
    "random",
    "secrets",
    "shutil",
    "signal",
    "socket",
    "subprocess",
    "tempfile",
    "threading",
    "time",
    "uuid",
}


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Every module `path` names, wherever in the file it names it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_every_room_has_a_floor_and_every_floor_its_rooms() -> None:
    rooms = {room_of(path) for path in MODULES} - {"__init__", "__main__", "shipped"}
    assert rooms == {room for floor in FLOORS for room in floor}


def test_the_linter_knows_the_same_floors() -> None:
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    linted = {room.strip().removeprefix("stella.") for layer in layers for room in layer.split("|")}
    assert linted == {room for floor in FLOORS for room in floor}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_go_down(path: Path) -> None:
    here = room_of(path)
    if here in {"__init__", "__main__"}:
        return
    rank = {room: number for number, floor in enumerate(FLOORS) for room in floor}
    used = {name.split(".")[1] for name in imported(path) if name.startswith("stella.")}
    # The ground floor has an order of its own, which the linter holds.
    above = [
        room
        for room in used - {here}
        if rank.get(room, 0) >= rank[here] and rank[here] > 0 and room != "__version__"
    ]
    assert not above, f"{here} imports {above}"


@pytest.mark.parametrize("path", [path for path in MODULES if room_of(path) in PURE], ids=name_of)
def test_pure_rooms_touch_nothing(path: Path) -> None:
    assert not {name.split(".")[0] for name in imported(path)} & IMPURE
    tree = ast.parse(path.read_text("utf-8"))
    asynchronous = (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith)
    assert not [node for node in ast.walk(tree) if isinstance(node, asynchronous)]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert not [call for call in calls if ast.unparse(call.func) in {"open", "print", "input"}]


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_fits_in_one_reading(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= MOST_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            assert lines <= MOST_FUNCTION_LINES, f"{node.name} is {lines} lines long"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_module_says_what_it_is(path: Path) -> None:
    text = path.read_text("utf-8")
    if path.name == "__init__.py" and path.parent != ROOT:
        assert not text, "a room's __init__ is empty"
    else:
        assert ast.get_docstring(ast.parse(text))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_module_is_named_after_nothing(path: Path) -> None:
    nothing = {"util", "utils", "helpers", "common", "misc", "base", "core", "manager", "types"}
    assert path.stem not in nothing | {"models"}
