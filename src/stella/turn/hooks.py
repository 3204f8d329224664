"""Hooks as questions: who listens, one asked after another, and what all of them come to.

The order is fixed: the person's hooks first, then plugins by name [D-63]. The chain ends early
only at a deny, or at a failure where a failure counts as one [H-61, D-66]; everywhere else a
hook that fails is as if it were not there, and a notice.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from typing import Final

from stella import limits
from stella.escape import cut
from stella.escape import visible
from stella.turn.ask import Cancelled
from stella.turn.ask import Turn
from stella.turn.ask import ask
from stella.turn.facts import Noticed
from stella.turn.hook_facts import HookRan
from stella.turn.prompt import guarded
from stella.turn.questions import AskHook
from stella.turn.questions import HookHeard
from stella.turn.questions import tell
from stella.wire import occasion as wire
from stella.wire.hook import Decision
from stella.wire.hook import Deny
from stella.wire.hook import HookCause
from stella.wire.hook import HookFailure
from stella.wire.hook import HookResult
from stella.wire.hook import HookText
from stella.wire.hook import Modify
from stella.wire.hook import RequireApproval
from stella.wire.occasion import Occasion
from stella.wire.points import Hook

CLOSED: Final = frozenset({Hook.PRE_TOOL_USE})
"""The events at which a hook that cannot answer refuses the step [D-66, H-52]."""

_PLUGIN: Final = "plugin:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """One who listens to an event; `by` is `plugin:<name>`, as records name it [A-8].

    `holds` is how often it may hold a run open at `Stop` [D-68].
    """

    by: str
    holds: int = 0

    @property
    def who(self) -> str:
        """The name in a sentence: `plugin guard`."""
        name = self.by.removeprefix(_PLUGIN)
        return visible(self.by) if name == self.by else f"plugin {visible(name)}"

    @property
    def cause(self) -> str:
        """The cause of a call that it denies [A-51]."""
        return "plugin" if self.by.startswith(_PLUGIN) else "hook"


@dataclass(slots=True, kw_only=True)
class Hooks:
    """The hooks of a run: who listens to what, in dispatch order, and the holds each has spent.

    An event nobody listens to costs nothing. The holds count for the whole run [D-68].
    """

    listeners: Mapping[Hook, tuple[Listener, ...]] = field(default_factory=dict)
    spent: dict[str, int] = field(default_factory=dict)

    def to(self, event: Hook) -> tuple[Listener, ...]:
        """Return those who listen to `event`, first asked first."""
        return self.listeners.get(event, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """In which turn, or which agent's, and in which call something happens."""

    turn: str | None = None
    agent: str | None = None
    call: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What one listener came to."""

    listener: Listener
    result: HookResult


def consulted(
    listeners: Iterable[Listener],
    where: Where,
    occasion: Callable[[Listener, tuple[Said, ...]], Occasion],
) -> Turn[tuple[Said, ...]]:
    """Ask the listeners one after another and return what was said, in order [H-56, H-61].

    `occasion` makes the payload of the next one from what was said before it, so that each sees
    what the ones before left.
    """
    said: tuple[Said, ...] = ()
    for listener in listeners:
        payload = occasion(listener, said)
        result = yield from _asked(listener, payload, where)
        said = (*said, Said(listener=listener, result=result))
        closed = payload.event in CLOSED and isinstance(result, HookFailure)
        if closed or isinstance(result, Deny):
            break
    return said


def refusal(hooks: Hooks, occasion: Occasion, where: Where) -> Turn[str | None]:
    """Return why a step may not be taken, None when it may [H-58].

    For the events that take allow and deny only: `UserPromptSubmit`, `TurnStart` and
    `SubagentStart`.
    """
    said = yield from consulted(hooks.to(occasion.event), where, lambda *_: occasion)
    if said and isinstance(denied := said[-1].result, Deny):
        return f"{said[-1].listener.who} refused: {reason(denied)}"
    return None


def observed(hooks: Hooks, occasion: Occasion, where: Where) -> Turn[None]:
    """Tell the observers of an event; whatever they do changes nothing [E-14, H-59]."""
    yield from consulted(hooks.to(occasion.event), where, lambda *_: occasion)


def told_at_the_end(hooks: Hooks, occasion: Occasion, where: Where) -> Turn[None]:
    """Tell the observers of something that is over: a cancel skips the rest of them [H-56]."""
    try:
        yield from observed(hooks, occasion, where)
    except Cancelled:
        return


def subagent_started(hooks: Hooks, where: Where, occasion: wire.SubagentStart) -> Turn[str | None]:
    """Return why a child turn may not start, None when it may [H-58, H-59]."""
    return (yield from refusal(hooks, occasion, where))


def compaction(
    hooks: Hooks, where: Where, occasion: wire.PreCompact
) -> Turn[tuple[str | None, str | None]]:
    """Return who vetoed a summary, if anybody, and what the summariser is told [E-75, D-65].

    A wish for approval is a notice, for there is nobody to ask, and the summary is made.
    """
    said = yield from consulted(hooks.to(Hook.PRE_COMPACT), where, lambda *_: occasion)
    instructions: str | None = None
    for each in said:
        match each.result:
            case Deny() as denied:
                return f"{each.listener.who}: {reason(denied)}", None
            case Modify(payload=payload):
                instructions = payload["instructions"]
            case RequireApproval() as wish:
                text = f"{each.listener.who} wants approval of a summary: {reason(wish)}"
                yield from tell(where.turn, Noticed(code="approval_not_asked", text=text))
            case _:
                pass
    return None, instructions


def session_text(hooks: Hooks, source: str) -> Turn[str]:
    """Return the text of all `SessionStart` hooks under their headings [D-64, H-70].

    All together keep their first 4000 characters; a visible line and a notice say when
    something was cut.
    """
    occasion = wire.SessionStart(source=source)
    try:
        listeners = hooks.to(Hook.SESSION_START)
        said = yield from consulted(listeners, Where(), lambda *_: occasion)
    except Cancelled:
        return ""
    whole = "\n".join(
        f"### {each.listener.who}\n{guarded(each.result.text)}"
        for each in said
        if isinstance(each.result, HookText) and each.result.text
    )
    hidden = len(whole) - limits.SESSION_START_CHARS
    if hidden <= 0:
        return whole
    marker = f"[SessionStart text cut: {hidden} characters not shown]"
    text = f"the text of SessionStart hooks was cut: {hidden} characters are not shown"
    yield from tell(None, Noticed(code="session_start_cut", text=text))
    return f"{whole[: limits.SESSION_START_CHARS]}\n{marker}"


def reason(decision: Deny | RequireApproval) -> str:
    """Return a decision's reason on one line, at most 1000 characters of it [A-50]."""
    return cut(visible(decision.reason), limits.HOOK_REASON_CHARS)


