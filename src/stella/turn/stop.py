"""The Stop gate: whether a turn that would end is held open once more [E-34 to E-44, D-68].

Each listener has a bound of its own for the whole run. A hook that fails never holds [E-41];
what was held to the last is `capped`, for the gate's last word was no [E-40].
"""

from dataclasses import dataclass
from typing import Final

from stella import codec
from stella import limits
from stella.escape import cut
from stella.escape import visible
from stella.turn.ask import Turn
from stella.turn.facts import MessageAppended
from stella.turn.facts import Noticed
from stella.turn.hook_facts import GateEnd
from stella.turn.hook_facts import StopGated
from stella.turn.hooks import Hooks
from stella.turn.hooks import Listener
from stella.turn.hooks import Said
from stella.turn.hooks import Where
from stella.turn.hooks import consulted
from stella.turn.hooks import reason
from stella.turn.prompt import guarded
from stella.turn.questions import tell
from stella.wire.hook import Deny
from stella.wire.hook import HookFailure
from stella.wire.hook import Modify
from stella.wire.hook import RequireApproval
from stella.wire.occasion import Stop
from stella.wire.points import Hook

FEEDBACK: Final = "[stop-hook feedback]"
LAST: Final = "[final check: the turn ends after your next answer, whatever the hooks say]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """The turn goes on: the message for the model."""

    text: str


def stop_gate(hooks: Hooks, where: Where, final_text: str) -> Turn[Hold | GateEnd]:
    """Ask the gate about a would-be completion and return a hold or how it ended [E-35, E-44]."""
    able = tuple(each for each in hooks.to(Hook.STOP) if _left(hooks, each) > 0)

    def occasion(listener: Listener, _: tuple[Said, ...]) -> Stop:
        return Stop(
            final_text=final_text,
            holds_spent=hooks.spent.get(listener.by, 0),
            holds_allowed=listener.holds,
            last=_left(hooks, listener) == 1,
        )

    said = yield from consulted(able, where, occasion)
    if said:
        decider = _decider(said)
        if isinstance(decider.result, Deny):
            hooks.spent[decider.listener.by] = hooks.spent.get(decider.listener.by, 0) + 1
        yield from _told(hooks, where, said, decider)
        if isinstance(decider.result, Deny):
            hold = Hold(text=_message(hooks, decider.listener, decider.result))
            message = MessageAppended(role="user", origin="stop_hook", text=hold.text)
            yield from tell(where.turn, message)
            return hold
    return _ended(hooks, said)


def _left(hooks: Hooks, listener: Listener) -> int:
    return listener.holds - hooks.spent.get(listener.by, 0)


def _ended(hooks: Hooks, said: tuple[Said, ...]) -> GateEnd:
    """Return how the gate ended, the worst first [E-40 to E-44, E-122]."""
    if any(each.holds and _left(hooks, each) <= 0 for each in hooks.to(Hook.STOP)):
        return GateEnd.CAPPED
    if not said:
        return GateEnd.NOT_ASKED
    if any(isinstance(each.result, RequireApproval) for each in said):
        return GateEnd.UNANSWERED
    if all(isinstance(each.result, HookFailure) for each in said):
        return GateEnd.UNAVAILABLE
    return GateEnd.ALLOWED


def _decider(said: tuple[Said, ...]) -> Said:
    """Return whose word is the strongest: deny, then a wish for approval, then any [E-37]."""
    for kind in (Deny, RequireApproval):
        for each in said:
            if isinstance(each.result, kind):
                return each
    return said[-1]


def _told(hooks: Hooks, where: Where, said: tuple[Said, ...], decider: Said) -> Turn[None]:
    result, listener = decider.result, decider.listener
    fact = StopGated(asked=tuple(each.listener.by for each in said), decision=_mildest(said))
    if isinstance(result, Deny | RequireApproval):
        fact = StopGated(
            asked=fact.asked,
            decision=result.action.value,
            by=listener.by,
            spent=hooks.spent.get(listener.by, 0),
            allowed=listener.holds,
            reason=reason(result),
        )
    yield from tell(where.turn, fact)
    for each in said:
        who = each.listener.who
        match each.result:
            case RequireApproval() as wish:
                text = f"{who} wants a person to approve the end of the turn: {reason(wish)}"
                yield from tell(where.turn, Noticed(code="approval_not_asked", text=text))
            case Modify():
                text = f"{who} answered Stop with modify, which changes nothing there"
                yield from tell(where.turn, Noticed(code="stop_modify", text=text))
            case _:
                pass


def _mildest(said: tuple[Said, ...]) -> str:
    """Return `allow`, or `none` when nobody could answer."""
    failed = all(isinstance(each.result, HookFailure) for each in said)
    return "none" if failed else "allow"


def _message(hooks: Hooks, listener: Listener, denied: Deny) -> str:
    """Return the message of a hold [E-38, E-39, D-68].

    What a hook wrote cannot imitate the host [E-133]. The closing line comes with the last hold
    anybody has.
    """
    words = cut(denied.reason.strip(), limits.HOOK_FEEDBACK_CHARS)
    lines = [FEEDBACK, f"The {listener.who} holds the turn open:", guarded(words)]
    if (seen := denied.evidence) is not None:
        command = codec.encode(seen.command).decode() if seen.command is not None else None
        flip = seen.flip.value if seen.flip is not None else None
        named = {"witness": seen.witness, "command": command, "flip": flip, "digest": seen.digest}
        lines += [
            f"{key}: {cut(visible(value), limits.HOOK_REASON_CHARS)}"
            for key, value in named.items()
            if value is not None
        ]
    if not any(_left(hooks, each) > 0 for each in hooks.to(Hook.STOP)):
        lines.append(LAST)
    return "\n".join(lines)
