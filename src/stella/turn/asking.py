"""The plugins of a run, asked in their order: what they contribute and what they observed.

A member is asked only what it declares. Whatever it answers is admitted whole or dropped
whole [D-29], and silence is an answer like any other [W-50].
"""

from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from typing import TypedDict

from stella import codec
from stella import limits
from stella.escape import visible
from stella.turn.ask import Cancelled
from stella.turn.ask import Turn
from stella.turn.ask import ask
from stella.turn.changes import ChangeBook
from stella.turn.facts import MessageAppended
from stella.turn.facts import Noticed
from stella.turn.facts import TurnStatus
from stella.turn.loop import TurnEnd
from stella.turn.plugin_facts import Exchanged
from stella.turn.plugin_facts import PluginFaulted
from stella.turn.prelude import Prelude
from stella.turn.prelude import advice
from stella.turn.prelude import said
from stella.turn.prompt import headed
from stella.turn.purse import Purse
from stella.turn.questions import AskPlugin
from stella.turn.questions import CheckPaths
from stella.turn.questions import Heard
from stella.turn.questions import RecallServed
from stella.turn.questions import Served
from stella.turn.questions import tell
from stella.turn.seats import WORKER
from stella.turn.seats import Seating
from stella.turn.seats import undeclared_role
from stella.turn.stages import HOST_OWNED
from stella.turn.stages import Composition
from stella.turn.stages import Member
from stella.turn.stages import mistyped
from stella.turn.stages import opening_table
from stella.turn.stages import value_of
from stella.turn.tally import Tally
from stella.wire.after_turn import AfterTurnAnswer
from stella.wire.after_turn import AfterTurnRequest
from stella.wire.after_turn import TurnOutcome
from stella.wire.before_turn import BeforeTurnAnswer
from stella.wire.before_turn import BeforeTurnRequest
from stella.wire.before_turn import PublishedSignal
from stella.wire.envelope import Request
from stella.wire.envelope import point_of
from stella.wire.evidence import Flip
from stella.wire.evidence import ObservedEvidence
from stella.wire.grant import CandidateGrant
from stella.wire.points import COUNTS
from stella.wire.points import PROTOCOL_VERSION
from stella.wire.points import Point
from stella.wire.points import Signal
from stella.wire.silence import FaultCode
from stella.wire.silence import Silence


class _Place(TypedDict):
    """The keys that an exchange and its fault share."""

    plugin: str
    point: Point
    stage: str | None
    round: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _At:
    """Where in a run a member is asked."""

    turn: str
    round: int
    member: Member


