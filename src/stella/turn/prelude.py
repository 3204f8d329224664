"""What the stages before a turn give it: messages, a seat, advice on where to work [D-16 step 3].

All of it is volatile: it becomes messages after the prefix, never a part of it [E-132].
"""

from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import field

from stella.escape import visible
from stella.message import Message
from stella.message import Role
from stella.turn.facts import MessageAppended
from stella.turn.prompt import guarded
from stella.turn.seats import WORKER

ADVICE_LABEL = "scope"


@dataclass(slots=True)
class Prelude:
    """What one round's stages have given so far.

    `seat` runs the turn; the last role wins [D-31]. `scope` are the paths in first-seen order
    that a plugin advises to stay in [D-32].
    """

    messages: list[Message] = field(default_factory=list)
    seat: str = WORKER
    scope: list[str] = field(default_factory=list)

    def widen(self, path: str) -> None:
        """Add a path that passed the fence, in one spelling, once."""
        plain = "/".join(part for part in path.split("/") if part not in ("", "."))
        if plain not in self.scope:
            self.scope.append(plain)


def advice(scope: Iterable[str]) -> MessageAppended:
    """Return the one message that shows a scope to the model as advice [D-32]."""
    lines = "\n".join(f"- {visible(path)}" for path in scope)
    text = guarded(
        f"## {ADVICE_LABEL}\n\nThe plugins of this run advise to change only what lies at or "
        f"beneath these paths:\n{lines}"
    )
    return MessageAppended(role="user", origin="host", label=ADVICE_LABEL, text=text)


def said(fact: MessageAppended) -> Message:
    """Return the message of a record of one."""
    return Message(role=Role.USER, content=fact.text)


def outside(path: str, scope: Iterable[str]) -> bool:
    """Return whether a written path lies outside a non-empty scope [D-32]."""
    allowed = tuple(scope)
    return bool(allowed) and not any(
        path == each or path.startswith(f"{each}/") for each in allowed
    )
