"""The planes behind `candidate_fanout` and `adopt_candidate` [D-54 to D-57].

A candidate lives until its run ends or one of its run is adopted. Whatever cannot be taken away
is told and changes no status [D-85].
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from pathlib import Path

from stella import limits
from stella.candidates.candidate import Candidate
from stella.candidates.candidate import Discarded
from stella.candidates.candidate import Failed
from stella.candidates.candidate import Leaked
from stella.candidates.workspaces import Workspaces
from stella.escape import brief
from stella.escape import listed
from stella.escape import visible
from stella.session.agents import Agents
from stella.session.agents import Assignment
from stella.session.agents import Done
from stella.session.asker import Asker
from stella.session.asker import Bill
from stella.session.asker import failed
from stella.session.asker import spent
from stella.session.asker import unavailable
from stella.session.telling import Telling
from stella.session.together import together
from stella.session.watching import Watching
from stella.turn.allowance import RunAllowance
from stella.turn.calls import changed
from stella.turn.plugin_facts import CandidateTold
from stella.turn.seats import WORKER
from stella.turn.seats import Seating
from stella.wire.host_call import AdoptArgs
from stella.wire.host_call import FanoutArgs
from stella.wire.host_result import AdoptOk
from stella.wire.host_result import Attempt
from stella.wire.host_result import FanoutOk
from stella.wire.host_result import RefusedCall
from stella.wire.points import Refusal
from stella.witness.tree import Tree
from stella.witness.tree import Unmeasured


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """The candidates of one run; `watching` measures the real tree that one may become part of.

    `max_steps` are those of one candidate's turn.
    """

    agents: Agents
    workspaces: Workspaces
    seating: Seating
    allowance: RunAllowance
    watching: Watching
    telling: Telling
    max_steps: int
    _adopted: set[str] = field(default_factory=set)

    def root_of(self, plugin: str, handle: str) -> Path | None:
        """Return where a live candidate of a plugin lies, None for any other handle [D-56]."""
        candidate = self.workspaces.find(plugin, handle)
        return candidate.root if candidate else None

    async def make(self, asker: Asker, args: FanoutArgs, bill: Bill) -> FanoutOk | RefusedCall:
        """Make candidates and let one turn work in each, or say why there is none [D-54]."""
        seat = self.seating.seat(args.role, asker.member.roles)
        if isinstance(seat, RefusedCall):
            return seat
        if seat != WORKER:
            return RefusedCall(
                refusal=Refusal.FORBIDDEN,
                detail=f'role "{visible(args.role)}" sits on "{seat}"; candidates are made on '
                f'"{WORKER}" alone',
            )
        poor = spent(asker.purse)
        if poor is not None:
            return poor
        width = self.allowance.fanout(asker.member, args.width)
        if isinstance(width, RefusedCall):
            return width
        made, reason = await self._created(asker, width)
        if not made:
            return failed(f"no candidate could be made: {reason}")
        if reason:
            text = f"{len(made)} of {width} candidates were made: {reason}"
            self.telling.notice("candidates", f"{visible(asker.member.name)}: {text}", asker.turn)
        each = replace(asker, purse=asker.purse.share(width))
        attempts = await self._watched(each, args, made, bill)
        return FanoutOk(requested=args.width, candidates=attempts)

    async def adopt(self, asker: Asker, args: AdoptArgs, bill: Bill) -> AdoptOk | RefusedCall:
        """Put a candidate's changes into the real tree and discard the rest [D-57]."""
        name = asker.member.name
        candidate = self.workspaces.find(name, args.candidate)
        if candidate is None:
            handle = brief(args.candidate)
            return unavailable(f'unknown_handle: "{handle}" is no live candidate of {name}')
        wanted = await self.workspaces.changed(candidate)
        if isinstance(wanted, Failed):
            return failed(_worded(wanted))
        paths = tuple(change.path for change in wanted)
        before = await self.watching.before(paths) if paths else None
        try:
            adopted = await self.workspaces.adopt(candidate, wanted)
        except asyncio.CancelledError:
            # One that came when all was done undoes nothing: the tree has changed.
            if self.workspaces.find(name, args.candidate) is None:
                await self._stands(asker, candidate, before, paths, bill)
            raise
        if isinstance(adopted, Failed):
            return failed(_worded(adopted))
        await self._stands(asker, candidate, before, paths, bill)
        losers = [c.handle for c in self.workspaces.live() if c.plugin == name]
        ends = await self.workspaces.discard_all()
        gone = self._cleared(asker.turn, ends)
        discarded = tuple(handle for handle in losers if handle in gone)
        return AdoptOk(adopted=candidate.handle, discarded=discarded)

    async def _stands(
        self,
        asker: Asker,
        candidate: Candidate,
        before: Tree | Unmeasured | None,
        paths: tuple[str, ...],
        bill: Bill,
    ) -> None:
        """Tell that a candidate is part of the real tree, and what changed there by it."""
        if before is not None:
            bill.changes = await self.watching.since(before, paths)
            self._changed(asker, bill)
        self._adopted.add(candidate.handle)
        self._tell(asker.turn, "adopted", candidate, files=len(paths))

    def _changed(self, asker: Asker, bill: Bill) -> None:
        for change in bill.changes or ():
            self.telling.tell(asker.turn, changed(change, f"plugin:{asker.member.name}"))

    async def finish(self) -> None:
        """Discard what is left at the end of the run [D-10 step 10, D-85]."""
        self._cleared(None, await self.workspaces.discard_all())

    async def _created(self, asker: Asker, width: int) -> tuple[list[Candidate], str]:
        """Make up to `width` candidates one by one; the reason says why there are no more."""
        made: list[Candidate] = []
        for _ in range(width):
            candidate = await self.workspaces.create(asker.member.name)
            if isinstance(candidate, Failed):
                return made, _worded(candidate)
            made.append(candidate)
            self._tell(asker.turn, "created", candidate, root=candidate.root)
            if candidate.skipped:
                skipped = listed(candidate.skipped, limits.CHANGED_PATHS_SHOWN)
                text = f"not copied into a candidate: {skipped}"
                self.telling.once("candidate_skipped", text)
        return made, ""

    async def _watched(
        self, asker: Asker, args: FanoutArgs, made: list[Candidate], bill: Bill
    ) -> tuple[Attempt, ...]:
        """Let the turns work, and tell that files of the real tree changed meanwhile.

        A shell in a candidate reaches all that the person's does; but the person and other
        sessions work in that tree too, so it is in nobody's books.
        """
        self.watching.disturbed()
        before = await self.watching.before(())
        attempts = await self._worked(asker, args, made, bill)
        if meanwhile := await self.watching.since(before, ()):
            text = f"files of the workspace that changed meanwhile: {len(meanwhile)}"
            told = f"{visible(asker.member.name)} candidate_fanout: {text}"
            self.telling.notice("changed_meanwhile", told, asker.turn)
        return attempts

    async def _worked(
        self, asker: Asker, args: FanoutArgs, made: list[Candidate], bill: Bill
    ) -> tuple[Attempt, ...]:
        """Let a turn work in each candidate, side by side unless the model is asked in turn."""
        if self.agents.in_turn(WORKER):
            return tuple([await self._attempt(asker, args, each, bill) for each in made])
        return await together(self._attempt(asker, args, each, bill) for each in made)

    async def _attempt(
        self, asker: Asker, args: FanoutArgs, candidate: Candidate, bill: Bill
    ) -> Attempt:
        assignment = Assignment(
            agent=self.agents.next_id(asker.turn),
            parent=asker.turn,
            round=asker.round,
            principal=self.agents.principal(asker.member.name, args.role),
            seat=WORKER,
            instruction=args.instruction,
            root=candidate.root,
            within=candidate.repository,
            write=True,
            max_steps=self.max_steps,
            purse=asker.purse,
        )

        def ended(done: Done) -> None:
            bill.charge(done.end.tally, done.end.steps)

        done = await self.agents.conduct(assignment, ended)
        return Attempt(
            candidate=candidate.handle,
            root=str(candidate.root),
            report=done.report,
            completed=done.completed,
            files_changed=done.files,
            lines_changed=done.lines,
        )

    def _cleared(self, turn: str | None, ends: Iterable[Discarded | Leaked]) -> frozenset[str]:
        """Tell what became of workspaces and return the handles of those that are gone."""
        gone: set[str] = set()
        for each in ends:
            if isinstance(each, Leaked):
                _leaked(self.telling, turn, each)
                continue
            if each.handle in self._adopted:
                continue  # its workspace is gone, what it held is not
            gone.add(each.handle)
            told = CandidateTold(event="discarded", handle=each.handle, plugin=each.plugin)
            self.telling.tell(turn, told)
        return frozenset(gone)

    def _tell(
        self,
        turn: str,
        event: str,
        candidate: Candidate,
        *,
        root: Path | None = None,
        files: int | None = None,
    ) -> None:
        told = CandidateTold(
            event=event,
            handle=candidate.handle,
            plugin=candidate.plugin,
            root=str(root) if root else None,
            files_changed=files,
        )
        self.telling.tell(turn, told)


async def reclaim(workspaces: Workspaces, telling: Telling) -> None:
    """Take away the candidates that hosts which run no more left behind, and tell it [T-33]."""
    for each in await workspaces.reclaim():
        if isinstance(each, Leaked):
            _leaked(telling, None, each)
            continue
        text = f"a candidate of {visible(each.plugin)} that a killed run left behind is gone"
        telling.notice("candidate_reclaimed", text)


def _leaked(telling: Telling, turn: str | None, each: Leaked) -> None:
    told = CandidateTold(
        event="leaked", handle=each.handle, plugin=each.plugin, root=each.place or None
    )
    telling.tell(turn, told)
    text = f"a candidate could not be taken away: {visible(each.place)}: {each.reason}"
    telling.notice("candidate_leaked", text, turn)


def _worded(failure: Failed) -> str:
    return f"{failure.denial.value}: {failure.reason}" if failure.denial else failure.reason
