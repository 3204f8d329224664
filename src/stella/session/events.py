"""What a session's own facts are called on the bus, and those of its runs with them [H-20].

As in `turn.events`, an event is told when the fact that makes it true is told.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from datetime import datetime
from typing import Any
from typing import Final

from stella.session.facts import SessionClosed
from stella.session.facts import SessionOpened
from stella.session.facts import SystemPrompt
from stella.session.facts import ToolsOffered
from stella.turn import events
from stella.turn.events import RunEvents
from stella.turn.events import Told
from stella.turn.facts import Controlled
from stella.turn.facts import Fact
from stella.turn.facts import RunStatus
from stella.turn.facts import TurnEnded

NAMES: Final = (
    "session.created",
    "session.started",
    "session.cancel_requested",
    "session.cancelled",
    "session.completed",
    "session.failed",
    "transcript.entry.created",
    "tool.registered",
    "workspace.opened",
    *events.NAMES,
)
"""The names of the catalogue that the facts of a session make."""

_CLOSINGS: Final = {
    RunStatus.CANCELLED: "session.cancelled",
    RunStatus.FAILED: "session.failed",
}


def closing_name(status: RunStatus) -> str:
    """Return the one event that a session with this end closes with [H-20]."""
    return _CLOSINGS.get(status, "session.completed")


@dataclass(slots=True)
class SessionEvents:
    """Turns all facts of one session into events, in order."""

    _run: RunEvents = field(default_factory=lambda: RunEvents(workspace=""))
    _cancelled: tuple[str, datetime] | None = None
    _cause: str | None = None

    def of(self, turn: str | None, fact: Fact, timestamp: str) -> Iterator[Told]:
        """Yield the events of one fact; `timestamp` is that of its record [W-44]."""
        match fact:
            case SessionOpened():
                self._run = RunEvents(workspace=fact.workspace)
                yield from _opened(fact)
            case SystemPrompt():
                yield _entry(fact)
                yield Told(name="session.started", payload={"source": "new"})
            case ToolsOffered():
                yield from _tools(fact)
            case Controlled(verb="cancel"):
                self._cancelled = fact.by, datetime.fromisoformat(timestamp)
                yield Told(name="session.cancel_requested", payload={"by": fact.by})
            case SessionClosed():
                yield self._closed(fact, datetime.fromisoformat(timestamp))
            case _:
                if isinstance(fact, TurnEnded):
                    self._cause = fact.cause.value if fact.cause else None
                yield from self._run.of(turn, fact)

    def _closed(self, fact: SessionClosed, moment: datetime) -> Told:
        name = closing_name(fact.status)
        payload: dict[str, Any] = {"turns": fact.turns, "cost_usd": fact.cost_usd}
        if fact.status is RunStatus.FAILED and self._cause is not None:
            payload["cause"] = self._cause
        if fact.status is RunStatus.CANCELLED:
            payload = {}
            if self._cancelled is not None:
                by, since = self._cancelled
                waited = moment - since
                payload = {"by": by, "waited_ms": round(waited.total_seconds() * 1000)}
        return Told(name=name, payload=payload)


def _opened(fact: SessionOpened) -> Iterator[Told]:
    yield Told(
        name="session.created",
        payload={"mode": fact.mode, "model": fact.model, "workspace": fact.workspace},
    )
    yield Told(name="workspace.opened", payload={"root": fact.workspace, "trusted": fact.trusted})


def _entry(fact: SystemPrompt) -> Told:
    payload = {"role": "system", "origin": "system", "chars": len(fact.text)}
    return Told(name="transcript.entry.created", payload=payload)


def _tools(fact: ToolsOffered) -> Iterator[Told]:
    """Yield one event for each tool; where it comes from is all there is to say of its origin."""
    for tool in fact.tools:
        payload = {
            "tool": tool.name,
            "provenance": tool.origin,
            "risk": tool.risk,
            "origin": tool.origin,
        }
        yield Told(name="tool.registered", payload=payload)
