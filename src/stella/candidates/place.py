"""Where candidates lie, and where the host notes that they are its own [S2-41, D-54].

Every step goes from one open directory to the next and follows no link.
"""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Final

from stella.files.private import OPEN_MODE
from stella.files.private import PRIVATE_MODE
from stella.files.private import step
from stella.files.tree import DIRECTORY
from stella.files.write import write_atomic

STELLA: Final = ".stella"
IGNORE: Final = ".gitignore"
NAME: Final = re.compile(r"[a-z2-7]{16}")
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz234567"
NAME_CHARS: Final = 16

Steps = tuple[tuple[str, int], ...]
WORK: Final[Steps] = ((STELLA, OPEN_MODE), ("candidates", OPEN_MODE))
NOTES: Final[Steps] = (
    (STELLA, OPEN_MODE),
    ("private", PRIVATE_MODE),
    ("candidates", PRIVATE_MODE),
)
_OURS: Final = ((STELLA, "private"), (STELLA, "candidates"))
_IGNORED: Final = b"*\n"
_IGNORE_MODE: Final = 0o644


def path_of(root: Path, steps: Steps) -> Path:
    """Return the path of one of the two places in a workspace."""
    return root.joinpath(*(name for name, _ in steps))


def ours(path: str) -> bool:
    """Return whether a path leads where a host keeps its own, of this workspace or one in it."""
    parts = path.split("/")
    return any(pair in _OURS for pair in pairwise(parts))


@contextmanager
def entered(root: Path, steps: Steps, *, make: bool = False) -> Iterator[int]:
    """Hold one of the two places open; with `make` what is missing of it is made.

    Raises `OSError` for a link on the way, and for a private directory that is not private.
    """
    with ExitStack() as held:
        here = os.open(root, DIRECTORY)
        held.callback(os.close, here)
        for name, mode in steps:
            with _naming(name):
                here = step(here, name, mode, make=make)
            held.callback(os.close, here)
        yield here


@contextmanager
def standing(root: Path, steps: Steps) -> Iterator[int | None]:
    """As `entered`, and None where the place is not there at all."""
    with ExitStack() as held:
        try:
            here = held.enter_context(entered(root, steps))
        except FileNotFoundError:
            yield None
            return
        yield here


def ignore(work: int, token: str) -> None:
    """Keep all that lies in an open directory from version control, whatever else is ignored."""
    try:
        os.stat(IGNORE, dir_fd=work, follow_symlinks=False)
    except FileNotFoundError:
        write_atomic(work, IGNORE, _IGNORED, _IGNORE_MODE, token=token)


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Let what the system refuses say which directory on the way it is about."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, f"{name}: {error.strerror}", name) from error