def decision_of(result: HookResult) -> str:
    """Return the word of a result for the journal [H-53]."""
    return "none" if not isinstance(result, Decision) else result.action.value


def _asked(listener: Listener, occasion: Occasion, where: Where) -> Turn[HookResult]:
    """Ask one listener and tell what came, also when the run is cancelled meanwhile [H-53]."""
    question = AskHook(
        by=listener.by, occasion=occasion, turn=where.turn, agent=where.agent, call=where.call
    )
    try:
        heard = yield from ask(question)
    except Cancelled as cancelled:
        failure = HookFailure(cause=HookCause.CANCELLED, message=str(cancelled))
        yield from _told(listener, occasion.event, where, HookHeard(result=failure))
        raise
    yield from _told(listener, occasion.event, where, heard)
    return heard.result


def _told(listener: Listener, event: Hook, where: Where, heard: HookHeard) -> Turn[None]:
    result = heard.result
    failure = result if isinstance(result, HookFailure) else None
    ran = HookRan(
        event=event.value,
        by=listener.by,
        cause=failure.cause.value if failure else None,
        decision=decision_of(result),
        exit_code=heard.exit_code,
        duration_ms=heard.duration_ms,
        stdout_tail=heard.stdout_tail,
        stderr_tail=heard.stderr_tail,
    )
    yield from tell(where.turn, ran)
    if failure is not None and failure.cause is not HookCause.CANCELLED:
        code = "none" if heard.exit_code is None else heard.exit_code
        text = (
            f"{event.value} hook of {listener.who} failed ({failure.cause.value}, "
            f"exit code {code}, {heard.duration_ms} ms): {failure.message}"
        )
        yield from tell(where.turn, Noticed(code="hook_failed", text=text))
