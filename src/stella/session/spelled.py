"""The paths that the input of a script tool may name: nobody knows which of its texts is one."""

import os
from collections.abc import Iterator
from pathlib import Path


def spelled(root: Path, given: object) -> Iterator[str]:
    """Yield each text of an input as it is written, and where it leads beneath `root` [P-65, A-14].

    `root` is canonical. At any depth, and the texts of lists too; keys name nothing.
    """
    for text in _texts(given):
        yield text
        if "\0" not in text:
            real = Path(os.path.realpath(root / text))
            if real.is_relative_to(root):
                yield str(real.relative_to(root))


def _texts(value: object) -> Iterator[str]:
    """Yield every text in a JSON value, however deep it is."""
    left = [value]
    while left:
        match left.pop():
            case str() as text:
                yield text
            case dict() as table:
                left += table.values()
            case list() as row:
                left += row
            case _:
                pass
