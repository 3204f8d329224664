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
from stella.errors import PipelineError
from stella.manifest.plugin import PluginManifest
from stella.manifest.stages import program
from stella.roster.plugin import Plugin
from stella.roster.roster import Roster
from stella.roster.roster import records_changed
from stella.roster.scope import places
from stella.roster.start import Lookup
from stella.session.enabled import credentials
from stella.session.enabled import process_of
from stella.session.hooked import read
from stella.session.options import Embedded
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
from stella.wrapper.object import PluginObject
from stella.wrapper.plugin import Answering
from stella.wrapper.plugin import PluginProcess


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A pipeline that can run: its composition, its plugins by name, its grant.

    `records_changed` tells which of the records it was bound by are others on disk now [Q-29].
    """

    composition: Composition
    plugins: Mapping[str, Answering]
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
    roster = roster or read(options, where)
    own = {each.name for each in options.plugins}
    installed = (each for each in roster.plugins if each.name not in own)
    every: list[Plugin | Embedded] = [*options.plugins, *installed]
    every.sort(key=lambda each: each.name)
    _refuse_off(pipeline.names, every, roster.off)
    selected = select(pipeline.names, every)
    for plugin in selected.plugins:
        if isinstance(plugin, Plugin) and plugin.barrier is not None:
            raise NotAccepted("\n".join(plugin.explained))
    composition = compose(member_of(plugin) for plugin in selected.plugins)
    lookup = Lookup(path_value=path_value, workspace=root)
    plugins = {p.name: _answering(p, options, lookup) for p in selected.plugins}
    granting, granted = _granting(pipeline, root, path_value, plugins.values())
    asks = tuple(_asks(selected.plugins, pipeline))
    return Bound(
        composition=composition,
        plugins=plugins,
        granting=granting,
        fact=_fact(
            composition, selected.plugins, pipeline, metered=options.spend_limit is not None
        ),
        notices=(*selected.notices, *asks, *granted),
        records_changed=partial(records_changed, roster, where),
    )


def _refuse_off(
    names: Iterable[str], every: Iterable[Plugin | Embedded], off: Iterable[Plugin]
) -> None:
    """Refuse a name that only a plugin bears which settings switch off [I-43]."""
    known = {word for each in every for word in (each.name, each.manifest.pipeline)}
    for name in names:
        for plugin in off:
            if name not in known and name in (plugin.name, plugin.manifest.pipeline):
                raise PipelineError(
                    f"{plugin.name} is switched off in settings; "
                    f"`stella plugin enable {plugin.name}` switches it on"
                )


def member_of(plugin: Plugin | Embedded) -> Member:
    """Return a plugin as a run sees it [D-36, D-37]."""
    manifest = plugin.manifest
    loop = manifest.loop
    return Member(
        name=plugin.name,
        wrapper=manifest.pipeline,
        grade=loop.participation,
        points=frozenset(point for point in Point if loop.permits_point(point)),
        stages=program(manifest.stages),
        roles={name: role.tier for name, role in manifest.roles.items()},
        calls=frozenset(call for call in Call if loop.permits_call(call)),
        max_calls=loop.max_calls,
        max_fanout_width=loop.max_fanout_width,
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
    pipeline: Pipeline, root: Path, path_value: str, plugins: Iterable[Answering]
) -> tuple[Granting, tuple[Notice, ...]]:
    plan = None
    if pipeline.test_command is not None:
        words = parse_test_command(pipeline.test_command)
        plan = resolve(words, root, path_value, pipeline.test_secs)
    # Whatever a plugin is given, it must find the programs that the test needs.
    environments = (
        {**each.env, "PATH": path_value} for each in plugins if isinstance(each, PluginProcess)
    )
    granting = Granting(
        plan=plan,
        globs=pipeline.watch,
        red_on_error=pipeline.red_on_error,
        environments=tuple({tuple(sorted(env.items())): env for env in environments}.values()),
    )
    return granting, tuple(("test_command", text) for text in plan.notices) if plan else ()


def _answering(plugin: Plugin | Embedded, options: Options, lookup: Lookup) -> Answering:
    if isinstance(plugin, Plugin):
        return _process(plugin, options, lookup)
    runtime = plugin.manifest.runtime
    secs = runtime.timeout_secs if runtime else limits.CODE_POINT_SECS
    return PluginObject(name=plugin.name, handlers=plugin.handlers, timeout_secs=secs)


def _process(plugin: Plugin, options: Options, lookup: Lookup) -> PluginProcess:
    process = process_of(plugin, options.env, lookup)
    # Selection refuses a plugin without a process [D-8].
    assert process is not None  # noqa: S101
    return process


def _asks(plugins: tuple[Plugin | Embedded, ...], pipeline: Pipeline) -> Iterator[Notice]:
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
        if isinstance(plugin, Plugin):
            yield from credentials(plugin)


def _fact(
    composition: Composition,
    plugins: tuple[Plugin | Embedded, ...],
    pipeline: Pipeline,
    *,
    metered: bool,
) -> PipelineBound:
    members = tuple(
        BoundMember(
            name=plugin.name,
            wrapper=member.wrapper,
            grade=member.grade.value,
            digest=_digest(plugin),
            rule_sha256=rule_digest(member.rule),
        )
        for plugin, member in zip(plugins, composition.members, strict=True)
    )
    table = opening_table(test_command=pipeline.test_command is not None, metered=metered)
    state = State(holds_spent=0, host_max_holds=pipeline.max_holds)
    return PipelineBound(
        variant=composition.variant,
        members=members,
        rule=composition.rule,
        max_holds=allowed(state, composition.grant),
        signals={signal.value: value for signal, value in table.items()},
    )


def _digest(plugin: Plugin | Embedded) -> str:
    """Return the digest of what was accepted; an object has no files and so none."""
    record = plugin.record if isinstance(plugin, Plugin) else None
    return record.digest if record else ""
