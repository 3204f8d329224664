"""The `[loop]` table and the ladder: what each grade may do, said once [M-15, M-17, M-59].

`LADDER` is the only place that knows which grade holds which power. The load rules, the
consent text, listings and the run-time predicates all read it, so they cannot disagree.
"""

from enum import Enum
from types import MappingProxyType
from typing import Final

import msgspec

from stella.codec import U32
from stella.manifest.events import matches
from stella.wire.grade import Grade
from stella.wire.points import Call
from stella.wire.points import Hook
from stella.wire.points import Point

NOT_FOR_PLUGINS: Final = ("PreIssueWork", "PostIssueWork")
"""Hook words that are told apart from unknown ones, because no plugin may have them [M-16]."""


class Power(Enum):
    """What a grade may hold; the value is how a manifest asks for it [M-59]."""

    RUNTIME = "[runtime]"
    EVENTS = "events"
    HOOKS = "hooks"
    POINTS = "points"
    CALLS = "calls"
    SUBLOOP = "[subloop]"
    WRAPPER = "[wrapper]"
    STOP = "the Stop hook"
    REQUIREMENTS = "[requirements]"
    ORACLE = "[oracle]"
    MAX_HOLDS = "max_holds"


_OBSERVER: Final = frozenset({Power.RUNTIME, Power.EVENTS})
_STEERING: Final = _OBSERVER | {
    Power.HOOKS,
    Power.POINTS,
    Power.CALLS,
    Power.SUBLOOP,
    Power.WRAPPER,
}
_ARBITER: Final = _STEERING | {Power.STOP, Power.REQUIREMENTS, Power.ORACLE, Power.MAX_HOLDS}

LADDER: Final = MappingProxyType(
    {
        Grade.NONE: frozenset[Power](),
        Grade.OBSERVER: _OBSERVER,
        Grade.STEERING: _STEERING,
        Grade.ARBITER: _ARBITER,
    }
)
"""What each grade may do; each includes the ones below it [M-59]."""


def may(grade: Grade, power: Power) -> bool:
    """Return whether a grade holds a power [M-59]."""
    return power in LADDER[grade]


def grades_with(power: Power) -> tuple[Grade, ...]:
    """Return the grades that hold a power, lowest first; never empty [M-59]."""
    return tuple(grade for grade in Grade if may(grade, power))


def bound(ask: int | None, ceiling: int) -> int:
    """Return the bound that applies: an ask lowers the host's ceiling, never raises it [M-21]."""
    return min(ask or ceiling, ceiling)


class Loop(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """How a plugin takes part in a run: its grade and what it lists [M-15].

    The `permits_` methods hold for any value, also one no rule has seen: an item is allowed
    when it is listed and the grade holds the power, and not otherwise [M-17].
    """

    participation: Grade = Grade.NONE
    hooks: tuple[Hook, ...] = ()
    points: tuple[Point, ...] = ()
    calls: tuple[Call, ...] = ()
    max_calls: U32 | None = None
    max_fanout_width: U32 | None = None
    max_holds: U32 | None = None
    events: tuple[str, ...] = ()

    def holds(self, power: Power) -> bool:
        """Return whether the declared grade holds a power [M-59]."""
        return may(self.participation, power)

    def permits_hook(self, hook: Hook) -> bool:
        """Return whether the plugin may receive a hook; `Stop` is an arbiter's [M-17, R-18]."""
        power = Power.STOP if hook is Hook.STOP else Power.HOOKS
        return self.holds(power) and hook in self.hooks

    def permits_point(self, point: Point) -> bool:
        """Return whether the plugin may be asked at a point [M-17]."""
        return self.holds(Power.POINTS) and point in self.points

    def permits_call(self, call: Call) -> bool:
        """Return whether the plugin may make a host call [M-17]."""
        return self.holds(Power.CALLS) and call in self.calls

    def permits_event(self, name: str) -> bool:
        """Return whether the plugin receives the event of that name [M-17, M-18]."""
        return self.holds(Power.EVENTS) and any(matches(p, name) for p in self.events)
