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
from stella.session.drive import Drive
from stella.session.facts import OfferedTool
from stella.session.facts import PromptPart
from stella.session.facts import RunEnded
from stella.session.facts import SessionClosed
from stella.session.facts import SessionOpened
from stella.session.facts import SystemPrompt
from stella.session.facts import ToolsOffered
from stella.session.hands import Hands
from stella.session.hooked import NOBODY
from stella.session.hooked import Hooked
from stella.session.hooked import hooked
from stella.session.hooked import standing
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
from stella.turn.hooks import Hooks
from stella.turn.hooks import Where
from stella.turn.hooks import session_text
from stella.turn.hooks import told_at_the_end
from stella.turn.loop import Transcript
from stella.turn.prompt import BASE
from stella.turn.prompt import system_prompt
from stella.verdict.rule import VerdictRule
from stella.wire.evidence import EvidenceSet
from stella.wire.occasion import SessionEnd
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
    stands = standing(options, root)
    bound = bind(options, root, stands[1] if stands else None)
    model = open_model(options.model, clock=clock, base=options.cwd)
    redactor = redactor_of(options.env)
    session = new_session_id(clock)
    listening = hooked(options, *stands, session=session, redactor=redactor) if stands else NOBODY
    journal = Journal.create(root, session, clock, redactor)
    opened = _Opened(
        options=options,
        root=root,
        bound=bound,
        hooked=listening,
        model=model,
        clock=clock,
        telling=Telling(journal, listeners),
    )
    try:
        with _hands(opened) as hands:
            await _sweep(opened)
            end, trouble = await _run(opened, hands, on_drive)
        return _finished(opened, end, trouble)
    finally:
        journal.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """A session whose refusals are behind it."""

    options: Options
    root: Path
    bound: Bound | None
    hooked: Hooked
    model: Model
    clock: Clock
    telling: Telling

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
            hooked=opened.hooked,
        )


async def _run(opened: _Opened, hands: Hands, on_drive: OnDrive) -> tuple[RunEnd, str | None]:
    """Tell how the session opened, follow the run, tell how it ended.

    A journal that breaks ends the run as failed, whatever it had come to [E-6, J2-34]; the
    second value says how it broke.
    """
    drive = Drive(opened.telling, hands)
    on_drive(drive)
    try:
        _open(opened)
        context = await drive.follow(session_text(_hooks(opened), "new"))
        prefix = _prefix(opened, hands, context)
        await drive.prepare(hands.watching.open())
        transcript = Transcript([Message(role=Role.SYSTEM, content=prefix)])
        end = await drive.follow(run(_setup(opened, hands), transcript))
        _run_ended(opened.telling, end)
        over = SessionEnd(status=end.status.value, turns=end.rounds, cost_usd=end.tally.cost_usd)
        await drive.close(told_at_the_end(_hooks(opened), over, Where()))
        _close(opened.telling, end)
    except JournalError as error:
        return broken_off(opened.telling.told), error.message
    return end, None


def _hooks(opened: _Opened) -> Hooks:
    return Hooks(listeners=opened.hooked.listeners)


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
        hooks=opened.hooked.listeners,
    )


def _open(opened: _Opened) -> None:
    """Tell what the session opens with."""
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


def _prefix(opened: _Opened, hands: Hands, context: str) -> str:
    """Tell and return the system prompt, with the text of hooks at its end [E-130, D-64]."""
    telling = opened.telling
    environment = _environment(opened.root, opened.model.name, opened.clock)
    text = system_prompt(environment, context=context)
    parts = [
        PromptPart(name="base", chars=len(BASE)),
        PromptPart(name="environment", chars=len(environment)),
    ]
    if context:
        parts.append(PromptPart(name="session_context", chars=len(context)))
    telling.tell(None, SystemPrompt(sha256=_sha256(text.encode()), text=text, parts=tuple(parts)))
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
    bound = opened.bound.notices if opened.bound else ()
    for code, notice in bound:
        telling.notice(code, notice)
    said = {notice for _, notice in bound}
    for code, notice in opened.hooked.notices:
        if notice not in said:
            telling.notice(code, notice)
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


def _run_ended(telling: Telling, end: RunEnd) -> None:
    turn = end.turn
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


def _close(telling: Telling, end: RunEnd) -> None:
    closed = SessionClosed(
        status=end.status, turns=end.rounds, usage=end.tally.usage, cost_usd=end.tally.cost_usd
    )
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
        turn_text=end.turn.text if end.turn else (end.refusal or trouble or ""),
        trouble=trouble,
    )


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
