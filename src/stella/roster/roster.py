"""The one list of plugins that every command and every session reads [I-40].

Built from both tiers and from what was accepted; nothing is started and nothing is written.
What is faulty is left out with a notice and never hides another plugin [I-44].
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path
from typing import Final
from typing import assert_never

from stella.codec import Word
from stella.errors import NotInstalled
from stella.errors import RosterError
from stella.escape import visible
from stella.manifest.fault import ManifestFault
from stella.manifest.loop import Power
from stella.manifest.plugin import PluginManifest
from stella.manifest.read import Loaded
from stella.manifest.read import Unloadable
from stella.near import suggestion
from stella.process.program import Program
from stella.roster.change import unfinished
from stella.roster.drift import Acceptance
from stella.roster.drift import Accepted
from stella.roster.drift import Changed
from stella.roster.drift import NotAccepted
from stella.roster.drift import barrier
from stella.roster.drift import check
from stella.roster.drift import check_for_start
from stella.roster.drift import explained
from stella.roster.lock import Record
from stella.roster.lock import read_records
from stella.roster.name import name_fault
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.scope import Tier
from stella.roster.scope import entered
from stella.roster.shelf import Standing
from stella.roster.shelf import one_line
from stella.roster.shelf import shelf
from stella.roster.start import Lookup
from stella.roster.start import accepted_program

_FOREIGN: Final = (
    "plugins.lock.toml",
    ".stella/plugins.lock.toml",
    ".stella/consent",
    ".stella/plugins/plugins.lock.toml",
)


class State(Word):
    """What `list` calls the acceptance of a plugin [I-61]."""

    OK = "ok"
    CHANGED = "changed"
    NOT_ACCEPTED = "not-accepted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """One plugin of the roster; its `manifest.name` is who it is at every gate [I-45].

    `record` is what was accepted, as read with the roster: a later change of it on disk has no
    effect on a session that holds this [Q-29]. `acceptance` is of that same moment.
    """

    manifest: PluginManifest
    warnings: tuple[ManifestFault, ...]
    scope: Scope
    directory: Path
    record: Record | None
    acceptance: Acceptance
    notices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The manifest's name [I-45]."""
        return self.manifest.name

    @property
    def state(self) -> State:
        """The word for its acceptance [I-61]."""
        match self.acceptance:
            case Accepted():
                return State.OK
            case Changed():
                return State.CHANGED
            case NotAccepted():
                return State.NOT_ACCEPTED
            case _:
                assert_never(self.acceptance)

    @property
    def barrier(self) -> str | None:
        """Why it may not run and what to do about it, in one line; None when it may [I-30]."""
        return barrier(self.name, self.acceptance, self.way_out)

    @property
    def explained(self) -> tuple[str, ...]:
        """The whole message about a plugin that may not run, line by line [I-31]."""
        return explained(self.name, self.acceptance, self.way_out)

    @property
    def way_out(self) -> str:
        """What a person does about a plugin that is not accepted [I-30, I-31]."""
        return (
            f"`stella plugin accept {self.name}` shows what it is now and asks, "
            f"`stella plugin remove {self.name}` takes it away"
        )

    @property
    def pipeline(self) -> str | None:
        """The name a run selects it by, None when it can be no member of a pipeline [D-8]."""
        return pipeline_of(self.manifest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """Every plugin, sorted by name, and what there is to tell about the rest [I-42, I-44]."""

    plugins: tuple[Plugin, ...]
    notices: tuple[str, ...]

    def plugin(self, name: str) -> Plugin:
        """Return the plugin of that name; raises `NotInstalled` with near words."""
        for plugin in self.plugins:
            if plugin.name == name:
                return plugin
        hint = suggestion(name, (plugin.name for plugin in self.plugins))
        said = f'there is no plugin "{visible(name)}"'
        raise NotInstalled(f"{said}; {hint}" if hint else said)


def read_roster(places: Places, path_value: str | None) -> Roster:
    """Return the roster of a workspace. Raises nothing: what is wrong is a notice [I-40, I-44].

    `path_value` is the host's `PATH`, for the programs that consent names.
    """
    lookup = Lookup(path_value=path_value, workspace=places.workspace)
    notices = list(_foreign_records(places))
    chosen: dict[str, Plugin] = {}
    for tier in reversed(places.tiers):
        for plugin in _tier(tier, lookup, notices):
            if (other := chosen.get(plugin.name)) is not None:
                notices.append(
                    f"{plugin.name}: the copy of the project scope at "
                    f"{visible(str(plugin.directory))} is used in place of the one of the user "
                    f"scope at {visible(str(other.directory))}"
                )
            chosen[plugin.name] = plugin
    plugins = tuple(chosen[name] for name in sorted(chosen))
    notices += [notice for plugin in plugins for notice in plugin.notices]
    return Roster(plugins=plugins, notices=tuple(notices))


def pipeline_of(manifest: PluginManifest) -> str | None:
    """Return the name a run selects a plugin by, None when it can be no member [D-8, M-36]."""
    asked = manifest.loop.holds(Power.POINTS) and manifest.loop.points
    return manifest.pipeline if asked and manifest.runtime else None


def records_changed(roster: Roster, places: Places) -> tuple[str, ...]:
    """Return a notice for each plugin whose record is another on disk by now [Q-29].

    The roster a session holds stays as it was read; the change counts from the next one on.
    """
    now = {tier.scope: read_records(tier).by_name for tier in places.tiers}
    return tuple(
        f"{plugin.name}: what was accepted has changed on disk; this session keeps to what it "
        "read when it opened"
        for plugin in roster.plugins
        if now[plugin.scope].get(plugin.name) != plugin.record
    )


def before_start(plugin: Plugin, lookup: Lookup) -> str | None:
    """Return why no process of a plugin may start now, None when its bytes are the accepted ones.

    Asked before every start: compiled files are deleted and the digest is taken anew, against
    the record the roster was read with [I-30, I-32, T-2, Q-29].
    """
    acceptance = check_for_start(plugin.directory, plugin.record, lookup)
    return replace(plugin, acceptance=acceptance).barrier


def cleared(plugin: Plugin, lookup: Lookup) -> Program | str:
    """Return the accepted program of a plugin that has a process, or why it may not start now.

    Nothing is looked up: what a person was shown is what runs [T-3, E131].
    """
    runtime = plugin.manifest.runtime
    # Selection refuses a plugin without a process [D-8].
    assert runtime is not None  # noqa: S101
    barred = before_start(plugin, lookup)
    if barred is not None:
        return barred
    recorded = plugin.record.program if plugin.record else None
    found = accepted_program(runtime, plugin.directory, recorded, lookup)
    if found.not_started is None:
        return found
    return replace(found, not_started=f"{found.not_started}; {plugin.way_out}")


def _tier(tier: Tier, lookup: Lookup, notices: list[str]) -> Iterable[Plugin]:
    """Return the plugins of one tier, each name once; adds to `notices`."""
    try:
        with entered(tier, make=False) as directory:
            standing, told = shelf(tier, directory)
    except RosterError as error:
        notices.append(f"the plugins of the {tier.scope.value} scope are left out: {error}")
        return ()
    records = read_records(tier)
    notices += [*told, *records.notices, *unfinished(tier)]
    chosen: dict[str, tuple[Standing, Loaded]] = {}
    for each in standing:
        loaded = _usable(each, notices)
        if loaded is None:
            continue
        name = loaded.manifest.name
        if (other := chosen.get(name)) is not None:
            notices.append(
                f"{name}: declared by {visible(str(other[0].directory))} and by "
                f"{visible(str(each.directory))}; the latter is used"
            )
        chosen[name] = (each, loaded)
    return [
        _plugin(each, loaded, tier, records.by_name.get(name), lookup)
        for name, (each, loaded) in chosen.items()
    ]


def _usable(each: Standing, notices: list[str]) -> Loaded | None:
    place = visible(str(each.directory))
    match each.found:
        case None:
            return None
        case str() as why:
            notices.append(f"{place}: left out: {why}")
            return None
        case Unloadable() as faulty:
            notices.append(f"{place}: left out: {one_line(faulty)}")
            return None
        case Loaded() as loaded:
            if fault := name_fault(loaded.manifest.name):
                notices.append(f"{place}: left out: {fault}")
                return None
            if loaded.manifest.name != each.directory.name:
                notices.append(f'{place}: its manifest calls it "{loaded.manifest.name}"')
            return loaded
        case _:
            assert_never(each.found)


def _plugin(
    each: Standing, loaded: Loaded, tier: Tier, record: Record | None, lookup: Lookup
) -> Plugin:
    plugin = Plugin(
        manifest=loaded.manifest,
        warnings=loaded.warnings,
        scope=tier.scope,
        directory=each.directory,
        record=record,
        acceptance=check(each.directory, record, lookup),
    )
    return plugin if plugin.barrier is None else replace(plugin, notices=(plugin.barrier,))


def _foreign_records(places: Places) -> Iterable[str]:
    """Return a notice for each file in the workspace that looks like a record [I-26]."""
    for name in _FOREIGN:
        path = places.workspace / name
        if os.path.lexists(path):
            yield (
                f"{visible(str(path))}: ignored; what a person accepted is kept in "
                f"{visible(str(places.home))} and nowhere in a workspace"
            )
