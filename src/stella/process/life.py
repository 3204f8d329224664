"""One child from its request to the moment when nothing of it is left.

The first of many events is the cause of the end: its exit, the deadline, the cap, the talk, the
loss of its guard, a cancel. What follows a cause is one way for all, and nothing interrupts it.
"""

import asyncio
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Final
from typing import TypeVar
from typing import assert_never

from stella import limits
from stella.escape import visible
from stella.process.door import Warden
from stella.process.ending import Completed
from stella.process.ending import Ending
from stella.process.line import Ended
from stella.process.line import Exited
from stella.process.line import Failed
from stella.process.line import Line
from stella.process.line import Lost
from stella.process.line import Report
from stella.process.line import Started
from stella.process.pipes import Ends
from stella.process.pipes import Meter
from stella.process.program import why
from stella.process.talk import Child
from stella.process.talk import Talk

T = TypeVar("T")

# Ends that the talk may see through: what the child wrote before is still to be read.
_HEARD_OUT: Final = (Ending.EXITED, Ending.STOPPED)
# Ends with nobody left to ask politely, or no time to.
_ABRUPT: Final = (Ending.NOT_STARTED, Ending.LOST, Ending.OVERFLOWED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a run asked for. `began` and `deadline` are times of the event loop.

    `deadline` None is a run that only its talk, a cancel or the child itself ends; `grace` are
    the seconds between SIGTERM and SIGKILL.
    """

    program: str
    cwd: str
    request: bytes
    talk: Talk
    began: float
    deadline: float | None
    polite: bool
    grace: float = limits.KILL_GRACE_SECS


class Life:
    """One attempt at a child."""

    def __init__(self, terms: Terms, ends: Ends, meter: Meter) -> None:
        self._terms = terms
        self._ends = ends
        self._meter = meter
        self._loop = asyncio.get_running_loop()
        self._cause: asyncio.Future[Ending] = self._loop.create_future()
        self._exited: asyncio.Future[float] = self._loop.create_future()
        self._quiet: asyncio.Future[None] = self._loop.create_future()
        self._over: asyncio.Future[Failed | Ended | Lost] = self._loop.create_future()
        self._talking: asyncio.Future[None] | None = None
        self._hushed = False
        self._cancelled = False
        for outlet in ends.outlets:
            outlet.watch(self._outlet_changed)
        self._timer: asyncio.TimerHandle | None = None
        if terms.deadline is not None:
            self._timer = self._loop.call_at(terms.deadline, self._end_by, Ending.TIMED_OUT)

    def close(self) -> None:
        """Stop everything that this life started in the loop. May be called again."""
        if self._timer is not None:
            self._timer.cancel()
        if self._talking is not None and not self._loop.is_closed():
            self._talking.cancel()

    async def live(self, warden: Warden) -> Completed | None:
        """Run the child to its end; None when no guard took the request, so that it never ran.

        Raises CancelledError, or what the talk raised, when nothing is left of the child.
        """
        with closing(Line(self._loop, self._ends.control, warden, self._hear)) as line:
            line.ask(self._terms.request)
            await self._until(self._cause)
            await self._wind_up(line)
            if self._cancelled:
                raise asyncio.CancelledError
            if self._talking is not None and not self._talking.cancelled():
                self._talking.result()
            if self._cause.result() is Ending.LOST and not (line.accepted or self._fault()):
                return None
            return self._completed()

    async def _wind_up(self, line: Line) -> None:
        cause = self._cause.result() if self._cause.done() else None
        if cause not in _HEARD_OUT:
            self._stop_talking()
        if cause is Ending.EXITED:
            await self._until(self._quiet, within=limits.DRAIN_SECS)
        elif (cause is None or self._terms.polite) and cause not in _ABRUPT:
            line.terminate()
            await self._until(self._exited, within=self._terms.grace)
        line.end()
        while not self._over.done():
            await self._until(self._over)
        for outlet in self._ends.outlets:
            outlet.finish()
        self._stop_talking()
        while self._talking is not None and not self._talking.done():
            await self._until(self._talking)

    async def _until(self, awaited: asyncio.Future[T], *, within: float | None = None) -> None:
        """Wait, but not longer; a cancel is remembered and only cuts the waiting short."""
        try:
            await asyncio.wait((awaited,), timeout=within)
        except asyncio.CancelledError:
            self._cancelled = True

    def _end_by(self, cause: Ending) -> None:
        if not self._cause.done():
            self._cause.set_result(cause)

    def _hear(self, report: Report) -> None:
        match report:
            case Started():
                if not (self._cause.done() or self._cancelled):
                    self._talking = self._loop.create_task(self._talk())
                    self._talking.add_done_callback(self._talked)
            case Exited():
                self._gone()
                self._end_by(Ending.EXITED)
            case Failed():
                self._over.set_result(report)
                self._end_by(Ending.NOT_STARTED)
            case Ended() | Lost():
                self._gone()
                self._over.set_result(report)
                self._end_by(Ending.LOST)
            case _:
                assert_never(report)

    def _gone(self) -> None:
        if not self._exited.done():
            self._exited.set_result(self._loop.time())

    async def _talk(self) -> None:
        inlet = self._ends.inlet
        stop = partial(self._end_by, Ending.STOPPED)
        try:
            await self._terms.talk(Child(inlet, self._ends.outlets[0], stop))
        finally:
            inlet.close()

    def _talked(self, talking: asyncio.Task[None]) -> None:
        if not talking.cancelled() and talking.exception() is not None:
            self._end_by(Ending.STOPPED)
        self._hush()

    def _stop_talking(self) -> None:
        # Once: a second cancel would cut short what the talk does to clean up.
        if self._talking is not None and not self._hushed:
            self._hushed = True
            self._talking.cancel()

    def _outlet_changed(self) -> None:
        if self._meter.crossed is not None:
            self._end_by(Ending.OVERFLOWED)
        if self._fault():
            self._end_by(Ending.LOST)
        self._hush()

    def _hush(self) -> None:
        """Note when there is nothing more to come, or nothing more wanted."""
        silent = all(outlet.over for outlet in self._ends.outlets)
        said = self._talking is None or self._talking.done()
        if (self._meter.crossed is not None or (silent and said)) and not self._quiet.done():
            self._quiet.set_result(None)

    def _fault(self) -> str:
        return next((f"{o.name}: {o.fault}" for o in self._ends.outlets if o.fault), "")

    def _completed(self) -> Completed:
        last = self._over.result()
        code, killed, left = None, 0, 0
        if isinstance(last, Ended):
            code, killed, left = last.code, last.killed, last.left
        out, *err = self._ends.outlets
        ended = self._exited.result() if self._exited.done() else self._loop.time()
        ending = self._ending(code)
        return Completed(
            ending=ending,
            code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            stdout=out.kept.value(),
            stderr=err[0].kept.value() if err else b"",
            stdout_bytes=out.kept.total,
            stderr_bytes=err[0].kept.total if err else 0,
            overflowed=self._meter.crossed if ending is Ending.OVERFLOWED else None,
            reason=self._reason(ending, last),
            errno=last.errno if isinstance(last, Failed) else None,
            duration_ms=round((ended - self._terms.began) * 1000),
            survivors=killed if self._cause.result() is Ending.EXITED else 0,
            left=left,
            stdin_broken=self._ends.inlet.fault,
        )

    def _ending(self, code: int | None) -> Ending:
        cause = self._cause.result()
        if cause is not Ending.EXITED:
            return cause
        if self._meter.crossed is not None:  # by what was still in the pipes
            return Ending.OVERFLOWED
        if code is None:
            return Ending.LOST
        return Ending.SIGNALLED if code < 0 else Ending.EXITED

    def _reason(self, ending: Ending, last: Failed | Ended | Lost) -> str:
        program = visible(self._terms.program)
        match last:
            case Failed():
                return why(self._terms.program, last.errno, cwd=self._terms.cwd, at_cwd=last.at_cwd)
            case Lost(given_up=True):
                return f"{program}: does not end and cannot be killed"
            case _ if ending is Ending.LOST:
                return f"{program}: {self._fault() or 'the guard of the process was killed'}"
            case _:
                return ""
