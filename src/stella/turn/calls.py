"""The tool calls of one reply: grouped, judged in order, run, each with one result [E-20, E-28]."""

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from itertools import groupby
from typing import Any

from stella import limits
from stella.escape import visible
from stella.message import Answered
from stella.message import Asked
from stella.message import ErrorClass
from stella.message import Output
from stella.message import failed
from stella.turn.ask import Cancelled
from stella.turn.ask import Turn
from stella.turn.ask import ask
from stella.turn.changes import ChangeBook
from stella.turn.facts import CallRequested
from stella.turn.facts import FileChanged
from stella.turn.facts import Noticed
from stella.turn.facts import ToolFinished
from stella.turn.facts import ToolStarted
from stella.turn.hooks import Hooks
from stella.turn.hooks import Where
from stella.turn.prelude import outside
from stella.turn.questions import AskGate
from stella.turn.questions import Change
from stella.turn.questions import Ran
from stella.turn.questions import RunTools
from stella.turn.questions import tell
from stella.turn.rewrite import Ended
from stella.turn.rewrite import considered
from stella.turn.rewrite import reported


def groups(calls: tuple[Asked, ...], concurrent: frozenset[str]) -> Iterator[tuple[Asked, ...]]:
    """Yield the calls in order: runs of concurrent ones together, every other one alone [E-20]."""
    for side_by_side, run in groupby(calls, key=lambda call: call.name in concurrent):
        members = tuple(run)
        if side_by_side:
            yield members
        else:
            yield from ((call,) for call in members)


