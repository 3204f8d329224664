"""`stella run`: one prompt, one run, one result [S-7, S-20 to S-25]."""

import asyncio
import signal
import sys
from collections.abc import Awaitable
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TextIO

import click

from stella import codec
from stella import limits
from stella.cli.board import NO_FLIP
from stella.cli.board import board
from stella.cli.board import flip_lost
from stella.cli.flags import Given
from stella.cli.flags import judged
from stella.cli.here import switched_off
from stella.cli.page import for_screen
from stella.cli.page import tell
from stella.cli.page import tell_consent
from stella.cli.progress import Progress
from stella.cli.streams import say
from stella.clock import SystemClock
from stella.clock import stamp
from stella.errors import ModelError
from stella.errors import UsageError
from stella.escape import visible
from stella.journal.entry import Record
from stella.roster.left_out import left_out
from stella.roster.plugin import Plugin
from stella.roster.scope import places
from stella.roster.trust import UNTRUSTED
from stella.roster.trust import Trust
from stella.roster.trust import read_trust
from stella.roster.variable import meet
from stella.session.drive import Drive
from stella.session.enabled import redactor_of
from stella.session.hooked import read
from stella.session.options import Options
from stella.session.session import Finished
from stella.session.session import run_once
from stella.settings.ambient import Ambient
from stella.settings.ambient import ambient
from stella.settings.ambient import workspace_of
from stella.settings.load import FILE
from stella.settings.load import Settings
from stella.settings.load import load
from stella.settings.schema import MODEL_OF
from stella.turn.facts import Baselined
from stella.turn.facts import Fact
from stella.turn.facts import PipelineBound
from stella.turn.facts import TurnEnded
from stella.verdict.rule import VerdictRule

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _option(flag: str, help_text: str, metavar: str) -> Callable[..., Callable[..., object]]:
    return click.option(flag, metavar=metavar, help=help_text)


class _Run(click.Command):
    """The command `run`: what stands behind `--` is the prompt, whatever it looks like."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep what stands behind `--` apart and parse the rest."""
        at = args.index("--") if "--" in args else len(args)
        ctx.obj = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])


@click.command(
    cls=_Run,
    name="run",
    help="Do one run: PROMPT, or `-` to read it from standard input.",
    context_settings={"ignore_unknown_options": True},
)
@click.argument("words", metavar="[PROMPT|-]", nargs=-1)
@_option("--workspace", "Root of the work; default: the repository you stand in.", "DIR")
@_option("--model", "Which model answers, such as script:FILE.", "NAME")
@click.option("--tier", multiple=True, metavar="NAME=MODEL", help="Model of a tier; repeatable.")
@_option("--permissions", "read-only, workspace (default) or all.", "MODE")
@_option("--max-steps", f"Model calls of one turn, 1 to {limits.STEPS_MAX}.", "N")
@_option("--spend-limit", "Money that the run may spend.", "USD")
@_option("--pipeline", "Plugins that wrap the run.", "NAME[,NAME]")
@click.option("--no-pipeline", is_flag=True, help="Run without a pipeline, whatever settings name.")
@_option("--test-command", "The test that the plugins are granted.", "TEXT")
@_option("--test-timeout", f"Seconds it may take, 1 to {limits.TEST_SECS_MAX}.", "SECS")
@click.option(
    "--watch-tests", multiple=True, metavar="GLOB", help="More test files to watch; repeatable."
)
@click.option("--red-on-error", is_flag=True, help="A test that cannot be built counts as red.")
@_option("--max-holds", f"Rounds a pipeline may add, 0 to {limits.HOLDS_MAX}.", "N")
@click.option(
    "--require-plugins", is_flag=True, help="What is declared and does not run is an error."
)
@_option("--output-format", "text, json or stream-json.", "FORMAT")
@click.pass_context
def command(ctx: click.Context, /, **flags: object) -> int:
    """Read the flags, run, print the result; the exit code is that of the result [S-11]."""
    around = ambient()
    options = (param for param in ctx.command.params if isinstance(param, click.Option))
    known = tuple(name for option in options for name in option.opts)
    named = {key: value for key, value in flags.items() if key in Given.__dataclass_fields__}
    if named.get("spend_limit") is None:
        named["spend_limit"] = around.env.get("STELLA_SPEND_LIMIT") or None
    given = Given(behind=ctx.obj, **named)  # type: ignore[arg-type]  # click's own types
    workspace = workspace_of(_text(flags["workspace"]), around)
    trust, settings = _trusted(around, workspace)
    asked = judged(given, known, settings)
    model, source = _model(given.model, asked.models, around, settings)
    wanted = Options(
        workspace=workspace,
        home=around.home,
        cwd=around.cwd,
        env=around.env,
        prompt=_prompt(given.prompt),
        model=model,
        model_source=source,
        mode=asked.mode,
        mode_source=asked.mode_source,
        max_steps=asked.max_steps,
        spend_limit=asked.spend_limit,
        pipeline=asked.pipeline,
        umask=around.umask,
        tiers=settings.tiers,
        seats=_seats({**settings.models, **asked.models, "worker": model}),
        settings=tuple({"path": file.path, "sha256": file.sha256} for file in settings.files),
        trusted=trust.trusted,
        vouched=trust.files,
        by_variable=trust.by_variable,
        switched=switched_off(settings, trust),
        left_out=_left_out(workspace, settings, trust),
        require_plugins=flags["require_plugins"] is True,
    )
    tell(*(f"stella: {notice}" for notice in (*trust.notices, *settings.notices)))
    if trust.by_variable:
        _meet(wanted)
    return perform(wanted, asked.output_format).result.exit_code


