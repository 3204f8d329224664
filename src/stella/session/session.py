"""One session with one run: everything put together, in the one order [D-10, S-20].

Nothing is spent and nothing is written before the last refusal: roster, acceptance,
composition, test command and model are settled first.
"""

import hashlib
from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stella import __version__
from stella import codec
from stella.candidates.workspaces import Workspaces
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
from stella.roster.roster import remember
from stella.session.attempts import Attempts
from stella.session.attempts import reclaim
from stella.session.broadcast import Broadcast
from stella.session.custom import Extra
from stella.session.custom import extra_of
from stella.session.custom import let_through
from stella.session.drive import Drive
from stella.session.enabled import enabled
from stella.session.enabled import redactor_of
from stella.session.facts import RunEnded
from stella.session.facts import SessionClosed
from stella.session.facts import SessionOpened
from stella.session.hands import Hands
from stella.session.hooked import NOBODY
from stella.session.hooked import Hooked
from stella.session.hooked import hooked
from stella.session.hooked import refuse_missing
from stella.session.hooked import standing
from stella.session.options import Options
from stella.session.pipeline import Bound
from stella.session.pipeline import bind
from stella.session.planes import planes_of
from stella.session.result import JournalRow
from stella.session.result import RunResult
from stella.session.result import broken_off
from stella.session.result import exit_code_of
from stella.session.result import result_of
from stella.session.steered import Steered
from stella.session.steered import steered
from stella.session.telling import Listener
from stella.session.telling import Telling
from stella.session.workshop import Workshop
from stella.session.workshop import side_by_side
from stella.session.workshop import tools_digest
from stella.tools.all import TOOLS
from stella.tools.paths import held_root
from stella.tools.stale import swept
from stella.turn.facts import Fact
from stella.turn.hold import RunEnd
from stella.turn.hold import RunSetup
from stella.turn.hold import run
from stella.turn.hooks import Hooks
from stella.turn.hooks import Where
from stella.turn.hooks import session_text
from stella.turn.hooks import told_at_the_end
from stella.turn.loop import Transcript
from stella.turn.seats import WORKER
from stella.turn.seats import Seating
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
    began = clock.now()
    stands = standing(options, root)
    refuse_missing(options, stands[1] if stands else None)
    bound = bind(options, root, stands[1] if stands else None)
    model, models = _models(options, bound, clock)
    plugins = enabled(options, root, stands[1]) if stands else ()
    redactor = redactor_of(options.env)
    session = new_session_id(clock)
    extra = extra_of(options, root, *stands) if stands else Extra()
    said = steered(
        root,
        stands[0] if stands else None,
        extra.content,
        trusted=options.trusted,
        vouched=options.vouched,
    )
    listening = hooked(options, *stands, plugins, session=session) if stands else NOBODY
    journal = Journal.create(root, session, clock, redactor)
    if stands is not None:
        remember(stands[1], stands[0], began, clock)
    telling = Telling(journal, listeners)
    broadcast = Broadcast(telling, clock, redactor, plugins)
    telling.listen(broadcast.hear)
    opened = _Opened(
        options=options,
        root=root,
        bound=bound,
        notices=stands[1].told if stands else (),
        hooked=listening,
        steered=said,
        model=model,
        models=models,
        clock=clock,
        telling=telling,
        broadcast=broadcast,
        extra=extra,
    )
    try:
        await _sweep(opened)
        end, trouble = await _run(opened, on_drive)
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
    notices: tuple[str, ...]
    hooked: Hooked
    steered: Steered
    model: Model
    models: Mapping[str, Model]
    clock: Clock
    telling: Telling
    broadcast: Broadcast
    extra: Extra

    @property
    def session(self) -> str:
        return self.workshop.session

    @property
    def workshop(self) -> Workshop:
        return Workshop(
            telling=self.telling,
            clock=self.clock,
            model=self.model,
            models=self.models,
            mode=self.options.mode,
            environment=_child_environment(self.options),
            path_value=self.options.env.get("PATH", ""),
            umask=self.options.umask,
            hooked=self.hooked,
            steered=self.steered,
            tools=(*TOOLS, *self.extra.tools),
        )


def _models(options: Options, bound: Bound | None, clock: Clock) -> tuple[Model, dict[str, Model]]:
    """Open the worker's model and those of the seats that some role of the run can reach.

    One name is one model [D-50, M2-53]; what no role reaches is not even looked at.
    """
    members = bound.composition.members if bound else ()
    tiers = {tier for member in members for tier in member.roles.values()}
    reached = {options.tiers[tier] for tier in tiers if tier in options.tiers}
    names = {seat: name for seat, name in options.seats.items() if seat in reached}
    opened: dict[str, Model] = {}
    for name in (options.model, *names.values()):
        if name not in opened:
            opened[name] = open_model(name, clock=clock, base=options.cwd)
    return opened[options.model], {seat: opened[name] for seat, name in names.items()}


async def _sweep(opened: _Opened) -> None:
    """Remove the temporary files of sessions that died in this workspace [T2-35]."""
    others = {each.id for each in unfinished(opened.root)} - {opened.session}
    if not others:
        return
    with held_root(str(opened.root)) as root:
        await swept(root, lambda session: session not in others or writing(opened.root, session))


