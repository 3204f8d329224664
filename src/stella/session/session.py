"""One session with one run: everything put together, in the one order [D-10, S-20].

Nothing is spent and nothing is written before the last refusal: roster, acceptance,
composition, test command and model are settled first.
"""

import hashlib
import platform
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stella import __version__
from stella import codec
from stella.clock import Clock
from stella.errors import JournalError
from stella.journal.find import unfinished
from stella.journal.find import writing
from stella.journal.journal import Journal
from stella.journal.journal import new_session_id
from stella.message import Message
from stella.message import Role
from stella.process.environment import inherited
from stella.providers.all import open_model
from stella.providers.keys import KEY_VARIABLES
from stella.providers.provider import Model
from stella.redact import Redactor
from stella.session.broadcast import Broadcast
from stella.session.drive import Drive
from stella.session.enabled import enabled
from stella.session.facts import OfferedTool
from stella.session.facts import PromptPart
from stella.session.facts import RunEnded
from stella.session.facts import SessionClosed
from stella.session.facts import SessionOpened
from stella.session.facts import SystemPrompt
from stella.session.facts import ToolsOffered
from stella.session.hands import Hands
from stella.session.options import Options
from stella.session.pipeline import Bound
from stella.session.pipeline import bind
from stella.session.result import JournalRow
from stella.session.result import RunResult
from stella.session.result import broken_off
from stella.session.result import exit_code_of
from stella.session.result import result_of
from stella.session.telling import Listener
from stella.session.telling import Telling
from stella.session.watching import Watching
from stella.tools.all import TOOLS
from stella.tools.paths import held_root
from stella.tools.seen import Seen
from stella.tools.stale import swept
from stella.tools.tool import ToolContext
from stella.tools.toolbox import Toolbox
from stella.turn.facts import Fact
from stella.turn.hold import RunEnd
from stella.turn.hold import RunSetup
from stella.turn.hold import run
from stella.turn.loop import Transcript
from stella.turn.prompt import BASE
from stella.turn.prompt import system_prompt
from stella.verdict.rule import VerdictRule
from stella.wire.evidence import EvidenceSet
from stella.witness.plan import root_of

OnDrive = Callable[[Drive], None]
"""Gets the drive before the run begins, so that a surface can cancel it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A run that is over: its result, and what a person is shown about it."""

    result: RunResult
    rule: VerdictRule
    evidence: EvidenceSet | None
    told: tuple[Fact, ...]
    turn_text: str
    trouble: str | None = None


def redactor_of(env: Mapping[str, str]) -> Redactor:
    """Return what takes model keys out of all that is stored or shown [J2-22, J2-24]."""
    return Redactor(env[name] for name in sorted(KEY_VARIABLES) if env.get(name))


async def run_once(
    options: Options,
    clock: Clock,
    listeners: tuple[Listener, ...] = (),
    on_drive: OnDrive = lambda _drive: None,
) -> Finished:
    """Open a session, do one run, close it, and return what came of it.

    Raises a `StellaError` when the run is refused before it began: nothing is on disk then.
    """
    root = root_of(options.workspace)
    bound = bind(options, root)
    model = open_model(options.model, clock=clock, base=options.cwd)
    plugins = enabled(options, root)
    redactor = redactor_of(options.env)
    journal = Journal.create(root, new_session_id(clock), clock, redactor)
    telling = Telling(journal, listeners)
    broadcast = Broadcast(telling, clock, redactor, plugins)
    telling.listen(broadcast.hear)
    opened = _Opened(
        options=options,
        root=root,
        bound=bound,
        model=model,
        clock=clock,
        telling=telling,
        broadcast=broadcast,
    )
    try:
        with _hands(opened) as hands:
            await _sweep(opened)
            end, trouble = await _run(opened, hands, on_drive)
        return _finished(opened, end, trouble)
    finally:
        try:
            await broadcast.close()
        finally:
            journal.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """A session whose refusals are behind it."""

    options: Options
    root: Path
    bound: Bound | None
    model: Model
    clock: Clock
    telling: Telling
    broadcast: Broadcast

    @property
    def session(self) -> str:
        return self.telling.journal.path.parent.name


async def _sweep(opened: _Opened) -> None:
    """Remove the temporary files of sessions that died in this workspace [T2-35]."""
    others = {each.id for each in unfinished(opened.root)} - {opened.session}
    if not others:
        return
    with held_root(str(opened.root)) as root:
        await swept(root, lambda session: session not in others or writing(opened.root, session))


@contextmanager
def _hands(opened: _Opened) -> Iterator[Hands]:
    options, bound = opened.options, opened.bound
    environment = _child_environment(options)
    with held_root(str(opened.root)) as held:
        context = ToolContext(
            root=held,
            environment=environment,
            clock=opened.clock,
            seen=Seen(),
            session_id=opened.session,
            umask=options.umask,
        )
        watching = Watching(
            root=opened.root,
            env=environment,
            path_value=options.env.get("PATH", ""),
            private=opened.telling.journal.path.parent,
            clock=opened.clock,
            telling=opened.telling,
            granting=bound.granting if bound else None,
        )
        yield Hands(
            telling=opened.telling,
            clock=opened.clock,
            model_port=opened.model,
            toolbox=Toolbox(TOOLS, context),
            mode=options.mode,
            principal=options.principal,
            watching=watching,
            plugins=bound.plugins if bound else {},
            records_changed=bound.records_changed if bound else tuple,
        )


