"""Journals of a session, written as the session writes them."""

from pathlib import Path

from stella.journal.journal import Journal
from stella.redact import Redactor
from tests.making.clocks import HandClock

SESSION = "ses-20260811T120000Z-abcdefgh"
TEXTS = ("plain", "zwölf Boxkämpfer 😀 jagen\n", "日本語\x1b[31m\u2028\u202e", "last")


def created(workspace: Path, redactor: Redactor | None = None) -> Journal:
    """A new, empty journal of `SESSION`."""
    return Journal.create(workspace, SESSION, HandClock(), redactor or Redactor())


def reopened(workspace: Path) -> Journal:
    """The journal of `SESSION`, opened for writing again."""
    return Journal.reopen(workspace, SESSION, HandClock(), Redactor())


def note(journal: Journal, text: str) -> None:
    """Append one record that holds `text`."""
    journal.append("notice", None, {"code": "test", "text": text})


def written(workspace: Path, texts: tuple[str, ...] = TEXTS) -> Path:
    """The path of a closed journal with one record per text."""
    journal = created(workspace)
    for text in texts:
        note(journal, text)
    journal.barrier()
    journal.close()
    return journal.path