def perform(
    options: Options, output_format: str, out: Callable[[TextIO, str], None] = say
) -> Finished:
    """Do one run, print what its format wants, and return what came of it [S-21 to S-24].

    `out` writes a line of the result: a run's exit code is the run's, whoever can read it.
    """
    redactor = redactor_of(options.env)
    progress = Progress(redactor)
    clock = SystemClock()
    rules: list[VerdictRule] = []

    def told(lines: Iterable[str]) -> None:
        tell(*(redactor.clean(line) for line in lines))

    def hear(record: Record, fact: Fact) -> None:
        if output_format == "stream-json":
            plain = codec.plain(record)
            del plain["prev"]
            say(sys.stdout, for_screen(codec.encode(plain).decode(), json=True))
        if isinstance(fact, PipelineBound):
            rules.append(fact.rule)
        if not isinstance(fact, TurnEnded):  # the board's first line says it
            told(progress.lines(fact))
        if isinstance(fact, Baselined) and any(flip_lost(rule, fact) for rule in rules):
            told((f"  {NO_FLIP}: the rule asks for one, and this test did not fail before",))

    done = asyncio.run(_signalled(partial(run_once, options, clock, (hear,))))
    with _over():
        result, _ = redactor.tree(codec.plain(done.result))
        if output_format == "text":
            if result["answer"]:  # a run that was refused at its first turn has none
                out(sys.stdout, for_screen(result["answer"]))
        elif output_format == "json":
            say(sys.stdout, for_screen(codec.encode(result).decode(), json=True))
        else:
            last = {"seq": None, "ts": stamp(clock.now()), "type": "result", "turn": None}
            say(sys.stdout, for_screen(codec.encode({**last, "data": result}).decode(), json=True))
        if output_format == "text" or done.result.status.value != "met":
            told(board(done))
        if done.trouble is not None:
            told((f"stella: {done.trouble}",))
    return done


async def _signalled(begin: Callable[..., Awaitable[Finished]]) -> Finished:
    """Run with the signals of a terminal meaning cancel; a second one ends at once [S-12]."""
    loop = asyncio.get_running_loop()
    drives: list[Drive] = []
    heard: list[str] = []

    def begun(drive: Drive) -> None:
        drives.append(drive)
        for name in heard:
            drive.cancel(name)

    def hear(number: signal.Signals) -> None:
        heard.append(number.name)
        for drive in drives:
            drive.cancel(number.name)
        if len(heard) == 1:
            tell(f"cancelling ({number.name}); once more ends at once")

    # They stay until the loop is closed: what comes after the end of the run changes nothing.
    for number in _SIGNALS:
        loop.add_signal_handler(number, hear, number)
    return await begin(on_drive=begun)


@contextmanager
def _over() -> Iterator[None]:
    """Have a run that is over print its result: a signal changes nothing, a second one ends it.

    Otherwise the exit status could differ from what the journal and the result say [S-11].
    """

    def once(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)

    before = [(number, signal.signal(number, once)) for number in _SIGNALS]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _trusted(around: Ambient, workspace: Path) -> tuple[Trust, Settings]:
    """Return whether the workspace is trusted and what settings say then [S2-13, S2-14].

    Where nothing can be recorded, nothing is trusted [I-56].
    """
    try:
        trust = read_trust(places(around.home, workspace), around.env)
    except UsageError:
        trust = UNTRUSTED
    settings = load(around.home, workspace, around.env, trusted=trust.trusted)
    read_now = {file.path: file.sha256 for file in settings.files}
    if not trust.covers(read_now.get(str(workspace / FILE))):
        trust = Trust(why=f"{FILE} changed while it was read")
        settings = load(around.home, workspace, around.env)
    return trust, settings


def _left_out(workspace: Path, settings: Settings, trust: Trust) -> tuple[str, ...]:
    """Return what there is to tell of what is not used for lack of trust [A-72, I-51]."""
    return (
        ()
        if trust.trusted
        else trust.without(workspace, (*settings.left_out, *left_out(workspace)))
    )


def _meet(options: Options) -> None:
    """Show and record what runs because the variable says so [I-34]."""

    def shown(_: Plugin, head: str, text: str) -> None:
        tell("", head)
        tell_consent(text)
        tell("")

    where = places(options.home, options.workspace)
    meet(read(options, where), where, SystemClock(), shown)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _model(
    given: str | None, models: Mapping[str, str], around: Ambient, settings: Settings
) -> tuple[str, str]:
    """Return the model and where the choice came from [M2-15, M2-51]."""
    if given is not None:
        return given, "flag"
    if worker := models.get("worker"):
        return worker, "flag"
    if from_env := around.env.get("STELLA_MODEL"):
        return from_env, "STELLA_MODEL"
    if settings.model:
        return settings.model, "settings"
    raise ModelError(
        "no model is chosen; give --model script:FILE, set STELLA_MODEL, or name one in "
        f"{visible(str(around.home / FILE))} as [model] default or as [tiers] worker "
        "(models of providers come with a later release)"
    )


def _seats(models: Mapping[str, str]) -> dict[str, str]:
    """Return the model of each seat that has one [M2-53]."""
    return {seat: models[name] for seat, name in MODEL_OF.items() if name in models}


def _prompt(given: str | None) -> str:
    """Return the prompt, from the command line or from standard input [S-8]."""
    if given is None or given == "-":
        if sys.stdin.isatty():
            raise UsageError("no prompt; give it as an argument or on standard input")
        data = sys.stdin.buffer.read(limits.PROMPT_BYTES + 1)
    else:
        data = given.encode("utf-8", "surrogateescape")
    if len(data) > limits.PROMPT_BYTES:
        raise UsageError(f"the prompt is longer than {limits.PROMPT_BYTES} bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"the prompt is not UTF-8 at byte {error.start}") from error
    if not text.strip():
        raise UsageError("the prompt is blank; say what is to be done")
    return text