async def _run(opened: _Opened, on_drive: OnDrive) -> tuple[RunEnd, str | None]:
    """Tell how the session opened, follow the run, tell how it ended.

    A journal that breaks ends the run as failed, whatever it had come to [E-6, J2-34]; the
    second value says how it broke.
    """
    shop, bound = opened.workshop, opened.bound
    granting = bound.granting if bound else None
    with shop.hands(opened.root, shop.tools, opened.options.principal, granting) as hands:
        drive = Drive(opened.telling, hands, opened.broadcast.hurry)
        on_drive(drive)
        try:
            end = await _followed(opened, hands, drive)
            _run_ended(opened.telling, end)
            over = SessionEnd(
                status=end.status.value, turns=end.rounds, cost_usd=end.tally.cost_usd
            )
            await drive.close(told_at_the_end(_hooks(opened), over, Where()))
            _close(opened, end)
        except JournalError as error:
            return broken_off(opened.telling.story), error.message
        return end, None


async def _followed(opened: _Opened, hands: Hands, drive: Drive) -> RunEnd:
    """Open, run, and take away what the run's candidates left [D-10]."""
    _open(opened)
    opened.broadcast.start()
    context = await drive.follow(session_text(_hooks(opened), "new"))
    prefix = opened.workshop.introduce(hands, seat=WORKER, context=context)
    for code, notice in _notices(opened):
        opened.telling.once(code, notice)
    shop, bound = opened.workshop, opened.bound
    workspaces = Workspaces(opened.root, path_value=shop.path_value, clock=opened.clock)
    attempts: Attempts | None = None
    if bound is not None:
        planes = planes_of(bound, shop, hands.watching, workspaces, opened.options)
        hands.plugins, hands.records_changed = bound.plugins, bound.records_changed
        hands.desk, attempts = planes.serving.desk, planes.attempts
    await drive.prepare(reclaim(workspaces, opened.telling))
    await drive.prepare(hands.watching.open())
    transcript = Transcript([Message(role=Role.SYSTEM, content=prefix)])
    try:
        return await drive.follow(run(_setup(opened, hands), transcript))
    finally:
        if attempts is not None:
            await attempts.finish()


def _notices(opened: _Opened) -> Iterator[tuple[str, str]]:
    """Yield what there is to tell before the first turn, each kind with its code [I-44, A-72]."""
    yield from (("left_out", text) for text in opened.options.left_out)
    yield from (("roster", text) for text in opened.notices)
    yield from opened.bound.notices if opened.bound else ()
    yield from opened.hooked.notices
    yield from opened.extra.notices
    yield from opened.steered.notices


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
        models={seat: model.name for seat, model in opened.models.items()},
        seating=Seating(seats=options.tiers),
        max_steps=options.max_steps,
        spend_limit=options.spend_limit,
        concurrent=side_by_side(hands),
        tools_sha256=tools_digest(hands),
        composition=bound.composition if bound else None,
        bound=bound.fact if bound else None,
        host_max_holds=options.pipeline.max_holds if options.pipeline else 0,
        test_command=bool(options.pipeline and options.pipeline.test_command),
        hooks=opened.hooked.listeners,
        joining=opened.steered.joining(options.prompt),
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
        settings=tuple(map(dict, options.settings)),
        model=opened.model.name,
        model_source=options.model_source,
        tiers=dict(options.tiers),
        prices={},
        mode=options.mode.value,
        mode_source=options.mode_source,
        limits=_limits(options),
        trusted=options.trusted,
    )
    telling.tell(None, fact)


def _limits(options: Options) -> dict[str, Any]:
    """Return the limits of a run as they are recorded; what is absent is no limit [E-80]."""
    money = options.spend_limit
    return {"steps": options.max_steps} | ({} if money is None else {"money_usd": float(money)})


def _child_environment(options: Options) -> dict[str, str]:
    return inherited(options.env, KEY_VARIABLES, let_through(options.env))


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


def _close(opened: _Opened, end: RunEnd) -> None:
    closed = SessionClosed(
        status=end.status, turns=end.rounds, usage=end.tally.usage, cost_usd=end.tally.cost_usd
    )
    opened.broadcast.last_call(closed)
    opened.telling.tell(None, closed, durable=True)


def _finished(opened: _Opened, end: RunEnd, trouble: str | None) -> Finished:
    journal, bound = opened.telling.journal, opened.bound
    path = journal.path.relative_to(opened.root)
    story = opened.telling.story
    result = result_of(
        end,
        story,
        pipeline=bound.composition.variant if bound else None,
        session=opened.session,
        journal=JournalRow(path=str(path), records=journal.records, head=journal.head),
    )
    return Finished(
        result=result,
        rule=bound.composition.rule if bound else VerdictRule(),
        evidence=end.evidence,
        told=story.own,
        turn_text=end.turn.text if end.turn else (end.refusal or trouble or ""),
        trouble=trouble,
    )


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
