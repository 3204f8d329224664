"""A plugin as a process: one fresh child per question, and whatever goes wrong is a value.

Nothing past this module can tell how a plugin failed except by reading its `Silence`.
"""

import asyncio
from collections.abc import Awaitable
from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from stella import limits
from stella.escape import visible
from stella.process.ending import Completed
from stella.process.program import Program
from stella.process.run import run
from stella.process.talk import Child
from stella.process.talk import Talk
from stella.wire.envelope import Answer
from stella.wire.envelope import Request
from stella.wire.host_call import HostCall
from stella.wire.host_result import CallOk
from stella.wire.host_result import HostResult
from stella.wire.host_result import RefusedCall
from stella.wire.host_result import write_result
from stella.wire.silence import FaultCode
from stella.wire.silence import Silence
from stella.wrapper.exchange import Exchange

Serve = Callable[[HostCall], Awaitable[CallOk | RefusedCall]]
"""Answers one host call; it may be cancelled at any await, because the point is over [T-23]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What came of asking: the answer or the silence, the time it took, and a notice, if any."""

    answer: Answer | Silence
    duration_ms: int
    notice: str | None = None


class Answering(Protocol):
    """A plugin that can be asked, whatever it runs in [T-35]."""

    async def ask(self, request: Request, serve: Serve | None = None) -> Spoken:
        """Ask once and return what came; `serve` answers its host calls [D-47]."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Unstarted:
    """No process was started: `NotAccepted` or `Spawn`, and why [T-2, T-8]."""

    code: FaultCode
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginProcess:
    """How a plugin is started: exact words and environment, its own directory, a deadline [T-3].

    `cleared` is asked before every start and returns the accepted program, or why the package
    may not run [T-2]. `timeout_secs` is clamped to the host's ceiling [D-45]. `clean` takes
    secrets out of what it says before that is cut [H-41].
    """

    name: str
    arguments: tuple[str, ...]
    directory: Path
    env: Mapping[str, str]
    timeout_secs: int
    cleared: Callable[[], Program | str]
    clean: Callable[[str], str] = str

    @property
    def deadline(self) -> int:
        """The effective number of seconds of one conversation [T-22]."""
        return min(self.timeout_secs, limits.POINT_SECS)

    async def ask(self, request: Request, serve: Serve | None = None) -> Spoken:
        """Ask once and return what came. Raises only `CancelledError` [T-25, W-50].

        `serve` answers the host calls; without one no channel is open [D-47].
        """
        exchange = Exchange(
            plugin=self.name, request=request, channel=serve is not None, clean=self.clean
        )
        done = await self.run(talk=lambda child: _talk(child, exchange, serve))
        if isinstance(done, Unstarted):
            return _silent(exchange, done.code, done.reason)
        notice = self.left_behind(done, exchange.point.value)
        answer = exchange.conclude(done, self.deadline)
        return Spoken(answer=answer, duration_ms=done.duration_ms, notice=notice)

    async def run(self, *, stdin: bytes = b"", talk: Talk | None = None) -> Completed | Unstarted:
        """Start the accepted program once and return how it ended, or why it was not started.

        The one way in which a plugin's process starts, whatever it is told [T-2, W-15].
        """
        program = self.cleared()
        if isinstance(program, str):
            return Unstarted(code=FaultCode.NOT_ACCEPTED, reason=program)
        if program.not_started is not None:
            return Unstarted(code=FaultCode.SPAWN, reason=program.not_started)
        return await run(
            (program.path, *self.arguments),
            env=self.env,
            cwd=self.directory,
            timeout=self.deadline,
            stdin=stdin,
            talk=talk,
            cap=limits.CONVERSATION_BYTES,
        )

    def left_behind(self, done: Completed, where: str) -> str | None:
        """Return a notice about processes that outlived the plugin's own, None without any."""
        if not done.survivors:
            return None
        return (
            f"{visible(self.name)} left {done.survivors} of its processes behind at {where}; "
            "they were ended"
        )


def _silent(exchange: Exchange, code: FaultCode, reason: str) -> Spoken:
    text = f"{visible(exchange.plugin)} {exchange.point.value}: {reason}"
    return Spoken(answer=Silence(code=code, message=text), duration_ms=0)


async def _talk(child: Child, exchange: Exchange, serve: Serve | None) -> None:
    """Write the request while reading, until nothing can change the outcome [T-16, T-18]."""

    async def write() -> None:
        await child.send(exchange.line)
        if serve is None:
            child.close_stdin()

    writing = asyncio.create_task(write())
    try:
        while not exchange.over and (chunk := await child.receive()):
            calls = exchange.receive(chunk)
            if serve is not None:
                await _serve(child, exchange, calls, serve)
    finally:
        # An answer ends the conversation even when the request was never read [T-20].
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
    if exchange.broken:
        child.stop()


async def _serve(
    child: Child, exchange: Exchange, calls: tuple[HostCall, ...], serve: Serve
) -> None:
    """Answer calls in the order asked; a plugin that does not read is not waited for [T-19]."""
    for call in calls:
        if not child.listening:
            exchange.unheard(call)
        child.put(write_result(HostResult(id=call.id, outcome=await serve(call))))
