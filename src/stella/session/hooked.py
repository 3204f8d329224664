"""Which plugins listen to hooks in a session, selected or not, and how each is asked [D-61, D-69].

Enabled is a plugin that was accepted. One whose package is not what was accepted fails the hooks
a person was shown, in the direction of each: a changed guard refuses calls, it does not vanish.
One that was never accepted is not asked at all, and a notice says so.
"""

import os
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from functools import partial
from pathlib import Path

from stella import limits
from stella.consent.powers import shown_lists
from stella.errors import NotAccepted
from stella.errors import Untrusted
from stella.errors import UsageError
from stella.escape import visible
from stella.manifest.loop import bound
from stella.process.program import Program
from stella.roster.lock import Record
from stella.roster.lock import read_records
from stella.roster.plugin import Plugin
from stella.roster.roster import Roster
from stella.roster.roster import read_roster
from stella.roster.roster import together_text
from stella.roster.scope import Places
from stella.roster.scope import places
from stella.roster.switch import Off
from stella.session.enabled import Enabled
from stella.session.options import Options
from stella.session.selection import Notice
from stella.turn.hooks import Listener
from stella.turn.questions import AskHook
from stella.wire.occasion import Scene
from stella.wire.points import Hook
from stella.wire.points import Point
from stella.wrapper.hook import HookProcess
from stella.wrapper.hook import HookSpoken
from stella.wrapper.plugin import PluginProcess


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooked:
    """Who listens to what, in dispatch order, and the process behind each by its `by`."""

    listeners: Mapping[Hook, tuple[Listener, ...]] = field(default_factory=dict)
    processes: Mapping[str, HookProcess] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()
    cwd: str = ""
    session: str = ""

    async def ask(self, question: AskHook) -> HookSpoken:
        """Send one listener its payload and return what came of it [D-62, H-58]."""
        turn = question.turn
        scene = Scene(
            cwd=self.cwd,
            session_id=self.session,
            turn_id=None if turn is None else turn.partition(".")[0],
            call_id=question.call,
            agent_id=question.agent,
        )
        return await self.processes[question.by].ask(scene, question.occasion)