async def _run(opened: _Opened, hands: Hands, on_drive: OnDrive) -> tuple[RunEnd, str | None]:
    """Tell how the session opened, follow the run, tell how it ended.

    A journal that breaks ends the run as failed, whatever it had come to [E-6, J2-34]; the
    second value says how it broke.
    """
    drive = Drive(opened.telling, hands, opened.broadcast.hurry)
    on_drive(drive)
    try:
        prefix = _open(opened, hands)
        opened.broadcast.start()
        await drive.prepare(hands.watching.open())
        transcript = Transcript([Message(role=Role.SYSTEM, content=prefix)])
        end = await drive.follow(run(_setup(opened, hands), transcript))
        _close(opened, end)
    except JournalError as error:
        return broken_off(opened.telling.told), error.message
    return end, None


def _setup(opened: _Opened, hands: Hands) -> RunSetup:
    options, bound = opened.options, opened.bound
    return RunSetup(
        goal=options.prompt,
        source="run",
        first_turn=1,
        principal=options.principal,
        model=opened.model.name,
        max_steps=options.max_steps,
        concurrent=frozenset(c.name for c in hands.toolbox.contracts if c.trusted_read_only),
        tools_sha256=_sha256(codec.canonical(hands.schemas)),
        composition=bound.composition if bound else None,
        bound=bound.fact if bound else None,
        host_max_holds=options.pipeline.max_holds if options.pipeline else 0,
        test_command=bool(options.pipeline and options.pipeline.test_command),
    )


def _open(opened: _Opened, hands: Hands) -> str:
    """Tell what the session opens with and return its system prompt [E-130]."""
    telling, options = opened.telling, opened.options
    fact = SessionOpened(
        schema=1,
        session=opened.session,
        stella=__version__,
        workspace=str(opened.root),
        workspace_id=_sha256(str(opened.root).encode())[:16],
        surface=options.surface,
        settings=(),
        model=opened.model.name,
        model_source=options.model_source,
        tiers={},
        prices={},
        mode=options.mode.value,
        mode_source=options.mode_source,
        limits={"steps": options.max_steps},
        trusted=False,
    )
    telling.tell(None, fact)
    environment = _environment(opened.root, opened.model.name, opened.clock)
    text = system_prompt(environment)
    parts = (
        PromptPart(name="base", chars=len(BASE)),
        PromptPart(name="environment", chars=len(environment)),
    )
    telling.tell(None, SystemPrompt(sha256=_sha256(text.encode()), text=text, parts=parts))
    offered = tuple(
        OfferedTool(
            name=c.name,
            origin=c.provenance.value,
            risk=c.risk.value,
            read_only=c.read_only,
            description=c.description,
            input_schema=c.input_schema,
        )
        for c in hands.toolbox.contracts
    )
    telling.tell(None, ToolsOffered(tools=offered))
    for code, notice in opened.bound.notices if opened.bound else ():
        telling.once(code, notice)
    return text


def _environment(root: Path, model: str, clock: Clock) -> str:
    versioned = "yes" if (root / ".git").exists() else "no"
    return "\n".join(
        (
            f"workspace root: {root}",
            f"under version control: {versioned}",
            f"operating system: {platform.system()}",
            f"date: {clock.now():%Y-%m-%d}",
            f"model: {model}",
        )
    )


def _child_environment(options: Options) -> dict[str, str]:
    let_through = options.env.get("STELLA_SUBPROCESS_ENV_ALLOW", "")
    allowed = frozenset(name.strip() for name in let_through.split(",") if name.strip())
    return inherited(options.env, KEY_VARIABLES, allowed)


def _close(opened: _Opened, end: RunEnd) -> None:
    telling, turn = opened.telling, end.turn
    ended = RunEnded(
        status=end.status,
        exit_code=exit_code_of(end),
        rounds=end.rounds,
        outcome={
            "turn_status": turn.status.value if turn else None,
            "stop": codec.plain(end.outcome),
        },
        usage=end.tally.usage,
        cost_usd=end.tally.cost_usd,
    )
    telling.tell(None, ended, durable=True)
    closed = SessionClosed(
        status=end.status, turns=end.rounds, usage=end.tally.usage, cost_usd=end.tally.cost_usd
    )
    opened.broadcast.last_call(closed)
    telling.tell(None, closed, durable=True)


def _finished(opened: _Opened, end: RunEnd, trouble: str | None) -> Finished:
    journal, bound = opened.telling.journal, opened.bound
    path = journal.path.relative_to(opened.root)
    told = tuple(opened.telling.told)
    result = result_of(
        end,
        told,
        pipeline=bound.composition.variant if bound else None,
        session=opened.session,
        journal=JournalRow(path=str(path), records=journal.records, head=journal.head),
    )
    return Finished(
        result=result,
        rule=bound.composition.rule if bound else VerdictRule(),
        evidence=end.evidence,
        told=told,
        turn_text=end.turn.text if end.turn else (trouble or ""),
        trouble=trouble,
    )


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
