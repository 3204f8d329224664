"""A tool file: a program the model may start, as its author describes it [P-10 to P-13].

Reading depends on the bytes alone. What an author says of harmlessness counts for nothing: the
grade is `high`, and a claim can only raise it.
"""

from codecs import BOM_UTF8
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from typing import Final

import msgspec

from stella import codec
from stella import limits
from stella.authority.risk import Risk
from stella.authority.risk import risk_of
from stella.codec import U64
from stella.content.reading import Reading
from stella.content.reading import first_of
from stella.content.schema import Schema
from stella.content.schema import invalid
from stella.content.schema import unchecked
from stella.escape import brief
from stella.escape import counted
from stella.near import near

RESERVED: Final = frozenset(
    (
        "bash",
        "read_file",
        "write_file",
        "edit_file",
        "delete_file",
        "search",
        "task_create",
        "task_list",
        "task_start",
        "task_complete",
        "task_cancel",
        "task_assign",
        "delegate",
        "save_state",
        "get_state",
        "list_state",
        "delete_state",
        "get_environment",
        "ask_question",
        "apply_edits",
        "ask_user",
        "build_project",
        "format_code",
        "gather_context",
        "graph_query",
        "project_overview",
        "read_output",
        "read_symbol",
        "run_lint",
        "run_script",
        "run_tests",
        "start_process",
        "verify_done",
        "wait_for",
        "glob",
        "grep",
        "task",
        "list_files",
        "load_skill",
    )
)
"""Names that no file can take: the host's own, and those models know from elsewhere [P-13]."""

WITHHELD: Final = "it has [foundry], the mark of a self-authored tool, which nothing can adopt yet"
"""Why a file with that table is not offered [P-11]."""

_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz")
_NAME: Final = _LETTERS | frozenset("0123456789_")
_FOUNDRY: Final = "foundry"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFile:
    """One tool as its file says; `command` and `env` are as written, `${plugin_dir}` included.

    `risk` is the grade that counts [P-10]. `read_only` and `idempotent` are claims that nothing
    reads but lists. `withheld` says why the tool is not offered though its file is sound [P-11].
    """

    name: str
    description: str
    command: tuple[str, ...]
    timeout_ms: int
    env: Mapping[str, str]
    input_schema: Schema
    output_schema: Schema | None
    read_only: bool
    idempotent: bool
    risk: Risk
    withheld: str | None = None


class _Sheet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of a tool file and their types [P-10]."""

    name: str
    description: str
    command: tuple[str, ...]
    timeout_ms: U64 = 0
    env: dict[str, str] = {}
    input_schema: dict[str, object] | None = None
    output_schema: dict[str, object] | None = None
    read_only: bool = False
    idempotent: bool = False
    risk: str | None = None


_KEYS: Final = tuple(field.name for field in msgspec.structs.fields(_Sheet))


def read_tool(data: bytes) -> Reading[ToolFile]:
    """Return the tool in the bytes of a file, or every fault in it [P-4, P-10 to P-13]."""
    if len(data) > limits.CONTENT_BYTES:
        says = f"the file has more than {limits.CONTENT_BYTES} bytes"
        return Reading(value=None, faults=(says,))
    try:
        tree: dict[str, Any] = codec.parse_toml(data.removeprefix(BOM_UTF8).decode("utf-8"))
    except UnicodeDecodeError as error:
        return Reading(value=None, faults=(f"byte {error.start} is not UTF-8",))
    except codec.Refused as refused:
        return Reading(value=None, faults=(f"the file is not TOML: {brief(str(refused))}",))
    notes = first_of(_unknown(tree))
    known = {key: value for key, value in tree.items() if key in _KEYS}
    try:
        sheet = codec.decode(_Sheet, known)
    except codec.Refused as refused:
        return Reading(value=None, faults=tuple(map(str, refused.reasons)), notes=notes)
    if faults := tuple(_faults(sheet)):
        return Reading(value=None, faults=faults, notes=notes)
    risk, said = _risk(sheet.risk)
    return Reading(
        value=ToolFile(
            name=sheet.name,
            description=sheet.description,
            command=sheet.command,
            timeout_ms=min(sheet.timeout_ms or limits.TOOL_MS_DEFAULT, limits.TOOL_MS_MAX),
            env=sheet.env,
            input_schema=sheet.input_schema or {"type": "object", "properties": {}},
            output_schema=sheet.output_schema,
            read_only=sheet.read_only,
            idempotent=sheet.idempotent,
            risk=risk,
            withheld=WITHHELD if _FOUNDRY in tree else None,
        ),
        notes=(*notes, *said, *_passed_over(sheet)),
    )


def _unknown(tree: Mapping[str, object]) -> Iterator[str]:
    """Yield a note for each key that means nothing here [P-11]."""
    for key in tree:
        if key not in _KEYS and key != _FOUNDRY:
            meant = near(key[: limits.NEAR_CHARS], _KEYS)
            hint = f"; did you mean {' or '.join(meant)}?" if meant else ""
            yield f'the key "{brief(key)}" is unknown and ignored{hint}'


def _faults(sheet: _Sheet) -> Iterator[str]:
    """Yield what is wrong though every type is right [P-10, P-13]."""
    yield from _of_name(sheet.name)
    if not sheet.description.strip():
        yield "description: is blank; say what the tool does"
    if not sheet.command or not sheet.command[0].strip():
        yield "command: expected a program as its first entry"
    for at, word in enumerate(sheet.command):
        if "\0" in word:
            yield f"command[{at}]: holds a NUL character, which no argument can"
    for name, value in sheet.env.items():
        if not name or "=" in name or "\0" in name + value:
            yield f'env: "{brief(name)}" and its value cannot stand in an environment'
    for key, schema in (
        ("input_schema", sheet.input_schema),
        ("output_schema", sheet.output_schema),
    ):
        if schema is not None and (why := invalid(schema)):
            yield f"{key}: {why}"


def _of_name(name: str) -> Iterator[str]:
    """Yield why no tool can bear that name [P-10, P-13, T2-5]."""
    if name in RESERVED:
        yield f"name: {name} is reserved; choose another"
    elif (
        not 1 < len(name) <= limits.TOOL_NAME_CHARS
        or not _NAME.issuperset(name)
        or name[0] not in _LETTERS
    ):
        yield (
            f"name: expected 2 to {limits.TOOL_NAME_CHARS} of a to z, 0 to 9 and _, a letter first,"
            f' got "{brief(name)}"'
        )


def _risk(token: str | None) -> tuple[Risk, tuple[str, ...]]:
    """Return the grade that counts, and what is odd about the claim [A-6, M-52]."""
    if token is None:
        return Risk.HIGH, ()
    claimed = risk_of(token)
    if claimed is None:
        meant = near(token[: limits.NEAR_CHARS], (grade.value for grade in Risk))
        hint = f"; did you mean {' or '.join(meant)}?" if meant else ""
        return Risk.DESTRUCTIVE, (
            f'risk: "{brief(token)}" is no known grade and is read as destructive{hint}',
        )
    return max(claimed, Risk.HIGH, key=lambda grade: grade.rank), ()


def _passed_over(sheet: _Sheet) -> Iterator[str]:
    """Yield a note for the keywords of the input's schema that no call is checked for [E-25]."""
    if sheet.input_schema and (words := unchecked(sheet.input_schema)):
        said = ", ".join(brief(word) for word in words[: limits.VOCABULARY_SHOWN])
        noun = counted(len(words), "keyword")
        yield f"input_schema: {noun} no call is checked for: {said}"
