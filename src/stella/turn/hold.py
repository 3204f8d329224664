"""A run: rounds of one turn each, held open until the declared rule is met [D-10, D-16].

A plugin is asked before and after a turn; judge and again are plain function calls in
between. A fault of a plugin never aborts a turn and never becomes `met` [W-50].
"""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from decimal import Decimal
from typing import assert_never

from stella.message import Message
from stella.message import Role
from stella.turn.ask import Cancelled
from stella.turn.ask import Turn
from stella.turn.ask import ask
from stella.turn.asking import Asking
from stella.turn.changes import ChangeBook
from stella.turn.facts import Cause
from stella.turn.facts import ChangedArtifact
from stella.turn.facts import Continued
from stella.turn.facts import Judged
from stella.turn.facts import MessageAppended
from stella.turn.facts import Noticed
from stella.turn.facts import PipelineBound
from stella.turn.facts import Prompted
from stella.turn.facts import RunStatus
from stella.turn.facts import TamperFound
from stella.turn.facts import TurnStatus
from stella.turn.hook_facts import GateEnd
from stella.turn.hooks import Hooks
from stella.turn.hooks import Listener
from stella.turn.hooks import Where
from stella.turn.hooks import refusal
from stella.turn.loop import Transcript
from stella.turn.loop import TurnEnd
from stella.turn.loop import TurnSetup
from stella.turn.loop import turn
from stella.turn.prelude import Prelude
from stella.turn.prelude import said
from stella.turn.prompt import guarded
from stella.turn.purse import Purse
from stella.turn.questions import Inspect
from stella.turn.questions import Inspection
from stella.turn.questions import TakeBaseline
from stella.turn.questions import tell
from stella.turn.seats import Seating
from stella.turn.stages import Composition
from stella.turn.tally import Tally
from stella.verdict.again import Another
from stella.verdict.again import Ceiling
from stella.verdict.again import Continuation
from stella.verdict.again import Correction
from stella.verdict.again import Outcome
from stella.verdict.again import State
from stella.verdict.again import Stop
from stella.verdict.again import again
from stella.verdict.finding import Met
from stella.verdict.finding import Undecided
from stella.verdict.finding import Unmet
from stella.verdict.finding import Verdict
from stella.verdict.judge import judge
from stella.verdict.progress import Standing
from stella.verdict.progress import progress
from stella.verdict.rule import rule_digest
from stella.wire.evidence import Artifact
from stella.wire.evidence import EvidenceSet
from stella.wire.evidence import Tamper
from stella.wire.evidence import Tampered
from stella.wire.evidence import TamperState
from stella.wire.evidence import gathered
from stella.wire.occasion import TurnStart
from stella.wire.occasion import UserPromptSubmit
from stella.wire.points import Hook

CEILINGS = {
    Cause.STEP_LIMIT: Ceiling.STEPS,
    Cause.STUCK_LOOP: Ceiling.STEPS,
    Cause.MONEY_LIMIT: Ceiling.MONEY,
    Cause.TOKEN_LIMIT: Ceiling.MONEY,
    Cause.TIME_LIMIT: Ceiling.TIME,
}
"""Which ceiling of `again` a turn's limit is [D-18, E-80]."""

