"""Which program a name stands for, and why one could not be started.

No shell takes part [T-3]. Nothing here runs anything; files are only looked at.
"""

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stella import limits
from stella.escape import visible

_LINKS: Final = 40  # the most that the system itself follows


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """The one program that may be started now, as an absolute path, or why it cannot be [T-8]."""

    path: str
    not_started: str | None = None


def find_program(
    name: str, path_value: str | None, *, cwd: str | Path, skip_under: Path | None = None
) -> Path | None:
    """Return where the program is, or None when it is nowhere on `path_value` [T-3, G-9].

    A name with `/` is taken from `cwd`, whether it exists or not: starting it tells. Any other
    is the first executable file of that name on `path_value`, where relative and empty entries
    and all that lies in or leads into `skip_under` is passed over [Q-30].
    """
    if "/" in name:
        return Path(cwd, name)
    for entry, fault in _entries(path_value, skip_under):
        found = Path(entry, name)
        if not fault and is_program(found) and not leads_into(found, skip_under):
            return found
    return None


def is_program(path: Path) -> bool:
    """Return whether there is a regular file that the person may execute."""
    return stat.S_ISREG(_mode(path)) and os.access(path, os.X_OK)


def leads_into(path: Path, fence: Path | None) -> bool:
    """Return whether an absolute path enters `fence` at any step, through links too [Q-30].

    Whoever may write in `fence` then decides what the file is, wherever it is in the end.
    """
    if fence is None:
        return False
    real = Path(os.path.realpath(fence))
    at, left, links = Path("/"), [*reversed(path.parts)], 0
    while left:
        step = left.pop()
        if step == "..":
            at = at.parent
            continue
        at = Path("/") if step.startswith("/") else at / step
        if at.is_relative_to(real):
            return True
        try:
            target = at.readlink()
        except (OSError, ValueError):
            continue
        links += 1
        if links > _LINKS:
            return True
        left += reversed(target.parts)
        at = at.parent
    return False


def searched(name: str, path_value: str | None, *, skip_under: Path | None = None) -> str:
    """Return the message for a program that was not found: where the host looked [T-8]."""
    looked: list[str] = []
    skipped: list[str] = []
    useless: list[str] = []
    for entry, fault in _entries(path_value, skip_under):
        if fault:
            skipped.append(f"{visible(entry)} ({fault})" if entry else "an empty entry")
            continue
        looked.append(visible(entry))
        found = Path(entry, name)
        if is_program(found) and leads_into(found, skip_under):
            useless.append(f"{visible(str(found))} leads into the workspace")
        elif stat.S_ISREG(_mode(found)):
            useless.append(f"{visible(str(found))} is there but is not executable")
    parts = [f"looked in {', '.join(looked)}" if looked else "PATH names no directory to look in"]
    if skipped:
        parts.append(f"skipped {', '.join(skipped)}")
    return "; ".join((f"{visible(name)}: no such program", *parts, *useless))


def why(program: str, number: int, *, cwd: str = "", at_cwd: bool = False) -> str:
    """Return why the system refused to start `program`, place first, with the way out [T-8].

    `number` is the system's error number; with `at_cwd` the directory `cwd` was at fault.
    """
    said = os.strerror(number)
    if at_cwd:
        return f"{visible(cwd)}: cannot be the working directory: {said}"
    place = visible(program)
    if hint := _hint(Path(program), number):
        return f"{place}: {hint} ({said})"
    return f"{place}: could not be started: {said}"


def _hint(program: Path, number: int) -> str:
    mode = _mode(program)
    match number:
        case errno.ENOENT | errno.ENOTDIR if not mode:
            return "no such file"
        case errno.ENOENT | errno.ENOTDIR:
            if interpreter := _interpreter(program):
                return f"its first line names the interpreter {interpreter}, which is missing"
            return "the loader it needs is missing"
        case errno.EACCES if stat.S_ISDIR(mode):
            return "is a directory, not a program"
        case errno.EACCES if mode and not os.access(program, os.X_OK):
            return "is not executable; give it execute permission with chmod +x"
        case errno.EACCES if interpreter := _interpreter(program):
            return f"its first line names the interpreter {interpreter}, which is not executable"
        case errno.ENOEXEC:
            return "is neither a program nor a script whose first line names its interpreter (#!)"
        case errno.E2BIG:
            return "its arguments and environment are larger than the system takes"
        case errno.ETXTBSY:
            return "is open for writing in another process"
        case _:
            return ""


def _mode(path: Path) -> int:
    """Return the file's mode, or 0 when there is no such file or the person may not look."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0


def _interpreter(script: Path) -> str:
    try:
        with script.open("rb") as file:
            line = file.read(limits.FIRST_LINE_BYTES).partition(b"\n")[0]
    except OSError:
        return ""  # a file that may be run but not read
    if not line.startswith(b"#!"):
        return ""
    words = line[2:].decode("utf-8", "replace").split(maxsplit=1)
    return visible(words[0]) if words else ""


def _entries(path_value: str | None, skip_under: Path | None) -> Iterator[tuple[str, str]]:
    """Yield each entry of a PATH and why it is passed over, or an empty string."""
    for entry in (path_value or "").split(os.pathsep) if path_value else ():
        if not Path(entry).is_absolute():
            yield entry, "relative"
        elif leads_into(Path(entry), skip_under):
            yield entry, "inside the workspace"
        else:
            yield entry, ""
