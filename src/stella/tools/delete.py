"""The tool `delete_file`: regular files and symbolic links, never directories [T2-15]."""

import stat
from contextlib import ExitStack
from typing import Annotated
from typing import Final

import msgspec

from stella import limits
from stella.authority.risk import Risk
from stella.message import Failure
from stella.message import Output
from stella.message import succeeded
from stella.tools.batch import Drop
from stella.tools.batch import commit
from stella.tools.change import known
from stella.tools.change import risk_of
from stella.tools.change import twice
from stella.tools.contents import irregular
from stella.tools.paths import Purpose
from stella.tools.paths import Spot
from stella.tools.paths import walk
from stella.tools.schema import one_form
from stella.tools.text import path_shown
from stella.tools.tool import Tool
from stella.tools.tool import ToolContext
from stella.tools.tool import contract
from stella.tools.trouble import invalid
from stella.tools.trouble import together


class DeleteFile(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The input: one path, or several."""

    path: Annotated[str | None, msgspec.Meta(description="the file, from the workspace root")] = (
        None
    )
    files: Annotated[
        Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=limits.BATCH_ITEMS)]
        | None,
        msgspec.Meta(description="several paths, all or none, instead of `path`"),
    ] = None

    def __post_init__(self) -> None:
        """Refuse both forms and neither [T2-11]."""
        one_form("files", self.files, path=self.path)

    @property
    def items(self) -> tuple[str, ...]:
        """Return the paths to delete, in order."""
        return self.files if self.files is not None else (self.path or "",)


async def _run(given: DeleteFile, context: ToolContext) -> Output:
    with ExitStack() as held:
        found = [await _checked(path, context, held) for path in given.items]
        faults = [spot for spot in found if isinstance(spot, Failure)] + twice(found)
        if faults:
            return together(faults)
        spots = [spot for spot in found if isinstance(spot, Spot)]
        if failure := commit([Drop(spot=spot) for spot in spots], context.token()):
            return Output(error=failure)
    for spot in spots:
        context.seen.forget(spot.path)
    names = "\n".join(f"{path_shown(spot.given)[0]}: deleted" for spot in spots)
    return succeeded(names, {"files": [{"path": spot.given} for spot in spots]})


async def _checked(path: str, context: ToolContext, held: ExitStack) -> Spot | Failure:
    spot = walk(context.root, path, Purpose.CHANGE, held)
    if isinstance(spot, Failure) or spot.status is None:
        return spot
    mode = spot.status.st_mode
    if stat.S_ISLNK(mode):
        return await _read_through(spot, context) or spot
    if stat.S_ISDIR(mode):
        return invalid(spot.given, "this is a directory, and only files and links are deleted")
    return irregular(spot, spot.status) or await known(spot, context.seen, whole=False) or spot


async def _read_through(link: Spot, context: ToolContext) -> Failure | None:
    """Return why a link may not be deleted: what it leads to has to be read, where it can be.

    A link to nothing, to a directory or out of the workspace shows nothing to read, and its
    end destroys no contents [T2-15, T2-33].
    """
    with ExitStack() as held:
        target = walk(context.root, link.path, Purpose.READ, held)
        if isinstance(target, Failure) or target.status is None:
            return None
        if not stat.S_ISREG(target.status.st_mode):
            return None
        return await known(target, context.seen, whole=False)


TOOL: Final = Tool(
    contract=contract(
        "delete_file",
        "Delete a file of the workspace, or several at once, all or none. A file must have been"
        " read before; a symbolic link is deleted itself, never what it leads to.",
        DeleteFile,
        Risk.DESTRUCTIVE,
        read_only=False,
    ),
    shape=DeleteFile,
    result_bytes=limits.RESULT_BYTES_FILE,
    paths=lambda given: given.items,
    risk=lambda given, context: risk_of(given.items, context, Risk.DESTRUCTIVE),
    run=_run,
)
