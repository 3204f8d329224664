"""What a plugin may still ask of the host: the grant, the ceilings, what is used up [D-45 to D-48].

Pure bookkeeping. The grant is looked at first and costs nothing; every other call costs one unit
of its point, also when a plane then refuses it.
"""

from dataclasses import dataclass
from dataclasses import field

from stella import limits
from stella.manifest.loop import bound
from stella.turn.stages import Member
from stella.wire.host_call import HostCall
from stella.wire.host_result import RefusedCall
from stella.wire.points import Refusal


def calls_per_point(member: Member) -> int:
    """Return how many host calls one process of the member may make [D-45]."""
    return bound(member.max_calls, limits.HOST_CALLS_PER_POINT)


def channel_open(member: Member) -> bool:
    """Return whether any host call is possible, so that stdin stays open [D-47]."""
    return bool(member.calls) and calls_per_point(member) > 0


@dataclass(slots=True)
class PointAllowance:
    """The calls of one process; the next point starts afresh [D-45]."""

    member: Member
    used: int = 0

    def refused(self, call: HostCall) -> RefusedCall | None:
        """Charge one call, or return why it is not served [D-48]."""
        if call.call not in self.member.calls:
            declared = ", ".join(sorted(each.value for each in self.member.calls))
            return RefusedCall(
                refusal=Refusal.UNDECLARED,
                detail=f'the manifest does not list "{call.call.value}"; it lists {declared}',
            )
        most = calls_per_point(self.member)
        if self.used >= most:
            return _spent(f"all {most} host calls of this point are used")
        self.used += 1
        return None


@dataclass(slots=True)
class RunAllowance:
    """What one run counts and never starts again [D-19, D-45]."""

    child_turns: dict[str, int] = field(default_factory=dict)
    fanouts: int = 0

    def child_turn(self, member: Member) -> int | RefusedCall:
        """Charge one child turn of a plugin and return its number from 1, or refuse it."""
        most = bound(member.max_calls, limits.CHILD_TURNS_PER_RUN)
        used = self.child_turns.get(member.name, 0)
        if used >= most:
            return _spent(f"all {most} child turns of this run are used")
        self.child_turns[member.name] = used + 1
        return used + 1

    def fanout(self, member: Member, asked: int) -> int | RefusedCall:
        """Charge one fan-out of the run and return its width, clamped [D-54], or refuse it."""
        if self.fanouts >= limits.FANOUTS_PER_RUN:
            return _spent(f"all {limits.FANOUTS_PER_RUN} fan-outs of this run are used")
        self.fanouts += 1
        return max(1, min(asked, bound(member.max_fanout_width, limits.FANOUT_WIDTH)))


def _spent(detail: str) -> RefusedCall:
    return RefusedCall(refusal=Refusal.ALLOWANCE_SPENT, detail=detail)
