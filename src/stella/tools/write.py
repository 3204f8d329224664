"""The tool `write_file`: exactly these contents, for one file or for several [T2-13]."""

from contextlib import ExitStack
from dataclasses import asdict
from typing import Annotated
from typing import Any
from typing import Final

import msgspec

from stella import limits
from stella.authority.risk import Risk
from stella.message import Failure
from stella.message import Output
from stella.message import succeeded
from stella.tools.batch import Put
from stella.tools.batch import commit
from stella.tools.change import mode_of
from stella.tools.change import risk_of
from stella.tools.change import to_change
from stella.tools.change import too_large
from stella.tools.change import twice
from stella.tools.contents import measure
from stella.tools.paths import Spot
from stella.tools.schema import one_form
from stella.tools.text import path_shown
from stella.tools.tool import Tool
from stella.tools.tool import ToolContext
from stella.tools.tool import contract
from stella.tools.trouble import invalid
from stella.tools.trouble import together


class FileToWrite(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One file of a batch."""

    path: str
    content: str


class WriteFile(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The input: one file, or several."""

    path: Annotated[str | None, msgspec.Meta(description="the file, from the workspace root")] = (
        None
    )
    content: Annotated[str | None, msgspec.Meta(description="all of its new contents")] = None
    files: Annotated[
        Annotated[
            tuple[FileToWrite, ...], msgspec.Meta(min_length=1, max_length=limits.BATCH_ITEMS)
        ]
        | None,
        msgspec.Meta(description="several files, all or none, instead of the two above"),
    ] = None

    def __post_init__(self) -> None:
        """Refuse both forms and neither [T2-11]."""
        one_form("files", self.files, path=self.path, content=self.content)

    @property
    def items(self) -> tuple[FileToWrite, ...]:
        """Return the files to write, in order."""
        if self.files is not None:
            return self.files
        return (FileToWrite(path=self.path or "", content=self.content or ""),)


async def _run(given: WriteFile, context: ToolContext) -> Output:
    with ExitStack() as held:
        spots = [await to_change(item.path, context, held, whole=True) for item in given.items]
        found = [_put(item, spot) for item, spot in zip(given.items, spots, strict=True)]
        faults = [put for put in found if isinstance(put, Failure)] + twice(spots)
        if faults:
            return together(faults)
        puts = [put for put in found if isinstance(put, Put)]
        if failure := commit(puts, context.token()):
            return Output(error=failure)
    return _written(puts, context)


def _put(item: FileToWrite, spot: Spot | Failure) -> Put | Failure:
    if isinstance(spot, Failure):
        return spot
    try:
        data = item.content.encode("utf-8")
    except UnicodeEncodeError as error:
        return invalid(spot.given, f"character {error.start} of the content is no character")
    return too_large(spot, len(data)) or Put(spot=spot, data=data, mode=mode_of(spot.status))


def _written(puts: list[Put], context: ToolContext) -> Output:
    """Remember what was written and say it [T2-13, T2-33]."""
    lines: list[str] = []
    entries: list[dict[str, Any]] = []
    for put in puts:
        now = measure(put.data)
        context.seen.wrote(put.spot.path, now.sha256, now.lines)
        word = "written over" if put.spot.status is not None else "created"
        lines.append(f"{path_shown(put.spot.given)[0]}: {word}, {now.shown}")
        created = put.spot.status is None
        entries.append({"path": put.spot.given, "created": created, **asdict(now)})
    return succeeded("\n".join(lines), {"files": entries})


TOOL: Final = Tool(
    contract=contract(
        "write_file",
        "Write a text file of the workspace, or several at once, all or none. Missing directories"
        " are made. An existing file must have been read to its end before it is written over.",
        WriteFile,
        Risk.MEDIUM,
        read_only=False,
    ),
    shape=WriteFile,
    result_bytes=limits.RESULT_BYTES_FILE,
    paths=lambda given: tuple(item.path for item in given.items),
    risk=lambda given, context: risk_of([item.path for item in given.items], context, Risk.MEDIUM),
    run=_run,
)
