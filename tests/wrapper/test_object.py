"""A plugin that is an object: the same values, the same gate, the same silences [T-35]."""

import asyncio
from collections.abc import Awaitable
from collections.abc import Callable

import pytest

from stella import limits
from stella.wire.after_turn import AfterTurnAnswer
from stella.wire.before_turn import BeforeTurnAnswer
from stella.wire.before_turn import BeforeTurnRequest
from stella.wire.before_turn import ContextEntry
from stella.wire.envelope import Request
from stella.wire.evidence import Flip
from stella.wire.evidence import ObservedEvidence
from stella.wire.host_call import EmitArgs
from stella.wire.host_call import HostCall
from stella.wire.host_call import RecallArgs
from stella.wire.host_result import EmitOk
from stella.wire.host_result import RecallOk
from stella.wire.host_result import RefusedCall
from stella.wire.points import Refusal
from stella.wire.silence import FaultCode
from stella.wire.silence import Silence
from stella.wrapper.object import Host
from stella.wrapper.object import PluginObject
from stella.wrapper.plugin import Serve

ASKED = BeforeTurnRequest(protocol_version=1, wrapper="w", stage="execute", round=0, goal="go")
ANSWER = BeforeTurnAnswer(protocol_version=1, context=(ContextEntry(label="a", text="b"),))

Answers = Callable[[Request, Host], Awaitable[object]]


