"""Records as lines, for a person or a program [J2-50]. Reads nothing itself."""

from collections.abc import Iterable
from collections.abc import Iterator

from stella import codec
from stella import limits
from stella.errors import UsageError
from stella.escape import cut
from stella.escape import visible
from stella.journal.entry import Record
from stella.journal.kinds import KINDS
from stella.journal.kinds import known
from stella.near import suggestion


def kinds(text: str) -> frozenset[str]:
    """Return the record types of a list as `--type` takes it, `authz,verdict`.

    Raises `UsageError` with near misses for a type there is not.
    """
    words = frozenset(word.strip() for word in text.split(",") if word.strip())
    if not words:
        raise UsageError("--type: expected record types with commas between them")
    for word in sorted(words):
        if not known(word):
            hint = suggestion(word, KINDS) or "leave it out to see every type"
            raise UsageError(f'--type: no record type "{visible(word)}"; {hint}')
    return words


def show(
    records: Iterable[Record],
    *,
    turn: str | None = None,
    types: frozenset[str] = frozenset(),
    as_json: bool = False,
) -> Iterator[str]:
    """Yield one line per chosen record, without newline.

    `turn` chooses a turn with its agents, or one agent; `types` chooses types, all when empty.
    As JSON a line is the record's own line. For a person each value of the data is on the line,
    cut to 200 characters unless types were chosen.
    """
    for record in records:
        if turn is not None and not _within(record.turn, turn):
            continue
        if types and record.type not in types:
            continue
        yield codec.encode(record).decode() if as_json else _told(record, whole=bool(types))


def _within(turn: str | None, wanted: str) -> bool:
    return turn is not None and (turn == wanted or turn.startswith(f"{wanted}."))


def _told(record: Record, *, whole: bool) -> str:
    values: list[str] = []
    for key, value in record.data.items():
        plain = visible(value if isinstance(value, str) else codec.encode(value).decode())
        shown = plain if whole else cut(plain, limits.SHOWN_VALUE_CHARS)
        values.append(f"{visible(key)}={shown}")
    place = f"{record.seq:>5}  {visible(record.ts)}  {visible(record.turn or '-'):<8}"
    return f"{place}  {visible(record.type):<18}  {'  '.join(values)}".rstrip()
