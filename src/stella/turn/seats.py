"""Which seat a plugin's role means, and whether a child may sit on it [D-31, D-50, D-52].

A role is the plugin's word, a tier the manifest's, a seat the host's. A plugin never names a
model; the person gives each seat one.
"""

from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from types import MappingProxyType
from typing import Final

from stella.codec import Word
from stella.escape import brief
from stella.escape import visible
from stella.near import suggestion
from stella.wire.host_result import RefusedCall
from stella.wire.points import Refusal


class Seat(Word):
    """A chair at which a model sits; the person gives each its model [D-50]."""

    WORKER = "worker"
    TRIAGE = "triage"
    RESEARCH = "research"
    PLAN = "plan"
    VERDICT = "verdict"


WORKER: Final = Seat.WORKER.value
"""The seat of the turn that does the work, unless a role moved it [D-31, D-52]."""

TIERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{seat.value: seat.value for seat in Seat if seat is not Seat.VERDICT},
        "verifier": Seat.VERDICT.value,
    }
)
"""Which seat a tier is bound to where the person says nothing else [D-50]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seating:
    """The tier table of a run: `seats` gives each bound tier its seat."""

    seats: Mapping[str, str] = field(default_factory=lambda: TIERS)

    def seat(self, role: str, roles: Mapping[str, str]) -> str | RefusedCall:
        """Return the seat of a role, given the roles of its manifest with their tiers.

        Refused are a role that is not declared and a tier that is not bound [D-52].
        """
        tier = roles.get(role)
        if tier is None:
            return undeclared_role(role, roles)
        seat = self.seats.get(tier)
        if seat is None:
            return RefusedCall(
                refusal=Refusal.UNAVAILABLE,
                detail=f'tier "{visible(tier)}" of role "{visible(role)}" is not bound; '
                f"bound tiers: {_listed(self.seats)}",
            )
        return seat


def undeclared_role(role: str, roles: Iterable[str]) -> RefusedCall:
    """Return the refusal of a role that its manifest does not declare [W-36]."""
    declared = sorted(roles)
    named = brief(role)
    if not declared:
        detail = f'role "{named}" is not declared; the manifest declares no role'
    else:
        hint = suggestion(role, declared)
        near = f"{hint}; " if hint and "did you mean" in hint else ""
        detail = f'role "{named}" is not declared; {near}declared roles: {_listed(declared)}'
    return RefusedCall(refusal=Refusal.UNDECLARED, detail=detail)


def _listed(words: Iterable[str]) -> str:
    return ", ".join(visible(word) for word in words)