_ON_PURPOSE = (Cause.SOFT_STOP, Cause.HOOK_REFUSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSetup:
    """What a run is told at its start; without `composition` the plain loop runs [D-6].

    `first_turn` is the number of the next turn of the session [E-2]. `model` is the worker's
    model, `models` those of the seats that have one of their own [D-50]; `hooks` says who listens
    to what, in dispatch order; `spend_limit` are USD [E-80]. `joining` are the skills and scoped
    records that stand behind the prompt [E-132].
    """

    goal: str
    source: str
    first_turn: int
    principal: str
    model: str
    max_steps: int
    concurrent: frozenset[str]
    tools_sha256: str
    models: Mapping[str, str] = field(default_factory=dict)
    seating: Seating = field(default_factory=Seating)
    spend_limit: Decimal | None = None
    composition: Composition | None = None
    bound: PipelineBound | None = None
    host_max_holds: int = 0
    test_command: bool = False
    hooks: Mapping[Hook, tuple[Listener, ...]] = field(default_factory=dict)
    joining: MessageAppended | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """How a run ended [E-122]; `turn` is its last one, None when none came to an end.

    `cause` is for a run that ended although its turn did not: the journal broke [E-6], or a hook
    refused the prompt and `refusal` says why [H-59].
    """

    status: RunStatus
    rounds: int
    turn: TurnEnd | None
    verdict: Verdict | None
    evidence: EvidenceSet | None
    outcome: Outcome | None
    tally: Tally
    changes: ChangeBook
    cancelled_by: str | None = None
    cause: Cause | None = None
    refusal: str = ""


@dataclass(slots=True)
class _Run:
    """What a run has gathered so far; counts never start again inside it [D-19]."""

    setup: RunSetup
    transcript: Transcript
    hooks: Hooks
    tally: Tally = field(default_factory=Tally)
    book: ChangeBook = field(default_factory=ChangeBook)
    round: int = 0
    rounds: int = 0
    holds: int = 0
    last: TurnEnd | None = None
    verdict: Verdict | None = None
    evidence: EvidenceSet | None = None
    outcome: Outcome | None = None
    standing: Standing | None = None
    strayed: set[str] = field(default_factory=set)

    @property
    def purse(self) -> Purse:
        """What the run may spend from its beginning [E-80]."""
        return Purse.of(self.setup.spend_limit)

    def end(self, status: RunStatus, by: str | None = None, refusal: str = "") -> RunEnd:
        return RunEnd(
            status=status,
            rounds=self.rounds,
            turn=self.last,
            verdict=self.verdict,
            evidence=self.evidence,
            outcome=self.outcome,
            tally=self.tally,
            changes=self.book,
            cancelled_by=by,
            cause=Cause.HOOK_REFUSED if refusal else None,
            refusal=refusal,
        )


def run(setup: RunSetup, transcript: Transcript) -> Turn[RunEnd]:
    """Run one prompt to its end, with or without a pipeline."""
    state = _Run(setup=setup, transcript=transcript, hooks=Hooks(listeners=setup.hooks))
    try:
        yield from tell(None, Prompted(text=setup.goal, source=setup.source))
        refused = yield from refusal(state.hooks, UserPromptSubmit(prompt=setup.goal), Where())
        if refused is not None:
            yield from tell(None, Noticed(code="hook_refused", text=refused))
            return state.end(RunStatus.STOPPED, refusal=refused)
        if setup.composition is None:
            yield from _turn(state, Prelude(), None, (yield from _barred(state)))
        else:
            yield from _rounds(state, setup.composition)
    except Cancelled as cancelled:
        return state.end(RunStatus.CANCELLED, cancelled.by)
    return state.end(_status(state), state.last.cancelled_by if state.last else None)


def _rounds(state: _Run, composition: Composition) -> Turn[None]:
    setup = state.setup
    if setup.bound is not None:
        yield from tell(None, setup.bound)
    granted = yield from ask(TakeBaseline())
    if granted.baseline is not None:
        yield from tell(None, granted.baseline, durable=True)
    asking = Asking(
        composition=composition,
        goal=setup.goal,
        candidate=granted.candidate,
        test_command=setup.test_command,
        tally=state.tally,
        book=state.book,
        seating=setup.seating,
        purse=state.purse,
    )
    correction: Correction | None = None
    while True:
        turn_id = _turn_id(state)
        barred = yield from _barred(state)
        prelude = Prelude()
        if barred is None:
            prelude = yield from asking.before(turn_id, state.round)
        end = yield from _turn(state, prelude, correction, barred)
        if end.status is TurnStatus.CANCELLED or end.cause in _ON_PURPOSE:
            return
        continuation = yield from _judged(state, composition, asking, end)
        if not isinstance(continuation, Another):
            return
        correction = continuation.correction
        state.holds += 1
        state.round += 1


def _barred(state: _Run) -> Turn[str | None]:
    """Return why a hook lets the next turn not begin, None when it may [E-10]."""
    occasion = TurnStart(round=state.round, prompt=state.setup.goal)
    return (yield from refusal(state.hooks, occasion, Where(turn=_turn_id(state))))


def _turn(
    state: _Run, prelude: Prelude, correction: Correction | None, barred: str | None
) -> Turn[TurnEnd]:
    """Append this turn's messages in their order [E-132], then run it."""
    setup = state.setup
    if state.round == 0:
        state.transcript.append(Message(role=Role.USER, content=guarded(setup.goal)))
        if setup.joining is not None and barred is None:
            state.transcript.append(said(setup.joining))
            yield from tell(_turn_id(state), setup.joining)
    for message in prelude.messages:
        state.transcript.append(message)
    if correction is not None:
        guidance = correction.guidance
        text = f"## {guidance.label}\n\n{guidance.text}"
        state.transcript.append(Message(role=Role.USER, content=text))
        fact = MessageAppended(role="user", origin="correction", label=guidance.label, text=text)
        yield from tell(_turn_id(state), fact)
    end = yield from turn(
        TurnSetup(
            turn=_turn_id(state),
            round=state.round,
            principal=setup.principal,
            model=setup.models.get(prelude.seat, setup.model),
            seat=prelude.seat,
            scope=tuple(prelude.scope),
            strayed=state.strayed,
            max_steps=setup.max_steps,
            purse=state.purse.after(state.tally),
            concurrent=setup.concurrent,
            tools_sha256=setup.tools_sha256,
            hooks=state.hooks,
            refused=barred,
        ),
        state.transcript,
    )
    state.rounds += 1
    state.last = end
    state.tally.add(end.tally)
    state.book.absorb(end.changes)
    return end


def _ceiling(state: _Run, end: TurnEnd) -> Ceiling | None:
    """Return the limit that forbids a further round: the turn's own, or no money left [Q-4]."""
    if end.cause in CEILINGS:
        return CEILINGS[end.cause]
    return Ceiling.MONEY if state.purse.after(state.tally).empty else None


def _judged(
    state: _Run, composition: Composition, asking: Asking, end: TurnEnd
) -> Turn[Continuation | None]:
    """Ask, compare, judge and decide whether to go on [D-16 steps 5 to 8, D-18]."""
    turn_id = _turn_id(state)
    asking.measured(end.changes)
    before = yield from ask(Inspect())
    observed = yield from asking.after(turn_id, state.round, end)
    found = _worse(before, (yield from ask(Inspect())))
    evidence = gathered(observed, found.finding)
    tamper = TamperFound(round=state.round, finding=found.finding, artifacts=found.artifacts)
    yield from tell(turn_id, tamper)
    rule = composition.rule
    verdict = judge(rule, evidence)
    clauses = verdict.clauses if isinstance(verdict, Unmet) else ()
    standing = Standing(unmet=clauses, tree_digest=found.digest)
    moved = progress(state.standing, standing)
    state.verdict, state.evidence, state.standing = verdict, evidence, standing
    judged = Judged(
        round=state.round,
        verdict=verdict,
        evidence=evidence,
        rule_sha256=rule_digest(rule),
        tree_digest=found.digest,
        progress=moved,
    )
    yield from tell(turn_id, judged, durable=True)
    if end.status is TurnStatus.FAILED:
        return None
    facts = State(
        holds_spent=state.holds,
        host_max_holds=state.setup.host_max_holds,
        progress=moved,
        ceiling=_ceiling(state, end),
    )
    continuation = again(verdict, facts, composition.grant)
    held = continuation.again if isinstance(continuation, Another) else None
    ended = continuation.stop if isinstance(continuation, Stop) else None
    state.outcome = ended.outcome if ended else None
    fact = Continued(round=state.round, state=facts, again=held, stop=ended)
    yield from tell(turn_id, fact, durable=True)
    return continuation


def _worse(first: Inspection, second: Inspection) -> Inspection:
    """Return both comparisons as one: what either found stays found [Q-27]."""
    kinds: dict[str, set[str]] = {}
    for artifact in (*first.artifacts, *second.artifacts):
        kinds.setdefault(artifact.path, set()).update(artifact.kinds)
    artifacts = tuple(
        ChangedArtifact(path=path, kinds=tuple(sorted(kinds[path]))) for path in sorted(kinds)
    )
    finding: Tamper = TamperState.CLEAN
    if artifacts:
        finding = Tampered(tampered=Artifact(artifact=artifacts[0].path))
    elif TamperState.NOT_CHECKED in (first.finding, second.finding):
        finding = TamperState.NOT_CHECKED
    return Inspection(finding=finding, artifacts=artifacts, digest=second.digest)


def _turn_id(state: _Run) -> str:
    return f"t{state.setup.first_turn + state.round}"


def _status(state: _Run) -> RunStatus:
    """Return the status of a run, first row that applies [E-122]."""
    assert state.last is not None  # noqa: S101  # a run that was not cancelled had a turn
    match state.last.status:
        case TurnStatus.CANCELLED:
            return RunStatus.CANCELLED
        case TurnStatus.FAILED:
            return RunStatus.FAILED
        case TurnStatus.STOPPED:
            return RunStatus.STOPPED
        case TurnStatus.COMPLETED:
            return _judged_status(state)
        case _:
            assert_never(state.last.status)


def _judged_status(state: _Run) -> RunStatus:
    """Return the worst of what the verdict and the Stop gate came to [E-122, E-40, E-42]."""
    assert state.last is not None  # noqa: S101  # the caller looked
    found = (_of_verdict(state), _OF_GATE.get(state.last.stop_gate, RunStatus.COMPLETED))
    return next((worst for worst in _WORST_FIRST if worst in found), RunStatus.COMPLETED)


_WORST_FIRST = (RunStatus.UNMET, RunStatus.UNDECIDED, RunStatus.MET)
_OF_GATE = {GateEnd.CAPPED: RunStatus.UNMET, GateEnd.UNANSWERED: RunStatus.UNDECIDED}


def _of_verdict(state: _Run) -> RunStatus:
    composition = state.setup.composition
    if composition is None or not composition.rule.requirements:
        return RunStatus.COMPLETED
    match state.verdict:
        case Met():
            return RunStatus.MET
        case Unmet():
            return RunStatus.UNMET
        case Undecided() | None:
            return RunStatus.UNDECIDED
        case _:
            assert_never(state.verdict)