@dataclass(slots=True)
class Dispatch:
    """Runs the calls of one reply and keeps what came of each, in call order.

    `before` has the input of each call that hooks changed; `ran` what has run and is not told.
    """

    turn: str
    calls: tuple[Asked, ...]
    concurrent: frozenset[str]
    book: ChangeBook
    scope: tuple[str, ...] = ()
    strayed: set[str] = field(default_factory=set)
    hooks: Hooks = field(default_factory=Hooks)
    agent: str | None = None
    results: dict[str, Output] = field(default_factory=dict)
    requested: set[str] = field(default_factory=set)
    started: dict[str, bool] = field(default_factory=dict)
    before: dict[str, dict[str, Any]] = field(default_factory=dict)
    ran: dict[str, tuple[Asked, Ran]] = field(default_factory=dict)
    measured: set[str] = field(default_factory=set)

    def run(self) -> Turn[None]:
        """Give every call its result; a cancel closes the open ones and goes on [E-15]."""
        try:
            for group in groups(self.calls, self.concurrent):
                for start in range(0, len(group), limits.GROUP_WIDTH):
                    yield from self._group(group[start : start + limits.GROUP_WIDTH])
        except Cancelled:
            yield from self.close("the run was cancelled")
            raise

    @property
    def answers(self) -> tuple[Answered, ...]:
        """The results of the calls that have one, in call order [E-22]."""
        return tuple(
            Answered(call_id=call.call_id, output=self.results[call.call_id])
            for call in self.calls
            if call.call_id in self.results
        )

    def _group(self, group: tuple[Asked, ...]) -> Turn[None]:
        admitted: list[Asked] = []
        for asked in group:
            yield from self._request(asked)
            call = yield from self._judge(asked)
            if call is not None:
                admitted.append(call)
        for call in admitted:
            read_only = self.started[call.call_id]
            fact = ToolStarted(call_id=call.call_id, tool=call.name, read_only=read_only)
            yield from tell(self.turn, fact, durable=not read_only)
        if admitted:
            ran = yield from ask(RunTools(calls=tuple(admitted)))
            for call, one in zip(admitted, ran, strict=True):
                self.ran[call.call_id] = (call, one)
            for call in admitted:
                yield from self._report(call)

    def _judge(self, asked: Asked) -> Turn[Asked | None]:
        """Return the call as it may run, None when it was refused [E-23 items 1 to 4, H-60]."""
        given = yield from considered(self.hooks, asked, self._where(asked))
        call = given.call
        if call is not asked and isinstance(asked.input, dict):
            self.before[call.call_id] = asked.input
        question = AskGate(call=call, opinions=given.opinions, chain=given.chain)
        ruling = yield from ask(question)
        if ruling.judged is not None:
            yield from tell(self.turn, ruling.judged)
        if ruling.refusal is not None:
            yield from self._finish(call, ruling.refusal, 0)
            return None
        self.started[call.call_id] = ruling.read_only
        return call

    def _where(self, call: Asked) -> Where:
        return Where(turn=self.turn, agent=self.agent, call=call.call_id)

    def _request(self, call: Asked) -> Turn[None]:
        if call.call_id in self.requested:
            return
        self.requested.add(call.call_id)
        raw = call.input if isinstance(call.input, str) else None
        given = None if isinstance(call.input, str) else call.input
        fact = CallRequested(call_id=call.call_id, tool=call.name, input=given, raw=raw)
        yield from tell(self.turn, fact)

    def _report(self, call: Asked) -> Turn[None]:
        """Tell hooks and the journal of a call that ran [E-23 item 7]."""
        ran = self.ran[call.call_id][1]
        yield from self._measure(call, ran)
        ended = Ended(
            call=call,
            read_only=self.started[call.call_id],
            output=ran.output,
            duration_ms=ran.duration_ms,
            input_before=self.before.get(call.call_id),
        )
        yield from reported(self.hooks, ended, self._where(call))
        yield from self._finish(call, ran.output, ran.duration_ms)

    def _measure(self, call: Asked, ran: Ran) -> Turn[None]:
        if call.call_id in self.measured:
            return
        self.measured.add(call.call_id)
        self.book.add(ran.changes)
        for change in ran.changes or ():
            yield from tell(self.turn, changed(change, call.call_id))
            yield from self._stray(change.path)

    def _stray(self, path: str) -> Turn[None]:
        """Tell of a write outside the advised scope, once per path; it stands [D-32]."""
        if outside(path, self.scope) and path not in self.strayed:
            self.strayed.add(path)
            text = f"{visible(path)} was written and lies outside the scope that plugins advised"
            yield from tell(self.turn, Noticed(code="outside_scope", text=text))

    def _finish(self, call: Asked, output: Output, duration_ms: int) -> Turn[None]:
        self.results[call.call_id] = output
        fact = ToolFinished(
            call_id=call.call_id,
            tool=call.name,
            input=call.input,
            input_before=self.before.get(call.call_id),
            output=output,
            duration_ms=duration_ms,
        )
        yield from tell(self.turn, fact, durable=not self.started.get(call.call_id, True))

    def close(self, why: str) -> Turn[None]:
        """Give every call that has none a result that says why it was not made [E-15]."""
        for call in self.calls:
            if call.call_id in self.results:
                continue
            if call.call_id in self.ran:
                # It has run: only those who would have heard of it have not [H-56].
                ran_as, ran = self.ran[call.call_id]
                yield from self._measure(ran_as, ran)
                yield from self._finish(ran_as, ran.output, ran.duration_ms)
                continue
            if call.call_id not in self.started:
                output = failed(ErrorClass.NOT_EXECUTED, f"{why} before this call started")
                yield from self._request(call)
            elif self.started[call.call_id]:
                output = failed(ErrorClass.CANCELLED, "cancelled", data={"effect": "none"})
            else:
                # What it changed on disk was not measured, so nothing may be claimed [E-113].
                self.book.add(None)
                output = failed(
                    ErrorClass.CANCELLED,
                    "cancelled; its effect is unknown",
                    data={"effect": "unknown"},
                )
            yield from self._finish(call, output, 0)


def changed(change: Change, by: str) -> FileChanged:
    """Return the record of a measured change [T2-50]."""
    return FileChanged(
        path=change.path,
        kind=change.kind,
        added=change.added,
        removed=change.removed,
        bytes=change.bytes,
        sha256=change.after,
        diff=change.diff,
        by=by,
    )
