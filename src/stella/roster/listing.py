"""What `stella plugin list` and `show` say, as lines and as one JSON document [I-60 to I-63].

Author text is shown so that it can forge nothing; the JSON is exact and of printable ASCII
alone, so it can be read on a terminal as well as by a program [C-5, C76].
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import msgspec

from stella import codec
from stella.consent.page import exact
from stella.consent.page import joined
from stella.consent.text import consent_text
from stella.errors import PackageRefused
from stella.escape import counted
from stella.escape import visible
from stella.files import tree
from stella.files.kind import Kind
from stella.files.tree import Package
from stella.manifest.runtime import Runtime
from stella.process.environment import withheld
from stella.roster.content import Content
from stella.roster.drift import Accepted
from stella.roster.drift import Changed
from stella.roster.lock import Record
from stella.roster.plugin import Plugin
from stella.roster.plugin import State
from stella.roster.reconcile import identities
from stella.roster.roster import Roster
from stella.roster.ships import on_disk
from stella.roster.start import Lookup
from stella.roster.start import accepted_program
from stella.roster.start import replaced
from stella.roster.start import resolution
from stella.wire.points import Hook
from stella.wire.points import Point

_UNPRINTABLE: Final = re.compile(r"[^\x20-\x7e]")
_ASTRAL: Final = 0x10000


class RuntimeRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The process of a plugin as its manifest writes it [I-62]."""

    argv: tuple[str, ...]
    timeout_secs: int
    env: tuple[str, ...]


class ShipsRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The identities that stand on disk in a plugin, sorted [I-60, I-62]."""

    tools: tuple[str, ...]
    skills: tuple[str, ...]
    records: tuple[str, ...]


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One plugin in the array of `list --json`; no key is ever absent [I-62].

    `wrapper` is null when no run can select the plugin. `digest` is that of the tree as it
    stands, null when it was not taken.
    """

    name: str
    scope: str
    grade: str
    state: str
    directory: str
    description: str | None
    hooks: tuple[str, ...]
    points: tuple[str, ...]
    events: tuple[str, ...]
    calls: tuple[str, ...]
    wrapper: str | None
    runtime: RuntimeRow | None
    ships: ShipsRow
    digest: str | None
    notices: tuple[str, ...]


def list_json(roster: Roster) -> str:
    """Return the roster as one JSON array sorted by name, on one line [I-62]."""
    return printable(codec.encode(tuple(map(row, roster.every))).decode())


def printable(document: str) -> str:
    """Return the same JSON document in printable ASCII alone [C76]."""
    return _UNPRINTABLE.sub(_escaped, document)


def row(plugin: Plugin) -> Row:
    """Return what the JSON array says of one plugin [I-62]."""
    manifest = plugin.manifest
    loop, runtime = manifest.loop, manifest.runtime
    package = _package(plugin)
    return Row(
        name=plugin.name,
        scope=plugin.scope.value,
        grade=loop.participation.value,
        state=plugin.state.value,
        # A path of other bytes than UTF-8 has no exact form in JSON.
        directory=visible(str(plugin.directory)),
        description=manifest.description,
        hooks=tuple(hook.value for hook in loop.hooks),
        points=tuple(point.value for point in loop.points),
        events=loop.events,
        calls=tuple(call.value for call in loop.calls),
        wrapper=plugin.pipeline,
        runtime=None
        if runtime is None
        else RuntimeRow(argv=runtime.argv, timeout_secs=runtime.timeout_secs, env=runtime.env),
        ships=ShipsRow(**identities(_content(plugin))),
        digest=None if package is None else package.digest,
        notices=plugin.notices,
    )


def list_lines(roster: Roster, registered: frozenset[str]) -> tuple[str, ...]:
    """Return the lines of `list`: plugins, hook dispatches, withheld and off names [I-60].

    `registered` are the variables that model keys are read from [T-11].
    """
    off = tuple(f"off {visible(name)}  {whose}" for name, whose in roster.switched.rows())
    if not roster.every:
        hint = "no plugins are installed here; `stella plugin install DIR` installs one"
        return (hint, *off)
    return (
        *(line for plugin in roster.every for line in _listed(plugin)),
        *(line for plugin in roster.plugins for line in _dispatches(plugin)),
        *(line for plugin in roster.plugins for line in _withheld(plugin, registered)),
        *off,
    )


