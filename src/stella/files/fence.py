"""The path fence: a path a plugin supplies stays inside its root, or is denied by a word.

Two steps. `lexical` judges the text alone and never touches the disk [G-50]; `inside`
then asks the disk where the path really leads [G-51]. Nothing is simplified away: a `..`
is denied even where it would come back inside.
"""

import os
import unicodedata
from pathlib import Path
from typing import Final

from stella import limits
from stella.codec import Word

_DRIVE: Final = 2


class Denial(Word):
    """Why a path is not used [G-50, G-51]."""

    EMPTY = "empty"
    MALFORMED = "malformed"
    ABSOLUTE = "absolute"
    TRAVERSAL = "traversal"
    ESCAPES_ROOT = "escapes_root"


def lexical(path: str) -> Denial | None:
    """Return why the text of `path` is denied, or None [G-50].

    First match wins, in the order of the words of `Denial`. Text that no file system of
    ours can hold (a lone surrogate, more than `limits.FENCE_PATH_BYTES`) is malformed: the
    walk over it would cost time that the answer does not need.
    """
    parts = path.split("/")
    if not path.startswith("/") and all(part in ("", ".") for part in parts):
        return Denial.EMPTY
    if "\0" in path or "\\" in path or any(unicodedata.category(char) == "Cs" for char in path):
        return Denial.MALFORMED
    if len(path.encode()) > limits.FENCE_PATH_BYTES:
        return Denial.MALFORMED
    if path.startswith("/") or _has_drive(path):
        return Denial.ABSOLUTE
    if ".." in parts:
        return Denial.TRAVERSAL
    return None


def inside(root: Path, path: str) -> Path | Denial:
    """Return where `path` leads beneath `root`, symlinks resolved, or why it is denied [G-51].

    The part that exists is resolved, a dangling link included, and what does not exist yet
    is appended. The answer holds for this moment only: whoever opens the path opens the
    answer, not the text, and follows no link on the way.
    """
    if (denial := lexical(path)) is not None:
        return denial
    home = os.path.realpath(root)
    # Not strict: a path that is about to be created is a good path.
    real = Path(os.path.realpath(Path(home, path)))
    return real if real.is_relative_to(home) else Denial.ESCAPES_ROOT


def _has_drive(path: str) -> bool:
    head = path[:_DRIVE]
    return len(head) == _DRIVE and head[1] == ":" and head[0].isascii() and head[0].isalpha()
