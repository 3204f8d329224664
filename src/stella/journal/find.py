"""Which session somebody means by an id, the beginning of one, or `last` [J2-3]."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stella import limits
from stella.errors import JournalError
from stella.errors import UsageError
from stella.escape import visible
from stella.journal import entry
from stella.journal import lock
from stella.journal import place
from stella.journal.journal import SESSION_ID
from stella.near import suggestion

LAST: Final = "last"
_PREFIX: Final = "ses-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session on disk: its id, its journal and the journal's size in bytes."""

    id: str
    path: Path
    size: int


def sessions(workspace: Path) -> tuple[Session, ...]:
    """Return the sessions of a workspace that have a journal, oldest first [J2-50].

    Age is what the id says; sessions of one second stand in the order of their last change.
    What is no session directory of its own, a link for instance, is left out.
    """
    root = place.sessions_path(workspace)
    found: list[tuple[str, int, Session]] = []
    for directory in root.iterdir() if root.is_dir() else ():
        path = directory / place.JOURNAL
        name = directory.name
        if SESSION_ID.fullmatch(name) and not directory.is_symlink() and path.is_file():
            state = path.stat()
            second = name.rpartition("-")[0]
            session = Session(id=name, path=path, size=state.st_size)
            found.append((second, state.st_mtime_ns, session))
    return tuple(session for *_, session in sorted(found, key=lambda row: (*row[:2], row[2].id)))


def unfinished(workspace: Path) -> tuple[Session, ...]:
    """Return the sessions whose journal does not end with `session_closed`, oldest first.

    Such a session is still open, or it died and may have left something behind [T2-35].
    """
    return tuple(session for session in sessions(workspace) if not _closed(session.path))


def writing(workspace: Path, session: str) -> bool:
    """Return whether a living process has the session open, as far as can be told.

    A lock that cannot be read counts as held: what may be in use is not swept away.
    """
    try:
        return lock.holder(place.sessions_path(workspace) / session / place.LOCK) is not None
    except JournalError:
        return True


def _closed(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - limits.CLOSING_BYTES))
        last = file.read().rpartition(b"\n")[0].rpartition(b"\n")[2]
    record = entry.read(last)
    return isinstance(record, entry.Record) and record.type == "session_closed"


def resolve(workspace: Path, wanted: str) -> Path:
    """Return the journal of the session that `wanted` means [J2-3].

    `wanted` is an id, a beginning of one that fits one session only and has at least 8
    characters after `ses-`, or `last`. Raises `UsageError` when it means none or several.
    """
    known = sessions(workspace)
    if not known:
        raise UsageError(f"{visible(str(workspace))}: no session here yet")
    if wanted == LAST:
        return known[-1].path
    ids = [session.id for session in known]
    matching = [session for session in known if session.id.startswith(wanted)]
    if not wanted.startswith(_PREFIX) or len(wanted) < len(_PREFIX) + limits.SESSION_PREFIX_CHARS:
        raise UsageError(
            f'session "{visible(wanted)}": expected {LAST}, an id, or the beginning of one with at'
            f" least {limits.SESSION_PREFIX_CHARS} characters after {_PREFIX}"
        )
    if not matching:
        hint = suggestion(wanted, ids) or "stella journal list shows them all"
        raise UsageError(f'session "{visible(wanted)}": there is none; {hint}')
    if len(matching) > 1:
        shown = ", ".join(session.id for session in matching[: limits.NEAR_SHOWN])
        raise UsageError(
            f'session "{visible(wanted)}": fits {len(matching)} sessions, {shown} among them;'
            " give more of the id"
        )
    return matching[0].path
