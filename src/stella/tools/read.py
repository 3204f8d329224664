"""The tool `read_file`: numbered lines of one file or of several [T2-12].

Whatever is shown is remembered, line by line, as read [T2-33].
"""

import codecs
import hashlib
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Annotated
from typing import Any
from typing import Final

import msgspec

from stella import limits
from stella.authority.risk import Risk
from stella.message import Failure
from stella.message import Output
from stella.message import failed
from stella.message import succeeded
from stella.tools.contents import blocks
from stella.tools.contents import opened
from stella.tools.paths import Purpose
from stella.tools.paths import Spot
from stella.tools.paths import walk
from stella.tools.schema import one_form
from stella.tools.text import kept_lines
from stella.tools.text import path_shown
from stella.tools.tool import Tool
from stella.tools.tool import ToolContext
from stella.tools.tool import contract
from stella.tools.trouble import failure_of
from stella.tools.trouble import invalid
from stella.tools.window import Window

_NOTES_BYTES: Final = 512  # room for the heading of a file and the notes below it

Line = Annotated[int, msgspec.Meta(ge=1)]
Limit = Annotated[int, msgspec.Meta(ge=1, le=limits.READ_LINES)]


class FileToRead(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One file of a batch."""

    path: str
    offset: Line | None = None
    limit: Limit | None = None


class ReadFile(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The input: one file, or several."""

    path: Annotated[str | None, msgspec.Meta(description="the file, from the workspace root")] = (
        None
    )
    offset: Annotated[Line | None, msgspec.Meta(description="the first line; 1 when left out")] = (
        None
    )
    limit: Annotated[
        Limit | None, msgspec.Meta(description="how many lines at most; 2000 when left out")
    ] = None
    files: Annotated[
        Annotated[tuple[FileToRead, ...], msgspec.Meta(min_length=1, max_length=limits.BATCH_ITEMS)]
        | None,
        msgspec.Meta(description="several files at once, instead of `path`"),
    ] = None

    def __post_init__(self) -> None:
        """Refuse both forms and neither [T2-11]."""
        one_form("files", self.files, path=self.path, offset_=self.offset, limit_=self.limit)

    @property
    def items(self) -> tuple[FileToRead, ...]:
        """Return the files to read, in order."""
        if self.files is not None:
            return self.files
        return (FileToRead(path=self.path or "", offset=self.offset, limit=self.limit),)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """What one file gave: text for the model, data for programs."""

    text: str
    data: dict[str, Any]
    invalid: int = 0


async def _run(given: ReadFile, context: ToolContext) -> Output:
    most = limits.RESULT_BYTES_FILE // len(given.items) - _NOTES_BYTES
    found = [await _one(item, context, most) for item in given.items]
    if given.files is None and isinstance(found[0], Failure):
        return Output(error=found[0])
    return _joined(given.items, found)


async def _one(item: FileToRead, context: ToolContext, most: int) -> _Shown | Failure:
    with ExitStack() as held:
        spot = walk(context.root, item.path, Purpose.READ, held)
        if isinstance(spot, Failure):
            return spot
        try:
            with opened(spot) as file:
                if isinstance(file, Failure):
                    return file
                return await _read(file, spot, item, context, most)
        except OSError as error:
            return failure_of(error, spot.given)


async def _read(
    file: int, spot: Spot, item: FileToRead, context: ToolContext, most: int
) -> _Shown | Failure:
    digest = hashlib.sha256()
    window = Window(item.offset or 1, item.limit or limits.READ_LINES)
    shown = codecs.getincrementaldecoder("utf-8")("replace")
    valid = codecs.getincrementaldecoder("utf-8")("ignore")
    size, good, binary = 0, 0, False
    async for block in blocks(file):
        binary = binary or (size == 0 and b"\0" in block[: limits.BINARY_PROBE_BYTES])
        size += len(block)
        digest.update(block)
        if not binary:
            window.feed(shown.decode(block))
            good += len(valid.decode(block).encode())
    facts = {"path": spot.given, "sha256": digest.hexdigest(), "bytes": size}
    if binary:
        context.seen.read(spot.path, digest.hexdigest(), 1)
        return _Shown(text=f"[binary file of {size} bytes]", data=facts | {"binary": True})
    window.feed(shown.decode(b"", final=True))
    window.close()
    if window.total < window.first and (window.total or item.offset):
        message = f"the file has {window.total} lines, so there is no line {window.first}"
        return invalid(spot.given, message)
    text, ranges = _numbered(window, most)
    context.seen.read(spot.path, digest.hexdigest(), window.total, *ranges)
    facts |= {"lines": window.total, "from": window.first, "to": window.last}
    return _Shown(text=text, data=facts, invalid=size - good)


def _numbered(window: Window, most: int) -> tuple[str, list[tuple[int, int]]]:
    """Return the numbered lines in at most `most` bytes with notes, and the ranges shown."""
    if not window.total:
        return "[the file is empty]", []
    lines = [f"{number}\t{line}" for number, line in enumerate(window.lines, window.first)]
    head, tail = kept_lines([len(line.encode()) + 1 for line in lines], most)
    ranges = [(window.first, window.first + head - 1)]
    text = lines[:head]
    if head < len(lines):
        gone = lines[head : len(lines) - tail]
        removed = sum(len(line.encode()) + 1 for line in gone)
        first, last = window.first + head, window.first + head + len(gone) - 1
        text.append(f"[{removed} bytes removed here: lines {first} to {last}; next offset {first}]")
        text += lines[len(lines) - tail :]
        ranges.append((last + 1, window.last))
    if more := window.total - window.last:
        text.append(f"[{more} more lines follow; next offset {window.last + 1}]")
    return "\n".join(text), ranges


def _joined(items: Sequence[FileToRead], found: Sequence[_Shown | Failure]) -> Output:
    """Return one result for all files; the faults of some do not hide the others [T2-12]."""
    texts: list[str] = []
    entries: list[dict[str, Any]] = []
    strange = 0
    for item, shown in zip(items, found, strict=True):
        path = path_shown(item.path)[0]
        heading = f"==> {path} <==\n" if len(items) > 1 else ""
        if isinstance(shown, Failure):
            texts.append(f"{heading}[not read: {shown.message}]")
            error = {"class": shown.kind.value, "message": shown.message}
            entries.append({"path": path, "error": error})
        else:
            texts.append(f"{heading}{shown.text}")
            entries.append(shown.data)
            strange += shown.invalid
    data: dict[str, Any] = {"files": entries}
    if strange:
        data["invalid_bytes"] = strange
    content = "\n\n".join(texts)
    failures = [shown for shown in found if isinstance(shown, Failure)]
    if len(failures) == len(found):
        return failed(failures[0].kind, content, failures[0].cause, data)
    return succeeded(content, data)


TOOL: Final = Tool(
    contract=contract(
        "read_file",
        "Read a text file of the workspace, or several at once, as numbered lines (number, tab,"
        " text). A file must be read before it can be edited, and all of it before it can be"
        " written over.",
        ReadFile,
        Risk.LOW,
        read_only=True,
    ),
    shape=ReadFile,
    result_bytes=limits.RESULT_BYTES_FILE,
    paths=lambda given: tuple(item.path for item in given.items),
    risk=lambda _given, _context: Risk.LOW,
    run=_run,
)
