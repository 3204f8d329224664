"""A plugin as a process: one fresh child per question, and whatever goes wrong is a value.

Nothing past this module can tell how a plugin failed except by reading its `Silence`.
"""

import asyncio
from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stella import limits
from stella.escape import visible
from stella.process.program import Program
from stella.process.run import run
from stella.process.talk import Child
from stella.wire.envelope import Answer
from stella.wire.envelope import Request
from stella.wire.silence import FaultCode
from stella.wire.silence import Silence
from stella.wrapper.exchange import Exchange


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What came of asking: the answer or the silence, the time it took, and a notice, if any."""

    answer: Answer | Silence
    duration_ms: int
    notice: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginProcess:
    """How a plugin is started: exact words and environment, its own directory, a deadline [T-3].

    `cleared` is asked before every start and returns the accepted program, or why the package
    may not run [T-2]. `timeout_secs` is clamped to the host's ceiling [D-45].
    """

    name: str
    arguments: tuple[str, ...]
    directory: Path
    env: Mapping[str, str]
    timeout_secs: int
    cleared: Callable[[], Program | str]

    @property
    def deadline(self) -> int:
        """The effective number of seconds of one conversation [T-22]."""
        return min(self.timeout_secs, limits.POINT_SECS)

    async def ask(self, request: Request) -> Spoken:
        """Ask once and return what came. Raises only `CancelledError` [T-25, W-50]."""
        exchange = Exchange(plugin=self.name, request=request)
        program = self.cleared()
        if isinstance(program, str):
            return _silent(exchange, FaultCode.NOT_ACCEPTED, program)
        if program.not_started is not None:
            return _silent(exchange, FaultCode.SPAWN, program.not_started)
        done = await run(
            (program.path, *self.arguments),
            env=self.env,
            cwd=self.directory,
            timeout=self.deadline,
            talk=lambda child: _talk(child, exchange),
            cap=limits.CONVERSATION_BYTES,
        )
        notice = None
        if done.survivors:
            notice = (
                f"{visible(self.name)} left {done.survivors} of its processes behind at "
                f"{exchange.point.value}; they were ended"
            )
        answer = exchange.conclude(done, self.deadline)
        return Spoken(answer=answer, duration_ms=done.duration_ms, notice=notice)


def _silent(exchange: Exchange, code: FaultCode, reason: str) -> Spoken:
    text = f"{visible(exchange.plugin)} {exchange.point.value}: {reason}"
    return Spoken(answer=Silence(code=code, message=text), duration_ms=0)


async def _talk(child: Child, exchange: Exchange) -> None:
    """Write the request while reading, until nothing can change the outcome [T-16, T-18]."""

    async def write() -> None:
        await child.send(exchange.line)
        child.close_stdin()

    writing = asyncio.create_task(write())
    try:
        while not exchange.over and (chunk := await child.receive()):
            exchange.receive(chunk)
    finally:
        # An answer ends the conversation even when the request was never read [T-20].
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
    if exchange.broken:
        child.stop()
