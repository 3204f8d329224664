"""The real hands behind a turn's questions: a model, a gate, tools, a witness, plugins.

Each method answers one kind of question. What goes wrong in the world is a value of the
answer; only a broken journal raises.
"""

import asyncio
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from pathlib import Path

from stella import codec
from stella.authority.contract import Provenance
from stella.authority.decision import Contribution
from stella.authority.decision import Opinion
from stella.authority.gate import CAPABILITY
from stella.authority.gate import Denied
from stella.authority.gate import Mode
from stella.authority.gate import Permit
from stella.authority.gate import judge
from stella.clock import Clock
from stella.content.guard import Guard
from stella.content.guard import denial
from stella.files.fence import Denial
from stella.files.fence import inside
from stella.message import Asked
from stella.message import ErrorClass
from stella.message import Output
from stella.message import failed
from stella.providers.provider import Model
from stella.providers.provider import ModelRequest
from stella.providers.provider import ToolSchema
from stella.session.desk import OpenDesk
from stella.session.hooked import NOBODY
from stella.session.hooked import Hooked
from stella.session.spelled import spelled
from stella.session.telling import Telling
from stella.session.together import together
from stella.session.watching import Watching
from stella.tools.toolbox import Prepared
from stella.tools.toolbox import Toolbox
from stella.turn.facts import CallJudged
from stella.turn.facts import TraceRow
from stella.turn.questions import AskGate
from stella.turn.questions import AskHook
from stella.turn.questions import AskModel
from stella.turn.questions import AskPlugin
from stella.turn.questions import CheckCall
from stella.turn.questions import Checked
from stella.turn.questions import CheckPaths
from stella.turn.questions import Granted
from stella.turn.questions import Heard
from stella.turn.questions import HookHeard
from stella.turn.questions import Inspection
from stella.turn.questions import Modelled
from stella.turn.questions import Ran
from stella.turn.questions import Ruling
from stella.turn.questions import RunTools
from stella.turn.questions import Served
from stella.wrapper.plugin import Answering


