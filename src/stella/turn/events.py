"""What a run's facts are called on the bus: facts in, names with their payloads out [H-20].

Nothing is decided and nothing is measured here. An event is told when the fact that makes it
true is told, so the order is the journal's; a key whose value is not known is left out, except
a cost, which is null [E-82]. Payloads are raw: whoever hands a copy on clears it first [H-40].
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from typing import Any
from typing import Final

from stella import codec
from stella.message import ErrorClass
from stella.message import FinishReason
from stella.message import ModelFault
from stella.turn.facts import Baselined
from stella.turn.facts import CallJudged
from stella.turn.facts import CallRequested
from stella.turn.facts import Cause
from stella.turn.facts import Emitted
from stella.turn.facts import Fact
from stella.turn.facts import FileChanged
from stella.turn.facts import MessageAppended
from stella.turn.facts import ModelFailed
from stella.turn.facts import ModelReplied
from stella.turn.facts import ModelRequested
from stella.turn.facts import PipelineBound
from stella.turn.facts import Prompted
from stella.turn.facts import ToolFinished
from stella.turn.facts import ToolStarted
from stella.turn.facts import TurnEnded
from stella.turn.facts import TurnStarted
from stella.turn.facts import TurnStatus
from stella.wire.grant import TestBaseline
from stella.wire.points import Signal

NAMES: Final = (
    "agent.turn.started",
    "agent.turn.completed",
    "agent.step.started",
    "agent.step.completed",
    "agent.message.completed",
    "agent.error",
    "transcript.entry.created",
    "model.request.started",
    "model.request.completed",
    "model.request.failed",
    "model.rate_limited",
    "tool.call.requested",
    "tool.call.validated",
    "tool.call.started",
    "tool.call.completed",
    "tool.call.failed",
    "tool.call.cancelled",
    "policy.evaluated",
    "policy.allowed",
    "policy.blocked",
    "sensitive_operation.detected",
    "file.read",
    "file.diff.computed",
    "files_touched.updated",
    "command.started",
    "command.completed",
    "command.failed",
    "test.started",
    "test.completed",
    "test.failed",
    "extension.loaded",
)
"""The names of the catalogue that a run's facts make."""

