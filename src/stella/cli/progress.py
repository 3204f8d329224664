"""What a person reads while a run goes on: one line per event, plain text [S-40 to S-42].

Each line is made from one fact. Text from outside is cleared of secrets, then shown through the
escaper; nothing moves the cursor.
"""

from collections.abc import Iterator

from stella.escape import counted
from stella.escape import cut
from stella.escape import visible
from stella.message import ErrorClass
from stella.redact import Redactor
from stella.turn.facts import Baselined
from stella.turn.facts import CallRequested
from stella.turn.facts import Continued
from stella.turn.facts import Fact
from stella.turn.facts import ModelFailed
from stella.turn.facts import Noticed
from stella.turn.facts import PipelineBound
from stella.turn.facts import TamperFound
from stella.turn.facts import ToolFinished
from stella.turn.facts import TurnEnded
from stella.turn.facts import TurnStarted
from stella.turn.facts import TurnStatus
from stella.turn.hook_facts import StopGated
from stella.turn.plugin_facts import Exchanged
from stella.turn.plugin_facts import PluginFaulted
from stella.turn.plugin_facts import ServedCall
from stella.turn.plugin_facts import SubagentFinished
from stella.verdict.again import Held
from stella.verdict.guidance import reason_text
from stella.wire.points import Call

_SUBJECT_CHARS = 80
_SUBJECTS = ("command", "pattern", "path")
_BATCHES = ("files", "edits")
_REPORT_CHARS = 200
_HANDLE_CHARS = 8
_SHIPPED = Redactor()


def served_line(call: ServedCall) -> str:
    """Return what one served host call came to, empty when nobody needs to read of it [D-81]."""
    if call.refusal is not None:
        return f"refused: {call.refusal.refusal.value}: {call.refusal.detail}"
    given, args = call.ok or {}, call.args
    match call.call:
        case Call.CHILD_TURN:
            return f"{args['role']} on {given['seat']}: {_used(call)}"
        case Call.CANDIDATE_FANOUT:
            made = given["candidates"]
            done = sum(1 for each in made if each["completed"])
            return (
                f"{args['role']}: {args['width']} asked, {len(made)} made, {done} completed, "
                f"{_used(call)}"
            )
        case Call.RUN_TEST:
            passed = "passed" if given["passed"] else "did not pass"
            code = given["exit_code"]
            ended = "no exit code" if code is None else f"exit {code}"
            return f"{_handle(args['candidate'])}: {passed} ({ended}) in {given['duration_ms']} ms"
        case Call.ADOPT_CANDIDATE:
            gone = counted(len(given.get("discarded", ())), "other")
            return f"{_handle(given['adopted'])} is in the tree, {gone} discarded"
        case _:
            return ""


def _handle(text: str) -> str:
    """Return a handle as a person tells it from the others of a run; the journal has it whole."""
    return text if len(text) <= _HANDLE_CHARS + 1 else f"{text[:_HANDLE_CHARS]}…"


def _used(call: ServedCall) -> str:
    cost = "cost unknown" if call.cost_usd is None else f"cost {call.cost_usd:.4f} USD"
    return f"{counted(call.steps or 0, 'step')}, {cost}"


