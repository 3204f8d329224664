"""A plugin that is an object of the embedding program instead of a process [T-35].

It gets the same request values, asks through the same gate and answers the same values; what it
does wrong is the same kind of silence, never an exception.
"""

import asyncio
from collections.abc import Awaitable
from collections.abc import Callable
from dataclasses import dataclass
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
    """What an object may ask, one call after another [D-48]."""

    def __init__(self, serve: Serve | None) -> None:
        self._serve = serve
        self._asked = 0
        self.unannounced: str | None = None

    async def ask(self, args: CallArgs) -> CallOk | RefusedCall:
        """Return what a call gives or why it is refused.

        Raises `RuntimeError` when no host call is open to the object, which ends the point as it
        would end a process [W-50].
        """
        call = _CALLS[type(args)]
        if self._serve is None:
            self.unannounced = call.value
            raise RuntimeError("no host call is open to this plugin")
        self._asked += 1
        return await self._serve(HostCall(call=call, id=self._asked, args=args))


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
        point = point_of(request).value
        handler = cast("Handler | None", getattr(self.handlers, point, None))
        if handler is None:
            found = self._silent(request, FaultCode.NO_RESPONSE, f"it has no method {point}")
            return Spoken(answer=found, duration_ms=0)
        bound = asyncio.timeout(self.deadline)
        try:
            async with bound:
                given = await handler(request, host)
            answer: Answer | Silence = self._judged(request, given)
        except TimeoutError as error:
            if bound.expired():
                text = f"no end within {self.deadline} s of its start"
                answer = self._silent(request, FaultCode.TIMEOUT, text)
            else:
                answer = self._raised(request, error)
        # The object is a program of somebody else: whatever it raises is its fault [T-35].
        except Exception as error:  # noqa: BLE001  # the rule is for every error there is
            answer = self._raised(request, error)
        if host.unannounced is not None:
            text = f'it asked "{host.unannounced}", and no host call is open to it'
            answer = self._silent(request, FaultCode.UNANNOUNCED_CALL, text)
        return Spoken(answer=answer, duration_ms=round((loop.time() - began) * 1000))

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
            text = f"its answer is no value of the wire: {visible(str(error))}"
            return self._silent(request, FaultCode.DECODE, text)
        if isinstance(message, LaterAnswer):
            text = f"the answer has version {message.version}; this host speaks {PROTOCOL_VERSION}"
            return self._silent(request, FaultCode.PROTOCOL_VERSION, text)
        assert isinstance(message, PointAnswer)  # noqa: S101  # "point" is a key of it
        return message.body

    def _raised(self, request: Request, error: Exception) -> Silence:
        text = f"{type(error).__name__}: {excerpt(str(error))}"
        return self._silent(request, FaultCode.HANDLER, text)

    def _silent(self, request: Request, code: FaultCode, reason: str) -> Silence:
        text = f"{visible(self.name)} {point_of(request).value}: {reason}"
        return Silence(code=code, message=text)
