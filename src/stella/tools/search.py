"""The tool `search`: lines of text files that fit an expression [T2-17].

Which files is decided here; the expression runs in `search_worker`, a child that is ended at
the limit of time, because an expression of Python's may take exponential time.
"""

import os
import stat
import sys
from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Annotated
from typing import Any
from typing import Final

import msgspec

from stella import limits
from stella.authority.glob import matches
from stella.authority.risk import Risk
from stella.escape import excerpt
from stella.files.kind import Kind
from stella.message import ErrorClass
from stella.message import Failure
from stella.message import Output
from stella.message import failed
from stella.message import succeeded
from stella.process.ending import Completed
from stella.process.ending import Ending
from stella.process.run import run
from stella.tools import search_worker
from stella.tools.contents import irregular
from stella.tools.paths import Purpose
from stella.tools.paths import Spot
from stella.tools.paths import opened_directory
from stella.tools.paths import walk
from stella.tools.text import path_shown
from stella.tools.tool import Tool
from stella.tools.tool import ToolContext
from stella.tools.tool import contract
from stella.tools.tree import View
from stella.tools.tree import offered
from stella.tools.tree import surveyed


class Search(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The input; all but the pattern may be left out."""

    pattern: Annotated[
        str, msgspec.Meta(min_length=1, description="an expression as Python's re takes it")
    ]
    path: Annotated[
        str, msgspec.Meta(description="a file or directory; the root when left out")
    ] = "."
    glob: Annotated[
        str | None,
        msgspec.Meta(description="only files whose path fits; * is any text, / included"),
    ] = None
    literal: Annotated[
        bool, msgspec.Meta(description="take the pattern as text, not as an expression")
    ] = False
    ignore_case: Annotated[bool, msgspec.Meta(description="upper and lower case alike")] = False
    context: Annotated[
        int,
        msgspec.Meta(ge=0, le=limits.SEARCH_CONTEXT, description="lines before and after"),
    ] = 0
    limit: Annotated[
        int,
        msgspec.Meta(ge=1, le=limits.SEARCH_MATCHES, description="matches; 500 when left out"),
    ] = limits.SEARCH_MATCHES

    def __post_init__(self) -> None:
        """Refuse text that no file can hold [E-25]."""
        if "\0" in self.pattern:
            message = "a pattern cannot hold a NUL character; write it as \\0"
            raise ValueError(message)
        if any("\ud800" <= char <= "\udfff" for char in self.pattern):
            message = "the pattern is not valid UTF-8"
            raise ValueError(message)


_SIGNS: Final = {search_worker.MATCH: ":", search_worker.CONTEXT: "-"}
_FIELDS: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One record of the worker."""

    kind: str
    path: str
    line: int
    strange: int
    text: str

    def follows(self, other: "Found") -> bool:
        """Return whether this line stands right below the other."""
        return self.path == other.path and self.line == other.line + 1


async def _run(given: Search, context: ToolContext) -> Output:
    began = context.clock.ticks()
    with ExitStack() as held:
        spot = walk(context.root, given.path, Purpose.READ, held)
        if isinstance(spot, Failure):
            return Output(error=spot)
        paths = await _paths(given, spot, context, held)
    if isinstance(paths, Failure):
        return Output(error=paths)
    spent = (context.clock.ticks() - began) / 1000
    done = await run(
        (sys.executable, "-I", "-S", search_worker.__file__),
        env=context.child_environment,
        cwd=context.root.path,
        timeout=max(limits.SEARCH_SECS - spent, 0),
        stdin=_asked(given, context, paths),
    )
    return _told(given, done)


async def _paths(
    given: Search, spot: Spot, context: ToolContext, held: ExitStack
) -> Sequence[str] | Failure:
    """Return the files to look in, from the root, sorted by code point."""
    if spot.status is not None and not stat.S_ISDIR(spot.status.st_mode):
        if failure := irregular(spot, spot.status):
            return failure
        fits = given.glob is None or matches(given.glob, spot.name)
        return (spot.path,) if fits else ()
    top = opened_directory(spot, held)
    if isinstance(top, Failure):
        return top
    tree = await surveyed(top, View(base=spot.parts, offer=await offered(context)))
    return [
        "/".join((*spot.parts, entry.path))
        for entry in tree.entries
        if entry.kind is Kind.FILE and (given.glob is None or matches(given.glob, entry.path))
    ]


def _asked(given: Search, context: ToolContext, paths: Sequence[str]) -> bytes:
    """Return the question to the worker, in the fields its docstring lists."""
    root = os.fstat(context.root.fd)
    fields = (
        *(str(root.st_dev), str(root.st_ino)),
        *("L" if given.literal else "-", "I" if given.ignore_case else "-"),
        *(str(given.context), str(given.limit)),
        *(str(limits.SEARCH_LINE_CHARS), str(limits.SEARCH_LINE_BYTES)),
        *(str(limits.BINARY_PROBE_BYTES), given.pattern, *paths),
    )
    return b"".join(f"{value}\0".encode("utf-8", "surrogateescape") for value in fields)


def _told(given: Search, done: Completed) -> Output:
    """Return what the worker found as a result, with a line when it did not get to the end."""
    match done.ending:
        case Ending.NOT_STARTED:
            return failed(ErrorClass.ENVIRONMENT, done.reason)
        case Ending.EXITED if done.code == 0:
            ended = ""
        case Ending.TIMED_OUT:
            ended = f"[ended after {limits.SEARCH_SECS} seconds; narrow the path or the pattern]"
        case Ending.OVERFLOWED:
            ended = "[ended at the limit of output; narrow the path or the pattern]"
        case _:
            said = excerpt(done.stderr.decode("utf-8", "replace"))
            return failed(ErrorClass.ENVIRONMENT, f"the search did not run: {said or done.ending}")
    found = list(_records(done.stdout))
    for item in found:
        if item.kind == search_worker.REFUSED:
            message = f"pattern: {item.text} at position {item.line}"
            return failed(ErrorClass.INVALID_INPUT, message)
        if item.kind == search_worker.FULL:
            ended = f"[ended at the limit of {given.limit} matches]"
    count = sum(item.kind == search_worker.MATCH for item in found)
    lines = list(_lines(found, around=given.context))
    if ended or not count:
        lines.append(ended or "[no match]")
    data: dict[str, Any] = {"matches": count, "complete": not ended}
    if strange := sum(item.strange for item in found):
        data["invalid_bytes"] = strange
    return succeeded("\n".join(lines), data)


def _records(data: bytes) -> Iterator[Found]:
    """Yield the records of the worker; one that was cut off by its end is left out."""
    fields = data.decode("utf-8", "surrogateescape").split("\0")[:-1]
    for start in range(0, len(fields) - _FIELDS + 1, _FIELDS):
        kind, path, line, strange, text = fields[start : start + _FIELDS]
        yield Found(kind=kind, path=path, line=int(line), strange=int(strange), text=text)


def _lines(found: Sequence[Found], *, around: int) -> Iterator[str]:
    """Yield `path:line:text` for a match, with `-` for a line beside one; `--` between groups."""
    previous: Found | None = None
    for item in found:
        if item.kind not in _SIGNS:
            continue
        if around and previous is not None and not item.follows(previous):
            yield "--"
        previous = item
        sign = _SIGNS[item.kind]
        yield f"{path_shown(item.path)[0]}{sign}{item.line}{sign}{item.text}"


TOOL: Final = Tool(
    contract=contract(
        "search",
        "Find a regular expression, or a text, in the text files of the workspace: lines as"
        " path:line:text, sorted. What version control ignores is left out.",
        Search,
        Risk.LOW,
        read_only=True,
    ),
    shape=Search,
    result_bytes=limits.RESULT_BYTES_FILE,
    paths=lambda given: (given.path,),
    risk=lambda _given, _context: Risk.LOW,
    run=_run,
)
