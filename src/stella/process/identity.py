"""Which process something belongs to, told apart from a later one of the same number [T-31, T-33].

What is noted on disk outlives the process; its number alone may be another's by then.
"""

import os
from pathlib import Path
from typing import Annotated
from typing import Final

import msgspec

from stella import limits

_DEAD: Final = ("Z", "X")


class Identity(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A process: its number, and its start in the system's own ticks, empty where unknown."""

    pid: Annotated[int, msgspec.Meta(ge=1, le=limits.PROCESS_ID_MAX)]
    started: str


def own() -> Identity:
    """Return the identity of this process."""
    return Identity(pid=os.getpid(), started=started(os.getpid()))


def alive(process: Identity) -> bool:
    """Tell whether a process lives and is the one that was noted, not a later one of its number."""
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return started(process.pid) == process.started


def started(pid: int) -> str:
    """Return a process's start in ticks since the system's.

    Nothing without a process table, and for a process that is dead and only waits to be reaped.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()
    return "" if fields[0] in _DEAD else fields[19]
