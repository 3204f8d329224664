"""A plugin that is an object of the embedding program instead of a process [T-35].

It gets the same request values, asks through the same gate and answers the same values; what it
does wrong is the same kind of silence, never an exception.
"""

import asyncio
from collections.abc import Awaitable
from collections.abc import Callable
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from typing import Final
from typing import cast

import msgspec

from stella import codec
from stella import limits
from stella.codec import Refused
from stella.escape import excerpt
from stella.escape import visible
from stella.wire.envelope import Answer
from stella.wire.envelope import LaterAnswer
from stella.wire.envelope import PointAnswer
from stella.wire.envelope import Request
from stella.wire.envelope import point_of
from stella.wire.envelope import read_message
from stella.wire.host_call import ARGS
from stella.wire.host_call import CallArgs
from stella.wire.host_call import HostCall
from stella.wire.host_result import CallOk
from stella.wire.host_result import RefusedCall
from stella.wire.points import PROTOCOL_VERSION
from stella.wire.silence import FaultCode
from stella.wire.silence import Silence
from stella.wrapper.plugin import Serve
from stella.wrapper.plugin import Spoken

_CALLS: Final = {shape: call for call, shape in ARGS.items()}

Handler = Callable[[Request, "Host"], Awaitable[object]]
"""Answers one point: a method `before_turn` or `after_turn` of the object [S-79]."""


class Host:
    """What an object may ask while its point is open, one call after another [D-48, T-19]."""

    def __init__(self, serve: Serve | None) -> None:
        self._serve = serve
        self._asked = 0
        self._one = asyncio.Lock()
        self._asking: set[asyncio.Task[CallOk | RefusedCall]] = set()
        self.unannounced: str | None = None
        self.over = False

    async def ask(self, args: CallArgs) -> CallOk | RefusedCall:
        """Return what a call gives or why it is refused.

        Raises `Refused` for arguments that no process could have written, and `RuntimeError` when
        no host call is open to the object, which ends the point as it would end a process [W-50],
        and when its point is over.
        """
        call = _CALLS[type(args)]
        if self._serve is None:
            self.unannounced = call.value
            raise RuntimeError("no host call is open to this plugin")
        self._asked += 1
        line = codec.encode({"call": call.value, "id": self._asked, "args": args})
        message = read_message(line)
        assert isinstance(message, HostCall)  # noqa: S101  # "call" is a key of it
        # A task of its own, so that the end of the point ends it whoever waits for it.
        task = asyncio.create_task(self._served(self._serve, message))
        self._asking.add(task)
        task.add_done_callback(self._ended)
        return await task

    async def end(self) -> None:
        """End every call that is under way and serve none any more; the point is over [T-23]."""
        self.over = True
        asking = tuple(self._asking)
        for task in asking:
            task.cancel()
        await settled(asking)

    def _ended(self, task: asyncio.Task[CallOk | RefusedCall]) -> None:
        self._asking.discard(task)
        if not task.cancelled():
            task.exception()  # the object may have stopped waiting for it

    async def _served(self, serve: Serve, call: HostCall) -> CallOk | RefusedCall:
        async with self._one:
            if self.over:
                raise RuntimeError("the point of this host is over")
            return await serve(call)


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginObject:
    """An object and how many seconds it may take [D-45, S-79]."""

    name: str
    handlers: object
    timeout_secs: int = limits.CODE_POINT_SECS

    @property
    def deadline(self) -> int:
        """The effective number of seconds of one point [D-45]."""
        return min(self.timeout_secs, limits.POINT_SECS)

    async def ask(self, request: Request, serve: Serve | None = None) -> Spoken:
        """Ask once and return what came. Raises only `CancelledError` [T-35]."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        host = Host(serve)
        # A task of its own: what it does with a cancel is not what becomes of the run.
        task = asyncio.create_task(self._handled(request, host))
        try:
            await asyncio.wait({task}, timeout=self.deadline)
            late = not task.done()
        finally:
            task.cancel()
            await host.end()
            # One that does not heed its cancel is not waited for [T-25].
            await settled((task,), limits.KILL_GRACE_SECS)
        if late:
            text = f"no end within {self.deadline} s of its start"
            answer: Answer | Silence = self._silent(request, FaultCode.TIMEOUT, text)
        elif host.unannounced is not None:
            text = f'it asked "{host.unannounced}", and no host call is open to it'
            answer = self._silent(request, FaultCode.UNANNOUNCED_CALL, text)
        else:
            answer = task.result()
        return Spoken(answer=answer, duration_ms=round((loop.time() - began) * 1000))

    async def _handled(self, request: Request, host: Host) -> Answer | Silence:
        """Return what the object answers, or what it did instead."""
        point = point_of(request).value
        try:
            handler = cast("Handler | None", getattr(self.handlers, point, None))
            if handler is None:
                return self._silent(request, FaultCode.NO_RESPONSE, f"it has no method {point}")
            return self._judged(request, await handler(request, host))
        except KeyboardInterrupt:  # the person's own
            raise
        # The object is a program of somebody else: whatever it raises is its fault [T-35].
        except BaseException as error:  # noqa: BLE001  # the rule is for every error there is
            return self._raised(request, error)

    def _judged(self, request: Request, given: object) -> Answer | Silence:
        """Return what was given as a process would have written it, or the fault in it.

        The round trip gives an object no way that a process does not have: a value of a wrong
        type is refused as its JSON would be.
        """
        try:
            line = codec.encode({"point": point_of(request).value, "body": given})
            message = read_message(line)
        except Refused as refused:
            fault = refused.reasons[0]
            return self._silent(request, FaultCode.DECODE, f"{fault.token.value}: {fault}")
        except (TypeError, ValueError, msgspec.MsgspecError) as error:
            text = f"its answer is no value of the wire: {_worded(error)}"
            return self._silent(request, FaultCode.DECODE, text)
        if isinstance(message, LaterAnswer):
            text = f"the answer has version {message.version}; this host speaks {PROTOCOL_VERSION}"
            return self._silent(request, FaultCode.PROTOCOL_VERSION, text)
        assert isinstance(message, PointAnswer)  # noqa: S101  # "point" is a key of it
        return message.body

    def _raised(self, request: Request, error: BaseException) -> Silence:
        text = f"{excerpt(type(error).__name__)}: {_worded(error)}"
        return self._silent(request, FaultCode.HANDLER, text)

    def _silent(self, request: Request, code: FaultCode, reason: str) -> Silence:
        text = f"{visible(self.name)} {point_of(request).value}: {reason}"
        return Silence(code=code, message=text)


async def settled(tasks: Iterable[asyncio.Task[Any]], seconds: float | None = None) -> None:
    """Wait until cancelled tasks have ended, not longer than `seconds`; a cancel is put off."""
    waiting = {task for task in tasks if not task.done()}
    if not waiting:
        return
    ending = asyncio.ensure_future(asyncio.wait(waiting, timeout=seconds))
    cancelled = False
    while not ending.done():
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError


def _worded(error: BaseException) -> str:
    """Return the text of an error; how it is made may be the object's own too."""
    try:
        return excerpt(str(error))
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001  # as for what the object raises itself
        return "an error without a text"
