"""Those who listen to hooks in a turn that is played, and what they answer."""

from collections.abc import Callable
from collections.abc import Mapping

from stella.turn.hooks import Hooks
from stella.turn.hooks import Listener
from stella.turn.questions import AskHook
from stella.wire.hook import Action
from stella.wire.hook import Allow
from stella.wire.hook import Deny
from stella.wire.hook import HookCause
from stella.wire.hook import HookFailure
from stella.wire.hook import HookResult
from stella.wire.hook import Modify
from stella.wire.hook import NoOpinion
from stella.wire.hook import RequireApproval
from stella.wire.points import Hook

ALLOW = Allow(action=Action.ALLOW)
NOTHING = NoOpinion()
FAILED = HookFailure(cause=HookCause.TIMEOUT, message="no end within 1 s of its start")


def deny(reason: str = "no") -> Deny:
    return Deny(action=Action.DENY, reason=reason)


def wish(reason: str = "ask first") -> RequireApproval:
    return RequireApproval(action=Action.REQUIRE_APPROVAL, reason=reason)


def modify(**payload: object) -> Modify:
    return Modify(action=Action.MODIFY, payload=payload)


def listening(*events: Hook, names: tuple[str, ...] = ("a",), holds: int = 2) -> Hooks:
    """Plugins of these names that all listen to these events."""
    listeners = tuple(Listener(by=f"plugin:{name}", holds=holds) for name in names)
    return Hooks(listeners=dict.fromkeys(events, listeners))


def answering(results: Mapping[str, HookResult]) -> Callable[[AskHook], HookResult]:
    """Have each plugin, by its name, answer every hook alike."""
    return lambda question: results[question.by.removeprefix("plugin:")]