@dataclass(slots=True, kw_only=True)
class Hands:
    """What one agent of a session can do; `plugins` are the session's members by name.

    `models` are those of the seats that have one of their own, `model_port` that of the others
    [D-50]. `desk` gives what answers the host calls of a point.
    `records_changed` tells what a person would want to know of the records on disk [Q-29].
    """

    telling: Telling
    clock: Clock
    model_port: Model
    toolbox: Toolbox
    mode: Mode
    principal: str
    watching: Watching
    models: Mapping[str, Model] = field(default_factory=dict)
    plugins: Mapping[str, Answering] = field(default_factory=dict)
    desk: OpenDesk = lambda _question: None
    records_changed: Callable[[], tuple[str, ...]] = tuple
    hooked: Hooked = NOBODY
    guards: tuple[Guard, ...] = ()
    _served: Served = field(default_factory=Served)
    _permitted: dict[str, tuple[Prepared, Permit]] = field(default_factory=dict)

    async def model(self, question: AskModel) -> Modelled:
        """Ask the model of a seat for its next reply [M2-5, D-31]."""
        began = self.clock.ticks()
        reply = await self.models.get(question.seat, self.model_port).reply(
            ModelRequest(messages=question.messages, tools=self.schemas, role=question.role)
        )
        return Modelled(reply=reply, duration_ms=self.clock.ticks() - began)

    @property
    def schemas(self) -> tuple[ToolSchema, ...]:
        """The tools as a model is told of them."""
        return tuple(
            ToolSchema(name=c.name, description=c.description, input_schema=c.input_schema)
            for c in self.toolbox.contracts
        )

    def gate(self, question: AskGate) -> Ruling:
        """Look the call up and judge it; a permit is kept until the call runs [A-30]."""
        prepared = self.toolbox.prepare(question.call)
        if isinstance(prepared, Output):
            return Ruling(refusal=prepared, judged=None)
        opinions = (*question.opinions, *self._guarding(prepared, question.call))
        ruling = judge(
            call_id=prepared.call_id,
            contract=prepared.contract,
            risk=prepared.risk,
            mode=self.mode,
            opinions=opinions,
        )
        judged = self._judged(prepared, ruling, replace(question, opinions=opinions))
        if isinstance(ruling, Denied):
            refusal = failed(ErrorClass.REFUSED_BY_POLICY, ruling.sentence, ruling.cause)
            return Ruling(refusal=refusal, judged=judged)
        self._permitted[prepared.call_id] = (prepared, ruling)
        return Ruling(refusal=None, judged=judged, read_only=prepared.contract.trusted_read_only)

    def check(self, question: CheckCall) -> Checked:
        """Look the call up and judge nothing [E-23 items 1 to 3]."""
        prepared = self.toolbox.prepare(question.call)
        if isinstance(prepared, Output):
            return Checked(fits=False, why=prepared.text)
        return Checked(fits=True, read_only=prepared.contract.read_only)

    async def hook(self, question: AskHook) -> HookHeard:
        """Ask one listener about what happened [D-62]."""
        try:
            spoken = await self.hooked.ask(question)
        finally:
            self.watching.disturbed()
        if spoken.notice is not None:
            self.telling.notice("plugin_left_processes", spoken.notice)
        return HookHeard(
            result=spoken.result,
            exit_code=spoken.exit_code,
            duration_ms=spoken.duration_ms,
            stdout_tail=spoken.stdout_tail,
            stderr_tail=spoken.stderr_tail,
        )

    async def run(self, question: RunTools) -> tuple[Ran, ...]:
        """Run the calls side by side and measure what they changed [E-20, T2-51].

        Only trusted reads come several at a time, so a change has one author.
        """
        if len(question.calls) == 1:  # so that a second cancel reaches it, unlike in a group
            return (await self._run(question.calls[0]),)
        return await together(self._run(call) for call in question.calls)

    async def baseline(self) -> Granted:
        """Pin the watched artifacts and run the granted test once [G-20, G-30]."""
        return await self.watching.baseline()

    async def inspect(self) -> Inspection:
        """Compare the watched artifacts and measure the tree [G-30, D-43]."""
        return await self.watching.inspect()

    def check_paths(self, question: CheckPaths) -> tuple[str | None, ...]:
        """Return the word of each path's denial, None for one that stays inside [G-50, G-51]."""
        found = (inside(self.watching.root, path) for path in question.paths)
        return tuple(each.value if isinstance(each, Denial) else None for each in found)

    async def plugin(self, question: AskPlugin) -> Heard:
        """Ask a member: a fresh process, an answer or a silence [D-15, W-50]."""
        for text in self.records_changed():
            self.telling.once("record_changed", text)
        desk = self.desk(question)
        try:
            spoken = await self.plugins[question.member].ask(
                question.request, desk.serve if desk else None
            )
        except asyncio.CancelledError:
            # A cancel ends the asking, but not what was served before it [T-23].
            self._served = desk.served if desk else Served()
            raise
        finally:
            # What it changed on its own is no change of the next call.
            self.watching.disturbed()
        served = desk.served if desk else Served()
        if spoken.notice is not None:
            self.telling.notice("plugin_left_processes", spoken.notice)
        return Heard(answer=spoken.answer, duration_ms=spoken.duration_ms, served=served)

    def cut_short(self) -> Served:
        """Return, once, what the point served that a cancel ended; nothing when none was open."""
        served, self._served = self._served, Served()
        return served

    def _guarding(self, prepared: Prepared, call: Asked) -> Iterator[Opinion]:
        """Yield the word of the first armed guard that denies a call [P-65]."""
        root = self.watching.root
        # Arguments that came as text were read once to prepare the call.
        given = codec.parse(call.input.encode()) if isinstance(call.input, str) else call.input
        found = (inside(root, path.removeprefix(f"{root}/")) for path in prepared.paths)
        resolved = [
            str(path.relative_to(root))
            for path in found
            if isinstance(path, Path) and path.is_relative_to(root)
        ]
        if prepared.contract.provenance is Provenance.DECLARED:
            resolved += spelled(root, given)
        denied = denial(self.guards, prepared.contract.name, given, resolved)
        if denied is not None:
            guard, sentence = denied
            yield Opinion(
                rule=f"record {guard.lineage}",
                source="record",
                contribution=Contribution.DENY,
                cause="rule",
                sentence=sentence,
            )

    async def _run(self, call: Asked) -> Ran:
        prepared, permit = self._permitted.pop(call.call_id)
        if prepared.contract.trusted_read_only:
            output, taken = await self._timed(prepared, permit)
            return Ran(output=output, duration_ms=taken)
        before = await self.watching.before(prepared.paths)
        output, taken = await self._timed(prepared, permit)
        changes = await self.watching.since(before, prepared.paths)
        return Ran(output=output, duration_ms=taken, changes=changes)

    async def _timed(self, prepared: Prepared, permit: Permit) -> tuple[Output, int]:
        began = self.clock.ticks()
        output = await self.toolbox.run(prepared, permit)
        return output, self.clock.ticks() - began

    def _principal(self, prepared: Prepared) -> str:
        """Return whose call it is: a plugin's tool is called by the plugin [A-41, I-45]."""
        plugin = prepared.contract.plugin
        return self.principal if plugin is None else f"plugin:{plugin}"

    def _judged(self, prepared: Prepared, ruling: Permit | Denied, question: AskGate) -> CallJudged:
        """Return the record of a decision, with everybody who was consulted [A-8, A-37]."""
        denied = ruling if isinstance(ruling, Denied) else None
        by = "mode" if denied is None else denied.by
        given = question.call.input
        hosts = [
            Opinion(
                rule=f"mode {self.mode.value}",
                source="mode",
                contribution=Contribution.DENY
                if denied is not None and denied.cause == "mode"
                else Contribution.ALLOW,
            )
        ]
        if by == CAPABILITY:
            name = f"{CAPABILITY} {prepared.contract.name}"
            hosts.insert(0, Opinion(rule=name, source=by, contribution=Contribution.DENY))
        return CallJudged(
            call_id=prepared.call_id,
            tool=prepared.contract.name,
            principal=self._principal(prepared),
            risk=prepared.risk.value,
            decision="allow" if denied is None else "deny",
            cause=None if denied is None else denied.cause,
            chain=question.chain,
            trace=tuple(_row(each, by) for each in (*question.opinions, *hosts)),
            given=given if question.chain and isinstance(given, dict) else None,
        )


def _row(opinion: Opinion, by: str) -> TraceRow:
    return TraceRow(
        rule=opinion.rule,
        source=opinion.source,
        matched=True,
        contribution=opinion.contribution.value,
        deciding=opinion.source == by,
    )