@dataclass(slots=True, kw_only=True)
class Asking:
    """The members of a run and the signals between them [D-20, D-24].

    `table` lives for the run; `published` is the list of one round and goes on the wire.
    `tally` and `book` are the run's own and take in what host calls spend and change. `seat`
    is the one that runs the turn of this round.
    """

    composition: Composition
    goal: str
    candidate: CandidateGrant
    test_command: bool
    tally: Tally
    book: ChangeBook
    seating: Seating = field(default_factory=Seating)
    purse: Purse = field(default_factory=Purse)
    seat: str = WORKER
    table: dict[Signal, bool | int] = field(init=False)
    published: list[PublishedSignal] = field(default_factory=list)
    last_stage: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Open the table with the facts of the host [D-12]."""
        self.table = opening_table(
            test_command=self.test_command, metered=self.purse.limit is not None
        )

    def before(self, turn_id: str, number: int) -> Turn[Prelude]:
        """Dispatch the stages before the turn and return what they give it [D-23, D-29 to D-32]."""
        self.published.clear()
        self.last_stage.clear()
        self.seat = WORKER
        prelude = Prelude()
        for stage in self.composition.before:
            for member in self._running(stage):
                at = _At(turn=turn_id, round=number, member=member)
                answer = yield from self._contribution(at, stage)
                if answer is not None:
                    yield from self._take(at, answer, prelude)
        if prelude.scope:
            fact = advice(prelude.scope)
            prelude.messages.append(said(fact))
            yield from tell(turn_id, fact)
        prelude.seat = self.seat
        return prelude

    def measured(self, changes: ChangeBook) -> None:
        """Put what the host measured of the turn into the table [D-26]."""
        if changes.measured:
            self.table[Signal.MUTATING_ACTIONS] = changes.actions
            if changes.counted:
                self.table[Signal.DIFF_LINES] = changes.lines

    def after(self, turn_id: str, number: int, end: TurnEnd) -> Turn[ObservedEvidence | None]:
        """Dispatch the stages after the turn, then ask for evidence [D-16 steps 5 and 6].

        None means that nobody whose answer counts has answered [D-41].
        """
        for stage in self.composition.after:
            for member in self._running(stage):
                at = _At(turn=turn_id, round=number, member=member)
                answer = yield from self._contribution(at, stage)
                if answer is not None and (answer.context or answer.role or answer.scope):
                    text = f"{visible(member.name)}: all but `publish` comes too late after a turn"
                    yield from tell(turn_id, Noticed(code="too_late", text=text))
        answers: dict[str, ObservedEvidence] = {}
        for member in self.composition.members:
            if Point.AFTER_TURN not in member.points:
                continue
            at = _At(turn=turn_id, round=number, member=member)
            heard = yield from self._ask(at, self._question(at, end))
            if isinstance(heard, AfterTurnAnswer):
                answers[member.name] = heard.evidence
        return folded(self.composition, answers)

    def _running(self, stage: str) -> tuple[Member, ...]:
        """Return the members that run `stage`; conditions are read once, before it [D-20]."""
        running = tuple(m for m in self.composition.members if m.runs(stage, self.table))
        for member in running:
            self.last_stage[member.name] = stage
        return running

    def _contribution(self, at: _At, stage: str) -> Turn[BeforeTurnAnswer | None]:
        member = at.member
        if Point.BEFORE_TURN not in member.points:
            return None
        request = BeforeTurnRequest(
            protocol_version=PROTOCOL_VERSION,
            wrapper=member.wrapper,
            stage=stage,
            round=at.round,
            goal=self.goal,
            candidate=self.candidate,
            published=tuple(self.published),
        )
        heard = yield from self._ask(at, request)
        if not isinstance(heard, BeforeTurnAnswer):
            return None
        yield from self._publish(at, heard)
        return heard

    def _question(self, at: _At, end: TurnEnd) -> AfterTurnRequest:
        outcome = TurnOutcome(
            completed=end.status is TurnStatus.COMPLETED,
            answer=end.text,
            tools=tuple(use.name for use in end.uses),
            changed_files=end.changes.paths,
        )
        return AfterTurnRequest(
            protocol_version=PROTOCOL_VERSION,
            wrapper=at.member.wrapper,
            stage=self.last_stage.get(at.member.name),
            round=at.round,
            goal=self.goal,
            candidate=self.candidate,
            turn=outcome,
        )

    def _ask(self, at: _At, request: Request) -> Turn[BeforeTurnAnswer | AfterTurnAnswer | Silence]:
        """Ask a member once and tell what came, also when the run is cancelled [Q-17]."""
        question = AskPlugin(
            member=at.member.name,
            turn=at.turn,
            seat=self.seat,
            purse=self.purse.after(self.tally),
            request=request,
        )
        try:
            heard = yield from ask(question)
        except Cancelled as cancelled:
            silence = Silence(code=FaultCode.CANCELLED, message=f"cancelled by {cancelled.by}")
            served = yield from ask(RecallServed())
            self._charge(served)
            yield from _tell_heard(at, request, Heard(answer=silence, duration_ms=0, served=served))
            raise
        self._charge(heard.served)
        if isinstance(heard.answer, BeforeTurnAnswer):
            heard = replace(heard, answer=admitted(at.member, heard.answer))
        yield from _tell_heard(at, request, heard)
        return heard.answer

    def _charge(self, served: Served) -> None:
        """Add what host calls used and changed to the run's own books [D-19]."""
        self.tally.add(served.spent)
        if served.changes is None or served.changes:
            self.book.add(served.changes)

    def _publish(self, at: _At, answer: BeforeTurnAnswer) -> Turn[None]:
        owned: set[Signal] = set()
        for published in answer.publish:
            self.published.append(published)
            if published.signal in HOST_OWNED:
                if published.signal in owned:
                    continue
                owned.add(published.signal)
                text = (
                    f"{visible(at.member.name)} published {published.signal.value}, which is the "
                    "host's own; conditions keep the host's value"
                )
                yield from tell(at.turn, Noticed(code="host_signal", text=text))
                continue
            self.table[published.signal] = value_of(published)

    def _take(self, at: _At, answer: BeforeTurnAnswer, prelude: Prelude) -> Turn[None]:
        """Take in one contribution: its texts, its role, its scope [D-30 to D-32]."""
        for entry in answer.context:
            appended = MessageAppended(
                role="user",
                origin=f"plugin:{at.member.name}",
                label=entry.label,
                text=headed(entry.label, entry.text),
            )
            prelude.messages.append(said(appended))
            yield from tell(at.turn, appended)
        if answer.role is not None:
            yield from self._sit(at, answer.role)
        if answer.scope:
            yield from self._advise(at, answer.scope, prelude)

    def _sit(self, at: _At, role: str) -> Turn[None]:
        """Move the turn to a role's seat; a tier nobody bound leaves it where it is [D-31]."""
        seat = self.seating.seat(role, at.member.roles)
        if isinstance(seat, str):
            self.seat = seat
            return
        text = f"{visible(at.member.name)}: {seat.detail}; the turn keeps its model"
        yield from tell(at.turn, Noticed(code="role_unbound", text=text))

    def _advise(self, at: _At, paths: tuple[str, ...], prelude: Prelude) -> Turn[None]:
        """Add the paths that stay inside the root; the others are dropped, each told [D-32]."""
        denials = yield from ask(CheckPaths(paths=paths))
        denied = 0
        for path, denial in zip(paths, denials, strict=True):
            if denial is None:
                prelude.widen(path)
                continue
            denied += 1
            if denied <= limits.CHANGED_PATHS_SHOWN:
                text = path_denied(at.member.name, path, denial)
                yield from tell(at.turn, Noticed(code="path_denied", text=text))
        if denied > limits.CHANGED_PATHS_SHOWN:
            more = denied - limits.CHANGED_PATHS_SHOWN
            text = f"{visible(at.member.name)}: {more} more paths are denied"
            yield from tell(at.turn, Noticed(code="path_denied", text=text))


