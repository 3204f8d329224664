"""The one list of plugins that every command and every session reads [I-40].

Built from both tiers and from what was accepted; nothing is started and nothing is written.
What is faulty is left out with a notice and never hides another plugin [I-44].
"""

from collections.abc import Iterable
from dataclasses import dataclass
from dataclasses import replace
from datetime import datetime

from stella import limits
from stella.clock import Clock
from stella.errors import NotInstalled
from stella.errors import PackageRefused
from stella.errors import RosterError
from stella.escape import listed
from stella.escape import visible
from stella.manifest.read import Loaded
from stella.near import suggestion
from stella.process.program import Program
from stella.roster.cache import Noted
from stella.roster.cache import note
from stella.roster.cache import read_noted
from stella.roster.change import unfinished
from stella.roster.drift import Accepted
from stella.roster.drift import NotAccepted
from stella.roster.drift import check
from stella.roster.drift import check_for_start
from stella.roster.lock import AcceptedBy
from stella.roster.lock import Record
from stella.roster.lock import read_records
from stella.roster.offer import offer
from stella.roster.plugin import Plugin
from stella.roster.plugin import State
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.scope import Tier
from stella.roster.scope import entered
from stella.roster.shelf import Saying
from stella.roster.shelf import Standing
from stella.roster.shelf import foreign_records
from stella.roster.shelf import shelf
from stella.roster.shelf import usable
from stella.roster.ships import accepted_ships
from stella.roster.start import Lookup
from stella.roster.start import accepted_program
from stella.roster.switch import NOTHING_OFF
from stella.roster.switch import Off
from stella.roster.trust import VARIABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Roster:
    """Every plugin, sorted by name, and what there is to tell about the rest [I-42, I-44].

    `faulty` are those of the notices that say why a directory is left out. `off` are the plugins
    that are there and switched off; no session knows them. `switched` are all names that
    settings switch off. `waiting` are project plugins that nobody accepted here while the person
    has a plugin of the name: being there is not enough to take its place [A-70, I-43].
    """

    plugins: tuple[Plugin, ...]
    notices: tuple[str, ...]
    faulty: tuple[str, ...] = ()
    off: tuple[Plugin, ...] = ()
    switched: Off = NOTHING_OFF
    waiting: tuple[Plugin, ...] = ()

    @property
    def every(self) -> tuple[Plugin, ...]:
        """All plugins by name, those that are off or wait behind the one of their name."""
        every = (*self.plugins, *self.off, *self.waiting)
        return tuple(sorted(every, key=lambda plugin: plugin.name))

    @property
    def told(self) -> tuple[str, ...]:
        """The notices of a session and of a list: one for what nobody accepted here [A-72]."""
        together = self.not_accepted
        single = {notice for plugin in together for notice in plugin.notices}
        others = tuple(notice for notice in self.notices if notice not in single)
        return (*others, together_text(together)) if together else others

    @property
    def not_accepted(self) -> tuple[Plugin, ...]:
        """The project's plugins that nobody accepted here and a yes would make run."""
        return tuple(
            plugin
            for plugin in self.plugins
            if plugin.scope is Scope.PROJECT
            and plugin.state is State.NOT_ACCEPTED
            and not plugin.refused
        )

    def plugin(self, name: str) -> Plugin:
        """Return the plugin of that name; raises `NotInstalled` with near words."""
        for plugin in self.every:
            if plugin.name == name:
                return plugin
        hint = suggestion(name, (plugin.name for plugin in self.every))
        said = f'there is no plugin "{visible(name)}"'
        raise NotInstalled(f"{said}; {hint}" if hint else said)


