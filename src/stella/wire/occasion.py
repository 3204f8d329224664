"""What a lifecycle hook is told: one payload per event, keys in one order [W-38, H-58].

A payload is one line whose keys stand in the same order, whatever the event; what is absent is
omitted, never null.
"""

from dataclasses import dataclass
from typing import Any
from typing import ClassVar
from typing import Final

import msgspec

from stella import codec
from stella.codec import U32
from stella.codec import U64
from stella.codec import Fault
from stella.codec import JsonFault
from stella.codec import Refused
from stella.wire.points import Hook


class Occasion(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What happened, in the keys of its event [H-58]; where and in which session is `Scene`."""

    event: ClassVar[Hook]


class Called(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tool call as a hook sees it [H-59]."""

    name: str
    input: dict[str, Any]
    read_only: bool


class SessionStart(Occasion, frozen=True, kw_only=True):
    """The system prompt is being built; `source` is `new` or `resume`."""

    event = Hook.SESSION_START
    source: str


class SessionEnd(Occasion, frozen=True, kw_only=True):
    """The session closes, any way; `cost_usd` None is unknown."""

    event = Hook.SESSION_END
    status: str
    turns: U32
    cost_usd: float | None = None


class UserPromptSubmit(Occasion, frozen=True, kw_only=True):
    """A person's prompt, before anything is spent."""

    event = Hook.USER_PROMPT_SUBMIT
    prompt: str


class TurnStart(Occasion, frozen=True, kw_only=True):
    """A turn has its id and nothing else has happened in it."""

    event = Hook.TURN_START
    round: U32
    prompt: str


class TurnEnd(Occasion, frozen=True, kw_only=True, rename={"final_text": "finalText"}):
    """A turn is over and did not fail; `changed_files` None is unmeasured."""

    event = Hook.TURN_END
    final_text: str
    status: str
    cause: str | None = None
    steps: U32
    cost_usd: float | None = None
    changed_files: tuple[str, ...] | None = None


class TurnError(Occasion, frozen=True, kw_only=True):
    """A turn failed; `error` is its sentence."""

    event = Hook.TURN_ERROR
    cause: str
    error: str
    steps: U32
    cost_usd: float | None = None


class PreToolUse(Occasion, frozen=True, kw_only=True):
    """A call whose arguments fit its tool, before it is judged."""

    event = Hook.PRE_TOOL_USE
    tool: Called


class PostToolUse(Occasion, frozen=True, kw_only=True, rename={"tool_result": "toolResult"}):
    """A call that ran; `input_before` is there when hooks changed its input."""

    event = Hook.POST_TOOL_USE
    tool: Called
    tool_result: str
    ok: bool
    error_class: str | None = None
    duration_ms: U64
    input_before: dict[str, Any] | None = None


class SubagentStart(Occasion, frozen=True, kw_only=True):
    """A child turn is about to begin; `parent_id` is the turn or agent that asked for it."""

    event = Hook.SUBAGENT_START
    parent_id: str
    depth: U32
    access: str
    instruction: str


class SubagentStop(Occasion, frozen=True, kw_only=True):
    """A child turn is over."""

    event = Hook.SUBAGENT_STOP
    status: str
    steps: U32
    cost_usd: float | None = None
    report: str


class Stop(Occasion, frozen=True, kw_only=True, rename={"final_text": "finalText"}):
    """The model would end its turn; the counts are those of the hook that is asked [Q-10]."""

    event = Hook.STOP
    final_text: str
    holds_spent: U32
    holds_allowed: U32
    last: bool


class PreCompact(Occasion, frozen=True, kw_only=True):
    """History is about to be summarised."""

    event = Hook.PRE_COMPACT
    estimate_tokens: U64
    budget_tokens: U64
    span_messages: U32


OCCASIONS: Final = (
    SessionStart,
    SessionEnd,
    UserPromptSubmit,
    TurnStart,
    TurnEnd,
    TurnError,
    PreToolUse,
    PostToolUse,
    SubagentStart,
    SubagentStop,
    Stop,
    PreCompact,
)
"""The payload of every event, in the order of the catalogue [H-58]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Where something happened: the workspace, the session, and the turn, call and agent."""

    cwd: str
    session_id: str
    turn_id: str | None = None
    call_id: str | None = None
    agent_id: str | None = None


class _Told(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every payload says besides the keys of its event."""

    event: Hook
    cwd: str
    session_id: str
    turn_id: str | None = None
    call_id: str | None = None
    agent_id: str | None = None


_BY_EVENT: Final = {each.event: each for each in OCCASIONS}
_IN_FRONT: Final = ("tool", "toolResult", "finalText")


def write_payload(scene: Scene, occasion: Occasion) -> bytes:
    """Return the payload as one compact line with its newline, keys in wire order [W-38, H-58]."""
    own: dict[str, Any] = codec.plain(occasion)
    line: dict[str, Any] = {"event": occasion.event.value, "cwd": scene.cwd}
    line |= {key: own.pop(key) for key in _IN_FRONT if key in own}
    correlation = {
        "session_id": scene.session_id,
        "turn_id": scene.turn_id,
        "call_id": scene.call_id,
        "agent_id": scene.agent_id,
    }
    line |= {key: value for key, value in correlation.items() if value is not None}
    return codec.encode(line | own) + b"\n"


def read_payload(data: bytes) -> tuple[Scene, Occasion]:
    """Return the payload in `data`, as a plugin reads it, or raise `Refused` [W-38, K-203]."""
    tree = codec.parse(data)
    if not isinstance(tree, dict):
        fault = Fault(token=JsonFault.WRONG_TYPE, path=(), message="expected an object")
        raise Refused(fault)
    shared = {key: tree.pop(key) for key in _Told.__struct_fields__ if key in tree}
    told = codec.decode(_Told, shared)
    scene = Scene(
        cwd=told.cwd,
        session_id=told.session_id,
        turn_id=told.turn_id,
        call_id=told.call_id,
        agent_id=told.agent_id,
    )
    return scene, codec.decode(_BY_EVENT[told.event], tree)
