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
