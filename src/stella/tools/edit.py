"""The tool `edit_file`: replace a text that stands in a file, or several in several [T2-14]."""

import hashlib
from contextlib import ExitStack
from dataclasses import asdict
from dataclasses import dataclass
from dataclasses import field
from typing import Annotated
from typing import Any
from typing import Final

import msgspec

from stella import limits
from stella.authority.risk import Risk
from stella.escape import counted
from stella.message import ErrorClass
from stella.message import Failure
from stella.message import Output
from stella.message import succeeded
from stella.tools.batch import Put
from stella.tools.batch import commit
from stella.tools.change import mode_of
from stella.tools.change import risk_of
from stella.tools.change import too_large
from stella.tools.change import unseen
from stella.tools.change import writable
from stella.tools.contents import blocks
from stella.tools.contents import measure
from stella.tools.contents import opened
from stella.tools.paths import Purpose
from stella.tools.paths import Spot
from stella.tools.paths import parts_of
from stella.tools.paths import walk
from stella.tools.replace import Contents
from stella.tools.replace import NotFound
from stella.tools.replace import NotReplaced
from stella.tools.replace import contents_of
from stella.tools.replace import replaced
from stella.tools.schema import one_form
from stella.tools.text import path_shown
from stella.tools.tool import Tool
from stella.tools.tool import ToolContext
from stella.tools.tool import contract
from stella.tools.trouble import failure_of
from stella.tools.trouble import invalid
from stella.tools.trouble import together

Old = Annotated[str, msgspec.Meta(min_length=1)]


class Edit(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One replacement of a batch."""

    path: str
    old_string: Old
    new_string: str
    replace_all: bool = False


class EditFile(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The input: one replacement, or several."""

    path: Annotated[str | None, msgspec.Meta(description="the file, from the workspace root")] = (
        None
    )
    old_string: Annotated[
        Old | None, msgspec.Meta(description="the text to replace, exactly as it stands there")
    ] = None
    new_string: Annotated[str | None, msgspec.Meta(description="what to put in its place")] = None
    replace_all: Annotated[
        bool | None, msgspec.Meta(description="replace it wherever it stands")
    ] = None
    edits: Annotated[
        Annotated[tuple[Edit, ...], msgspec.Meta(min_length=1, max_length=limits.BATCH_ITEMS)]
        | None,
        msgspec.Meta(description="several replacements in order, all or none, instead"),
    ] = None

    def __post_init__(self) -> None:
        """Refuse both forms and neither [T2-11]."""
        one_form(
            "edits",
            self.edits,
            path=self.path,
            old_string=self.old_string,
            new_string=self.new_string,
            replace_all_=self.replace_all,
        )

    @property
    def items(self) -> tuple[Edit, ...]:
        """Return the replacements, in order."""
        if self.edits is not None:
            return self.edits
        return (
            Edit(
                path=self.path or "",
                old_string=self.old_string or "",
                new_string=self.new_string or "",
                replace_all=bool(self.replace_all),
            ),
        )


@dataclass(slots=True, kw_only=True)
class _Draft:
    """One file on its way through its edits."""

    spot: Spot
    contents: Contents
    count: int = 0
    faults: list[Failure] = field(default_factory=list)

    def edit(self, edit: Edit) -> None:
        try:
            self.contents, count = replaced(
                self.contents, edit.old_string, edit.new_string, every=edit.replace_all
            )
        except NotFound as error:
            message = f"{path_shown(self.spot.given)[0]}: {error}"
            self.faults.append(Failure(message=message, kind=ErrorClass.NOT_FOUND))
        except NotReplaced as error:
            self.faults.append(invalid(self.spot.given, str(error)))
        else:
            self.count += count


async def _run(given: EditFile, context: ToolContext) -> Output:
    drafts: list[_Draft] = []
    faults: list[Failure] = []
    grouped: dict[str, list[Edit]] = {}
    for item in given.items:
        parts = parts_of(context.root, item.path)
        if isinstance(parts, Failure):
            faults.append(parts)
        else:
            grouped.setdefault("/".join(parts) or ".", []).append(item)
    with ExitStack() as held:
        for path, edits in grouped.items():
            draft = await _draft(path, context, held)
            if isinstance(draft, Failure):
                faults.append(draft)
                continue
            for edit in edits:
                draft.edit(edit)
            faults += draft.faults
            drafts.append(draft)
        puts = [_put(draft) for draft in drafts]
        faults += filter(None, (too_large(put.spot, len(put.data)) for put in puts))
        if faults:
            return together(faults)
        if failure := commit(puts, context.token()):
            return Output(error=failure)
    return _edited(drafts, context)


def _put(draft: _Draft) -> Put:
    return Put(spot=draft.spot, data=draft.contents.data, mode=mode_of(draft.spot.status))


async def _draft(path: str, context: ToolContext, held: ExitStack) -> _Draft | Failure:
    """Return the file as it stands, when the agent has read it so [T2-33]."""
    spot = walk(context.root, path, Purpose.CHANGE, held)
    if isinstance(spot, Failure):
        return spot
    if failure := writable(spot):
        return failure
    try:
        with opened(spot) as file:
            if isinstance(file, Failure):
                return file
            data = bytearray()
            async for block in blocks(file):
                data += block
                if failure := too_large(spot, len(data)):
                    return failure
    except OSError as error:
        return failure_of(error, spot.given)
    digest = hashlib.sha256(data).hexdigest()
    unread = unseen(spot, digest, context.seen, whole=False)
    return unread or _Draft(spot=spot, contents=contents_of(bytes(data)))


def _edited(drafts: list[_Draft], context: ToolContext) -> Output:
    """Remember what was written and say it [T2-33]."""
    lines: list[str] = []
    entries: list[dict[str, Any]] = []
    for draft in drafts:
        now = measure(draft.contents.data)
        context.seen.edited(draft.spot.path, now.sha256, now.lines)
        done = counted(draft.count, "replacement")
        lines.append(f"{path_shown(draft.spot.given)[0]}: {done}; now {now.shown}")
        entries.append({"path": draft.spot.given, "replacements": draft.count, **asdict(now)})
    return succeeded("\n".join(lines), {"files": entries})


TOOL: Final = Tool(
    contract=contract(
        "edit_file",
        "Replace a text in a file of the workspace, or make several replacements at once, all or"
        " none. The text must occur exactly once unless replace_all is set. The file must have"
        " been read before; line endings are kept.",
        EditFile,
        Risk.MEDIUM,
        read_only=False,
    ),
    shape=EditFile,
    result_bytes=limits.RESULT_BYTES_FILE,
    paths=lambda given: tuple(item.path for item in given.items),
    risk=lambda given, context: risk_of([item.path for item in given.items], context, Risk.MEDIUM),
    run=_run,
)
