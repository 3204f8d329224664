"""The drive answers questions in order, and a cancel reaches what is running, then the turn."""

import asyncio
from pathlib import Path
from typing import Any
from typing import cast

import pytest

from stella import limits
from stella.clock import SystemClock
from stella.errors import JournalError
from stella.journal.journal import Journal
from stella.journal.journal import new_session_id
from stella.message import Message
from stella.message import Role
from stella.redact import Redactor
from stella.session.drive import Drive
from stella.session.hands import Hands
from stella.session.telling import Telling
from stella.turn.ask import Cancelled
from stella.turn.ask import Turn
from stella.turn.ask import ask
from stella.turn.facts import Controlled
from stella.turn.facts import Noticed
from stella.turn.questions import AskModel
from stella.turn.questions import Modelled
from stella.turn.questions import tell
from tests.making.playing import says

QUESTION = AskModel(messages=(Message(role=Role.USER, content="x"),), role="worker", seat="worker")


class SlowHands:
    """Hands whose model thinks until it is let go, and remembers that it was ended."""

    def __init__(self, *, quick: bool = False) -> None:
        self.quick = quick
        self.thinking = asyncio.Event()
        self.ended = False

    async def model(self, _question: AskModel) -> Modelled:
        self.thinking.set()
        try:
            if not self.quick:
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.ended = True
            raise
        return Modelled(reply=says(), duration_ms=1)


def telling(root: Path) -> Telling:
    root.mkdir(exist_ok=True)
    clock = SystemClock()
    return Telling(Journal.create(root, new_session_id(clock), clock, Redactor()))


def drive(root: Path, hands: SlowHands) -> tuple[Drive, Telling]:
    written = telling(root)
    return Drive(written, cast("Hands", hands)), written


def noticed(text: str) -> Noticed:
    return Noticed(code="test", text=text)


def story() -> Turn[str]:
    yield from tell(None, noticed("begins"), durable=True)
    try:
        modelled = yield from ask(QUESTION)
    except Cancelled as cancelled:
        yield from tell(None, noticed("closes"))
        return str(cancelled)
    return f"answered in {modelled.duration_ms}"


def texts(written: Telling) -> list[str]:
    return [fact.text for fact in written.told if isinstance(fact, Noticed)]


def test_questions_are_answered_and_facts_written_in_order(tmp_path: Path) -> None:
    async def go() -> None:
        driving, written = drive(tmp_path / "w", SlowHands(quick=True))
        assert await driving.follow(story()) == "answered in 1"
        assert texts(written) == ["begins"]
        written.journal.close()

    asyncio.run(go())


def test_a_cancel_ends_what_is_running_before_the_turn_hears_of_it(tmp_path: Path) -> None:
    """[E-113]"""

    async def go() -> None:
        hands = SlowHands()
        driving, written = drive(tmp_path / "w", hands)
        following = asyncio.create_task(driving.follow(story()))
        await hands.thinking.wait()
        driving.cancel("SIGINT")
        driving.cancel("SIGTERM")
        assert await following == "cancelled by SIGINT"
        assert hands.ended
        assert texts(written) == ["begins", "closes"]
        written.journal.close()

    asyncio.run(go())


class StubbornHands(SlowHands):
    """Hands that take their time over ending what they do, until they are told once more."""

    async def model(self, _question: AskModel) -> Modelled:
        self.thinking.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.Event().wait()
        raise AssertionError


def test_a_second_cancel_ends_at_once_what_takes_its_time(tmp_path: Path) -> None:
    """[S-12]"""

    async def go() -> None:
        hands = StubbornHands()
        driving, written = drive(tmp_path / "w", hands)
        following = asyncio.create_task(driving.follow(story()))
        await hands.thinking.wait()
        driving.cancel("SIGINT")
        for _ in range(5):
            await asyncio.sleep(0)
        assert not following.done()
        driving.cancel("SIGINT")
        assert await following == "cancelled by SIGINT"
        written.journal.close()

    asyncio.run(go())


def test_a_second_cancel_hastens_what_the_session_gives_time(tmp_path: Path) -> None:
    """[S-12] Also when no question is open."""

    async def go() -> None:
        hastened: list[str] = []
        written = telling(tmp_path / "w")
        hands = cast("Hands", SlowHands())
        driving = Drive(written, hands, lambda: hastened.append("again"))
        driving.cancel("SIGINT")
        assert hastened == []
        driving.cancel("SIGINT")
        assert hastened == ["again"]
        written.journal.close()

    asyncio.run(go())


