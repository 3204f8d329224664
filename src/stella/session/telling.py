"""The one writer of a session's journal: facts become records, and listeners hear them.

Progress, the event stream and the result all read what was told here; nothing else writes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from stella.journal.entry import Record
from stella.journal.journal import Journal
from stella.turn.facts import Emitted
from stella.turn.facts import Fact
from stella.turn.facts import Noticed
from stella.turn.plugin_facts import under_a_turn

Listener = Callable[[Record, Fact], None]
"""Hears every record as it is written, with the fact it came from; must not raise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What a run told: `own` are the facts of it and its own turns.

    `every` are also those of the turns under a turn, in the order of all.
    """

    own: tuple[Fact, ...]
    every: tuple[Fact, ...]


class Telling:
    """Writes facts in order and keeps those of the run that is under way.

    `told` are those of the run and its own turns, `every` also those of the turns under a turn.
    """

    def __init__(self, journal: Journal, listeners: tuple[Listener, ...] = ()) -> None:
        self.journal = journal
        self.told: list[Fact] = []
        self.every: list[Fact] = []
        self._listeners = list(listeners)
        self._said: set[str] = set()

    def listen(self, listener: Listener) -> None:
        """Have `listener` hear what is told from now on, after those who listen already."""
        self._listeners.append(listener)

    def tell(self, turn: str | None, fact: Fact, *, durable: bool = False) -> None:
        """Write one fact; with `durable`, return only when it is on disk [J2-30].

        Raises `JournalError` when the journal cannot be written [J2-34].
        """
        record = self.journal.append(*_named(fact, turn))
        if durable:
            self.journal.barrier()
        self.every.append(fact)
        if not under_a_turn(turn):
            self.told.append(fact)
        for listener in self._listeners:
            listener(record, fact)

    @property
    def story(self) -> Story:
        """Everything told so far."""
        return Story(own=tuple(self.told), every=tuple(self.every))

    def notice(self, code: str, text: str, turn: str | None = None) -> None:
        """Tell a notice: something a person should know that decides nothing."""
        self.tell(turn, Noticed(code=code, text=text))

    def once(self, code: str, text: str) -> None:
        """Tell a notice that was not told before in this session."""
        if text not in self._said:
            self._said.add(text)
            self.notice(code, text)

    def barrier(self) -> None:
        """Make everything told so far durable [J2-30]."""
        self.journal.barrier()


def _named(fact: Fact, turn: str | None) -> tuple[str, str | None, dict[str, Any]]:
    """Return the type, the turn and the data of a fact's record."""
    if isinstance(fact, Emitted):
        return fact.name, turn, {"payload": fact.payload}
    values: dict[str, Any] = msgspec.structs.asdict(fact)
    written = {k: v for k, v in values.items() if v is not None and k not in fact.unwritten}
    return fact.type, turn, written
