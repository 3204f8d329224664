"""What a lifecycle hook may answer, and the reader of it [W-39 to W-43].

An answer is read as strictly as any other message: what is no decision of its event is refused
by name, never guessed.
"""

from codecs import BOM_UTF8
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from typing import Final
from typing import assert_never

import msgspec

from stella import codec
from stella.codec import Fault
from stella.codec import JsonFault
from stella.codec import Refused
from stella.codec import Word
from stella.wire.points import Hook

_BLANK: Final = b" \t\r\n"


class Action(Word):
    """What a hook may decide [W-48]."""

    ALLOW = "allow"
    MODIFY = "modify"
    DENY = "deny"
    REQUIRE_APPROVAL = "require_approval"


_EVERY: Final = tuple(Action)
_TWO: Final = (Action.ALLOW, Action.DENY)

ACTIONS: Final = MappingProxyType(
    {
        Hook.SESSION_START: (),
        Hook.SESSION_END: (),
        Hook.USER_PROMPT_SUBMIT: _TWO,
        Hook.TURN_START: _TWO,
        Hook.TURN_END: (),
        Hook.TURN_ERROR: (),
        Hook.PRE_TOOL_USE: _EVERY,
        Hook.POST_TOOL_USE: (),
        Hook.SUBAGENT_START: _TWO,
        Hook.SUBAGENT_STOP: (),
        Hook.STOP: _EVERY,
        Hook.PRE_COMPACT: _EVERY,
    }
)
"""What each event takes for a decision; empty where none is read [W-39, H-58]."""


class SeenFlip(Word):
    """What a denying hook saw of a test [W-40]."""

    UNOBSERVED = "unobserved"
    NOT_ACHIEVED = "not_achieved"
    ACHIEVED = "achieved"


class DenyEvidence(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """On what a `Stop` deny rests; every key may be absent [W-40]."""

    witness: str | None = None
    command: tuple[str, ...] | None = None
    flip: SeenFlip | None = None
    digest: str | None = None


class _Table(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    action: Action


class Allow(_Table, frozen=True, kw_only=True):
    """No objection [A-33]."""


class Modify(_Table, frozen=True, kw_only=True):
    """Go on with another input or other instructions; the payload is free-form [W-4, W-41]."""

    payload: dict[str, Any]


class _Reasoned(_Table, frozen=True, kw_only=True):
    reason: str

    def __post_init__(self) -> None:
        """Refuse a reason that says nothing [W-40]."""
        if not self.reason.strip():
            message = "expected a reason that is not blank"
            raise ValueError(message)


class RequireApproval(_Reasoned, frozen=True, kw_only=True):
    """A person has to agree first."""


class Deny(_Reasoned, frozen=True, kw_only=True):
    """No. `evidence` is for a `Stop` alone [Q-23]."""

    evidence: DenyEvidence | None = None


class _PlainDeny(_Reasoned, frozen=True, kw_only=True):
    """A deny of any event but `Stop`."""


Decision = Allow | Modify | Deny | RequireApproval


@dataclass(frozen=True, slots=True, kw_only=True)
class NoOpinion:
    """The hook ran and decided nothing: the chain goes on [H-50]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookText:
    """What a `SessionStart` hook printed, decoded and trimmed [W-43, H-71]."""

    text: str


class HookCause(Word):
    """Why a hook failed [H-50, D-69]; never a decision."""

    NOT_ACCEPTED = "not_accepted"
    SPAWN_FAILED = "spawn_failed"
    TIMEOUT = "timeout"
    NONZERO_EXIT = "nonzero_exit"
    SIGNAL = "signal"
    MALFORMED = "malformed"
    OUTPUT_CAP = "output_cap"
    TRANSPORT = "transport"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookFailure:
    """The hook did not decide: the cause, and one visible line about it for a person."""

    cause: HookCause
    message: str


HookResult = Decision | NoOpinion | HookText | HookFailure


def read_decision(event: Hook, data: bytes) -> Decision | NoOpinion:
    """Return the decision that `data` is for `event`, or raise `Refused` [W-39 to W-42].

    No output, white space included, is no opinion. One leading byte-order mark is tolerated
    [W-1]; a second document, a key nobody knows, an action the event does not take and a
    rewrite that lacks what is to be used are refused.
    """
    if not data.strip(_BLANK):
        return NoOpinion()
    tree = codec.parse(data.removeprefix(BOM_UTF8))
    if not isinstance(tree, dict):
        raise _refused(JsonFault.WRONG_TYPE, (), "expected an object")
    action = _action(event, tree)
    match action:
        case Action.ALLOW:
            return codec.decode(Allow, tree, most=1)
        case Action.REQUIRE_APPROVAL:
            return codec.decode(RequireApproval, tree, most=1)
        case Action.DENY if event is Hook.STOP:
            return codec.decode(Deny, tree, most=1)
        case Action.DENY:
            plain = codec.decode(_PlainDeny, tree, most=1)
            return Deny(action=Action.DENY, reason=plain.reason)
        case Action.MODIFY:
            modify = codec.decode(Modify, tree, most=1)
            _check_payload(event, modify.payload)
            return modify
        case _:
            assert_never(action)


def is_decision_shaped(data: bytes) -> bool:
    """Return whether `data` is a JSON object with an action, wherever it was printed [H-51]."""
    try:
        tree = codec.parse(data)
    except Refused:
        return False
    return isinstance(tree, dict) and "action" in tree


def _action(event: Hook, tree: dict[str, Any]) -> Action:
    given = tree.get("action")
    if given is None:
        raise _refused(JsonFault.MISSING_KEY, ("action",), 'the required key "action" is missing')
    try:
        action = codec.decode(Action, given)
    except Refused as refused:
        fault = refused.reasons[0]
        raise _refused(fault.token, ("action",), fault.message) from refused
    if action not in ACTIONS[event]:
        legal = ", ".join(each.value for each in ACTIONS[event])
        message = f'"{action.value}" is no answer to {event.value}; legal are {legal}'
        raise _refused(JsonFault.UNKNOWN_TOKEN, ("action",), message)
    return action


def _check_payload(event: Hook, payload: dict[str, Any]) -> None:
    """Refuse a rewrite without what is to be used [W-41, H-61]."""
    key: str
    kind: type[object]
    if event is Hook.PRE_TOOL_USE:
        key, kind, name = "input", dict, "a table"
    elif event is Hook.PRE_COMPACT:
        key, kind, name = "instructions", str, "a string"
    else:
        return
    path = ("payload", key)
    if payload.get(key) is None:
        raise _refused(JsonFault.MISSING_KEY, path, f'the required key "{key}" is missing')
    if not isinstance(payload[key], kind):
        raise _refused(JsonFault.WRONG_TYPE, path, f"expected {name}")


def _refused(token: JsonFault, path: tuple[str, ...], message: str) -> Refused:
    return Refused(Fault(token=token, path=path, message=message))
