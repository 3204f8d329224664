"""Turns under a turn: each with a transcript, tools and hands of its own [E-90 to E-96, D-53].

A child sees its instruction and nothing of the conversation that started it; only what it
reports comes back. It passes the same gate anew, under its own principal.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from pathlib import Path
from typing import Final

from stella import limits
from stella.escape import cut
from stella.message import Message
from stella.message import Role
from stella.process.git import Repository
from stella.session.drive import Drive
from stella.session.hands import Hands
from stella.session.workshop import Workshop
from stella.session.workshop import side_by_side
from stella.session.workshop import tools_digest
from stella.turn.ask import Cancelled
from stella.turn.ask import Turn
from stella.turn.changes import ChangeBook
from stella.turn.facts import Cause
from stella.turn.facts import TurnStatus
from stella.turn.hooks import Hooks
from stella.turn.hooks import Where
from stella.turn.hooks import subagent_started
from stella.turn.hooks import told_at_the_end
from stella.turn.loop import Transcript
from stella.turn.loop import TurnEnd
from stella.turn.loop import TurnSetup
from stella.turn.loop import turn
from stella.turn.plugin_facts import SubagentFinished
from stella.turn.plugin_facts import SubagentStarted
from stella.turn.prompt import guarded
from stella.turn.purse import Purse
from stella.turn.questions import Change
from stella.turn.tally import Tally
from stella.wire.occasion import SubagentStart
from stella.wire.occasion import SubagentStop

_DEPTH: Final = 1
_READ: Final = """\
You work for another agent and cannot change anything. Look into what you are asked, then answer
once: your last message is your report and all that is handed on."""
_WRITE: Final = """\
You work for another agent, alone in a copy of the workspace that nobody else changes. Do what you
are asked there, then answer once: your last message is your report. Whether your changes are used
is decided afterwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A turn to be done under `parent`, in `root`, on `seat`; `write` gives it every tool [E-91].

    `agent` is its id, `<turn>.a<n>`; `principal` is who asks at the gate [D-53].
    """

    agent: str
    parent: str
    round: int
    principal: str
    seat: str
    instruction: str
    root: Path
    within: Repository | None = None
    write: bool
    max_steps: int
    purse: Purse = field(default_factory=Purse)

    @property
    def access(self) -> str:
        """What it may do: `read` or `write` [E-91]."""
        return "write" if self.write else "read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A turn under a turn that is over: how it ended, what it reports, what it changed.

    The report is cut to its bound. `changes` are None when they could not be measured.
    """

    end: TurnEnd
    report: str
    truncated: bool
    changes: tuple[Change, ...] | None = ()

    @property
    def completed(self) -> bool:
        """Whether it came to its own end."""
        return self.end.status is TurnStatus.COMPLETED

    @property
    def began(self) -> bool:
        """Whether its model gave at least one reply."""
        return self.end.steps > 0

    @property
    def files(self) -> int:
        """How many files differ from how the turn found them [D-55]."""
        return len(self.changes or ())

    @property
    def lines(self) -> int:
        """How many lines were added and removed, as far as they could be counted [D-55]."""
        return sum((c.added or 0) + (c.removed or 0) for c in self.changes or ())