class Methods:
    """An object with one method, made from a function."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers

    async def before_turn(self, request: Request, host: Host) -> object:
        return await self.answers(request, host)


def spoken(answers: Answers, serve: Serve | None = None, secs: int = 5) -> object:
    """What the host hears of an object that answers so."""
    plugin = PluginObject(name="inner", handlers=Methods(answers), timeout_secs=secs)
    return asyncio.run(plugin.ask(ASKED, serve)).answer


def silence(answers: Answers, serve: Serve | None = None, secs: int = 5) -> Silence:
    found = spoken(answers, serve, secs)
    assert isinstance(found, Silence)
    assert found.message.startswith("inner before_turn: ")
    return found


@pytest.mark.behaviour("T-35")
def test_an_object_gets_the_request_and_its_answer_is_heard() -> None:
    """[T-35]"""
    seen: list[Request] = []

    async def answers(request: Request, _host: Host) -> object:
        seen.append(request)
        return ANSWER

    assert spoken(answers) == ANSWER
    assert seen == [ASKED]


def test_an_object_asks_through_the_same_gate_with_its_own_numbers() -> None:
    """[T-35, D-48]"""
    served: list[HostCall] = []

    async def serve(call: HostCall) -> EmitOk | RecallOk:
        served.append(call)
        return EmitOk(emitted="plugin.inner.x") if call.call.value == "emit" else RecallOk()

    async def answers(_request: Request, host: Host) -> object:
        assert await host.ask(EmitArgs(name="x", payload={})) == EmitOk(emitted="plugin.inner.x")
        assert await host.ask(RecallArgs(goal="g")) == RecallOk()
        return ANSWER

    assert spoken(answers, serve) == ANSWER
    assert [(call.call.value, call.id) for call in served] == [("emit", 1), ("recall", 2)]


def test_a_refusal_is_a_value_for_an_object_too() -> None:
    """[W-37]"""
    no = RefusedCall(refusal=Refusal.UNDECLARED, detail="no")

    async def serve(_call: HostCall) -> RefusedCall:
        return no

    async def answers(_request: Request, host: Host) -> object:
        assert await host.ask(RecallArgs(goal="g")) == no
        return ANSWER

    assert spoken(answers, serve) == ANSWER


def test_a_call_without_a_channel_ends_the_point_even_when_the_object_goes_on() -> None:
    """[W-50]"""

    async def answers(_request: Request, host: Host) -> object:
        try:
            await host.ask(RecallArgs(goal="g"))
        except RuntimeError:
            return ANSWER
        return None

    found = silence(answers)
    assert found.code is FaultCode.UNANNOUNCED_CALL
    assert 'it asked "recall"' in found.message


def test_whatever_an_object_raises_is_its_own_fault() -> None:
    """[T-35, W-50]"""

    async def answers(_request: Request, _host: Host) -> object:
        raise KeyError("\x1b[31mno")

    found = silence(answers)
    assert found.code is FaultCode.HANDLER
    assert "KeyError" in found.message
    assert "\x1b" not in found.message


def test_a_timeout_of_its_own_is_not_the_deadline() -> None:
    async def answers(_request: Request, _host: Host) -> object:
        raise TimeoutError("mine")

    assert silence(answers).code is FaultCode.HANDLER


def test_an_object_that_takes_too_long_is_a_timeout() -> None:
    """[D-45]"""

    async def answers(_request: Request, _host: Host) -> object:
        await asyncio.sleep(60)
        return ANSWER

    found = silence(answers, secs=1)
    assert found.code is FaultCode.TIMEOUT
    assert "1 s" in found.message


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (None, FaultCode.DECODE),
        (object(), FaultCode.DECODE),
        ({"protocol_version": 1, "verdict": "met"}, FaultCode.DECODE),
        (
            AfterTurnAnswer(protocol_version=1, evidence=ObservedEvidence(flip=Flip.ACHIEVED)),
            FaultCode.DECODE,
        ),
        (BeforeTurnAnswer(protocol_version=2), FaultCode.PROTOCOL_VERSION),
        ({"protocol_version": 2, "verdict": "met"}, FaultCode.PROTOCOL_VERSION),
        ({"protocol_version": 2, "context": 7}, FaultCode.PROTOCOL_VERSION),
        (BeforeTurnAnswer(protocol_version=-1), FaultCode.DECODE),
    ],
)
def test_an_answer_that_no_process_could_give_is_refused(given: object, code: FaultCode) -> None:
    """[T-35, W-11, W-12, W-27]"""

    async def answers(_request: Request, _host: Host) -> object:
        return given

    assert silence(answers).code is code


def test_an_object_without_the_method_has_no_answer() -> None:
    plugin = PluginObject(name="inner", handlers=object())
    found = asyncio.run(plugin.ask(ASKED)).answer
    assert isinstance(found, Silence)
    assert found.code is FaultCode.NO_RESPONSE
    assert plugin.deadline == limits.CODE_POINT_SECS == 60


@pytest.mark.parametrize(("asked", "given"), [(600, 600), (601, 600)])
def test_the_deadline_of_an_object_is_clamped_too(asked: int, given: int) -> None:
    """[D-45]"""
    plugin = PluginObject(name="inner", handlers=object(), timeout_secs=asked)
    assert plugin.deadline == given


class Shameless(BaseException):
    """An error that no ordinary handler sees, and whose text is a trap."""

    def __str__(self) -> str:
        raise SystemExit("even its text")


@pytest.mark.parametrize(
    "error",
    [SystemExit(3), GeneratorExit(), asyncio.CancelledError(), Shameless(), BaseException("x")],
)
def test_an_object_cannot_end_the_host_or_the_run(error: BaseException) -> None:
    """[T-35, W-50] A cancel of its own is no cancel of the person's."""

    async def answers(_request: Request, _host: Host) -> object:
        raise error

    assert silence(answers).code is FaultCode.HANDLER


def test_the_person_s_own_interrupt_goes_through() -> None:
    async def answers(_request: Request, _host: Host) -> object:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        spoken(answers)


def test_an_interrupt_while_an_error_is_worded_goes_through() -> None:
    class Slow(Exception):
        def __str__(self) -> str:
            raise KeyboardInterrupt

    async def answers(_request: Request, _host: Host) -> object:
        raise Slow

    with pytest.raises(KeyboardInterrupt):
        spoken(answers)


def test_the_name_of_an_error_is_author_s_text_too() -> None:
    """[C-3]"""
    forged = type("\x1b[2J\u202eOK", (Exception,), {})

    async def answers(_request: Request, _host: Host) -> object:
        raise forged("no")

    found = silence(answers)
    assert "\x1b" not in found.message
    assert "\u202e" not in found.message


def test_a_method_that_cannot_even_be_looked_up_is_a_fault() -> None:
    """[T-35]"""

    class Trap:
        @property
        def before_turn(self) -> object:
            raise SystemExit(0)

    found = asyncio.run(PluginObject(name="inner", handlers=Trap()).ask(ASKED)).answer
    assert isinstance(found, Silence)
    assert found.code is FaultCode.HANDLER


