"""The ledger: every behaviour it names has a test, every marked test an entry, every limit a test.

An entry is `id = {behaviour = "...", rule = "..."}` in tests/ledger/<area>.toml; a test is tied
to it by `@pytest.mark.behaviour("id")`.
"""

import ast
import tomllib
from pathlib import Path

TESTS = Path(__file__).parents[1]
REPOSITORY = TESTS.parent
LEDGER = sorted((TESTS / "ledger").glob("*.toml"))
SOURCES = sorted(TESTS.rglob("test_*.py"))


def entries() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for path in LEDGER:
        for name, entry in tomllib.loads(path.read_text("utf-8")).items():
            assert name not in found, f"{name} stands twice"
            found[name] = entry
    return found


def marked() -> dict[str, list[str]]:
    """Every behaviour id with the tests that claim it."""
    found: dict[str, list[str]] = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith(".behaviour"):
                    for name in names_of(mark):
                        found.setdefault(name, []).append(f"{path.name}::{node.name}")
    return found


def names_of(mark: ast.Call) -> list[str]:
    names: list[str] = []
    for argument in mark.args:
        if isinstance(argument, ast.Starred):
            names += ast.literal_eval(argument.value)
        else:
            names.append(ast.literal_eval(argument))
    return names


def test_the_ledger_is_not_empty() -> None:
    assert entries()


def test_every_entry_says_what_and_by_which_rule() -> None:
    for name, entry in entries().items():
        assert set(entry) == {"behaviour", "rule"}, name
        assert all(entry.values()), name


def test_every_entry_has_a_test() -> None:
    assert not sorted(entries().keys() - marked().keys())


def test_every_marked_test_has_an_entry() -> None:
    assert not sorted(marked().keys() - entries().keys())


def test_every_limit_is_used_and_tested() -> None:
    tree = ast.parse((REPOSITORY / "src/stella/limits.py").read_text("utf-8"))
    names = {
        node.target.id
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    } - {"KIB", "MIB"}
    source = "\n".join(
        path.read_text("utf-8")
        for path in sorted((REPOSITORY / "src").rglob("*.py"))
        if path.name != "limits.py"
    )
    tests = "\n".join(path.read_text("utf-8") for path in sorted(TESTS.rglob("*.py")))
    assert not sorted(name for name in names if name not in source), "bounds nothing"
    assert not sorted(name for name in names if f"limits.{name}" not in tests), "is not tested"
