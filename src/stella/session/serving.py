"""Answers the host calls of plugins: the grant, the ceilings, then the plane behind the call.

A refusal is a value that the plugin gets; nothing here raises but a broken journal and a cancel
[D-48, W-37]. Planes know nothing of each other.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from stella.session.asker import Asker
from stella.session.asker import Bill
from stella.session.asker import Outcome
from stella.session.attempts import Attempts
from stella.session.children import Children
from stella.session.desk import Desk
from stella.session.recalling import Recalling
from stella.session.telling import Telling
from stella.session.testing import Testing
from stella.turn.allowance import PointAllowance
from stella.turn.allowance import channel_open
from stella.turn.emitting import emitted
from stella.turn.facts import Emitted
from stella.turn.questions import AskPlugin
from stella.turn.stages import Member
from stella.wire.grant import TestBaseline
from stella.wire.host_call import AdoptArgs
from stella.wire.host_call import ChildTurnArgs
from stella.wire.host_call import EmitArgs
from stella.wire.host_call import FanoutArgs
from stella.wire.host_call import HostCall
from stella.wire.host_call import RecallArgs
from stella.wire.host_call import RunTestArgs
from stella.wire.host_result import EmitOk
from stella.wire.host_result import RefusedCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """The planes of one run, and who may reach them."""

    members: Mapping[str, Member]
    telling: Telling
    recalling: Recalling
    children: Children
    testing: Testing
    attempts: Attempts

    def desk(self, question: AskPlugin) -> Desk | None:
        """Return what answers the calls of one point, or None when none is possible [D-47]."""
        member = self.members[question.member]
        if not channel_open(member):
            return None
        candidate = question.request.candidate
        test = candidate.test if candidate else None
        asker = Asker(
            member=member,
            turn=question.turn,
            round=question.request.round,
            seat=question.seat,
            baseline=test.baseline if test else TestBaseline.NOT_RUN,
            purse=question.purse,
        )
        return Desk(plane=self.outcome, asker=asker, allowance=PointAllowance(member=member))

    async def outcome(self, asker: Asker, call: HostCall, bill: Bill) -> Outcome:
        """Return what the plane of a call that may be made gives."""
        args = call.args
        match args:
            case RecallArgs():
                return await self.recalling.search(args)
            case ChildTurnArgs():
                return await self.children.run(asker, args, bill)
            case RunTestArgs():
                return await self.testing.run(asker, args)
            case FanoutArgs():
                return await self.attempts.make(asker, args, bill)
            case AdoptArgs():
                return await self.attempts.adopt(asker, args, bill)
            case EmitArgs():
                return self._emit(asker, args)
            case _:
                assert_never(args)

    def _emit(self, asker: Asker, args: EmitArgs) -> EmitOk | RefusedCall:
        event = emitted(asker.member.name, args)
        if isinstance(event, Emitted):
            self.telling.tell(asker.turn, event)
            return EmitOk(emitted=event.name)
        return event
