"""What a run came to, as one object: a fold over what it told [S-22, S-10].

Nothing here is measured or decided again. The keys and their order are the contract of the
machine formats; keys are only ever added at the end.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from stella.message import ErrorClass
from stella.session.telling import Story
from stella.turn.changes import ChangeBook
from stella.turn.facts import CallJudged
from stella.turn.facts import Cause
from stella.turn.facts import Fact
from stella.turn.facts import ModelReplied
from stella.turn.facts import RunStatus
from stella.turn.facts import ToolFinished
from stella.turn.facts import TurnEnded
from stella.turn.facts import TurnStarted
from stella.turn.facts import TurnStatus
from stella.turn.facts import UsageTotal
from stella.turn.hold import RunEnd
from stella.turn.plugin_facts import Exchanged
from stella.turn.plugin_facts import PluginFaulted
from stella.turn.tally import Tally
from stella.verdict.again import Outcome
from stella.verdict.finding import Verdict

EXIT_CODES: Final = {
    RunStatus.MET: 0,
    RunStatus.COMPLETED: 0,
    RunStatus.FAILED: 1,
    RunStatus.STOPPED: 3,
    RunStatus.UNMET: 4,
    RunStatus.UNDECIDED: 5,
    RunStatus.CANCELLED: 130,
}
"""The exit code of a status; a run ended by SIGTERM has 143 instead [S-10]."""

TERMINATED: Final = 143


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of the result; every key is always written, null where there is nothing."""


class FaultRow(Row, frozen=True, kw_only=True):
    """One fault of a plugin [W-50]."""

    plugin: str
    point: str
    stage: str | None
    round: int
    fault: str
    message: str


class HostCallRow(Row, frozen=True, kw_only=True):
    """One host call of a plugin that was refused [D-49, W-35]."""

    kind: str
    plugin: str
    point: str
    round: int
    call: str
    refusal: str
    detail: str


class RefusalRow(Row, frozen=True, kw_only=True):
    """One tool call that was refused [A-53]."""

    kind: str
    call_id: str
    tool: str
    principal: str
    cause: str | None
    reason: str


class ToolRow(Row, frozen=True, kw_only=True):
    """How often a tool was called and how often it gave an error."""

    name: str
    calls: int
    errors: int


class TurnRow(Row, frozen=True, kw_only=True):
    """How the last turn ended, and the outcome of the pipeline, null without one."""

    turn_status: str | None
    cause: str | None
    truncated: bool
    stop_gate: str
    stop: Outcome | None


class JournalRow(Row, frozen=True, kw_only=True):
    """Where the record of the run lies, relative to the workspace, and its last hash [J2-11]."""

    path: str
    records: int
    head: str


class RunResult(Row, frozen=True, kw_only=True):
    """The result of one run, keys in the order of the contract [S-22]."""

    status: RunStatus
    answer: str
    rounds: int
    pipeline: str | None
    verdict: Verdict | None
    outcome: TurnRow
    faults: tuple[FaultRow, ...]
    refusals: tuple[RefusalRow | HostCallRow, ...]
    changed_files: tuple[str, ...] | None
    tools: tuple[ToolRow, ...]
    steps: int
    usage: UsageTotal
    cost_usd: float | None
    session: str
    journal: JournalRow
    exit_code: int


def exit_code_of(end: RunEnd) -> int:
    """Return the exit code of a run [S-10, D-83]."""
    if end.status is RunStatus.CANCELLED and end.cancelled_by in {"SIGTERM", "SIGHUP"}:
        return TERMINATED
    return EXIT_CODES[end.status]


