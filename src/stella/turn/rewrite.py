"""What hooks do around one tool call: rewrite its input, say what they think, hear of its end.

The order is that of H-60: the rewrite chain, the check of a changed input, then the gate with
everything that was said. No hook can change the tool's name, the principal or the call id
[H-63], and no allow lifts what another one refused [A-33].
"""

import hashlib
from dataclasses import dataclass
from typing import Any
from typing import assert_never

from stella import codec
from stella.authority.decision import Contribution
from stella.authority.decision import Opinion
from stella.message import Asked
from stella.message import Output
from stella.turn.ask import Turn
from stella.turn.ask import ask
from stella.turn.facts import Noticed
from stella.turn.hooks import Hooks
from stella.turn.hooks import Listener
from stella.turn.hooks import Said
from stella.turn.hooks import Where
from stella.turn.hooks import consulted
from stella.turn.hooks import observed
from stella.turn.hooks import reason
from stella.turn.questions import CheckCall
from stella.turn.questions import tell
from stella.wire.hook import Allow
from stella.wire.hook import Deny
from stella.wire.hook import HookFailure
from stella.wire.hook import HookText
from stella.wire.hook import Modify
from stella.wire.hook import NoOpinion
from stella.wire.hook import RequireApproval
from stella.wire.occasion import Called
from stella.wire.occasion import PostToolUse
from stella.wire.occasion import PreToolUse
from stella.wire.points import Hook


@dataclass(frozen=True, slots=True, kw_only=True)
class Considered:
    """A call as it goes to the gate: its input now, who said what, and who rewrote it [H-60].

    `chain` has a row per rewrite, with the digests of the input before and after it.
    """

    call: Asked
    opinions: tuple[Opinion, ...] = ()
    chain: tuple[dict[str, str], ...] = ()


def considered(hooks: Hooks, call: Asked, where: Where) -> Turn[Considered]:
    """Ask the `PreToolUse` hooks about a call that fits its tool [H-60 steps 1 and 2].

    A call that does not fit is the gate's to refuse; no hook runs for it [E-23].
    """
    listeners = hooks.to(Hook.PRE_TOOL_USE)
    if not listeners or isinstance(call.input, str):
        return Considered(call=call)
    checked = yield from ask(CheckCall(call=call))
    if not checked.fits:
        return Considered(call=call)
    given = call.input

    def occasion(_: Listener, said: tuple[Said, ...]) -> PreToolUse:
        now = _input_after(given, said)
        return PreToolUse(tool=Called(name=call.name, input=now, read_only=checked.read_only))

    said = yield from consulted(listeners, where, occasion)
    opinions = tuple(_opinion(each) for each in said)
    changed = _with(call, _input_after(given, said))
    if _sha256(_input_after(given, said)) != _sha256(given):  # to Python, 1 equals true
        again = yield from ask(CheckCall(call=changed))
        if not again.fits:
            misfit = _misfit(said)
            text = (
                f"{misfit.source.replace(':', ' ', 1)}, {misfit.rule} of {call.name}: {again.why}"
            )
            yield from tell(where.turn, Noticed(code="rewrite_refused", text=text))
            return Considered(call=call, opinions=(*opinions, misfit))
        return Considered(call=changed, opinions=opinions, chain=_chain(given, said))
    return Considered(call=call, opinions=opinions, chain=_chain(given, said))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A call that ran: as it ran, what it gave, and its input before hooks changed it, if any."""

    call: Asked
    read_only: bool
    output: Output
    duration_ms: int
    input_before: dict[str, Any] | None


def reported(hooks: Hooks, ended: Ended, where: Where) -> Turn[None]:
    """Tell the `PostToolUse` hooks of a call that ran [H-60 step 7, H-59]."""
    if not hooks.to(Hook.POST_TOOL_USE):
        return
    call, error = ended.call, ended.output.error
    assert isinstance(call.input, dict)  # noqa: S101  # what ran had fitting arguments
    occasion = PostToolUse(
        tool=Called(name=call.name, input=call.input, read_only=ended.read_only),
        tool_result=ended.output.text,
        ok=error is None,
        error_class=error.kind.value if error else None,
        duration_ms=ended.duration_ms,
        input_before=ended.input_before,
    )
    yield from observed(hooks, occasion, where)


def _input_after(given: dict[str, Any], said: tuple[Said, ...]) -> dict[str, Any]:
    """Return the input as the last rewrite left it."""
    rewrites = [each.result for each in said if isinstance(each.result, Modify)]
    found: dict[str, Any] = rewrites[-1].payload["input"] if rewrites else given
    return found


def _with(call: Asked, given: dict[str, Any]) -> Asked:
    return Asked(call_id=call.call_id, name=call.name, input=given)


def _chain(given: dict[str, Any], said: tuple[Said, ...]) -> tuple[dict[str, str], ...]:
    rows: list[dict[str, str]] = []
    before = _sha256(given)
    for each in said:
        if isinstance(each.result, Modify):
            after = _sha256(each.result.payload["input"])
            rows.append({"by": each.listener.by, "before": before, "after": after})
            before = after
    return tuple(rows)


def _opinion(said: Said) -> Opinion:
    contribution, cause, sentence = Contribution.NONE, "", ""
    who = said.listener.who
    match said.result:
        case Allow():
            contribution = Contribution.ALLOW
        case Deny() as denied:
            contribution, cause = Contribution.DENY, said.listener.cause
            sentence = f"The {who} denies this call: {reason(denied)}"
        case RequireApproval() as wish:
            contribution, cause = Contribution.REQUIRE_APPROVAL, "no_terminal"
            sentence = (
                f"The {who} wants a person to approve this call and there is no way to ask one, "
                f"so the call was not made: {reason(wish)}"
            )
        case HookFailure():
            contribution, cause = Contribution.DENY, "hook_failure"
            sentence = _unguarded(f"the PreToolUse hook of {who} failed")
        case Modify() | NoOpinion() | HookText():
            pass
        case _:
            assert_never(said.result)
    return Opinion(
        rule=Hook.PRE_TOOL_USE.value,
        source=said.listener.by,
        contribution=contribution,
        cause=cause,
        sentence=sentence,
    )


def _misfit(said: tuple[Said, ...]) -> Opinion:
    """Return the refusal of a call whose input was rewritten into one that does not fit."""
    last = next(each.listener for each in reversed(said) if isinstance(each.result, Modify))
    return Opinion(
        rule=f"{Hook.PRE_TOOL_USE.value} rewrite",
        source=last.by,
        contribution=Contribution.DENY,
        cause="hook_failure",
        sentence=_unguarded(f"the {last.who} rewrote its input into one that does not fit"),
    )


def _unguarded(why: str) -> str:
    """Return the sentence about a guard that could not answer, without its own words [H-54]."""
    return f"A guard could not answer, so the call was not made: {why}."


def _sha256(given: dict[str, Any]) -> str:
    return hashlib.sha256(codec.canonical(given)).hexdigest()
