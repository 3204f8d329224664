"""What a workspace holds that is not used while it is not trusted, one text for each kind [A-72].

Names are counted and nothing is opened. Settings and plugins are told by who reads them.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from stella import limits
from stella.escape import counted
from stella.escape import visible

AGENTS: Final = "AGENTS.md"
SERVERS: Final = ".stella/mcp.toml"
FOLDERS: Final = (".stella/tools", ".stella/skills", ".stella/rules")


def left_out(workspace: Path) -> tuple[str, ...]:
    """Return one text for each kind of content that stands in the workspace [A-70, I-51]."""
    return tuple(_kinds(workspace))


def _kinds(workspace: Path) -> Iterator[str]:
    for folder in FOLDERS:
        if (found := _entries(workspace / folder)) is not None:
            yield f"{visible(str(workspace / folder))}: {found} left out"
    for file in (SERVERS, AGENTS):
        if os.path.lexists(workspace / file):
            yield f"{visible(str(workspace / file))}: left out"


def _entries(path: Path) -> str | None:
    """Return how many entries a folder has, None without a folder or with an empty one."""
    try:
        if not stat.S_ISDIR(path.lstat().st_mode):
            return "what is no directory"
        with os.scandir(path) as listed:
            most = limits.TRUST_FILES + 1
            number = sum(1 for _ in zip(range(most), listed, strict=False))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return f"what cannot be read ({error.strerror})"
    if number == most:
        return f"more than {counted(limits.TRUST_FILES, 'item')}"
    return counted(number, "item") if number else None