class Progress:
    """Turns facts into lines; it remembers what a line needs from an earlier fact.

    `redactor` takes out secrets, while a text is still whole: once it is folded to one line or cut,
    a secret may have lost its shape [J2-24].
    """

    def __init__(self, redactor: Redactor = _SHIPPED) -> None:
        self._redactor = redactor
        self._subjects: dict[str, str] = {}
        self._arbiter = "the pipeline"
        self._allowed = 0

    def lines(self, fact: Fact) -> Iterator[str]:
        """Yield the lines of one fact, none when it has nothing to say to a person."""
        match fact:
            case PipelineBound():
                self._bound(fact)
            case Baselined():
                yield from self._baseline(fact)
            case TurnStarted():
                yield f"agent {fact.principal}" if fact.agent else f"round {fact.round}"
            case CallRequested():
                self._subjects[fact.call_id] = self._subject(fact.input)
            case ToolFinished():
                yield self._tool(fact)
            case ModelFailed() | PluginFaulted():
                yield self._failed(fact)
            case TamperFound():
                yield from self._tamper(fact)
            case Continued(again=Held() as held):
                yield from self._hold(fact, held)
            case StopGated(decision="deny"):
                yield self._stop(fact)
            case TurnEnded(status=status) if status is not TurnStatus.COMPLETED:
                yield f"turn {status.value}: {self._shown(fact.text)}"
            case Noticed():
                yield f"notice  {self._shown(fact.text)}"
            case _:
                yield from self._agents(fact)

    def _bound(self, fact: PipelineBound) -> None:
        self._allowed = fact.max_holds
        for member in fact.members:
            if member.grade == "arbiter":
                self._arbiter = self._shown(member.name)

    def _failed(self, fact: ModelFailed | PluginFaulted) -> str:
        head = f"model  {fact.kind}" if isinstance(fact, ModelFailed) else f"fault  {fact.fault}"
        return f"{head}: {self._shown(fact.message)}"

    def _tool(self, fact: ToolFinished) -> str:
        name = f"{self._shown(fact.tool)} {self._subjects.pop(fact.call_id, '')}".rstrip()
        if fact.input_before is not None:
            name = f"{name}  changed by a hook to {self._subject(fact.input)}".rstrip()
        error = fact.output.error
        if error is None:
            return f"{name}  ok {fact.duration_ms} ms"
        if error.kind is ErrorClass.REFUSED_BY_POLICY:
            return f"{name}  refused: {self._shown(error.message)}"
        return f"{name}  {error.kind.value}: {cut(self._shown(error.message), 200)}"

    def _agents(self, fact: Fact) -> Iterator[str]:
        """Yield the lines of what plugins had the host do [D-81]."""
        if isinstance(fact, Exchanged):
            yield from self._calls(fact)
        elif isinstance(fact, SubagentFinished) and fact.status != "completed":
            yield f"agent {fact.status}: {self._shown(cut(fact.report, _REPORT_CHARS))}"

    def _calls(self, fact: Exchanged) -> Iterator[str]:
        """Yield a line per refused host call, child turn, fan-out, adoption and test [D-81]."""
        for call in fact.calls:
            said = served_line(call)
            if said:
                yield f"{self._shown(fact.plugin)} {call.call.value}  {self._shown(said)}"

    def _hold(self, fact: Continued, held: Held) -> Iterator[str]:
        clauses = held.correction.unmet
        names = dict.fromkeys(self._shown(clause.requirement) for clause in clauses)
        number = fact.state.holds_spent + 1
        yield (
            f"{self._arbiter} holds the turn ({number} of {self._allowed}): "
            f"{', '.join(names)} not met"
        )
        for clause in clauses:
            yield f"  - {self._shown(clause.requirement)}: {reason_text(clause.because)}"

    def _stop(self, fact: StopGated) -> str:
        who = self._shown((fact.by or "").replace(":", " ", 1))
        held = f"{who} holds the turn ({fact.spent} of {fact.allowed})"
        return f"{held}: {self._shown(fact.reason or '')}"

    def _subject(self, arguments: object) -> str:
        """Return what a call is about: its path, its command, or the paths of its batch."""
        given = arguments if isinstance(arguments, dict) else {}
        text = next((given[key] for key in _SUBJECTS if isinstance(given.get(key), str)), "")
        for key in _BATCHES:
            items = given.get(key)
            if isinstance(items, list):
                paths = (item.get("path") if isinstance(item, dict) else item for item in items)
                text = " ".join(dict.fromkeys(path for path in paths if isinstance(path, str)))
        return cut(self._shown(text), _SUBJECT_CHARS)

    def _baseline(self, fact: Baselined) -> Iterator[str]:
        result = f"baseline {fact.baseline.value} ({fact.reason})"
        if fact.path is None:
            yield f"{result}: no test is granted"
            return
        command = self._shown(" ".join((fact.program, *fact.args)))
        yield f"{result} in {fact.duration_ms} ms: {command}"
        yield f"  program: {self._shown(fact.path)}"
        yield f"  watching {counted(len(fact.watched), 'file')}"

    def _tamper(self, fact: TamperFound) -> Iterator[str]:
        for artifact in fact.artifacts:
            yield f"tamper  {self._shown(artifact.path)}: {', '.join(artifact.kinds)}"

    def _shown(self, text: str) -> str:
        """Return outside text on one line, without its secrets [J2-24]."""
        return visible(self._redactor.clean(text))