@pytest.mark.parametrize("early", [True, False])
def test_a_cancel_of_what_comes_before_a_turn_is_heard_in_the_turn(
    tmp_path: Path, *, early: bool
) -> None:
    async def go() -> None:
        hands = SlowHands()
        driving, written = drive(tmp_path / "w", hands)
        if early:
            driving.cancel("SIGTERM")
        preparing = asyncio.create_task(driving.prepare(asyncio.Event().wait()))
        await asyncio.sleep(0)
        driving.cancel("SIGTERM")
        await preparing
        assert await driving.follow(story()) == "cancelled by SIGTERM"
        assert not hands.thinking.is_set(), "nothing was started"
        written.journal.close()

    asyncio.run(go())


def test_what_comes_before_a_turn_is_waited_for(tmp_path: Path) -> None:
    async def go() -> None:
        driving, written = drive(tmp_path / "w", SlowHands(quick=True))
        await driving.prepare(asyncio.sleep(0))
        assert await driving.follow(story()) == "answered in 1"
        written.journal.close()

    asyncio.run(go())


def test_a_cancel_before_a_question_is_heard_at_it(tmp_path: Path) -> None:
    async def go() -> None:
        hands = SlowHands()
        driving, written = drive(tmp_path / "w", hands)
        driving.cancel("SIGINT")
        assert await driving.follow(story()) == "cancelled by SIGINT"
        assert not hands.thinking.is_set(), "nothing was started"
        written.journal.close()

    asyncio.run(go())


def test_a_cancelled_task_closes_the_turn_and_is_cancelled(tmp_path: Path) -> None:
    """[S-75]"""

    async def go() -> None:
        hands = SlowHands()
        driving, written = drive(tmp_path / "w", hands)
        following = asyncio.create_task(driving.follow(story()))
        await hands.thinking.wait()
        following.cancel()
        with pytest.raises(asyncio.CancelledError):
            await following
        assert hands.ended
        assert texts(written) == ["begins", "closes"]
        written.journal.close()

    asyncio.run(go())


def test_a_broken_journal_ends_the_drive(tmp_path: Path) -> None:
    """[E-6]"""

    async def go() -> None:
        driving, written = drive(tmp_path / "w", SlowHands(quick=True))
        written.journal.close()
        with pytest.raises(JournalError):
            await driving.follow(story())

    asyncio.run(go())


def test_a_question_nobody_answers_is_a_fault_of_ours(tmp_path: Path) -> None:
    def odd() -> Turn[Any]:
        return (yield from ask(cast("AskModel", "nonsense")))

    async def go() -> None:
        driving, written = drive(tmp_path / "w", SlowHands(quick=True))
        with pytest.raises(AssertionError):
            await driving.follow(odd())
        written.journal.close()

    asyncio.run(go())


def controls(written: Telling) -> list[str]:
    return [fact.by for fact in written.told if isinstance(fact, Controlled)]


def test_what_a_session_does_last_goes_on_for_a_while_after_a_cancel(tmp_path: Path) -> None:
    """[H-59] limits.SESSION_END_CANCELLED_SECS; who ended the run is told once."""

    async def go() -> None:
        hands = SlowHands()
        driving, written = drive(tmp_path / "w", hands)
        following = asyncio.create_task(driving.follow(story()))
        await hands.thinking.wait()
        driving.cancel("SIGINT")
        await following
        hands.quick = True
        assert await driving.close(story()) == "answered in 1"
        hands.quick = False
        assert await driving.close(story()) == "cancelled by SIGINT"
        assert controls(written) == ["SIGINT"]
        written.journal.close()

    assert limits.SESSION_END_CANCELLED_SECS == 2
    asyncio.run(go())


def test_what_a_session_does_last_has_a_limit(tmp_path: Path) -> None:
    """[H-59, B19] limits.SESSION_END_SECS for all of it together."""

    async def go() -> None:
        driving, written = drive(tmp_path / "w", SlowHands())
        ended = await driving.close(story(), seconds=0.01)
        assert ended == "cancelled by the time limit of SessionEnd"
        written.journal.close()

    assert limits.SESSION_END_SECS == 30
    asyncio.run(go())


def test_a_turn_that_asks_nothing_ends_with_its_value(tmp_path: Path) -> None:
    async def go() -> None:
        driving, written = drive(tmp_path / "w", SlowHands())
        assert await driving.follow(silent()) == 7
        written.journal.close()

    asyncio.run(go())


def silent() -> Turn[int]:
    yield from ()
    return 7
