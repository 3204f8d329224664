"""From names to members: plugins chosen, accepted, composed and granted [D-10 steps 2 to 6].

Nothing is started and nothing is spent. What a person should know before round 0 comes back
as notices [D-11].
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from stella import limits
from stella.errors import NotAccepted
from stella.escape import visible
from stella.manifest.plugin import PluginManifest
from stella.manifest.runtime import Runtime
from stella.manifest.stages import program
from stella.process.environment import exact
from stella.process.environment import withheld
from stella.providers.keys import KEY_VARIABLES
from stella.roster.roster import Plugin
from stella.roster.roster import Roster
from stella.roster.roster import cleared
from stella.roster.roster import read_roster
from stella.roster.roster import records_changed
from stella.roster.scope import places
from stella.roster.start import Lookup
from stella.roster.start import replaced
from stella.session.options import Options
from stella.session.options import Pipeline
from stella.session.selection import Notice
from stella.session.selection import select
from stella.session.watching import Granting
from stella.turn.facts import BoundMember
from stella.turn.facts import PipelineBound
from stella.turn.stages import Composition
from stella.turn.stages import Member
from stella.turn.stages import compose
from stella.turn.stages import opening_table
from stella.verdict.again import State
from stella.verdict.again import allowed
from stella.verdict.rule import VerdictRule
from stella.verdict.rule import rule_digest
from stella.verdict.rule import rule_of
from stella.wire.points import Call
from stella.wire.points import Point
from stella.witness.command import parse_test_command
from stella.witness.plan import resolve
from stella.wrapper.plugin import PluginProcess


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A pipeline that can run: its composition, its processes by name, its grant.

    `records_changed` tells which of the records it was bound by are others on disk now [Q-29].
    """

    composition: Composition
    plugins: Mapping[str, PluginProcess]
    granting: Granting
    fact: PipelineBound
    notices: tuple[Notice, ...]
    records_changed: Callable[[], tuple[str, ...]]


def bind(options: Options, root: Path, roster: Roster | None = None) -> Bound | None:
    """Return the pipeline of a run, None without one; `roster` is read when it is not given.

    Raises `UsageError` for a wrong selection or test command (exit 2), `NotAccepted` and
    `PipelineError` for members that cannot run (exit 1) [D-10, D-83].
    """
    pipeline = options.pipeline
    if pipeline is None:
        return None
    path_value = options.env.get("PATH", "")
    where = places(options.home, root)
    roster = roster or read_roster(where, path_value)
    selected = select(pipeline.names, roster)
    for plugin in selected.plugins:
        if plugin.barrier is not None:
            raise NotAccepted("\n".join(plugin.explained))
    composition = compose(member_of(plugin) for plugin in selected.plugins)
    lookup = Lookup(path_value=path_value, workspace=root)
    processes = {p.name: process_of(p, options, lookup) for p in selected.plugins}
    granting, granted = _granting(pipeline, root, path_value, processes.values())
    roster_notices: tuple[Notice, ...] = tuple(("roster", text) for text in roster.notices)
    asks = tuple(_asks(selected.plugins, pipeline))
    return Bound(
        composition=composition,
        plugins=processes,
        granting=granting,
        fact=_fact(composition, selected.plugins, pipeline),
        notices=(*selected.notices, *asks, *roster_notices, *granted),
        records_changed=partial(records_changed, roster, where),
    )


def member_of(plugin: Plugin) -> Member:
    """Return a plugin as a run sees it [D-36, D-37]."""
    manifest = plugin.manifest
    loop = manifest.loop
    return Member(
        name=plugin.name,
        wrapper=manifest.pipeline,
        grade=loop.participation,
        points=frozenset(point for point in Point if loop.permits_point(point)),
        stages=program(manifest.stages),
        roles=frozenset(manifest.roles),
        max_holds=loop.max_holds,
        rule=rule_for(manifest),
    )


def rule_for(manifest: PluginManifest) -> VerdictRule:
    """Return what a manifest declares as done [J-4]."""
    oracle = manifest.oracle
    if oracle is None:
        return rule_of(requirements=manifest.requirements)
    return rule_of(
        requirements=manifest.requirements,
        flip=oracle.flip.value,
        measurements=oracle.measurements,
        checks=((check.requirement, check.check) for check in oracle.checks),
    )


def _granting(
    pipeline: Pipeline, root: Path, path_value: str, processes: Iterable[PluginProcess]
) -> tuple[Granting, tuple[Notice, ...]]:
    plan = None
    if pipeline.test_command is not None:
        words = parse_test_command(pipeline.test_command)
        plan = resolve(words, root, path_value, pipeline.test_secs)
    # Whatever a plugin is given, it must find the programs that the test needs.
    environments = ({**process.env, "PATH": path_value} for process in processes)
    granting = Granting(
        plan=plan,
        globs=pipeline.watch,
        red_on_error=pipeline.red_on_error,
        environments=tuple({tuple(sorted(env.items())): env for env in environments}.values()),
    )
    return granting, tuple(("test_command", text) for text in plan.notices) if plan else ()


def process_of(plugin: Plugin, options: Options, lookup: Lookup) -> PluginProcess:
    """Return how a plugin that has a process is started, for points and for hooks [T-3]."""
    runtime = _runtime(plugin)
    return PluginProcess(
        name=plugin.name,
        arguments=replaced(runtime.argv, plugin.directory)[1:],
        directory=plugin.directory,
        env=exact(runtime.env, options.env, KEY_VARIABLES),
        timeout_secs=runtime.timeout_secs,
        cleared=partial(cleared, plugin, lookup),
    )


def _runtime(plugin: Plugin) -> Runtime:
    runtime = plugin.manifest.runtime
    # Selection refuses a plugin without a process [D-8].
    assert runtime is not None  # noqa: S101
    return runtime


def _asks(plugins: tuple[Plugin, ...], pipeline: Pipeline) -> Iterator[Notice]:
    """Yield what a manifest asks for and does not get [D-11]."""
    for plugin in plugins:
        loop = plugin.manifest.loop
        if loop.max_holds is not None and loop.max_holds > pipeline.max_holds:
            asked, given = loop.max_holds, pipeline.max_holds
            yield "holds_lowered", f"{plugin.name} asks for {asked} holds; {given} are allowed"
        most = limits.CHILD_TURNS_PER_RUN
        if Call.CHILD_TURN in loop.calls and (loop.max_calls or 0) > most:
            text = f"{plugin.name} asks for {loop.max_calls} child turns; {most} are allowed"
            yield "child_turns_lowered", text
        for name in withheld(_runtime(plugin).env, KEY_VARIABLES):
            text = f"{plugin.name} lists {visible(name)}, a credential; it is withheld"
            yield "credential_withheld", text


def _fact(
    composition: Composition, plugins: tuple[Plugin, ...], pipeline: Pipeline
) -> PipelineBound:
    members = tuple(
        BoundMember(
            name=plugin.name,
            wrapper=member.wrapper,
            grade=member.grade.value,
            digest=plugin.record.digest if plugin.record else "",
            rule_sha256=rule_digest(member.rule),
        )
        for plugin, member in zip(plugins, composition.members, strict=True)
    )
    table = opening_table(test_command=pipeline.test_command is not None, metered=False)
    state = State(holds_spent=0, host_max_holds=pipeline.max_holds)
    return PipelineBound(
        variant=composition.variant,
        members=members,
        rule=composition.rule,
        max_holds=allowed(state, composition.grant),
        signals={signal.value: value for signal, value in table.items()},
    )
