"""What a run tells of its plugins: what they were asked and served, and the turns under a turn.

Records of the same kind as in `facts`, fields in the order of [J2-40].
"""

from typing import Any

import msgspec

from stella.codec import U32
from stella.codec import U64
from stella.turn.facts import Cause
from stella.turn.facts import Fact
from stella.wire.host_result import RefusedCall
from stella.wire.points import Call
from stella.wire.points import Point


class ServedCall(Fact, frozen=True, kw_only=True):
    """One host call of an exchange: what it got or why not, and what its turns used [D-49]."""

    type = "served_call"
    id: U32
    call: Call
    args: dict[str, Any]
    ok: dict[str, Any] | None = None
    refusal: RefusedCall | None = None
    cost_usd: float | None = None
    steps: U32 | None = None


class SubagentStarted(Fact, frozen=True, kw_only=True):
    """A turn under another turn begins [E-95]; `access` is `read` or `write`."""

    type = "subagent_started"
    agent: str
    parent: str
    depth: U32
    access: str
    limits: dict[str, Any]
    instruction: str


class SubagentFinished(Fact, frozen=True, kw_only=True):
    """A turn under another turn is over; `cost_usd` is null when unknown [E-95]."""

    type = "subagent_finished"
    agent: str
    status: str
    cause: Cause | None = None
    steps: U32
    cost_usd: float | None = msgspec.field(default_factory=lambda: None)
    report: str
    truncated: bool = msgspec.field(default_factory=bool)


class CandidateTold(Fact, frozen=True, kw_only=True):
    """What became of a candidate: created, adopted, discarded or leaked [D-54, D-57]."""

    type = "candidate"
    event: str
    handle: str
    plugin: str
    root: str | None = None
    files_changed: U32 | None = None


class Exchanged(Fact, frozen=True, kw_only=True):
    """A plugin was asked; without `response` a fault follows [J2-44]."""

    type = "plugin_exchange"
    plugin: str
    point: Point
    stage: str | None = None
    round: U32
    request: dict[str, Any]
    response: dict[str, Any] | None = None
    calls: tuple[ServedCall, ...]
    duration_ms: U64


class PluginFaulted(Fact, frozen=True, kw_only=True):
    """A plugin gave no usable answer [W-50]; raw output becomes base64 in the journal [J2-13]."""

    type = "plugin_fault"
    plugin: str
    point: Point
    stage: str | None = None
    round: U32
    fault: str
    message: str
    stdout_b64: bytes | None = None


def under_a_turn(turn: str | None) -> bool:
    """Return whether a turn's id is that of a turn under another, `<turn>.a<n>` [E-2]."""
    return turn is not None and ".a" in turn