def read_roster(
    places: Places,
    path_value: str | None,
    *,
    by_variable: bool = False,
    switched: Off = NOTHING_OFF,
) -> Roster:
    """Return the roster of a workspace. Raises nothing: what is wrong is a notice [I-40, I-44].

    `path_value` is the host's `PATH`, for the programs that consent names. With `by_variable`
    the variable trusts the workspace, and what it recorded counts [I-34].
    """
    lookup = Lookup(path_value=path_value, workspace=places.workspace)
    notices = list(foreign_records(places))
    faulty: list[str] = []
    chosen: dict[str, Plugin] = {}
    off: list[Plugin] = []
    waiting: list[Plugin] = []
    for tier in reversed(places.tiers):
        counts = by_variable and tier.scope is Scope.PROJECT
        for plugin in _tier(tier, lookup, (notices, faulty), switched, by_variable=counts):
            if plugin.off:
                off.append(plugin)
                if tier.scope is Scope.USER and plugin.name not in switched.person:
                    said = "your own copy is switched off by the project's settings"
                    notices.append(f"{plugin.name}: {said}")
                continue
            if (other := chosen.get(plugin.name)) is not None:
                stays = other.record is not None and plugin.state is State.NOT_ACCEPTED
                notices.append(_two(plugin, other, stays=stays))
                if stays:
                    waiting.append(plugin)
                    continue
            chosen[plugin.name] = plugin
    plugins = tuple(chosen[name] for name in sorted(chosen))
    notices += [notice for plugin in plugins for notice in plugin.notices]
    return Roster(
        plugins=plugins,
        notices=tuple(notices),
        faulty=tuple(faulty),
        off=tuple(off),
        switched=switched,
        waiting=tuple(waiting),
    )


def _two(plugin: Plugin, other: Plugin, *, stays: bool) -> str:
    """Return the notice about a project plugin and the person's of the same name [I-42]."""
    name, here, there = plugin.name, visible(str(plugin.directory)), visible(str(other.directory))
    if not stays:
        return (
            f"{name}: the copy of the project scope at {here} is used in place of the one of the "
            f"user scope at {there}"
        )
    return (
        f"{name}: the copy of the user scope at {there} is used; the one of the project scope at "
        f"{here} is not, because nobody accepted it here; to use that one: "
        f"`stella plugin accept {name} --scope {plugin.scope.value}`"
    )


def together_text(plugins: tuple[Plugin, ...]) -> str:
    """Return one notice about project plugins that nobody accepted, with the ways out [I-34]."""
    if len(plugins) == 1:
        return plugins[0].barrier or ""
    names = listed([plugin.name for plugin in plugins], limits.IGNORED_SHOWN)
    return (
        f"{len(plugins)} plugins of this workspace do not run, because nobody accepted them here: "
        f"{names}; to use them: `stella plugin accept NAME` for one, `stella trust` for all that "
        f"this workspace brings, or {VARIABLE}=1 in the environment of one run"
    )


def records_changed(roster: Roster, places: Places) -> tuple[str, ...]:
    """Return a notice for each plugin whose record is another on disk by now [Q-29].

    The roster a session holds stays as it was read; the change counts from the next one on.
    """
    now = {tier.scope: read_records(tier).by_name for tier in places.tiers}
    apart = read_records(places.tier(Scope.PROJECT).apart).by_name
    return tuple(
        f"{plugin.name}: what was accepted has changed on disk; this session keeps to what it "
        "read when it opened"
        for plugin in roster.plugins
        if (apart if _by_variable(plugin.record) else now[plugin.scope]).get(plugin.name)
        != plugin.record
    )


def remember(roster: Roster, places: Places, began: datetime, clock: Clock) -> None:
    """Note what was seen of the accepted trees, so that the next command reads less [I-29].

    Called when a session starts; `began` is a moment before the roster was read. Raises nothing.
    """
    for tier in places.tiers:
        seen = {
            plugin.directory.name: plugin.acceptance.package
            for plugin in roster.plugins
            if plugin.scope is tier.scope and isinstance(plugin.acceptance, Accepted)
        }
        note(tier, seen, began, clock)


def before_start(plugin: Plugin, lookup: Lookup) -> str | None:
    """Return why no process of a plugin may start now, None when its bytes are the accepted ones.

    Asked before every start: compiled files are deleted and the digest is taken anew, against
    the record the roster was read with [I-30, I-32, T-2, Q-29].
    """
    acceptance = check_for_start(plugin.directory, plugin.record, lookup, plugin.noted)
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