@dataclass(slots=True, kw_only=True)
class Agents:
    """Conducts turns under the turns of one session and numbers them."""

    workshop: Workshop
    _turns: Counter[str] = field(default_factory=Counter)
    _principals: Counter[str] = field(default_factory=Counter)

    def next_id(self, parent: str) -> str:
        """Return the id of the next turn under `parent`, `<turn>.a<n>` from 1 [E-2]."""
        self._turns[parent] += 1
        return f"{parent}.a{self._turns[parent]}"

    def principal(self, plugin: str, role: str) -> str:
        """Return who a plugin's next turn asks as: `plugin:<name>/<role>#<n>` [D-53]."""
        self._principals[plugin] += 1
        return f"plugin:{plugin}/{role}#{self._principals[plugin]}"

    def in_turn(self, seat: str) -> bool:
        """Return whether turns on a seat must go one after another [E-96]."""
        return self.workshop.models.get(seat, self.workshop.model).in_turn

    async def conduct(self, assignment: Assignment, ended: Callable[[Done], None]) -> Done:
        """Do one turn to its end; `ended` hears of the end also when a cancel came [T-23].

        Raises `JournalError` when the journal cannot be written, and CancelledError.
        """
        telling = self.workshop.telling
        started = SubagentStarted(
            agent=assignment.agent,
            parent=assignment.parent,
            depth=_DEPTH,
            access=assignment.access,
            limits={"steps": assignment.max_steps},
            instruction=assignment.instruction,
        )
        telling.tell(assignment.parent, started)
        every = self.workshop.tools
        tools = tuple(t for t in every if assignment.write or t.contract.trusted_read_only)
        ends: list[TurnEnd] = []
        changes: tuple[Change, ...] | None = ()
        done: Done | None = None
        try:
            with self.workshop.hands(
                assignment.root, tools, assignment.principal, within=assignment.within
            ) as hands:
                await self._follow(assignment, hands, ends)
                if assignment.write:
                    changes = await hands.watching.since_open()
        except OSError as error:
            # Its directory may be gone: the turn of another candidate can do that [D-55].
            text = f"it has no directory to work in: {error.strerror or error}"
            ends = ends or [_unbegun(TurnStatus.FAILED, Cause.INTERNAL, text)]
        except asyncio.CancelledError:
            # Also one that came before the turn could hear of it [T-23].
            ends = ends or [_unbegun(TurnStatus.CANCELLED, Cause.CANCEL, "cancelled")]
            raise
        finally:
            for end in ends:
                done = _done(end, changes)
                ended(done)
                telling.tell(assignment.parent, _finished(assignment.agent, done))
        assert done is not None  # noqa: S101  # a turn that was followed to its end has one
        return done

    async def _follow(self, assignment: Assignment, hands: Hands, ends: list[TurnEnd]) -> None:
        more = _WRITE if assignment.write else _READ
        prefix = self.workshop.introduce(
            hands, seat=assignment.seat, agent=assignment.agent, more=more
        )
        drive = Drive(self.workshop.telling, hands, lead=False)
        if assignment.write:
            await drive.prepare(hands.watching.open())
        transcript = Transcript(
            (
                Message(role=Role.SYSTEM, content=prefix),
                Message(role=Role.USER, content=guarded(assignment.instruction)),
            )
        )
        work = _child(assignment, self._setup(assignment, hands), transcript)
        await drive.follow(_keeping(work, ends))

    def _setup(self, assignment: Assignment, hands: Hands) -> TurnSetup:
        model = self.workshop.models.get(assignment.seat, self.workshop.model)
        return TurnSetup(
            turn=assignment.agent,
            round=assignment.round,
            principal=assignment.principal,
            model=model.name,
            seat=assignment.seat,
            agent=assignment.agent,
            max_steps=assignment.max_steps,
            purse=assignment.purse,
            concurrent=side_by_side(hands),
            tools_sha256=tools_digest(hands),
            hooks=Hooks(listeners=self.workshop.hooked.listeners),
        )


def _child(assignment: Assignment, setup: TurnSetup, transcript: Transcript) -> Turn[TurnEnd]:
    """Do the turn between the hooks that are told of it; one may refuse it [H-58]."""
    where = Where(turn=assignment.parent, agent=assignment.agent)
    asked = SubagentStart(
        parent_id=assignment.parent,
        depth=_DEPTH,
        access=assignment.access,
        instruction=assignment.instruction,
    )
    try:
        refused = yield from subagent_started(setup.hooks, where, asked)
    except Cancelled:  # the turn hears of it at its own first question and closes itself
        refused = None
    end = yield from turn(replace(setup, refused=refused), transcript)
    done = _finished(assignment.agent, _done(end, ()))
    over = SubagentStop(
        status=done.status, steps=done.steps, cost_usd=done.cost_usd, report=done.report
    )
    yield from told_at_the_end(setup.hooks, over, where)
    return end


def _keeping(work: Turn[TurnEnd], ends: list[TurnEnd]) -> Turn[None]:
    """Follow a turn and keep its end, which a cancelled drive does not hand back."""
    ends.append((yield from work))


def _unbegun(status: TurnStatus, cause: Cause, text: str) -> TurnEnd:
    """Return the end of a turn that could not begin."""
    return TurnEnd(
        status=status,
        cause=cause,
        text=text,
        answer="",
        truncated=False,
        steps=0,
        tally=Tally(),
        uses=(),
        changes=ChangeBook(),
    )


def _done(end: TurnEnd, changes: tuple[Change, ...] | None) -> Done:
    text = end.answer if end.status is TurnStatus.COMPLETED and end.answer else end.text
    report = cut(text, limits.CHILD_REPORT_CHARS)
    return Done(end=end, report=report, truncated=report != text, changes=changes)


def _finished(agent: str, done: Done) -> SubagentFinished:
    partial = done.end.status is TurnStatus.STOPPED and bool(done.end.answer)
    cause: Cause | None = done.end.cause
    return SubagentFinished(
        agent=agent,
        status="partial" if partial else done.end.status.value,
        cause=cause,
        steps=done.end.steps,
        cost_usd=done.end.tally.cost_usd,
        report=done.report,
        truncated=done.truncated,
    )
