"""The full-text index: brought up to date by what changed, asked by one question [D-51].

A file whose size, times and inode are those it was read with is not read again. What was done
is kept batch by batch, so that a search that is given up makes the next one shorter. Every
fault of the database is its own `sqlite3.Error`.
"""

import sqlite3
from collections.abc import Iterable
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from threading import Event
from typing import Final

from stella import limits
from stella.context.folders import Contents
from stella.context.folders import Folders
from stella.context.gather import Bounds
from stella.context.gather import Offered
from stella.context.gather import Origin
from stella.context.gather import TooMuch
from stella.context.passages import passages
from stella.wire.host_result import Frame

VERSION: Final = 1
"""Goes up with every change of the tables; an index of another version is built anew."""

_TABLES: Final = f"""
CREATE TABLE files (
  id INTEGER PRIMARY KEY, origin TEXT NOT NULL, path TEXT NOT NULL,
  mark TEXT NOT NULL, bytes INTEGER NOT NULL, UNIQUE (origin, path)
);
CREATE TABLE spans (
  id INTEGER PRIMARY KEY, file INTEGER NOT NULL, first INTEGER NOT NULL, label TEXT NOT NULL
);
CREATE INDEX spans_of_file ON spans (file);
CREATE VIRTUAL TABLE passages USING fts5 (title, text, tokenize = 'porter unicode61');
PRAGMA user_version = {VERSION};
"""
_DROPPED: Final = (
    "DELETE FROM passages WHERE rowid IN (SELECT id FROM spans WHERE file = ?)",
    "DELETE FROM spans WHERE file = ?",
    "DELETE FROM files WHERE id = ?",
)
# One frame per file, its best passage: several of one would push the other files out.
_FOUND: Final = """
SELECT spans.id, spans.file, spans.label, files.origin, files.path
FROM passages JOIN spans ON spans.id = passages.rowid JOIN files ON files.id = spans.file
WHERE passages MATCH ?
ORDER BY bm25(passages), files.path, files.origin, spans.first
"""
_PROGRESS_STEPS: Final = 10_000
_MARKDOWN: Final = (".md", ".markdown")
_BINARY: Final = b"\0"
_DAMAGED: Final = frozenset(
    {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_FORMAT,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_ERROR,  # a table that is not there, or not as it was made
    }
)
_PRIMARY: Final = 0xFF


def damaged(error: sqlite3.Error) -> bool:
    """Return whether the file is to blame, so that a new one may be better."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & _PRIMARY in _DAMAGED


@contextmanager
def opened(path: Path, stop: Event) -> Iterator["Index"]:
    """Open the index at `path`, an empty file included; `stop` ends whatever it does."""
    # No other session is in the directory, so there is nobody to wait for.
    connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        connection.executescript(
            "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"
            "PRAGMA temp_store = MEMORY; PRAGMA journal_mode = DELETE;"
        )
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version != VERSION:
            _begin_anew(connection)
        yield Index(connection=connection, stop=stop)
    finally:
        connection.close()


def _begin_anew(connection: sqlite3.Connection) -> None:
    """Make the tables; those of another version make this fail, as damage does."""
    connection.executescript(f"BEGIN; {_TABLES} COMMIT;")


@dataclass(slots=True, kw_only=True)
class _Row:
    id: int
    mark: str
    bytes: int


@dataclass(slots=True, kw_only=True)
class Index:
    """An open index."""

    connection: sqlite3.Connection
    stop: Event
    bytes: int = 0
    batch: int = 0
    known: dict[tuple[str, str], _Row] = field(default_factory=dict)

    def update(self, sources: Iterable[tuple[Folders, Iterable[Offered]]], bounds: Bounds) -> None:
        """Make the index say what is offered, and nothing else.

        It ends early, with what was done kept, when `stop` is set. Raises `TooMuch`.
        """
        rows = self.connection.execute("SELECT origin, path, id, mark, bytes FROM files")
        self.known = {
            (origin, path): _Row(id=number, mark=mark, bytes=size)
            for origin, path, number, mark, size in rows
        }
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            self._compare(sources, bounds)
        except TooMuch:
            self.connection.execute("COMMIT")
            raise
        self.connection.execute("COMMIT")

    def _compare(
        self, sources: Iterable[tuple[Folders, Iterable[Offered]]], bounds: Bounds
    ) -> None:
        for folders, offers in sources:
            for offered in offers:
                if self.stop.is_set():
                    return
                self._take(folders, offered)
                if self.bytes > bounds.bytes:
                    raise TooMuch(f"the text files hold more than {bounds.bytes} bytes")
        for row in self.known.values():
            self._drop(row)

    def _take(self, folders: Folders, offered: Offered) -> None:
        row = self.known.pop((offered.origin.value, offered.path), None)
        if row and row.mark == offered.look.mark:
            self.bytes += row.bytes
            return
        if row:
            self._drop(row)
        if offered.look.size > limits.RECALL_FILE_BYTES:
            return
        if contents := folders.read(offered.parts):
            self._put(offered, contents)
            self.batch += 1
        if self.batch >= limits.RECALL_BATCH:
            self.batch = 0
            self.connection.execute("COMMIT")
            self.connection.execute("BEGIN IMMEDIATE")

    def _drop(self, row: _Row) -> None:
        for statement in _DROPPED:
            self.connection.execute(statement, (row.id,))

    def _put(self, offered: Offered, contents: Contents) -> None:
        """Keep a file's passages; of a binary one only that it was looked at."""
        text = "" if _BINARY in contents.data else contents.data.decode("utf-8", "replace")
        size = len(contents.data) if text else 0
        self.bytes += size
        add = self.connection.execute
        file = add(
            "INSERT INTO files (origin, path, mark, bytes) VALUES (?, ?, ?, ?)",
            (offered.origin.value, offered.path, contents.mark, size),
        ).lastrowid
        shown = offered.path if offered.origin is not Origin.PERSON else offered.parts[-1]
        headed = offered.path.casefold().endswith(_MARKDOWN)
        for passage in passages(text, headed=headed):
            label = passage.heading or f"{shown}:{passage.first}-{passage.last}"
            span = add(
                "INSERT INTO spans (file, first, label) VALUES (?, ?, ?)",
                (file, passage.first, label),
            ).lastrowid
            title = f"{shown}\n{passage.heading or ''}"
            add(
                "INSERT INTO passages (rowid, title, text) VALUES (?, ?, ?)",
                (span, title, passage.text),
            )

    def best(self, question: str, most: int) -> tuple[Frame, ...]:
        """Return the best passage of each of the `most` best files [D-51].

        Order: score, then path; a better score comes first, equal ones by path.
        """
        chosen: dict[int, tuple[int, str, str, str]] = {}
        self.connection.set_progress_handler(self.stop.is_set, _PROGRESS_STEPS)
        for span, file, label, origin, path in self.connection.execute(_FOUND, (question,)):
            chosen.setdefault(file, (span, label, origin, path))
            if len(chosen) == most:
                break
        return tuple(self._frame(*each) for each in chosen.values())

    def _frame(self, span: int, label: str, origin: str, path: str) -> Frame:
        (text,) = self.connection.execute(
            "SELECT text FROM passages WHERE rowid = ?", (span,)
        ).fetchone()
        return Frame(
            label=label,
            kind="file" if origin == Origin.WORKSPACE.value else "memory",
            source="workspace" if origin == Origin.WORKSPACE.value else "notes",
            uri=None if origin == Origin.PERSON.value else path,
            content=text,
        )
