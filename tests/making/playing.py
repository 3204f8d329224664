"""A host for turns: answers a turn's questions from lists and keeps what it is told."""

from collections.abc import Callable
from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import field
from typing import Any
from typing import TypeVar

from stella.message import Asked
from stella.message import FinishReason
from stella.message import Message
from stella.message import NoReply
from stella.message import Output
from stella.message import Reply
from stella.message import ToolCall
from stella.message import Usage
from stella.message import succeeded
from stella.turn.ask import Ask
from stella.turn.ask import Cancelled
from stella.turn.ask import Turn
from stella.turn.facts import Fact
from stella.turn.questions import AskGate
from stella.turn.questions import AskHook
from stella.turn.questions import AskModel
from stella.turn.questions import AskPlugin
from stella.turn.questions import Change
from stella.turn.questions import CheckCall
from stella.turn.questions import Checked
from stella.turn.questions import CheckPaths
from stella.turn.questions import Granted
from stella.turn.questions import Heard
from stella.turn.questions import HookHeard
from stella.turn.questions import Inspect
from stella.turn.questions import Inspection
from stella.turn.questions import Modelled
from stella.turn.questions import Ran
from stella.turn.questions import RecallServed
from stella.turn.questions import Ruling
from stella.turn.questions import RunTools
from stella.turn.questions import Served
from stella.turn.questions import TakeBaseline
from stella.turn.questions import Tell
from stella.wire.envelope import Answer
from stella.wire.envelope import Request
from stella.wire.evidence import TamperState
from stella.wire.grant import CandidateGrant
from stella.wire.hook import HookResult
from stella.wire.hook import NoOpinion
from stella.wire.silence import FaultCode
from stella.wire.silence import Silence

F = TypeVar("F", bound=Fact)
A = TypeVar("A")

CLEAN = Inspection(finding=TamperState.CLEAN, artifacts=(), digest=None)
GRANT = Granted(candidate=CandidateGrant(handle="host-tree", root="/w"), baseline=None)
NOBODY = Silence(code=FaultCode.NO_RESPONSE, message="nobody is there")


def says(text: str = "done", *, finish: FinishReason = FinishReason.STOP) -> Reply:
    """A reply without calls."""
    return reply(text, (), finish)


def calls(*names: str, text: str = "") -> Reply:
    """A reply that asks for tools by name, each with an empty input."""
    asked = tuple(ToolCall(name=name, input={}) for name in names)
    return reply(text, asked, FinishReason.TOOL_CALLS)


def reply(text: str, tool_calls: tuple[ToolCall, ...], finish: FinishReason) -> Reply:
    """A reply of a model whose price is known and nothing."""
    return Reply(
        text=text,
        tool_calls=tool_calls,
        usage=Usage(reported=True, input_tokens=10, output_tokens=2),
        model="script",
        cost_usd=0.0,
        finish_reason=finish,
    )


@dataclass(slots=True)
class Host:
    """Answers from its lists; `cancel` names the question at which the run is cancelled."""

    replies: Iterable[Reply | NoReply] = ()
    rulings: dict[str, Ruling] = field(default_factory=dict)
    outputs: dict[str, Output] = field(default_factory=dict)
    changes: Iterable[tuple[Change, ...] | None] = ()
    granted: Granted = GRANT
    inspections: Iterable[Inspection] = ()
    plugin: Callable[[str, Request], Answer | Silence] = lambda _member, _request: NOBODY
    served: Served = field(default_factory=Served)
    denials: dict[str, str] = field(default_factory=dict)
    hook: Callable[[AskHook], HookResult] = lambda _question: NoOpinion()
    fits: Callable[[Asked], bool] = lambda _call: True
    cancel: Callable[[Ask[Any]], bool] = lambda _question: False
    told: list[tuple[str | None, Fact, bool]] = field(default_factory=list)
    asked: list[Ask[Any]] = field(default_factory=list)

    def play(self, turn: Turn[A]) -> A:
        """Drive `turn` to its end and return what it ends with."""
        self.replies = iter(self.replies)
        self.changes = iter(self.changes)
        self.inspections = iter(self.inspections)
        cancelled = False
        try:
            question = next(turn)
            while True:
                self.asked.append(question)
                if not cancelled and self.cancel(question):
                    cancelled = True
                    question = turn.throw(Cancelled("test"))
                else:
                    question = turn.send(self.answer(question))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # a generator's value is untyped here

    def answer(self, question: Ask[Any]) -> object:
        match question:
            case Tell():
                self.told.append((question.turn, question.fact, question.durable))
                return None
            case AskModel():
                return Modelled(reply=next(iter(self.replies)), duration_ms=5)
            case AskGate(call=call):
                return self.rulings.get(call.name, Ruling(refusal=None, judged=None))
            case RunTools(calls=asked):
                return tuple(self.run(call) for call in asked)
            case TakeBaseline():
                return self.granted
            case Inspect():
                return next(iter(self.inspections), CLEAN)
            case AskPlugin(member=member, request=request):
                answer = self.plugin(member, request)
                return Heard(answer=answer, duration_ms=7, served=self.served)
            case RecallServed():
                return self.served
            case CheckPaths(paths=paths):
                return tuple(self.denials.get(path) for path in paths)
            case CheckCall(call=call):
                return Checked(fits=self.fits(call))
            case AskHook():
                return HookHeard(result=self.hook(question), exit_code=0, duration_ms=9)
            case _:
                raise AssertionError(question)

    def run(self, call: Asked) -> Ran:
        output = self.outputs.get(call.name, succeeded(call.name))
        return Ran(output=output, duration_ms=3, changes=next(iter(self.changes), ()))

    def facts(self, kind: type[F]) -> list[F]:
        """The facts of one kind, in the order in which they were told."""
        return [fact for _, fact, _ in self.told if isinstance(fact, kind)]

    def order(self) -> list[str]:
        """The types of all facts told, in order."""
        return [fact.type for _, fact, _ in self.told]

    def models(self) -> list[tuple[Message, ...]]:
        """The messages of every model call."""
        return [question.messages for question in self.asked if isinstance(question, AskModel)]
