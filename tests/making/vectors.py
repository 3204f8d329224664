"""Vectors: data files under tests/vectors, read for parametrised tests."""

import tomllib
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).parents[1] / "vectors"


def vectors(folder: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the name and the data of every TOML vector in a folder, which must hold some."""
    found = sorted((VECTORS / folder).glob("*.toml"))
    assert found, f"{folder} holds no vector"
    return [(path.stem, tomllib.loads(path.read_text("utf-8"))) for path in found]
