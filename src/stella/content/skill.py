"""A skill: a text that joins a prompt it fits, as its author wrote it [P-30, P-31].

The frontmatter is a grammar of its own, read by hand: single lines of `key: value` and lists of
`- item`. A skill is never enforced and grants nothing [P-36].
"""

import re
from codecs import BOM_UTF8
from dataclasses import dataclass
from dataclasses import field
from typing import Final
from typing import TypeVar

from stella import limits
from stella.codec import Word
from stella.content.reading import Reading
from stella.content.reading import first_of
from stella.escape import brief
from stella.escape import visible
from stella.near import suggestion


class Origin(Word):
    """Whose hand a skill says it is from; it decides nothing but a hair of its score [P-34]."""

    AUTO = "auto"
    INSTALLED = "installed"
    USER = "user"
    WORKSPACE = "workspace"


class Context(Word):
    """Where a skill wants to be worked on [P-30]."""

    INLINE = "inline"
    FORK = "fork"


class Effort(Word):
    """How hard a skill wants to be thought about [P-30]."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """One `SKILL.md` [P-30]. `slug` is its directory's name, `body` what the model would read.

    `allowed_tools` is None where the file names none; it can only narrow. `origin`, `model` and
    `effort` are None where the file says nothing.
    """

    slug: str
    description: str
    body: str
    domains: tuple[str, ...] = ()
    origin: Origin | None = None
    context: Context = Context.INLINE
    allowed_tools: tuple[str, ...] | None = None
    model: str | None = None
    effort: Effort | None = None


W = TypeVar("W", bound=Word)

_FENCE: Final = "---"
_ITEM: Final = "- "
_ALLOWED: Final = "allowed-tools"
_SAME: Final = {"allowed_tools": _ALLOWED}
_AUTO: Final = {"autocreated": Origin.AUTO.value, "auto-created": Origin.AUTO.value}
_KEYS: Final = frozenset(
    ("name", "description", "domains", "origin", "context", _ALLOWED, "model", "effort")
)
_BREAK: Final = re.compile(r"\r?\n")
_HALF: Final = re.compile("[\ud800-\udfff]")  # how a path holds a byte that is no UTF-8
_COMMAS: Final = re.compile(r",")
_GAPS: Final = re.compile(r"[,\s]")


def read_skill(data: bytes, directory: str) -> Reading[Skill]:
    """Return the skill of a `SKILL.md` in the directory of this name [P-30, P-31].

    Faults are: no UTF-8 text, more than `limits.CONTENT_BYTES`, no frontmatter, no description, no
    body, and a `name` that is not the directory's [K-175]. Unknown keys are passed over, unknown
    values fall back; what fell back is a note.
    """
    if len(data) > limits.CONTENT_BYTES:
        return _nothing(f"the file has more than {limits.CONTENT_BYTES} bytes")
    try:
        text = data.removeprefix(BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        return _nothing(f"byte {error.start} is not UTF-8")
    lines = _BREAK.split(text)
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    if lines[0].rstrip() != _FENCE or end is None:
        return _nothing("expected frontmatter between two lines of --- at the beginning")
    sheet = _Sheet()
    for number, line in enumerate(lines[1:end], 2):
        sheet.take(number, line)
    return sheet.read(directory, "\n".join(lines[end + 1 :]).strip())


def _nothing(*faults: str) -> Reading[Skill]:
    return Reading(value=None, faults=faults)


@dataclass(slots=True)
class _Sheet:
    """Frontmatter while it is read; a list stands for a key with an empty value."""

    given: dict[str, str | list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    listing: str | None = None

    def take(self, number: int, line: str) -> None:
        """Read one line; a deeper one that is no item of an open list is passed over."""
        bare = line.strip()
        if not bare or bare.startswith("#"):
            return
        if self.listing is not None and (bare == "-" or bare.startswith(_ITEM)):
            items = self.given[self.listing]
            if isinstance(items, list) and (item := _unquoted(bare[1:])):
                items.append(item)
            return
        if line[0].isspace():
            return
        key, colon, value = bare.partition(":")
        if not colon:
            self.notes.append(f'line {number}: expected "key: value", passed over')
            return
        key = _SAME.get(key.strip(), key.strip())
        if key in _KEYS and key in self.given:
            self.notes.append(f"line {number}: {key} stands twice, the last one counts")
        value = _unquoted(value)
        self.listing = None if value else key
        self.given[key] = value or []

    def read(self, directory: str, body: str) -> Reading[Skill]:
        """Return the skill with all that is wrong with it, or with what fell back [P-31]."""
        name = self.text("name")
        description = self.text("description") or ""
        faults: list[str] = []
        if not visible(directory):
            faults.append("name: the directory has none")
        elif _HALF.search(directory):
            faults.append(f'name: the directory\'s, "{brief(directory)}", is not UTF-8')
        elif name is not None and name != directory:
            faults.append(f'name: "{brief(name)}" is not the directory\'s, "{brief(directory)}"')
        if not visible(description):
            faults.append("description: it is missing; write one line that says when it helps")
        if not body:
            faults.append("the body behind the frontmatter is empty")
        if faults:
            return Reading(value=None, faults=tuple(faults), notes=first_of(self.notes))
        skill = Skill(
            slug=directory,
            description=description,
            body=body,
            domains=_once(self.listed("domains", _COMMAS)),
            origin=self.word("origin", Origin),
            context=self.word("context", Context) or Context.INLINE,
            allowed_tools=self.allowed(),
            model=self.text("model"),
            effort=self.word("effort", Effort),
        )
        return Reading(value=skill, notes=first_of(self.notes))

    def text(self, key: str) -> str | None:
        """Return a text, None where there is none; a list is none."""
        value = self.given.get(key)
        if isinstance(value, list):
            if value:
                self.notes.append(f"{key}: expected one line of text, passed over")
            return None
        return value

    def word(self, key: str, kind: type[W]) -> W | None:
        """Return a word of a closed vocabulary, None for another one, which is noted [P-31]."""
        written = self.text(key)
        if written is None:
            return None
        spelled = _AUTO.get(written.lower(), written.lower())
        legal = tuple(member.value for member in kind)
        if spelled in legal:
            return kind(spelled)
        hint = suggestion(written[: limits.NEAR_CHARS], legal)
        self.notes.append(f'{key}: "{brief(written)}" is not known, passed over; {hint}')
        return None

    def allowed(self) -> tuple[str, ...] | None:
        """Return the tools a skill keeps to, None where it names none."""
        if _ALLOWED not in self.given:
            return None
        return tuple(dict.fromkeys(self.listed(_ALLOWED, _GAPS)))

    def listed(self, key: str, between: re.Pattern[str]) -> list[str]:
        """Return the entries of a list in any of its forms."""
        value = self.given.get(key, [])
        if isinstance(value, list):
            return value
        inner = value[1:-1] if value.startswith("[") and value.endswith("]") else value
        return [item for part in between.split(inner) if (item := _unquoted(part))]


def _unquoted(text: str) -> str:
    """Return a value without the blanks around it and one pair of quotes [P-30]."""
    bare = text.strip()
    quoted = len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'"
    return bare[1:-1] if quoted else bare


def _once(words: list[str]) -> tuple[str, ...]:
    """Return the words without those that differ from an earlier one in case alone [P-30]."""
    first: dict[str, str] = {}
    for word in words:
        first.setdefault(word.casefold(), word)
    return tuple(first.values())
