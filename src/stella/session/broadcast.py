"""The bus of one session: every fact becomes its events, and subscribed plugins get them [H-1].

It listens to what is told and never waits, so a subscriber can neither change nor delay
anything [D-76]. An event nobody subscribed to costs its number and nothing else.
"""

from collections import deque
from collections.abc import Callable
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import Final

from stella.clock import Clock
from stella.clock import stamp
from stella.errors import JournalError
from stella.journal.entry import Record
from stella.redact import Redactor
from stella.session.enabled import Enabled
from stella.session.enabled import credentials
from stella.session.events import SessionEvents
from stella.session.events import closing_name
from stella.session.facts import SessionClosed
from stella.session.sanitise import sanitised
from stella.session.telling import Telling
from stella.turn.events import Told
from stella.turn.facts import Fact
from stella.wire.event import Event
from stella.wire.event import write_event
from stella.wrapper.observer import Observer
from stella.wrapper.observer import ended

NAMES: Final = ("secret.detected", "extension.loaded", "extension.unloaded")
"""The names of the catalogue that the bus makes itself."""

_SUBSCRIBER: Final = "subscriber"


class Broadcast:
    """The one bus of a session; `plugins` are those that may subscribe [D-70].

    `hear` is a listener of the telling. Made, started and closed in one event loop.
    """

    def __init__(
        self, telling: Telling, clock: Clock, redactor: Redactor, plugins: Iterable[Enabled]
    ) -> None:
        self._telling = telling
        self._clock = clock
        self._redactor = redactor
        self._session = telling.journal.path.parent.name
        self._events = SessionEvents()
        self._sequence = 0
        self._over = False
        self._due: deque[Callable[[], None]] = deque()
        self._observers: dict[str, tuple[Enabled, Observer]] = {
            each.plugin.name: (each, self._observer(each))
            for each in plugins
            if each.plugin.manifest.loop.events
        }

    def hear(self, record: Record, fact: Fact) -> None:
        """Put the events of one record on the bus, in order [H-4, D-70]."""
        self._in_turn(partial(self._hear, record, fact))

    def _hear(self, record: Record, fact: Fact) -> None:
        for told in self._events.of(record.turn, fact, record.ts):
            self._publish(told, record.turn, record.ts)
        if count := record.data.get("redacted"):
            payload = {"where": record.type, "count": count}
            self._publish(Told(name="secret.detected", payload=payload), record.turn, record.ts)

    def start(self) -> None:
        """Start the process of each subscriber whose bytes are the accepted ones [T-2, D-70].

        They get what was told before as well. One that may not start is a notice.
        """
        for name, (each, observer) in tuple(self._observers.items()):
            for code, text in credentials(each.plugin):
                self._telling.once(code, text)
            program = each.process.cleared()
            if isinstance(program, str) or program.not_started is not None:
                del self._observers[name]
                why = program if isinstance(program, str) else program.not_started or ""
                self._telling.once("observer_not_started", why)
                continue
            observer.start(program)
            self._publish_own("extension.loaded", name)

    def last_call(self, closed: SessionClosed) -> None:
        """Before the last fact: report what subscribers will not have got of the session [D-74].

        Nothing can be told after it; the bus knows how many events it makes.
        """
        name = closing_name(closed.status)
        for each, observer in self._observers.values():
            observer.last_call(int(each.plugin.manifest.loop.permits_event(name)))
        self._over = True

    def hurry(self) -> None:
        """Kill at once what `close` is giving time to end [S-12]."""
        for _, observer in self._observers.values():
            observer.hurry()

    async def close(self) -> None:
        """End every process; it takes no longer than their two seconds together [D-74]."""
        self._over = True
        await ended(observer for _, observer in self._observers.values())

    def _observer(self, each: Enabled) -> Observer:
        gone = partial(self._gone, each.plugin.name)
        return Observer(each.process, self._notice, gone)

    def _gone(self, name: str) -> None:
        del self._observers[name]
        self._publish_own("extension.unloaded", name)

    def _publish_own(self, event: str, name: str) -> None:
        told = Told(name=event, payload={"kind": _SUBSCRIBER, "name": name})
        self._in_turn(partial(self._publish, told, None, stamp(self._clock.now())))

    def _in_turn(self, work: Callable[[], None]) -> None:
        """Do the work after what is under way: a loss that is told of can be an event itself."""
        self._due.append(work)
        if len(self._due) > 1:
            return
        while self._due:
            self._due[0]()
            self._due.popleft()

    def _publish(self, told: Told, turn: str | None, timestamp: str) -> None:
        self._sequence += 1
        line: bytes | None = None
        for each, observer in self._observers.values():
            if each.plugin.manifest.loop.permits_event(told.name):
                line = line or self._line(told, turn, timestamp)
                observer.offer(line)

    def _line(self, told: Told, turn: str | None, timestamp: str) -> bytes:
        """Return the one line that all who want it get [H-2, W-44]."""
        lead = turn.partition(".")[0] if turn else None
        event = Event(
            id=f"evt_{self._session}_{self._sequence}",
            name=told.name,
            timestamp=timestamp,
            session_id=self._session,
            turn_id=lead,
            agent_id=turn if turn != lead else None,
            sequence=self._sequence,
            payload=sanitised(told.payload, self._redactor),
        )
        return write_event(event)

    def _notice(self, code: str, text: str) -> None:
        if self._over:
            return
        # A journal that broke takes nothing more and says so to whoever tells the next fact.
        with suppress(JournalError):
            self._telling.notice(code, text)