def test_an_answer_after_the_deadline_is_not_used() -> None:
    """[T-22, T-27]"""

    async def answers(_request: Request, _host: Host) -> object:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return ANSWER
        return None

    assert silence(answers, secs=1).code is FaultCode.TIMEOUT


def test_an_object_that_does_not_heed_its_end_is_not_waited_for() -> None:
    """[T-22, T-25]"""
    heeded: list[str] = []

    async def answers(_request: Request, _host: Host) -> object:
        for word in ("once", "twice"):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                heeded.append(word)
        return ANSWER

    async def go() -> tuple[object, list[str]]:
        plugin = PluginObject(name="inner", handlers=Methods(answers), timeout_secs=1)
        return (await plugin.ask(ASKED)).answer, list(heeded)

    answer, then = asyncio.run(go())
    assert isinstance(answer, Silence)
    assert answer.code is FaultCode.TIMEOUT
    assert then == ["once"]


class Counter:
    """Serves calls slowly and remembers how many were under way at once."""

    def __init__(self) -> None:
        self.now = 0
        self.most = 0
        self.begun = asyncio.Event()
        self.cancelled = 0

    async def quick(self, _call: HostCall) -> RecallOk:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1
        return RecallOk()

    async def never(self, _call: HostCall) -> RecallOk:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return RecallOk()


def test_calls_made_at_once_are_served_one_after_another() -> None:
    """[T-19, D-48]"""
    counter = Counter()

    async def answers(_request: Request, host: Host) -> object:
        await asyncio.gather(*(host.ask(RecallArgs(goal="g")) for _ in range(5)))
        return ANSWER

    assert spoken(answers, counter.quick) == ANSWER
    assert counter.most == 1


def test_a_host_that_is_kept_serves_nothing_once_its_point_is_over() -> None:
    """[T-20, T-23]"""
    kept: list[Host] = []
    served: list[HostCall] = []

    async def serve(call: HostCall) -> RecallOk:
        served.append(call)
        return RecallOk()

    async def answers(_request: Request, host: Host) -> object:
        kept.append(host)
        return ANSWER

    async def go() -> None:
        plugin = PluginObject(name="inner", handlers=Methods(answers))
        assert (await plugin.ask(ASKED, serve)).answer == ANSWER
        with pytest.raises(RuntimeError, match="is over"):
            await kept[0].ask(RecallArgs(goal="g"))

    asyncio.run(go())
    assert served == []


def test_a_call_that_an_object_did_not_wait_for_ends_with_its_point() -> None:
    """[T-23]"""

    async def go() -> int:
        counter = Counter()

        async def answers(_request: Request, host: Host) -> object:
            asyncio.ensure_future(host.ask(RecallArgs(goal="g")))  # noqa: RUF006
            await counter.begun.wait()
            return ANSWER

        plugin = PluginObject(name="inner", handlers=Methods(answers))
        assert (await plugin.ask(ASKED, counter.never)).answer == ANSWER
        return counter.cancelled

    assert asyncio.run(go()) == 1


@pytest.mark.parametrize("times", [1, 2])
def test_a_cancel_ends_the_object_and_its_call_and_goes_on(times: int) -> None:
    """[T-25, E-113] However often it comes."""

    async def go() -> int:
        counter = Counter()

        async def answers(_request: Request, host: Host) -> object:
            return await host.ask(RecallArgs(goal="g"))

        plugin = PluginObject(name="inner", handlers=Methods(answers))
        asking = asyncio.ensure_future(plugin.ask(ASKED, counter.never))
        await counter.begun.wait()
        for _ in range(times):
            asking.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await asking
        return counter.cancelled

    assert asyncio.run(go()) == 1


def test_arguments_that_no_process_could_write_are_not_served() -> None:
    """[T-35, W-30]"""
    served: list[HostCall] = []

    async def serve(call: HostCall) -> RecallOk:
        served.append(call)
        return RecallOk()

    async def answers(_request: Request, host: Host) -> object:
        await host.ask(RecallArgs(goal=5))  # type: ignore[arg-type]
        return ANSWER

    assert silence(answers, serve).code is FaultCode.HANDLER
    assert served == []
