"""What is wrong with one record, by itself [P-46, P-48, P-49].

Conflicts between records are found where records meet. A blocking finding keeps a record from
steering, and it stays visible with the reason [P-50].
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from stella import codec
from stella import limits
from stella.codec import Word
from stella.content.identity import Identity
from stella.content.record import Enforcement
from stella.content.record import Mode
from stella.content.record import ProbeKind
from stella.content.record import Record
from stella.content.record import Tier
from stella.escape import brief
from stella.escape import listed
from stella.near import suggestion
from stella.redact import Redactor

TASKS: Final = (
    "build",
    "ci",
    "deploy",
    "docs",
    "install",
    "lint",
    "migrate",
    "refactor",
    "release",
    "review",
    "run",
    "test",
)
"""The words a record may name a task by [P-49]."""


class Level(Word):
    """How much a finding weighs [P-48]."""

    NOTE = "note"
    WARNING = "warning"
    BLOCKING = "blocking"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing a person should know of a record; `text` is a line, author words made visible."""

    level: Level
    text: str


_COSTLY: Final = (ProbeKind.COMMAND_SUCCEEDS, ProbeKind.HTTP_OK)
_BREAKS: Final = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_NUMBERED: Final = re.compile(r"(?:^|[\s(])\(?(\d{1,2})[.)]\s+\S")
_BULLET: Final = re.compile(r"(?:^|[;:,.]\s*)[-*\u2022]\s+\S")
_TOOL: Final = re.compile(r"[A-Za-z0-9_.*-]+")
_REDACTOR: Final = Redactor()


def findings(record: Record, known_as: Identity, *, plugin: bool) -> tuple[Finding, ...]:
    """Return what is found in a record, by level, the heaviest first [P-48].

    `plugin` says that it is from a package: such a record enforces nothing and runs nothing.
    """
    found = (*_blocking(record), *_warnings(record, known_as, plugin=plugin), *_notes(known_as))
    order = (Level.BLOCKING, Level.WARNING, Level.NOTE)
    return tuple(sorted(found, key=lambda each: order.index(each.level)))


def blocked(found: tuple[Finding, ...]) -> str | None:
    """Return why a record may not steer, None when nothing blocks it [P-50]."""
    return next((each.text for each in found if each.level is Level.BLOCKING), None)


def several(statement: str) -> bool:
    """Return whether a statement is a list of rules [P-48].

    Numbers count when they run from one to the next, bullets when there are two of them.
    """
    numbers = [int(number) for number in _NUMBERED.findall(statement)]
    counted = any(after == before + 1 for before, after in pairwise(numbers))
    return counted or len(_BULLET.findall(statement)) > 1


def _blocking(record: Record) -> Iterator[Finding]:
    texts = codec.plain(record)
    for name in ("record_id", "record_hash", "provenance", "supersedes_record_id"):
        texts.pop(name, None)  # names and digests by nature, and no model reads them
    if _REDACTOR.tree(texts)[1]:
        yield _block("its text holds what looks like a secret")
    if len(record.statement) > limits.STATEMENT_CHARS:
        yield _block(f"its statement is longer than {limits.STATEMENT_CHARS} characters")
    if _BREAKS.search(record.statement.strip()):
        yield _block("its statement has several lines")
    elif several(record.statement):
        yield _block("its statement is a list of several rules; write a record for each")
    enforcement = record.enforcement
    if enforcement is not None and (why := unusable(enforcement)) is not None:
        yield _block(why)


def unusable(enforcement: Enforcement) -> str | None:
    """Return why a guard could never act as written, None when it could, or there is none."""
    tool, command, path = (
        enforcement.guard_tool,
        enforcement.guard_deny_command,
        enforcement.guard_deny_path,
    )
    if tool is not None and not _TOOL.fullmatch(tool):
        return f'guard_tool: "{brief(tool)}" is no name of a tool'
    if command is not None and (not command.strip() or _BREAKS.search(command)):
        return "guard_deny_command: expected the beginning of one command"
    if path is not None and not _relative(path):
        return f'guard_deny_path: "{brief(path)}" is no path beneath the workspace'
    return None


def _relative(path: str) -> bool:
    written = path.strip()
    outside = written.startswith(("/", "~")) or ".." in written.split("/")
    return bool(written) and not outside and not _BREAKS.search(path)


def _warnings(record: Record, known_as: Identity, *, plugin: bool) -> Iterator[Finding]:
    steering, truth, enforcement = record.steering, record.truth, record.enforcement
    applies = steering.applies_to if steering is not None else None
    strange = [word for word in (applies.tasks if applies is not None else ()) if word not in TASKS]
    if strange:
        hint = suggestion(strange[0][: limits.NEAR_CHARS], TASKS)
        words = listed([brief(word) for word in strange], limits.NEAR_SHOWN)
        yield _warn(f"it names tasks that are not known: {words}; {hint}")
    probe = truth.probe if truth is not None else None
    if plugin and probe is not None and probe.kind in _COSTLY:
        yield _warn(f"refused probe: a plugin's record never runs {probe.kind.value}")
    if plugin and enforcement is not None and enforcement.mode is Mode.HARD:
        yield _warn("refused blocking: a plugin's record is advisory, whatever it says")
    triggered = applies is not None and applies.populated
    scoped = steering is not None and steering.tier is Tier.SCOPED
    if not triggered and (scoped or not record.pinned):
        yield _warn("it is scoped and has no trigger in applies_to, so it fits no prompt")
    if known_as.differs:
        stored = listed(known_as.differs, len(known_as.differs))
        yield _warn(f"the stored {stored} is not that of this text: it is a new revision")


def _notes(known_as: Identity) -> Iterator[Finding]:
    if known_as.filled:
        yield Finding(level=Level.NOTE, text=f"its identity was filled in: {known_as.record_id}")


def _block(text: str) -> Finding:
    return Finding(level=Level.BLOCKING, text=text)


def _warn(text: str) -> Finding:
    return Finding(level=Level.WARNING, text=text)