def show_lines(plugin: Plugin, lookup: Lookup) -> tuple[str, ...]:
    """Return the lines of `show`: consent text, record without it, state, files [I-63]."""
    package = _package(plugin)
    if package is None:
        try:
            with tree.opened(plugin.directory) as root:
                package = tree.installed(root)
        except PackageRefused as error:
            return (*_standing(plugin), f"files: {error}")
    places = resolution(plugin.manifest, package, plugin.directory, lookup)
    runtime, record = plugin.manifest.runtime, plugin.record
    if runtime is not None and record is not None:
        # What is started, not what would be found today.
        found = accepted_program(runtime, plugin.directory, record.program, lookup)
        places = replace(places, runtime=None if found.not_started else found.path)
    return (
        *consent_text(plugin.manifest, places).split("\n"),
        "",
        *_recorded(record),
        *_standing(plugin),
        f"files of {visible(str(plugin.directory))}, {package.digest}:",
        *(
            f"  {visible(entry.path)}  {counted(entry.size, 'byte')}  {entry.mode:04o}  "
            f"{f'sha256:{entry.sha256}' if entry.kind is Kind.FILE else entry.kind.value}"
            for entry in package.entries
        ),
    )


def _listed(plugin: Plugin) -> Iterable[str]:
    manifest = plugin.manifest
    grade = manifest.loop.participation.value
    yield f"{plugin.name}  {plugin.scope.value}  {grade}  {plugin.state.value}"
    if manifest.description:
        yield f"  {visible(manifest.description)}"
    yield f"  {visible(str(plugin.directory))}"
    yield from _ships(plugin)
    yield f"  runs: {_runs(manifest.runtime)}"


def _ships(plugin: Plugin) -> Iterable[str]:
    """Yield a line for each kind that stands on disk, what is not declared marked [I-60]."""
    manifest = plugin.manifest
    declared = {
        "tools": {each.name.strip() for each in manifest.tools},
        "skills": {each.slug.strip() for each in manifest.skills},
        "records": {each.lineage.strip() for each in manifest.records},
    }
    for table, names in identities(_content(plugin)).items():
        marked = (
            visible(name) if name in declared[table] else f"{visible(name)} (not declared)"
            for name in names
        )
        if names:
            yield f"  ships {table}: {', '.join(marked)}"


def _content(plugin: Plugin) -> Content:
    return on_disk(plugin.directory) if plugin.ships is None else plugin.ships.content


def _runs(runtime: Runtime | None) -> str:
    if runtime is None:
        return "no process"
    names = joined(map(exact, runtime.env)).text or "nothing"
    argv = joined(map(exact, runtime.argv), " ").text
    return f"{argv} (stopped after {runtime.timeout_secs}s), environment: {names}"


def _dispatches(plugin: Plugin) -> Iterable[str]:
    """Return a line for each hook the plugin receives, in the catalogue's order [I-60]."""
    loop, runtime = plugin.manifest.loop, plugin.manifest.runtime
    if plugin.state is not State.OK:
        return
    for hook in Hook:
        if not loop.permits_hook(hook):
            continue
        if hook is Hook.STOP and loop.permits_point(Point.AFTER_TURN):
            how = "bound by the pipeline"  # [D-67]
        elif runtime is None:
            how = "no process"
        else:
            argv = replaced(runtime.argv, plugin.directory)
            how = joined(map(exact, argv), " ").text
        yield f"hook {plugin.name}  {hook.value}  {how}"


def _withheld(plugin: Plugin, registered: frozenset[str]) -> Iterable[str]:
    runtime = plugin.manifest.runtime
    for name in withheld(() if runtime is None else runtime.env, registered):
        yield f"withheld {plugin.name}  {visible(name)}"


def _recorded(record: Record | None) -> Iterable[str]:
    if record is None:
        yield "record: none"
        return
    yield f"record: accepted {record.accepted_at} by {record.accepted_by.value}"
    yield f"  source   {visible(record.source)}"
    yield f"  digest   {record.digest}"
    yield f"  consent  {record.consent}"
    if record.program is not None:
        yield f"  program  {visible(record.program)}"


def _standing(plugin: Plugin) -> Iterable[str]:
    yield f"state: {plugin.state.value}"
    if plugin.off:
        yield f"  switched off in settings; `stella plugin enable {plugin.name}` switches it on"
    elif plugin.offered is not None:
        yield from (f"  {line}" for line in plugin.notices)
    elif plugin.withheld is not None:
        yield f"  {plugin.withheld}"
    else:
        yield from (f"  {line}" for line in plugin.explained)


def _package(plugin: Plugin) -> Package | None:
    if plugin.offered is not None:
        return plugin.offered.package
    return plugin.acceptance.package if isinstance(plugin.acceptance, Accepted | Changed) else None


def _escaped(match: re.Match[str]) -> str:
    point = ord(match.group())
    if point < _ASTRAL:
        return f"\\u{point:04x}"
    high, low = divmod(point - _ASTRAL, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
