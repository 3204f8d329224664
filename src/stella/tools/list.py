"""The tool `list_files`: what is in a directory and below it [T2-16]."""

from contextlib import ExitStack
from typing import Annotated
from typing import Any
from typing import Final

import msgspec

from stella import limits
from stella.authority.glob import matches
from stella.authority.risk import Risk
from stella.escape import counted
from stella.message import Failure
from stella.message import Output
from stella.message import succeeded
from stella.tools.paths import Purpose
from stella.tools.paths import opened_directory
from stella.tools.paths import walk
from stella.tools.text import path_shown
from stella.tools.tool import Tool
from stella.tools.tool import ToolContext
from stella.tools.tool import contract
from stella.tools.tree import Tree
from stella.tools.tree import View
from stella.tools.tree import offered
from stella.tools.tree import surveyed


class ListFiles(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The input; everything may be left out."""

    path: Annotated[
        str, msgspec.Meta(description="the directory; the workspace root when left out")
    ] = "."
    glob: Annotated[
        str | None,
        msgspec.Meta(description="show only paths that fit; * is any text, / included"),
    ] = None
    depth: Annotated[
        int, msgspec.Meta(ge=1, le=limits.LIST_DEPTH, description="levels; 32 when left out")
    ] = limits.LIST_DEPTH
    limit: Annotated[
        int, msgspec.Meta(ge=1, le=limits.LIST_ENTRIES, description="paths; 2000 when left out")
    ] = limits.LIST_ENTRIES
    include_ignored: Annotated[
        bool, msgspec.Meta(description="show what version control ignores, and .git, as well")
    ] = False


async def _run(given: ListFiles, context: ToolContext) -> Output:
    with ExitStack() as held:
        spot = walk(context.root, given.path, Purpose.READ, held)
        if isinstance(spot, Failure):
            return Output(error=spot)
        top = opened_directory(spot, held)
        if isinstance(top, Failure):
            return Output(error=top)
        offer = None if given.include_ignored else await offered(context)
        view = View(base=spot.parts, offer=offer, git=given.include_ignored, depth=given.depth)
        tree = await surveyed(top, view)
    return shown(given, tree)


def shown(given: ListFiles, tree: Tree) -> Output:
    """Return a tree as the result of a call: what fits, and how much was left out [T2-16]."""
    fitting = [
        entry.shown
        for entry in tree.entries
        if given.glob is None or matches(given.glob, entry.path)
    ]
    taken = [path_shown(path) for path in fitting[: given.limit]]
    lines = [path for path, _ in taken]
    left_out = len(fitting) - len(taken)
    if left_out:
        lines.append(f"[{counted(left_out, 'more path')} left out by the limit of {given.limit}]")
    if tree.stopped:
        lines.append(f"[stopped after {limits.TREE_ENTRIES} paths; name a directory below]")
    if not fitting:
        lines.append("[nothing here]" if given.glob is None else "[nothing here fits the glob]")
    data: dict[str, Any] = {"entries": len(taken), "left_out": left_out}
    if strange := sum(invalid for _, invalid in taken):
        data["invalid_bytes"] = strange
    return succeeded("\n".join(lines), data)


TOOL: Final = Tool(
    contract=contract(
        "list_files",
        "List the files of a directory and below it, sorted; directories end with /. What version"
        " control ignores is left out unless include_ignored is set.",
        ListFiles,
        Risk.LOW,
        read_only=True,
    ),
    shape=ListFiles,
    result_bytes=limits.RESULT_BYTES_FILE,
    paths=lambda given: (given.path,),
    risk=lambda _given, _context: Risk.LOW,
    run=_run,
)
