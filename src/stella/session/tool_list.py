"""What `stella tools` says: every tool with its origin, and why one is not offered [T2-61].

Author text is shown so that it can forge nothing; a broken file hides no other. Nothing is
started, and nothing of a workspace's own is read that is not trusted.
"""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from stella import codec
from stella.authority.contract import Provenance
from stella.content.tool import ToolFile
from stella.escape import counted
from stella.escape import visible
from stella.files import tree
from stella.roster.carried import Carried
from stella.roster.content import TOOLS
from stella.roster.content import Told
from stella.roster.content import read_content
from stella.roster.content import read_tools
from stella.roster.listing import printable
from stella.roster.roster import Roster
from stella.session.custom import claims
from stella.session.unused import barred
from stella.session.unused import faulty
from stella.tools.all import TOOLS as BUILTIN


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One tool in the array of `tools list --json`; no key is ever absent.

    `state` is `on`; `left-out` or `faulty` for a file; or the state of the plugin that ships it.
    `name`, `risk` and `description` are null where the file does not tell them.
    """

    name: str | None
    origin: str
    provenance: str
    read_only: bool
    risk: str | None
    state: str
    file: str | None
    description: str | None
    reason: str | None


def rows(carried: Carried, roster: Roster) -> tuple[Row, ...]:
    """Return every tool: built-in, then as names are claimed, then what is not offered."""
    return (*_builtin(), *_claimed(carried), *_unused(carried, roster))


def list_json(found: tuple[Row, ...]) -> str:
    """Return the rows as one JSON array of printable ASCII on one line [C76]."""
    return printable(codec.encode(found).decode())


def list_lines(found: tuple[Row, ...]) -> Iterator[str]:
    """Yield the rows as lines for a person [C-5, T2-61]."""
    for row in found:
        grade = "unknown risk" if row.risk is None else f"{row.risk} risk"
        kind = "read-only" if row.read_only else "may change things"
        yield f"{row.name or '(no tool)'}  {visible(row.origin)}  {kind}, {grade}  {row.state}"
        if row.description is not None:
            yield f"  {visible(row.description)}"
        if row.file is not None:
            yield f"  {row.file}"
        if row.reason is not None:
            yield f"  {row.state}: {row.reason}"


def validated(directory: Path) -> tuple[tuple[str, ...], bool]:
    """Return what is to be said of all tool files of a directory, and whether none is faulty.

    The directory holds `tools/`, or is a folder of tool files itself. Raises `PackageRefused`
    when it cannot be entered.
    """
    with tree.opened(directory) as root:
        whole = TOOLS in tree.names_in(root)
        found = read_content(root, directory) if whole else read_tools(root, directory)

    def place(told: Told) -> str:
        return visible(str(directory / (told.path if whole else told.path.partition("/")[2])))

    faults = [f"{place(each)}: {each.says}" for each in found.faults if _is_tool(each)]
    first: dict[str, str] = {}
    for each in found.content.tools:
        path, name = Told(path=each.path, says=""), each.value.name
        if name in first:
            faults.append(f"{place(path)}: the name {name} is taken by {first[name]}")
        first.setdefault(name, place(path))
    notes = [f"{place(each)}: note: {each.says}" for each in found.notes if _is_tool(each)]
    sound = counted(len(found.content.tools), "sound tool file")
    total = f"{visible(str(directory))}: {sound}, {counted(len(faults), 'fault')}"
    return (*faults, *notes, total), not faults


def _is_tool(told: Told) -> bool:
    return told.path.partition("/")[0] == TOOLS


def _builtin() -> Iterator[Row]:
    for tool in BUILTIN:
        contract = tool.contract
        yield Row(
            name=contract.name,
            origin=contract.origin,
            provenance=contract.provenance.value,
            read_only=contract.read_only,
            risk=contract.risk.value,
            state="on",
            file=None,
            description=contract.description,
            reason=None,
        )


def _claimed(carried: Carried) -> Iterator[Row]:
    for claim in claims(carried):
        state = "on" if claim.left_out is None else "left-out"
        yield _row(claim.file, claim.origin, claim.place, state, claim.left_out)


def _unused(carried: Carried, roster: Roster) -> Iterator[Row]:
    for file in faulty(carried, TOOLS):
        yield _row(None, file.origin, file.place, "faulty", file.reason)
    for plugin in barred(roster):
        for each in plugin.content.tools:
            place = plugin.content.place(each.path)
            yield _row(each.value, plugin.origin, place, plugin.state.value, plugin.reason)


def _row(file: ToolFile | None, origin: str, place: str, state: str, reason: str | None) -> Row:
    return Row(
        name=None if file is None else file.name,
        origin=origin,
        provenance=Provenance.DECLARED.value,
        read_only=False,
        risk=None if file is None else file.risk.value,
        state=state,
        file=place,
        description=None if file is None else file.description,
        reason=reason,
    )
