"""The plugins that take part in every session, with and without a pipeline [D-6, D-61, D-70].

Nothing is started here. What each of them gets depends on its manifest; this only says who
they are and how their processes are started.
"""

from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from stella.escape import visible
from stella.manifest.loop import Power
from stella.process.environment import exact
from stella.process.environment import withheld
from stella.providers.keys import KEY_VARIABLES
from stella.redact import Redactor
from stella.roster.plugin import Plugin
from stella.roster.roster import Roster
from stella.roster.roster import cleared
from stella.roster.start import Lookup
from stella.roster.start import replaced
from stella.session.options import Options
from stella.session.selection import Notice
from stella.wrapper.plugin import PluginProcess


@dataclass(frozen=True, slots=True, kw_only=True)
class Enabled:
    """A plugin with a process of its own: as the roster has it, and how it is started.

    One that was never accepted, or has changed, is among them so that a person can be told:
    `plugin.barrier` says so, and `process.cleared` refuses every start of it [T-2, D-69].
    """

    plugin: Plugin
    process: PluginProcess


def enabled(options: Options, root: Path, roster: Roster) -> tuple[Enabled, ...]:
    """Return the plugins of the roster whose grade and manifest give them a process, by name.

    Raises nothing: what is wrong in the roster leaves a plugin out [I-44].
    """
    lookup = Lookup(path_value=options.env.get("PATH", ""), workspace=root)
    return tuple(
        Enabled(plugin=plugin, process=process)
        for plugin in roster.plugins
        if plugin.manifest.loop.holds(Power.RUNTIME)
        and (process := process_of(plugin, options.env, lookup)) is not None
    )


def redactor_of(env: Mapping[str, str]) -> Redactor:
    """Return what takes model keys out of all that is stored or shown [J2-22, J2-24]."""
    return Redactor(env[name] for name in sorted(KEY_VARIABLES) if env.get(name))


def process_of(plugin: Plugin, env: Mapping[str, str], lookup: Lookup) -> PluginProcess | None:
    """Return how a plugin is started, None when its manifest has no `[runtime]` [T-3, T-10]."""
    runtime = plugin.manifest.runtime
    if runtime is None:
        return None
    return PluginProcess(
        name=plugin.name,
        arguments=replaced(runtime.argv, plugin.directory)[1:],
        directory=plugin.directory,
        env=exact(runtime.env, env, KEY_VARIABLES),
        timeout_secs=runtime.timeout_secs,
        cleared=partial(cleared, plugin, lookup),
        clean=redactor_of(env).clean,
    )


def credentials(plugin: Plugin) -> Iterator[Notice]:
    """Yield a notice for each credential a plugin lists and does not get [T-11]."""
    runtime = plugin.manifest.runtime
    for name in withheld(runtime.env if runtime else (), KEY_VARIABLES):
        text = f"{plugin.name} lists {visible(name)}, a credential; it is withheld"
        yield "credential_withheld", text
