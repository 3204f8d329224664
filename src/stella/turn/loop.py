"""One turn: ask the model, do what it says, and end when it answers without a call [E-10 to E-15].

The loop reads aloud and does nothing itself. It ends with a `TurnEnd` on every path, also
when it is cancelled.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import field

from stella import codec
from stella import limits
from stella.message import Answered
from stella.message import Asked
from stella.message import FinishReason
from stella.message import Message
from stella.message import ModelFault
from stella.message import NoReply
from stella.message import Reply
from stella.message import Role
from stella.turn.ask import Cancelled
from stella.turn.ask import Turn
from stella.turn.ask import ask
from stella.turn.calls import Dispatch
from stella.turn.changes import ChangeBook
from stella.turn.facts import Cause
from stella.turn.facts import FileChanged
from stella.turn.facts import MessageAppended
from stella.turn.facts import ModelFailed
from stella.turn.facts import ModelReplied
from stella.turn.facts import ModelRequested
from stella.turn.facts import TurnEnded
from stella.turn.facts import TurnStarted
from stella.turn.facts import TurnStatus
from stella.turn.hook_facts import GateEnd
from stella.turn.hooks import Hooks
from stella.turn.hooks import Where
from stella.turn.hooks import told_at_the_end
from stella.turn.prompt import CONTINUE
from stella.turn.purse import Purse
from stella.turn.questions import AskModel
from stella.turn.questions import tell
from stella.turn.seats import WORKER
from stella.turn.stop import Hold
from stella.turn.stop import stop_gate
from stella.turn.tally import Tally
from stella.wire import occasion as wire


class Transcript:
    """The conversation of a session: only ever appended to [E-132]."""

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._messages = list(messages)

    def append(self, message: Message) -> None:
        """Add one message at the end."""
        self._messages.append(message)

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages so far, oldest first."""
        return tuple(self._messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSetup:
    """What a turn is told at its start.

    `concurrent` names the tools that may run side by side: the trusted read-only ones. `seat`
    and `model` say who is asked [D-31]. `agent` is None for the lead; a sub-agent's turn bears
    its agent's id, and the hooks of turns and the Stop gate are not for it [Q-9, E-35]. `refused`
    is why a hook lets no turn begin [E-10]. `scope` are the paths that plugins advise to stay in
    [D-32]; `strayed` are those outside that were told of already. `purse` is what it may spend.
    """

    turn: str
    round: int
    principal: str
    model: str
    seat: str = WORKER
    agent: str | None = None
    scope: tuple[str, ...] = ()
    strayed: set[str] = field(default_factory=set)
    max_steps: int
    purse: Purse = field(default_factory=Purse)
    concurrent: frozenset[str]
    tools_sha256: str
    hooks: Hooks = field(default_factory=Hooks)
    refused: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """One call that a reply asked for, and whether it gave something."""

    name: str
    ok: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnd:
    """How a turn ended [E-120]; `text` is its final text, or the sentence of its cause.

    `cancelled_by` is who ended it, None unless it was cancelled.
    """

    status: TurnStatus
    cause: Cause | None
    text: str
    answer: str
    truncated: bool
    steps: int
    tally: Tally
    uses: tuple[ToolUse, ...]
    changes: ChangeBook
    cancelled_by: str | None = None
    stop_gate: GateEnd = GateEnd.NOT_ASKED


@dataclass(slots=True)
class _State:
    """What a turn has gathered so far."""

    steps: int = 0
    calls: int = 0
    continued: int = 0
    parts: list[str] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    book: ChangeBook = field(default_factory=ChangeBook)
    uses: list[ToolUse] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ending:
    status: TurnStatus
    cause: Cause | None = None
    sentence: str = ""
    truncated: bool = False
    cancelled_by: str | None = None
    stop_gate: GateEnd = GateEnd.NOT_ASKED


SENTENCES = {
    Cause.STEP_LIMIT: "the turn reached its limit of {limit} steps",
    Cause.EMPTY_REPLY: "the model answered with nothing",
    Cause.CONTENT_FILTER: "the model's provider withheld the answer",
}
"""The fixed sentence of a cause [E-123]."""


def turn(setup: TurnSetup, transcript: Transcript) -> Turn[TurnEnd]:
    """Run one turn over `transcript`, to which this turn's messages are already appended."""
    state = _State()
    started = TurnStarted(
        round=setup.round,
        agent=setup.agent,
        principal=setup.principal,
        max_steps=setup.max_steps,
    )
    try:
        yield from tell(setup.turn, started)
        ending = yield from _steps(setup, transcript, state)
    except Cancelled as cancelled:
        ending = _Ending(
            status=TurnStatus.CANCELLED,
            cause=Cause.CANCEL,
            sentence=str(cancelled),
            cancelled_by=cancelled.by,
        )
    for path in state.book.restored:
        yield from tell(setup.turn, FileChanged(path=path, kind="restored", by=setup.turn))
    end = _ended(ending, state)
    yield from tell(setup.turn, _fact(end), durable=True)
    if setup.agent is None and end.status is not TurnStatus.CANCELLED:
        yield from told_at_the_end(setup.hooks, _occasion(end), Where(turn=setup.turn))
    return end


def _steps(setup: TurnSetup, transcript: Transcript, state: _State) -> Turn[_Ending]:
    if setup.refused is not None:
        return _Ending(status=TurnStatus.STOPPED, cause=Cause.HOOK_REFUSED, sentence=setup.refused)
    while True:
        if state.steps == setup.max_steps:
            return _stopped(setup)
        if setup.purse.crossed(state.tally) is not None:
            return _poor(setup, state)
        reply = yield from _model(setup, transcript, state)
        if isinstance(reply, NoReply):
            return _failed(reply)
        if setup.purse.crossed(state.tally) is not None:
            yield from _paid_for(setup, transcript, state, reply)
            return _poor(setup, state)
        if reply.tool_calls:
            yield from _dispatch(setup, transcript, state, reply)
            continue
        if reply.finish_reason is FinishReason.CONTENT_FILTER:
            return _named(Cause.CONTENT_FILTER)
        if not reply.text.strip():
            return _named(Cause.EMPTY_REPLY)
        transcript.append(Message(role=Role.ASSISTANT, content=reply.text))
        state.parts.append(reply.text)
        cut = reply.finish_reason is FinishReason.LENGTH
        if not cut or state.continued == limits.CONTINUATIONS_PER_TURN:
            gate = yield from _gate(setup, state)
            if isinstance(gate, GateEnd):
                return _Ending(status=TurnStatus.COMPLETED, truncated=cut, stop_gate=gate)
            transcript.append(Message(role=Role.USER, content=gate.text))
            state.parts.clear()
            continue
        state.continued += 1
        transcript.append(Message(role=Role.USER, content=CONTINUE))
        fact = MessageAppended(role="user", origin="engine", text=CONTINUE)
        yield from tell(setup.turn, fact)


def _gate(setup: TurnSetup, state: _State) -> Turn[Hold | GateEnd]:
    """Ask whether the turn may end; a sub-agent's may always [E-35]."""
    if setup.agent is not None:
        return GateEnd.NOT_ASKED
    return (yield from stop_gate(setup.hooks, Where(turn=setup.turn), "".join(state.parts)))


def _model(setup: TurnSetup, transcript: Transcript, state: _State) -> Turn[Reply | NoReply]:
    messages = transcript.messages
    role = "worker" if setup.agent is None else "subagent"
    requested = ModelRequested(
        step=state.steps,
        role=role,
        model=setup.model,
        message_count=len(messages),
        messages_sha256=hashlib.sha256(codec.canonical(messages)).hexdigest(),
        tools_sha256=setup.tools_sha256,
    )
    yield from tell(setup.turn, requested)
    modelled = yield from ask(AskModel(messages=messages, role=role, seat=setup.seat))
    reply = modelled.reply
    if isinstance(reply, NoReply):
        failure = ModelFailed(
            step=state.steps, attempt=1, kind=reply.kind.value, message=reply.message
        )
        yield from tell(setup.turn, failure)
        return reply
    state.steps += 1
    state.tally.charge(reply)
    replied = ModelReplied(
        step=state.steps - 1,
        model=reply.model,
        text=reply.text,
        tool_calls=reply.tool_calls,
        finish_reason=reply.finish_reason.value,
        usage=reply.usage,
        cost_usd=reply.cost_usd,
        duration_ms=modelled.duration_ms,
    )
    yield from tell(setup.turn, replied)
    return reply


def _paid_for(setup: TurnSetup, transcript: Transcript, state: _State, reply: Reply) -> Turn[None]:
    """Take in the reply that crossed a limit: its text is kept, its calls are not made [E-12]."""
    if reply.tool_calls:
        why = setup.purse.crossed(state.tally)
        yield from _dispatch(setup, transcript, state, reply, unmade=why)
    elif reply.text.strip():
        transcript.append(Message(role=Role.ASSISTANT, content=reply.text))
    state.parts.append(reply.text)


def _dispatch(
    setup: TurnSetup,
    transcript: Transcript,
    state: _State,
    reply: Reply,
    unmade: str | None = None,
) -> Turn[None]:
    """Have the calls of a reply run, or closed with the reason why none is made."""
    calls = tuple(
        Asked(call_id=f"{setup.turn}.c{state.calls + n}", name=call.name, input=call.input)
        for n, call in enumerate(reply.tool_calls, 1)
    )
    state.calls += len(calls)
    said = Message(role=Role.ASSISTANT, content=reply.text or None, tool_calls=calls)
    transcript.append(said)
    state.parts.clear()
    dispatch = Dispatch(
        turn=setup.turn,
        calls=calls,
        concurrent=setup.concurrent,
        book=state.book,
        scope=setup.scope,
        strayed=setup.strayed,
        hooks=setup.hooks,
        agent=setup.agent,
    )
    try:
        yield from dispatch.run() if unmade is None else dispatch.close(unmade)
    finally:
        # Also after a cancel: every call has exactly one result in the transcript [E-15].
        transcript.append(Message(role=Role.TOOL, tool_results=dispatch.answers))
        state.uses.extend(_use(answer, calls) for answer in dispatch.answers)


def _use(answer: Answered, calls: tuple[Asked, ...]) -> ToolUse:
    name = next(call.name for call in calls if call.call_id == answer.call_id)
    return ToolUse(name=name, ok=answer.output.ok is not None)


def _stopped(setup: TurnSetup) -> _Ending:
    sentence = SENTENCES[Cause.STEP_LIMIT].format(limit=setup.max_steps)
    return _Ending(status=TurnStatus.STOPPED, cause=Cause.STEP_LIMIT, sentence=sentence)


def _poor(setup: TurnSetup, state: _State) -> _Ending:
    sentence = setup.purse.crossed(state.tally) or ""
    return _Ending(status=TurnStatus.STOPPED, cause=Cause.MONEY_LIMIT, sentence=sentence)


def _failed(reply: NoReply) -> _Ending:
    if reply.kind is ModelFault.CANCELLED:
        return _Ending(status=TurnStatus.CANCELLED, cause=Cause.CANCEL, sentence=reply.message)
    sentence = f"the model gave no reply ({reply.kind.value}): {reply.message}"
    return _Ending(status=TurnStatus.FAILED, cause=Cause.PROVIDER, sentence=sentence)


def _named(cause: Cause) -> _Ending:
    return _Ending(status=TurnStatus.FAILED, cause=cause, sentence=SENTENCES[cause])


def _ended(ending: _Ending, state: _State) -> TurnEnd:
    answer = "".join(state.parts)
    return TurnEnd(
        status=ending.status,
        cause=ending.cause,
        text=answer if ending.status is TurnStatus.COMPLETED else ending.sentence,
        answer=answer,
        truncated=ending.truncated,
        steps=state.steps,
        tally=state.tally,
        uses=tuple(state.uses),
        changes=state.book,
        cancelled_by=ending.cancelled_by,
        stop_gate=ending.stop_gate,
    )


def _occasion(end: TurnEnd) -> wire.TurnEnd | wire.TurnError:
    """Return what the hooks of an ended turn are told [H-58, E-14]."""
    cause = end.cause.value if end.cause else None
    if end.status is TurnStatus.FAILED:
        return wire.TurnError(
            cause=cause or "", error=end.text, steps=end.steps, cost_usd=end.tally.cost_usd
        )
    return wire.TurnEnd(
        final_text=end.answer,
        status=end.status.value,
        cause=cause,
        steps=end.steps,
        cost_usd=end.tally.cost_usd,
        changed_files=end.changes.paths,
    )


def _fact(end: TurnEnd) -> TurnEnded:
    return TurnEnded(
        status=end.status,
        cause=end.cause,
        truncated=end.truncated,
        stop_gate=end.stop_gate.value,
        steps=end.steps,
        usage=end.tally.usage,
        cost_usd=end.tally.cost_usd,
        changed_files=end.changes.paths,
        text=end.text,
    )