def result_of(
    end: RunEnd, story: Story, *, pipeline: str | None, session: str, journal: JournalRow
) -> RunResult:
    """Return the result of a run from its end and everything it told, in order.

    Refusals count also in the turns under a turn, steps and tools do not [S-22].
    """
    facts = story.own
    turns = [fact for fact in facts if isinstance(fact, TurnEnded)]
    last = turns[-1] if turns else None
    changed = end.changes.paths
    return RunResult(
        status=end.status,
        answer=end.turn.answer if end.turn else "",
        rounds=end.rounds,
        pipeline=pipeline,
        verdict=end.verdict,
        outcome=TurnRow(
            turn_status=_status(end, last),
            cause=_cause(end, last),
            truncated=last.truncated if last else False,
            stop_gate=last.stop_gate if last else "not_asked",
            stop=end.outcome,
        ),
        faults=tuple(_fault(fact) for fact in facts if isinstance(fact, PluginFaulted)),
        refusals=tuple(_refusals(story.every)),
        changed_files=None if changed is None else tuple(sorted(changed)),
        tools=_tools(facts),
        steps=_steps(facts),
        usage=end.tally.usage,
        cost_usd=end.tally.cost_usd,
        session=session,
        journal=journal,
        exit_code=exit_code_of(end),
    )


def broken_off(story: Story) -> RunEnd:
    """Return the end of a run whose journal broke, from what was told until then [E-6, J2-34]."""
    tally = Tally()
    for fact in story.every:
        if isinstance(fact, ModelReplied):
            tally.charge(fact)
    return RunEnd(
        status=RunStatus.FAILED,
        rounds=sum(isinstance(fact, TurnStarted) for fact in story.own),
        turn=None,
        verdict=None,
        evidence=None,
        outcome=None,
        tally=tally,
        changes=ChangeBook(measured=False),
        cause=Cause.JOURNAL,
    )


def _status(end: RunEnd, last: TurnEnded | None) -> str | None:
    broken = end.cause is Cause.JOURNAL
    status = TurnStatus.FAILED if broken else last.status if last else None
    return status.value if status else None


def _cause(end: RunEnd, last: TurnEnded | None) -> str | None:
    cause = end.cause or (last.cause if last else None)
    return cause.value if cause else None


def _steps(facts: tuple[Fact, ...]) -> int:
    """Add up the steps of the turns; one that was broken off has those a model replied to."""
    done = going = 0
    for fact in facts:
        if isinstance(fact, ModelReplied):
            going += 1
        elif isinstance(fact, TurnEnded):
            done, going = done + fact.steps, 0
    return done + going


def _fault(fact: PluginFaulted) -> FaultRow:
    return FaultRow(
        plugin=fact.plugin,
        point=fact.point.value,
        stage=fact.stage,
        round=fact.round,
        fault=fact.fault,
        message=fact.message,
    )


def _refusals(facts: tuple[Fact, ...]) -> Iterable[RefusalRow | HostCallRow]:
    principals = {fact.call_id: fact.principal for fact in facts if isinstance(fact, CallJudged)}
    for fact in facts:
        if isinstance(fact, Exchanged):
            yield from _refused_calls(fact)
        if not isinstance(fact, ToolFinished) or fact.output.error is None:
            continue
        error = fact.output.error
        if error.kind is ErrorClass.REFUSED_BY_POLICY:
            yield RefusalRow(
                kind="tool",
                call_id=fact.call_id,
                tool=fact.tool,
                principal=principals.get(fact.call_id, "user"),
                cause=error.cause,
                reason=error.message,
            )


def _refused_calls(fact: Exchanged) -> Iterable[HostCallRow]:
    for call in fact.calls:
        if call.refusal is not None:
            yield HostCallRow(
                kind="host_call",
                plugin=fact.plugin,
                point=fact.point.value,
                round=fact.round,
                call=call.call.value,
                refusal=call.refusal.refusal.value,
                detail=call.refusal.detail,
            )


def _tools(facts: tuple[Fact, ...]) -> tuple[ToolRow, ...]:
    """Count the calls per tool, in order of first use."""
    counts: dict[str, list[int]] = {}
    for fact in facts:
        if isinstance(fact, ToolFinished):
            row = counts.setdefault(fact.tool, [0, 0])
            row[0] += 1
            row[1] += fact.output.error is not None
    return tuple(ToolRow(name=name, calls=n, errors=e) for name, (n, e) in counts.items())