def _tier(
    tier: Tier, lookup: Lookup, saying: Saying, switched: Off, *, by_variable: bool
) -> Iterable[Plugin]:
    """Return the plugins of one tier, each name once; adds to the lists of `saying`."""
    notices, faulty = saying
    try:
        with entered(tier, make=False) as directory:
            standing, told = shelf(tier, directory)
    except RosterError as error:
        faulty.append(f"the plugins of the {tier.scope.value} scope are left out: {error}")
        notices.append(faulty[-1])
        return ()
    records, noted = read_records(tier), read_noted(tier)
    apart = read_records(tier.apart) if by_variable else None
    notices += [
        *told,
        *records.notices,
        *(apart.notices if apart else ()),
        *unfinished(tier),
    ]
    chosen: dict[str, tuple[Standing, Loaded]] = {}
    for each in standing:
        loaded = usable(each, saying)
        if loaded is None:
            continue
        name = loaded.manifest.name
        if (other := chosen.get(name)) is not None:
            notices.append(
                f"{name}: declared by {visible(str(other[0].directory))} and by "
                f"{visible(str(each.directory))}; the latter is used"
            )
        chosen[name] = (each, loaded)
    found = []
    for name, (each, loaded) in chosen.items():
        known = (records.by_name.get(name), noted.get(each.directory.name))
        plugin = _plugin(each, loaded, tier, known, lookup)
        if switched.holds(name, tier.scope):
            plugin = replace(plugin, off=True)
        elif apart is not None and plugin.barrier is not None:
            plugin = _by_the_variable(plugin, apart.by_name.get(name), lookup)
        found.append(_told(_shipping(plugin)))
    return found


def _by_the_variable(plugin: Plugin, record: Record | None, lookup: Lookup) -> Plugin:
    """Return a plugin nobody accepted as it is, where the variable lets it run [I-34].

    Either its bytes were shown and recorded before, or the next run will do that.
    """
    plugin = replace(plugin, noted=None)
    if record is not None:
        acceptance = check(plugin.directory, record, lookup)
        if isinstance(acceptance, Accepted):
            return replace(plugin, record=record, acceptance=acceptance)
        # What was last shown is what the difference is to.
        plugin = replace(plugin, record=record, acceptance=acceptance)
    try:
        return replace(plugin, offered=offer(plugin.directory, lookup))
    except PackageRefused as refused:
        why = NotAccepted(why=str(refused))
        return replace(plugin, record=None, acceptance=why, refused=True)


def _shipping(plugin: Plugin) -> Plugin:
    """Return a plugin with what it ships, when its bytes are the accepted ones [I-31, P-9]."""
    if plugin.off or not isinstance(plugin.acceptance, Accepted):
        return plugin
    package = plugin.acceptance.package
    return replace(plugin, ships=accepted_ships(plugin.directory, plugin.manifest, package))


def _told(plugin: Plugin) -> Plugin:
    """Return a plugin with the notice about it, if there is one [I-44]."""
    if plugin.off:
        return plugin
    if plugin.offered is not None:
        said = (
            f"{plugin.name} was accepted by nobody as it is; {VARIABLE} lets it run, and the next "
            "run shows what it declares"
        )
        return replace(plugin, notices=(said,))
    if plugin.withheld is not None:
        return replace(plugin, notices=(f"{plugin.name}: {plugin.withheld}",))
    return plugin if plugin.barrier is None else replace(plugin, notices=(plugin.barrier,))


def _by_variable(record: Record | None) -> bool:
    return record is not None and record.accepted_by is AcceptedBy.ENV


def _plugin(
    each: Standing,
    loaded: Loaded,
    tier: Tier,
    known: tuple[Record | None, Noted | None],
    lookup: Lookup,
) -> Plugin:
    record, noted = known
    return Plugin(
        manifest=loaded.manifest,
        warnings=loaded.warnings,
        scope=tier.scope,
        directory=each.directory,
        record=record,
        acceptance=check(each.directory, record, lookup, noted),
        noted=noted,
    )
