"""A room's tests mirror the room: each module with code has a test file of its name."""

from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
ROOT = REPOSITORY / "src" / "stella"
TESTS = REPOSITORY / "tests"
MODULES = sorted(path for path in ROOT.rglob("*.py") if "shipped" not in path.parts)

# Programs and values without behaviour of their own; what is in them is proved where it is used.
ELSEWHERE = {
    "__init__.py": "empty, or the public face (tests/architecture/test_face.py)",
    "__main__.py": "one line (tests/cli/test_main.py)",
    "limits.py": "numbers (tests/architecture/test_ledger.py)",
}


def mirror_of(path: Path) -> Path:
    place = path.relative_to(ROOT)
    return TESTS / place.parent / f"test_{place.name}"


@pytest.mark.parametrize(
    "path",
    [path for path in MODULES if path.name not in ELSEWHERE],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_every_module_has_its_test_file(path: Path) -> None:
    assert mirror_of(path).is_file(), f"expected {mirror_of(path).relative_to(REPOSITORY)}"


@pytest.mark.parametrize(
    "room", [path.name for path in sorted(ROOT.iterdir()) if (path / "__init__.py").exists()]
)
def test_every_test_file_has_its_module(room: str) -> None:
    for test in sorted((TESTS / room).rglob("test_*.py")):
        place = test.relative_to(TESTS)
        module = ROOT / place.parent / place.name.removeprefix("test_")
        assert module.is_file(), f"{place} mirrors nothing"
