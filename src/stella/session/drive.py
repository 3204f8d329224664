"""Answers a turn's questions with real hands, one at a time, and journals what it is told.

The drive decides nothing: it looks up who answers a question, waits, and hands the answer
back. A cancel reaches whatever is running, then the turn [E-113].
"""

import asyncio
from collections.abc import Awaitable
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from typing import TypeVar
from typing import assert_never
from typing import cast

from stella import limits
from stella.session.hands import Hands
from stella.session.telling import Telling
from stella.turn.ask import Ask
from stella.turn.ask import Cancelled
from stella.turn.ask import Turn
from stella.turn.facts import Controlled
from stella.turn.questions import AskGate
from stella.turn.questions import AskHook
from stella.turn.questions import AskModel
from stella.turn.questions import AskPlugin
from stella.turn.questions import CheckCall
from stella.turn.questions import CheckPaths
from stella.turn.questions import Inspect
from stella.turn.questions import Question
from stella.turn.questions import RecallServed
from stella.turn.questions import RunTools
from stella.turn.questions import TakeBaseline
from stella.turn.questions import Tell

A = TypeVar("A")


class Drive:
    """Runs turns of one session. One question is open at a time; no lock is held meanwhile.

    `hurry` ends at once what the session itself is giving time to end. A drive that does not
    `lead` follows a turn under a turn: whoever ends that has told so already.
    """

    def __init__(
        self,
        telling: Telling,
        hands: Hands,
        hurry: Callable[[], None] = lambda: None,
        *,
        lead: bool = True,
    ) -> None:
        self._telling = telling
        self._hands = hands
        self._hurry = hurry
        self._lead = lead
        self._cancelled_by: str | None = None
        self._cancel = asyncio.Event()
        self._controlled = False
        self._working: asyncio.Future[object] | None = None

    def cancel(self, by: str) -> None:
        """End the run: what is running is ended, the turn closes what is open [E-113].

        Asked again, whatever has been given time to end is ended at once [S-12].
        """
        if self._cancelled_by is None:
            self._cancelled_by = by
            self._cancel.set()
        else:
            if self._working is not None:
                self._working.cancel()
            self._hurry()

    async def prepare(self, work: Awaitable[object]) -> None:
        """Wait for `work` that comes before a turn; a cancel ends it, and the turn hears of it."""
        with suppress(Cancelled):
            await self._unless_cancelled(work)

    async def follow(self, turn: Turn[A]) -> A:
        """Drive `turn` to its end and return what it ends with.

        Raises `JournalError` when the journal cannot be written; nothing runs after that.
        """
        interrupted = False
        try:
            step = turn.send(None)
            while True:
                try:
                    answer = await self._answered(step)
                except Cancelled as cancelled:
                    step = self._throw(turn, cancelled)
                    continue
                except asyncio.CancelledError:
                    # The task itself was cancelled: the turn still closes, then it goes on up.
                    interrupted = True
                    self.cancel("task")
                    step = self._throw(turn, Cancelled("task"))
                    continue
                step = turn.send(answer)
        except StopIteration as end:
            if interrupted:
                raise asyncio.CancelledError from None
            return cast("A", end.value)

    async def close(self, turn: Turn[A], seconds: float = limits.SESSION_END_SECS) -> A:
        """Drive what a session does last: it has 30 s, and 2 s once the run is cancelled [H-59]."""
        last = Drive(self._telling, self._hands)
        last._controlled = self._controlled
        watching = asyncio.ensure_future(self._limit(last, seconds))
        try:
            return await last.follow(turn)
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def _limit(self, last: "Drive", seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._cancel.wait()
                await asyncio.sleep(limits.SESSION_END_CANCELLED_SECS)
        except TimeoutError:
            pass
        last.cancel(self._cancelled_by or "the time limit of SessionEnd")

    def _throw(self, turn: Turn[A], cancelled: Cancelled) -> Ask[Any]:
        """Tell once who ended the run, then let the turn close what is open [J2-40]."""
        if self._lead and not self._controlled:
            self._controlled = True
            self._telling.tell(None, Controlled(verb="cancel", by=cancelled.by))
        return turn.throw(cancelled)

    async def _answered(self, question: Ask[Any]) -> object:
        if isinstance(question, Tell):
            self._telling.tell(question.turn, question.fact, durable=question.durable)
            return None
        if isinstance(question, RecallServed):
            return self._hands.cut_short()
        if self._cancelled_by is not None:
            raise Cancelled(self._cancelled_by)
        return await self._unless_cancelled(self._answer(cast("Question", question)))

    async def _unless_cancelled(self, answer: Awaitable[object]) -> object:
        """Wait for an answer, or end it and raise `Cancelled` when a cancel comes first."""
        working = self._working = asyncio.ensure_future(answer)
        watching = asyncio.ensure_future(self._cancel.wait())
        try:
            await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
            if working.done() and not working.cancelled():
                return working.result()
            raise Cancelled(self._cancelled_by or "cancel")
        finally:
            for task in (working, watching):
                task.cancel()
            # The hands end what they started before the turn is told [T-25].
            await asyncio.gather(working, watching, return_exceptions=True)

    async def _answer(self, question: Question) -> object:
        match question:
            case Tell() | RecallServed():
                return None
            case AskModel():
                return await self._hands.model(question)
            case AskGate():
                return self._hands.gate(question)
            case CheckCall():
                return self._hands.check(question)
            case AskHook():
                return await self._hands.hook(question)
            case RunTools():
                return await self._hands.run(question)
            case TakeBaseline():
                return await self._hands.baseline()
            case Inspect():
                return await self._hands.inspect()
            case CheckPaths():
                return self._hands.check_paths(question)
            case AskPlugin():
                self._telling.barrier()
                return await self._hands.plugin(question)
            case _:
                assert_never(question)