NOBODY = Hooked()
"""A session without a hook."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """One plugin that is asked: at which hooks, how often it may hold, and its process."""

    name: str
    hooks: frozenset[Hook]
    holds: int
    process: PluginProcess


def standing(options: Options, root: Path) -> tuple[Places, Roster] | None:
    """Return where plugins are and which there are; None where a person can have none.

    Raises `UsageError` when the person's home lies in the workspace, or the other way round,
    and a pipeline or anything that was accepted would have to be read from there [I-56].
    """
    try:
        where = places(options.home, root)
    except UsageError:
        apart = Places(home=Path(os.path.realpath(options.home)), workspace=root)
        if options.pipeline is not None or _by_name(apart, options.switched):
            raise
        return None
    return where, read(options, where)


def read(options: Options, where: Places) -> Roster:
    """Return the roster as this session is to see it [I-40]."""
    return read_roster(
        where,
        options.env.get("PATH", ""),
        by_variable=options.by_variable,
        switched=options.switched,
    )


def refuse_missing(options: Options, roster: Roster | None) -> None:
    """Refuse a session that requires all that is declared when some of it does not run [A-72].

    Raises `Untrusted` for what lacks trust, else `NotAccepted`. What settings switch off is not
    missing.
    """
    if not options.require_plugins:
        return
    plugins = (*roster.plugins, *roster.waiting) if roster else ()
    barred = tuple(plugin.barrier for plugin in plugins if plugin.barrier is not None)
    missing = (*options.left_out, *barred, *(roster.faulty if roster else ()))
    if missing:
        text = "\n".join(("--require-plugins: this would not run:", *missing))
        raise Untrusted(text) if options.left_out else NotAccepted(text)


def hooked(
    options: Options, where: Places, roster: Roster, plugins: Iterable[Enabled], *, session: str
) -> Hooked:
    """Return the hooks of a session's plugins, by name [D-61, D-63]. Raises nothing.

    `plugins` are those of the roster with a process.
    """
    ceiling = options.pipeline.max_holds if options.pipeline else limits.HOLDS_DEFAULT
    root = where.workspace
    asked = {
        each.plugin.name: _accepted(each, ceiling)
        for each in plugins
        if each.plugin.barrier is None
    }
    known = {plugin.name: plugin for plugin in roster.plugins}
    for name, records in _by_name(where, options.switched).items():
        plugin = known.get(name)
        if plugin is None or plugin.barrier is not None:
            asked[name] = _barred(records, plugin, root, ceiling)
    inorder = [asked[name] for name in sorted(asked)]
    return Hooked(
        listeners={
            hook: listening for hook in Hook if (listening := tuple(_listening(hook, inorder)))
        },
        processes={f"plugin:{each.name}": HookProcess(plugin=each.process) for each in inorder},
        notices=tuple(_notices(roster, asked)),
        cwd=str(root),
        session=session,
    )


def _listening(hook: Hook, asked: Iterable[_Asked]) -> Iterator[Listener]:
    for each in asked:
        if hook in each.hooks:
            yield Listener(by=f"plugin:{each.name}", holds=each.holds)


def _accepted(enabled: Enabled, ceiling: int) -> _Asked:
    loop = enabled.plugin.manifest.loop
    return _Asked(
        name=enabled.plugin.name,
        hooks=_without_stop(
            (hook for hook in Hook if loop.permits_hook(hook)),
            answers=loop.permits_point(Point.AFTER_TURN),
        ),
        holds=bound(loop.max_holds, ceiling),
        process=enabled.process,
    )


def _barred(records: tuple[Record, ...], plugin: Plugin | None, root: Path, ceiling: int) -> _Asked:
    """Return a plugin that cannot be asked: the hooks are those a person was shown [D-69].

    It may have been accepted in both tiers; what was shown in either counts.
    """
    name = records[0].name
    shown = [shown_lists(record.consent_text) for record in records]
    hooks = frozenset[Hook]().union(
        *(_without_stop(hooks, answers=Point.AFTER_TURN in points) for hooks, points in shown)
    )
    gone = (
        f"{visible(name)} was accepted and its package is gone or cannot be read; "
        f"`stella plugin remove {visible(name)}` if it is not wanted, or install it anew"
    )
    why = plugin.barrier if plugin is not None and plugin.barrier is not None else gone
    process = PluginProcess(
        name=name,
        arguments=(),
        directory=root,
        env={},
        timeout_secs=1,
        cleared=partial(_refused, why),
    )
    return _Asked(name=name, hooks=hooks, holds=ceiling, process=process)


def _refused(why: str) -> Program | str:
    """Answer every wish to start with the same refusal, whatever the package is by then."""
    return why


def _without_stop(hooks: Iterable[Hook], *, answers: bool) -> frozenset[Hook]:
    """Return the hooks without `Stop` for whoever answers after the turn instead [D-67]."""
    return frozenset(hooks) - ({Hook.STOP} if answers else frozenset())


def _by_name(where: Places, switched: Off) -> Mapping[str, tuple[Record, ...]]:
    """Return what a person accepted, of both tiers, and did not switch off [I-30, I-43]."""
    found: dict[str, tuple[Record, ...]] = {}
    for tier in where.tiers:
        for record in read_records(tier).by_name.values():
            if not switched.holds(record.name, tier.scope):
                found[record.name] = (*found.get(record.name, ()), record)
    return found


def _notices(roster: Roster, asked: Mapping[str, _Asked]) -> Iterator[Notice]:
    """Yield one notice for each plugin that lists hooks and was never accepted [D-69].

    For those of the project it is the one that is about all of them.
    """
    together = roster.not_accepted
    for plugin in roster.plugins:
        lists = plugin.manifest.runtime is not None and plugin.manifest.loop.hooks
        if lists and plugin.name not in asked and plugin.barrier is not None:
            text = together_text(together) if plugin in together else plugin.barrier
            yield "hooks_not_asked", text
