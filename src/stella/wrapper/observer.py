"""A plugin that is told of events: one long-lived process that nobody waits for [D-70 to D-76].

A line goes into the pipe at once when there is room, else into a bounded queue; what does not
fit there is lost and counted. Nothing the process prints or does comes back, and only its end
is noticed.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from collections.abc import Iterable
from typing import assert_never

from stella import limits
from stella.escape import counted
from stella.escape import excerpt
from stella.escape import visible
from stella.process.ending import Completed
from stella.process.ending import Ending
from stella.process.program import Program
from stella.process.run import run
from stella.process.talk import Child
from stella.wire.event import Dropped
from stella.wire.event import write_event
from stella.wrapper.plugin import PluginProcess

DROPPED = "dropped"
ENDED = "observer_ended"

Report = Callable[[str, str], None]
"""Takes the code and the text of a notice; does not raise."""

_BYTES_OF_A_CHARACTER = 4


class Observer:
    """One subscribed plugin in one session.

    `report` gets a notice for each run of losses and for an end that nobody asked for, `gone`
    is called after it. Nothing here waits but `ended`.
    """

    def __init__(self, process: PluginProcess, report: Report, gone: Callable[[], None]) -> None:
        self.name = process.name
        self._process = process
        self._report = report
        self._gone = gone
        self._queue: deque[bytes] = deque()
        self._lost = 0
        self._child: Child | None = None
        self._stuck = asyncio.Event()
        self._deaf = False
        self._stopped = False
        self.task: asyncio.Task[None] | None = None
        """What lasts as long as anything of the process; None when it was never started."""

    def start(self, program: Program) -> None:
        """Start the process the check has cleared; events may have been offered before."""
        self.task = asyncio.get_running_loop().create_task(self._run(program))

    def offer(self, line: bytes) -> None:
        """Hand over one event; the newest is lost when the queue is full [D-71, D-72]."""
        if self._deaf or len(self._queue) == limits.EVENT_QUEUE:
            self._lost += 1
            return
        self._queue.append(line)
        self._pump()

    def last_call(self, closing: int) -> None:
        """Report what this process will not get any more, `closing` further events included.

        After this no loss is possible that was not reported: either all is in the pipe and a
        short line still fits, or the stream is over [D-74].
        """
        child = self._child
        if not self._waiting and child is not None and (child.room or not closing):
            return
        self._undelivered(closing)
        if child is not None:
            child.close_stdin()

    def stop(self) -> None:
        """Close stdin and send SIGTERM at once; SIGKILL follows after two seconds [D-74]."""
        self._stopped = True
        if self.task is not None:
            self.task.cancel()

    def hurry(self) -> None:
        """Kill the process at once, if it was asked to stop."""
        if self._stopped:
            self.stop()

    @property
    def _waiting(self) -> int:
        """How many events are neither delivered nor reported as lost."""
        return len(self._queue) + self._lost + self._stuck.is_set()

    def _undelivered(self, more: int = 0) -> None:
        """Report all that waits, and `more`, as lost; nothing is delivered from here on."""
        total = self._waiting + more
        self._deaf = True
        self._queue.clear()
        self._stuck.clear()
        self._lost = 0
        if total:
            self._report(DROPPED, _dropped(self.name, total))

    def _pump(self) -> None:
        """Write what goes without waiting; one event at most is in flight then."""
        child = self._child
        while child is not None and self._queue and not self._stuck.is_set():
            line = self._queue.popleft()
            lost, self._lost = self._lost, 0
            if lost:
                line = write_event(Dropped(dropped=lost)) + line
            if not child.put(line):
                self._stuck.set()
            if lost:  # last, since telling of it can make another event
                self._report(DROPPED, _dropped(self.name, lost))

    async def _talk(self, child: Child) -> None:
        self._child = child
        try:
            while child.listening and not self._deaf:
                self._pump()
                await self._stuck.wait()
                await child.sent()
                if child.listening:
                    self._stuck.clear()
        finally:
            self._child = None

    async def _run(self, program: Program) -> None:
        done = await run(
            (program.path, *self._process.arguments),
            env=self._process.env,
            cwd=self._process.directory,
            timeout=None,
            talk=self._talk,
            keep=limits.STDERR_CHARS * _BYTES_OF_A_CHARACTER,
            grace=limits.EVENT_GRACE_SECS,
        )
        if self._stopped:  # it ended of itself while it was asked to
            return
        waiting = self._waiting
        self._report(ENDED, _end(self._process, done, waiting))
        self._queue.clear()
        self._stuck.clear()
        self._lost = 0
        self._gone()


async def ended(observers: Iterable[Observer]) -> None:
    """Stop every process and return when nothing of any is left [D-74].

    A cancel makes haste and is raised when they are gone.
    """
    all_of_them = tuple(observers)
    for observer in all_of_them:
        observer.stop()
    tasks = tuple(observer.task for observer in all_of_them if observer.task is not None)
    cancelled = False
    while not all(task.done() for task in tasks):
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            cancelled = True
            for observer in all_of_them:
                observer.hurry()
    if cancelled:
        raise asyncio.CancelledError


def _dropped(name: str, number: int) -> str:
    return f"{visible(name)} did not get {counted(number, 'event')}"


def _end(process: PluginProcess, done: Completed, waiting: int) -> str:
    """Return what a person is told of an early end, cleared of secrets while it is whole [D-73]."""
    match done.ending:
        case Ending.EXITED:
            how = f"ended early with code {done.code}"
        case Ending.SIGNALLED:
            how = f"was ended by signal {done.signal}"
        case Ending.NOT_STARTED:
            how = f"was not started: {done.reason}"
        # It has neither a deadline nor a cap, and its talk asks for no end.
        case Ending.LOST | Ending.TIMED_OUT | Ending.OVERFLOWED | Ending.STOPPED:
            how = f"was lost sight of: {done.reason or done.ending.value}"
        case _:
            assert_never(done.ending)
    missed = f"; it did not get {counted(waiting, 'event')}" if waiting else ""
    text = excerpt(process.clean(done.stderr.decode("utf-8", "replace")), limits.STDERR_CHARS)
    said = f"; stderr: {text}" if text else ""
    return f"the observer {visible(process.name)} {how}{missed}; it gets no more events{said}"