def _tell_heard(at: _At, request: Request, heard: Heard) -> Turn[None]:
    """Tell an exchange, and its fault when it has no usable answer [J2-44]."""
    answer = heard.answer
    place: _Place = {
        "plugin": at.member.name,
        "point": point_of(request),
        "stage": request.stage,
        "round": at.round,
    }
    exchanged = Exchanged(
        **place,
        request=codec.plain(request),
        response=None if isinstance(answer, Silence) else codec.plain(answer),
        calls=heard.served.calls,
        duration_ms=heard.duration_ms,
    )
    yield from tell(at.turn, exchanged)
    if heard.served.untold:
        text = (
            f"{visible(at.member.name)} {place['point'].value}: {heard.served.untold} more host "
            "calls were refused"
        )
        yield from tell(at.turn, Noticed(code="calls_refused", text=text))
    if isinstance(answer, Silence):
        fault = PluginFaulted(
            **place,
            fault=answer.code.value,
            message=answer.message,
            stdout_b64=answer.raw or None,
        )
        yield from tell(at.turn, fault)


def path_denied(plugin: str, path: str, denial: str) -> str:
    """Return the one line that reports a denial: the plugin, the path as given, the word [G-52]."""
    return f'{visible(plugin)}: the path "{visible(path)}" is denied: {denial}'


def admitted(member: Member, answer: BeforeTurnAnswer) -> BeforeTurnAnswer | Silence:
    """Return the contribution, or the fault that drops it whole [D-29, W-51]."""
    place = f"{visible(member.name)} before_turn"
    if answer.role is not None and answer.role not in member.roles:
        text = f"{place}: {undeclared_role(answer.role, member.roles).detail}"
        return Silence(code=FaultCode.UNDECLARED_ROLE, message=text)
    for published in answer.publish:
        if mistyped(published):
            kind, given = ("count", "boolean")
            if published.signal not in COUNTS:
                kind, given = given, kind
            text = f"{place}: {published.signal.value} is a {kind}, got a {given}"
            return Silence(code=FaultCode.MISTYPED_SIGNAL, message=text)
    return answer


def folded(
    composition: Composition, answers: dict[str, ObservedEvidence]
) -> ObservedEvidence | None:
    """Return the evidence that counts [D-39 to D-41].

    With an arbiter its own answer alone; otherwise the first writer of a number wins, and a
    flip gives way only while it is `not-attempted`.
    """
    if composition.arbiter is not None:
        return answers.get(composition.arbiter.name)
    given = [answers[m.name] for m in composition.members if m.name in answers]
    if not given:
        return None
    flip = next((e.flip for e in given if e.flip is not Flip.NOT_ATTEMPTED), Flip.NOT_ATTEMPTED)
    measurements: dict[str, int] = {}
    for evidence in given:
        for name, number in evidence.measurements.items():
            measurements.setdefault(name, number)
    return ObservedEvidence(flip=flip, measurements=measurements)