_SHELL: Final = "bash"
_READER: Final = "read_file"
_BATCHES: Final = ("files", "edits")
_BASELINE: Final = "baseline"
# Names of files that hold what nobody should see [H-42].
_SENSITIVE: Final = re.compile(
    r"\.env.*|.*(?:credential|secret).*|id_rsa|id_ed25519|\.netrc|\.npmrc|\.pypirc|.*\.(?:pem|key)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One event before it has a place on a bus: its full name and its payload."""

    name: str
    payload: dict[str, Any]


@dataclass(slots=True)
class _Turn:
    """What an event of a turn needs from an earlier fact of it."""

    step: int | None = None
    role: str = ""
    open: int = 0
    chars: int = 0


@dataclass(slots=True)
class _Call:
    """What an event of a call needs from an earlier fact of it."""

    given: dict[str, Any] | str
    started: bool = False
    changed: list[str] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class RunEvents:
    """Turns the facts of runs into events; `workspace` is where commands run.

    It keeps what is open and forgets it when it closes.
    """

    workspace: str
    _turns: dict[str | None, _Turn] = field(default_factory=dict)
    _calls: dict[str, _Call] = field(default_factory=dict)

    def of(self, turn: str | None, fact: Fact) -> Iterator[Told]:
        """Yield the events of one fact in their order, none when it has none."""
        match fact:
            case Emitted():
                yield Told(name=fact.name, payload=fact.payload)
            case PipelineBound() | Baselined():
                yield from _pipeline(fact)
            case Prompted() | MessageAppended():
                yield _message(fact)
            case TurnStarted():
                yield _turn_started(turn, fact)
            case ModelRequested() | ModelReplied() | ModelFailed():
                yield from self._model(self._turn(turn), fact)
            case CallRequested():
                given = fact.input if fact.input is not None else fact.raw or ""
                self._calls[fact.call_id] = _Call(given=given)
            case CallJudged():
                yield from self._judged(fact)
            case ToolStarted():
                yield from self._started(fact)
            case FileChanged():
                yield from self._changed(fact)
            case ToolFinished():
                yield from self._finished(self._turn(turn), fact)
            case TurnEnded():
                yield from _turn_ended(self._turns.pop(turn, _Turn()), fact)
            case _:
                return

    def _turn(self, turn: str | None) -> _Turn:
        return self._turns.setdefault(turn, _Turn())

    def _call(self, call_id: str) -> _Call:
        return self._calls.setdefault(call_id, _Call(given=""))

    def _model(
        self, state: _Turn, fact: ModelRequested | ModelReplied | ModelFailed
    ) -> Iterator[Told]:
        match fact:
            case ModelRequested():
                if state.step != fact.step:  # another attempt is no other step
                    yield from _step_over(state, "continue")
                    state.step, state.open = fact.step, 0
                    yield _told("agent.step.started", step=fact.step)
                state.role = fact.role
                yield _told(
                    "model.request.started", step=fact.step, role=fact.role, model=fact.model
                )
            case ModelFailed():
                yield _told(
                    "model.request.failed",
                    kind=fact.kind,
                    attempt=fact.attempt,
                    delay_ms=fact.delay_ms,
                )
                if fact.kind == ModelFault.RATE_LIMITED.value:
                    yield _told("model.rate_limited", retry_after_ms=fact.delay_ms)
            case _:
                yield from _replied(state, fact)

    def _judged(self, fact: CallJudged) -> Iterator[Told]:
        """Yield what was asked for and what became of it; from here on it is as hooks left it."""
        call = self._call(fact.call_id)
        asked = call.given
        call.given = asked if fact.given is None else fact.given
        yield _told("tool.call.requested", tool=fact.tool, input=asked)
        for path in dict.fromkeys((*_paths(asked), *_paths(call.given))):
            if _SENSITIVE.fullmatch(path.rstrip("/").rpartition("/")[2]):
                yield _told("sensitive_operation.detected", tool=fact.tool, path=path)
        yield from _ruled(fact)

    def _started(self, fact: ToolStarted) -> Iterator[Told]:
        call = self._call(fact.call_id)
        call.started = True
        yield _told("tool.call.started", tool=fact.tool, call_id=fact.call_id)
        if fact.tool == _SHELL:
            yield _told("command.started", command=_text(call.given), cwd=self.workspace)

    def _changed(self, fact: FileChanged) -> Iterator[Told]:
        if fact.by in self._calls:
            self._calls[fact.by].changed.append(fact.path)
        yield _told(
            "file.diff.computed",
            path=fact.path,
            kind=fact.kind,
            added=fact.added,
            removed=fact.removed,
        )

    def _finished(self, state: _Turn, fact: ToolFinished) -> Iterator[Told]:
        call = self._calls.pop(fact.call_id, _Call(given=""))
        if call.started:
            yield from _ended(fact)
        if call.changed:
            yield _told("files_touched.updated", paths=call.changed)
        state.chars += len(fact.output.text)
        state.open -= 1
        if state.open == 0:  # all results of a reply are one message [E-22]
            yield _entry("tool", "tool", state.chars)


def _told(name: str, /, **payload: Any) -> Told:
    return Told(
        name=name,
        payload={k: v for k, v in payload.items() if v is not None or k == "cost_usd"},
    )


def _entry(role: str, origin: str, chars: int) -> Told:
    return _told("transcript.entry.created", role=role, origin=origin, chars=chars)


def _message(fact: Prompted | MessageAppended) -> Told:
    if isinstance(fact, Prompted):
        return _entry("user", "person", len(fact.text))
    return _entry(fact.role, fact.origin, len(fact.text))


def _turn_started(turn: str | None, fact: TurnStarted) -> Told:
    return _told(
        "agent.turn.started",
        turn_id=turn,
        round=fact.round,
        max_steps=fact.max_steps,
        principal=fact.principal,
    )


def _turn_ended(state: _Turn, fact: TurnEnded) -> Iterator[Told]:
    cause = fact.cause.value if fact.cause else None
    yield from _step_over(state, _outcome(state, fact))
    if fact.status is TurnStatus.FAILED:
        yield _told("agent.error", cause=cause, message=fact.text)
    yield _told(
        "agent.turn.completed",
        status=fact.status.value,
        cause=cause,
        steps=fact.steps,
        cost_usd=fact.cost_usd,
    )


def _outcome(state: _Turn, fact: TurnEnded) -> str:
    """Return what became of the last step of a turn [E-12 item 16]."""
    if fact.status is TurnStatus.COMPLETED:
        return "done"
    # The limit of steps is looked at between steps, so the last one came to its end [E-11].
    whole = fact.cause is Cause.STEP_LIMIT and state.open == 0
    return "continue" if whole else "aborted"


def _step_over(state: _Turn, outcome: str) -> Iterator[Told]:
    if state.step is not None:
        yield _told("agent.step.completed", step=state.step, outcome=outcome)


def _replied(state: _Turn, fact: ModelReplied) -> Iterator[Told]:
    state.open, state.chars = len(fact.tool_calls), 0
    yield _told(
        "model.request.completed",
        step=fact.step,
        role=state.role,
        model=fact.model,
        usage=codec.plain(fact.usage),
        cost_usd=fact.cost_usd,
        tool_calls=len(fact.tool_calls),
    )
    filtered = fact.finish_reason == FinishReason.CONTENT_FILTER.value
    if not fact.tool_calls and (filtered or not fact.text.strip()):
        return  # such a reply is not appended [E-30]
    yield _entry("assistant", "model", len(fact.text))
    if fact.text:
        yield _told("agent.message.completed", step=fact.step, chars=len(fact.text))


def _ruled(fact: CallJudged) -> Iterator[Told]:
    tool, cause = fact.tool, fact.cause
    yield _told(
        "policy.evaluated",
        tool=tool,
        principal=fact.principal,
        decision=fact.decision,
        modified=bool(fact.chain),
        consulted=[row.rule for row in fact.trace],
    )
    if fact.decision == "allow":
        yield _told("policy.allowed", tool=tool, cause=cause)
        yield _told("tool.call.validated", tool=tool, call_id=fact.call_id)
    else:
        yield _told("policy.blocked", tool=tool, cause=cause)


def _paths(given: dict[str, Any] | str) -> Iterator[str]:
    """Yield the paths that the input of a file tool names [H-42]."""
    if isinstance(given, str):
        return
    found = [given.get("path")]
    for key in _BATCHES:
        items = given.get(key)
        named = items if isinstance(items, list) else ()
        found += [item.get("path") if isinstance(item, dict) else item for item in named]
    yield from (path for path in found if isinstance(path, str))


def _text(given: dict[str, Any] | str) -> str:
    command = given.get("command") if isinstance(given, dict) else None
    return command if isinstance(command, str) else ""


def _ended(fact: ToolFinished) -> Iterator[Told]:
    """Yield how a call ended that had started [E-22]."""
    error = fact.output.error
    if fact.tool == _SHELL:
        yield _command(fact)
    if fact.tool == _READER:
        yield from _read(fact)
    name = "completed"
    if error is not None:
        name = "cancelled" if error.kind is ErrorClass.CANCELLED else "failed"
    yield Told(
        name=f"tool.call.{name}",
        payload={
            "tool": fact.tool,
            "call_id": fact.call_id,
            "ok": error is None,
            "duration_ms": fact.duration_ms,
        }
        | ({} if error is None else {"class": error.kind.value}),
    )


def _command(fact: ToolFinished) -> Told:
    data = _data(fact)
    well = fact.output.ok is not None and data.get("exit_code") == 0
    return _told(
        "command.completed" if well else "command.failed",
        exit_code=data.get("exit_code"),
        signal=data.get("signal"),
        duration_ms=fact.duration_ms,
    )


def _read(fact: ToolFinished) -> Iterator[Told]:
    for file in _data(fact).get("files", ()):
        if "lines" in file:
            yield _told("file.read", path=file["path"], lines=file["lines"])


def _data(fact: ToolFinished) -> dict[str, Any]:
    part = fact.output.ok or fact.output.error
    return (part.data if part else None) or {}


def _pipeline(fact: PipelineBound | Baselined) -> Iterator[Told]:
    """Yield who wraps the run and how its test came out.

    The test runs as soon as a pipeline with one is bound, which is the fact before it [D-10].
    """
    if isinstance(fact, PipelineBound):
        for member in fact.members:
            yield _told("extension.loaded", kind="plugin", name=member.name)
        if fact.signals.get(Signal.TEST_COMMAND.value):
            yield _told("test.started", side=_BASELINE)
    elif fact.baseline is not TestBaseline.NOT_RUN:
        failed = fact.baseline is TestBaseline.UNOBSERVED
        yield _told(
            "test.failed" if failed else "test.completed",
            side=_BASELINE,
            exit_code=fact.exit_code,
            reason=fact.reason,
        )
