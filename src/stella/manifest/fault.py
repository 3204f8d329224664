"""What is wrong with a manifest, or worth a warning: one value per fault, and how it is printed.

Every message begins with the block, the key and the value as written, because `fault` makes
the beginning itself [M-7]. Author text in it is made visible, so it cannot forge a line.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from typing import Protocol

from stella.codec import Word
from stella.escape import brief
from stella.escape import counted
from stella.escape import visible
from stella.manifest.codes import CODES
from stella.manifest.written import written

Path = tuple[str | int, ...]

TOP: Final = "top level"
_TABLES: Final = frozenset(
    {
        ("loop",),
        ("driver",),
        ("requirements",),
        ("oracle",),
        ("oracle", "command"),
        ("subloop",),
        ("roles",),
        ("wrapper",),
        ("runtime",),
    }
)
_ARRAYS: Final = frozenset(
    {
        ("oracle", "checks"),
        ("wrapper", "stages"),
        ("capabilities",),
        ("tools",),
        ("skills",),
        ("records",),
        ("configure",),
    }
)


class Reason(Word):
    """Why a manifest could not be decoded, the closed list of R-1 [M-11]."""

    ENCODING = "encoding"
    TOO_LARGE = "too-large"
    SYNTAX = "syntax"
    UNKNOWN_KEY = "unknown-key"
    MISSING_KEY = "missing-key"
    WRONG_TYPE = "wrong-type"
    UNKNOWN_WORD = "unknown-token"
    OUT_OF_RANGE = "out-of-range"


class Told(Protocol):
    """What one entry of a report is made of [M-12]."""

    @property
    def title(self) -> str:
        """The first line: which rule, and where."""

    @property
    def message(self) -> str:
        """What is wrong, a sentence."""

    @property
    def fix(self) -> str:
        """What to do about it, empty when that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestFault:
    """One fault or warning: the rule, the place, the value as written, what it means [M-6].

    `path` is a tuple of keys and list positions from 0. `line` and `column` count from 1 and
    are None when unknown. `reason` is there for R-1 alone. `anchor` is the path to point at when
    nothing of `path` is in the file.
    """

    rule: str
    path: Path
    message: str
    value: str | None = None
    fix: str = ""
    near: tuple[str, ...] = ()
    line: int | None = None
    column: int | None = None
    reason: Reason | None = None
    anchor: Path = ()

    @property
    def code(self) -> str:
        """The code of the rule [R-1 to R-80]."""
        return CODES[self.rule]

    @property
    def name(self) -> str:
        """The reason for R-1, else the code: what machine formats carry [I-64, Q-13]."""
        return self.code if self.reason is None else self.reason.value

    @property
    def block(self) -> str:
        """The table the fault is in: `[loop]`, or `[[oracle.checks]] entry 2` [M-6]."""
        return _split(self.path)[0]

    @property
    def key(self) -> str:
        """The key in that table, empty when the fault is the table's own [M-6]."""
        return _split(self.path)[1]

    @property
    def place(self) -> str:
        """The dotted place, entries from 0: `capabilities[1].tool` [I-64, Q-13]."""
        return dotted(self.path)

    def __str__(self) -> str:
        return f"{self.title}: {self.message}"

    @property
    def title(self) -> str:
        """Rule, code, reason and position, as the report's first line has them [M-12]."""
        reason = f" ({self.reason.value})" if self.reason else ""
        return titled(self.rule, f"{self.code}{reason}", self.line, self.column)


def fault(  # noqa: PLR0913  # a fault has eight parts, and six of them are named by the caller
    rule: str,
    path: Path,
    says: str,
    *,
    value: object = None,
    label: str = "",
    fix: str = "",
    near: tuple[str, ...] = (),
    anchor: Path = (),
) -> ManifestFault:
    """Return the fault of a load rule; `says` follows the place and has no full stop [M-7].

    `value` is the offending value as it was read. `label` names the entry of a list by what
    its author called it: `tool "bash"`. `anchor` is there for a path that may be missing.
    """
    shown = None if value is None else written(value)
    return ManifestFault(
        rule=rule,
        path=path,
        message=sentence(f"{head(path, shown, label)} {says}"),
        value=shown,
        fix=fix,
        near=near,
        anchor=anchor,
    )


def head(path: Path, shown: str | None = None, label: str = "") -> str:
    """Return how a message begins: the block, what the entry is called, key and value [M-7]."""
    block, key = _split(path)
    if label:
        block = f"{block} ({label})"
    if shown is not None:
        return f"{block} {key} = {shown}" if key else f"{block} = {shown}"
    return f"{block} {key}" if key and not label else block


def sentence(text: str) -> str:
    """Return a text with a full stop, unless it ends as a question."""
    return text if text.endswith("?") else f"{text}."


def titled(rule: str, name: str, line: int | None, column: int | None) -> str:
    """Return the first line of a fault: its rule, its name, and where it is when known [M-12]."""
    return f"{rule} {name} at line {line}, column {column}" if line else f"{rule} {name}"


def report(name: str, faults: Iterable[Told], outcome: str = "cannot be loaded") -> str:
    """Return every fault of what is called `name`, in order, without a last newline [M-12]."""
    found = tuple(faults)
    head = f"{visible(name)} {outcome}: {counted(len(found), 'fault')}"
    return "\n".join((head, *_numbered(found)))


def warning_report(name: str, warnings: Iterable[Told]) -> str:
    """Return every warning about it in the same form, or an empty text [M-9]."""
    found = tuple(warnings)
    if not found:
        return ""
    head = f"{visible(name)} has {counted(len(found), 'warning')}"
    return "\n".join((head, *_numbered(found)))


def _numbered(faults: tuple[Told, ...]) -> Iterable[str]:
    for number, each in enumerate(faults, 1):
        mark = f"  {number}. "
        yield f"{mark}{each.title}"
        yield f"{' ' * len(mark)}{each.message}"
        if each.fix:
            yield f"{' ' * len(mark)}fix: {each.fix}"


def _split(path: Path) -> tuple[str, str]:
    """Return the innermost table on a path, and the rest of the path as text."""
    for size in range(len(path), 0, -1):
        head, last = path[: size - 1], path[size - 1]
        if isinstance(last, int) and head in _ARRAYS:
            return f"[[{dotted(head)}]] entry {last + 1}", _within(path[size:])
        if (*head, last) in _TABLES or head == ("roles",):
            return f"[{dotted(path[:size])}]", _within(path[size:])
    return TOP, _within(path)


def _within(path: Path) -> str:
    text = ""
    for step in path:
        part = f"entry {step + 1}" if isinstance(step, int) else brief(step)
        text = f"{text} {part}" if text else part
    return text


def dotted(path: Path) -> str:
    """Return a path as machine formats have it, entries from 0: `capabilities[1].tool` [Q-13]."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{brief(step)}" if text else brief(step)
    return text
