"""The plane behind `child_turn`: one read-only turn on a declared seat [D-52, D-53]."""

from dataclasses import dataclass
from pathlib import Path

from stella import limits
from stella.escape import visible
from stella.session.agents import Agents
from stella.session.agents import Assignment
from stella.session.agents import Done
from stella.session.asker import Asker
from stella.session.asker import Bill
from stella.session.asker import failed
from stella.session.asker import spent
from stella.turn.allowance import RunAllowance
from stella.turn.seats import Seating
from stella.wire.host_call import ChildTurnArgs
from stella.wire.host_result import ChildTurnOk
from stella.wire.host_result import RefusedCall
from stella.wire.points import Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Children:
    """Runs child turns of plugins in the workspace `root`."""

    agents: Agents
    seating: Seating
    allowance: RunAllowance
    root: Path

    async def run(self, asker: Asker, args: ChildTurnArgs, bill: Bill) -> ChildTurnOk | RefusedCall:
        """Return the report of a child turn, or why there is none; checks as D-52 orders them."""
        seat = self.seating.seat(args.role, asker.member.roles)
        if isinstance(seat, RefusedCall):
            return seat
        if seat == asker.seat:
            return RefusedCall(
                refusal=Refusal.FORBIDDEN,
                detail=f'role "{visible(args.role)}" sits on "{seat}", which runs the turn itself; '
                "a turn does not advise itself",
            )
        poor = spent(asker.purse)
        if poor is not None:
            return poor
        number = self.allowance.child_turn(asker.member)
        if isinstance(number, RefusedCall):
            return number
        assignment = Assignment(
            agent=self.agents.next_id(asker.turn),
            parent=asker.turn,
            round=asker.round,
            principal=self.agents.principal(asker.member.name, args.role),
            seat=seat,
            instruction=args.instruction,
            root=self.root,
            write=False,
            max_steps=limits.CHILD_STEPS,
            purse=asker.purse,
        )

        def ended(done: Done) -> None:
            bill.charge(done.end.tally, done.end.steps)

        done = await self.agents.conduct(assignment, ended)
        if not (done.completed or done.began):
            return failed(f"the child turn did not start: {visible(done.report)}")
        return ChildTurnOk(role=args.role, seat=seat, report=done.report, completed=done.completed)
