"""Which program a name stands for, and why one could not be started.

No shell takes part [T-3]. Nothing here runs anything; files are only looked at.
"""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from stella import limits
from stella.escape import visible


def find_program(
    name: str, path_value: str | None, *, cwd: str | Path, skip_under: Path | None = None
) -> Path | None:
    """Return where the program is, or None when it is nowhere on `path_value` [T-3, G-9].

    A name with `/` is taken from `cwd`, whether it exists or not: starting it tells. Any other
    is the first executable file of that name on `path_value`, where relative and empty entries
    and those that lie in `skip_under` are passed over [Q-30].
    """
    if "/" in name:
        return Path(cwd, name)
    for entry, fault in _entries(path_value, skip_under):
        found = Path(entry, name)
        if not fault and stat.S_ISREG(_mode(found)) and os.access(found, os.X_OK):
            return found
    return None


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
        if stat.S_ISREG(_mode(Path(entry, name))):
            useless.append(f"{visible(str(Path(entry, name)))} is there but is not executable")
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
    fence = None if skip_under is None else Path(os.path.realpath(skip_under))
    for entry in (path_value or "").split(os.pathsep) if path_value else ():
        if not Path(entry).is_absolute():
            yield entry, "relative"
        elif fence and _inside(entry, fence):
            yield entry, "inside the workspace"
        else:
            yield entry, ""


def _inside(entry: str, fence: Path) -> bool:
    # As written and as resolved: either way in is a way in.
    written = Path(os.path.normpath(entry))
    return Path(os.path.realpath(entry)).is_relative_to(fence) or written.is_relative_to(fence)
