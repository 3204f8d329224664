"""One hook call: a fresh process gets one payload, and what came of it is a value [D-62, W-15].

It is started by the same `PluginProcess` as a point, under the same check, environment,
deadline and output cap. A failure is never a decision [H-50].
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from typing import assert_never

from msgspec import structs

from stella import limits
from stella.codec import Refused
from stella.escape import excerpt
from stella.process.ending import Completed
from stella.process.ending import Ending
from stella.wire.hook import ACTIONS
from stella.wire.hook import Allow
from stella.wire.hook import Decision
from stella.wire.hook import Deny
from stella.wire.hook import DenyEvidence
from stella.wire.hook import HookCause
from stella.wire.hook import HookFailure
from stella.wire.hook import HookResult
from stella.wire.hook import HookText
from stella.wire.hook import Modify
from stella.wire.hook import NoOpinion
from stella.wire.hook import RequireApproval
from stella.wire.hook import is_decision_shaped
from stella.wire.hook import read_decision
from stella.wire.occasion import Occasion
from stella.wire.occasion import Scene
from stella.wire.occasion import write_payload
from stella.wire.points import Hook
from stella.wire.silence import FaultCode
from stella.wrapper.plugin import PluginProcess
from stella.wrapper.plugin import Unstarted

_MAY_PRINT: Final = "stdout is for one decision or nothing, anything else belongs on stderr"
_UNSTARTED: Final = {
    FaultCode.NOT_ACCEPTED: HookCause.NOT_ACCEPTED,
    FaultCode.SPAWN: HookCause.SPAWN_FAILED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HookSpoken:
    """What came of one hook call; the tails are the last of what it printed [H-53].

    `exit_code` is None when it did not exit by itself, a tail None when it is blank.
    """

    result: HookResult
    exit_code: int | None = None
    duration_ms: int = 0
    stdout_tail: str | None = None
    stderr_tail: str | None = None
    notice: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HookProcess:
    """A plugin that listens to hooks; its words are cleared as its answers are [H-41]."""

    plugin: PluginProcess

    async def ask(self, scene: Scene, occasion: Occasion) -> HookSpoken:
        """Send one payload and return what came. Raises only `CancelledError` [H-56]."""
        event = occasion.event
        done = await self.plugin.run(stdin=write_payload(scene, occasion))
        if isinstance(done, Unstarted):
            failure = HookFailure(cause=_UNSTARTED[done.code], message=done.reason)
            return HookSpoken(result=failure)
        return HookSpoken(
            result=conclude(event, done, self.plugin.deadline, self.plugin.clean),
            exit_code=done.code if done.ending is Ending.EXITED else None,
            duration_ms=done.duration_ms,
            stdout_tail=_tail(done.stdout, self.plugin.clean),
            stderr_tail=_tail(done.stderr, self.plugin.clean),
            notice=self.plugin.left_behind(done, event.value),
        )


def conclude(
    event: Hook, done: Completed, deadline: float, clean: Callable[[str], str]
) -> HookResult:
    """Return what a hook's process came to [H-50, H-51, W-42, W-43].

    `deadline` is the effective number of seconds, for the message of a timeout. Exit code 2 is
    a failure like any other code, since a plugin answers in JSON [Q-5].
    """
    match done.ending:
        case Ending.NOT_STARTED:
            return HookFailure(cause=HookCause.SPAWN_FAILED, message=done.reason)
        case Ending.TIMED_OUT:
            return _ended(
                HookCause.TIMEOUT, f"no end within {deadline:g} s of its start", done, clean
            )
        case Ending.OVERFLOWED:
            text = f"{done.overflowed or 'stdout'} crossed the limit of its output"
            return HookFailure(cause=HookCause.OUTPUT_CAP, message=text)
        case Ending.LOST | Ending.STOPPED:
            return HookFailure(cause=HookCause.TRANSPORT, message=done.reason)
        case Ending.SIGNALLED:
            return _ended(HookCause.SIGNAL, f"signal {done.signal}", done, clean)
        case Ending.EXITED:
            if done.code:
                return _ended(HookCause.NONZERO_EXIT, f"exit code {done.code}", done, clean)
            return _answered(event, done, clean)
        case _:
            assert_never(done.ending)


def _answered(event: Hook, done: Completed, clean: Callable[[str], str]) -> HookResult:
    if event is Hook.SESSION_START:
        return HookText(text=clean(done.stdout.decode("utf-8", "replace")).strip())
    if not ACTIONS[event]:
        return NoOpinion()
    try:
        decision = read_decision(event, done.stdout)
    except Refused as refused:
        fault = refused.reasons[0]
        shown = excerpt(clean(done.stdout.decode("utf-8", "replace")))
        text = f"{fault.token.value}: {clean(str(fault))}; {_MAY_PRINT}; got: {shown}"
        return HookFailure(cause=HookCause.MALFORMED, message=text)
    if isinstance(decision, NoOpinion) and is_decision_shaped(done.stderr):
        text = "its answer went to stderr; it belongs on stdout"
        return HookFailure(cause=HookCause.MALFORMED, message=text)
    return _cleaned(decision, clean)


def _cleaned(decision: Decision | NoOpinion, clean: Callable[[str], str]) -> HookResult:
    """Return a decision whose words hold no secret; a rewrite is used as it came [H-41, H-54]."""
    match decision:
        case RequireApproval(reason=reason):
            return structs.replace(decision, reason=clean(reason))
        case Deny(reason=reason, evidence=evidence):
            return structs.replace(decision, reason=clean(reason), evidence=_seen(evidence, clean))
        case Allow() | Modify() | NoOpinion():
            return decision
        case _:
            assert_never(decision)


def _seen(evidence: DenyEvidence | None, clean: Callable[[str], str]) -> DenyEvidence | None:
    if evidence is None:
        return None
    return DenyEvidence(
        witness=None if evidence.witness is None else clean(evidence.witness),
        command=None if evidence.command is None else tuple(map(clean, evidence.command)),
        flip=evidence.flip,
        digest=None if evidence.digest is None else clean(evidence.digest),
    )


def _ended(cause: HookCause, how: str, done: Completed, clean: Callable[[str], str]) -> HookFailure:
    said = excerpt(clean(done.stderr.decode("utf-8", "replace")), limits.STDERR_CHARS)
    return HookFailure(cause=cause, message=f"{how}; stderr: {said}" if said else how)


def _tail(data: bytes, clean: Callable[[str], str]) -> str | None:
    """Return the last characters of a stream, cleared of secrets while it is still whole."""
    text = clean(data.decode("utf-8", "replace"))
    return text[-limits.HOOK_TAIL_CHARS :] if text.strip() else None
