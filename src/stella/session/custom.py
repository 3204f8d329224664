"""The tools that files describe: which are offered, whose each is, which lost its name [P-14].

The workspace comes first, then the person, then plugins by name; the built-in tools before all
of them. The first claim of a name holds, and whoever comes later is told of.
"""

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from stella.authority.risk import Risk
from stella.content.tool import ToolFile
from stella.process.environment import inherited
from stella.process.environment import withheld
from stella.providers.keys import KEY_VARIABLES
from stella.roster.carried import USER
from stella.roster.carried import WORKSPACE
from stella.roster.carried import Carried
from stella.roster.carried import carried
from stella.roster.content import Content
from stella.roster.plugin import Plugin
from stella.roster.roster import Roster
from stella.roster.roster import before_start
from stella.roster.scope import Places
from stella.roster.start import Lookup
from stella.session.options import Options
from stella.session.selection import Notice
from stella.tools.custom import CustomTool
from stella.tools.custom import Owner
from stella.tools.tool import Offered

_ALLOW: Final = "STELLA_SUBPROCESS_ENV_ALLOW"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One tool file that wants its name; `left_out` says why it does not get it.

    `origin` is `workspace`, `user` or `plugin:<name>`, by the directory alone; `place` is the
    whole path of the file, fit for a line.
    """

    file: ToolFile
    origin: str
    plugin: str | None
    place: str
    left_out: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """The content of a session, the tools in it, and what to tell about the rest of it."""

    content: Carried | None = None
    tools: tuple[Offered, ...] = ()
    notices: tuple[Notice, ...] = ()


def extra_of(options: Options, root: Path, where: Places, roster: Roster) -> Extra:
    """Return what files add to a session in the workspace `root`; raises nothing [P-14]."""
    content = carried(where, roster, trusted=options.trusted, vouched=options.vouched)
    found = claims(content)
    return Extra(
        content=content,
        tools=custom_tools(found, roster, options.env, root),
        notices=tuple(notices_of(found, content)),
    )


def claims(content: Carried) -> tuple[Claim, ...]:
    """Return every tool file that was read, in the order in which names are claimed [P-14]."""
    holders: dict[str, Claim] = {}
    found: list[Claim] = []
    for origin, plugin, own in _origins(content):
        for each in own.tools:
            place, name = own.place(each.path), each.value.name
            left_out = each.value.withheld
            if left_out is None and (holder := holders.get(name)) is not None:
                left_out = f"the name {name} is taken by {holder.place}, which is what runs"
            claim = Claim(
                file=each.value, origin=origin, plugin=plugin, place=place, left_out=left_out
            )
            if left_out is None:
                holders[name] = claim
            found.append(claim)
    return tuple(found)


def custom_tools(
    found: Iterable[Claim], roster: Roster, env: Mapping[str, str], root: Path
) -> tuple[Offered, ...]:
    """Return the tools of the claims that hold, for a session in the workspace `root`.

    `env` is the host's whole environment. Nothing is started [T-2].
    """
    lookup = Lookup(path_value=env.get("PATH", ""), workspace=root)
    plugins = {plugin.name: plugin for plugin in roster.plugins}
    return tuple(
        CustomTool(
            file=claim.file,
            owner=_owner(claim, plugins, lookup),
            fence=root,
            filtered=partial(
                inherited, registered=KEY_VARIABLES, allowed=let_through(env, credentials=False)
            ),
        )
        for claim in found
        if claim.left_out is None
    )


def notices_of(found: Iterable[Claim], content: Carried) -> Iterator[Notice]:
    """Yield what a person should know of the files that a session does not use.

    What lacks trust or acceptance is told by who looks after that [I-44, I-51].
    """
    for text in content.notices:
        yield "content", text
    for claim in found:
        if claim.left_out is not None:
            yield "content", f"{claim.place}: left out: {claim.left_out}"


def let_through(env: Mapping[str, str], *, credentials: bool = True) -> frozenset[str]:
    """Return the names that the person lets tools have again [T2-46].

    A script tool never gets a credential, whoever lists it [P-17].
    """
    listed = (name.strip() for name in env.get(_ALLOW, "").split(","))
    names = frozenset(name for name in listed if name)
    return names if credentials else names - frozenset(withheld(names, KEY_VARIABLES))


def _origins(content: Carried) -> Iterator[tuple[str, str | None, Content]]:
    yield WORKSPACE, None, content.workspace
    yield USER, None, content.user
    for name, of_plugin in content.plugins:
        yield f"plugin:{name}", name, of_plugin


def _owner(claim: Claim, plugins: Mapping[str, Plugin], lookup: Lookup) -> Owner:
    if claim.plugin is None:
        return Owner(origin=claim.origin)
    plugin = plugins[claim.plugin]
    declared = (each.grade for each in plugin.manifest.capabilities if each.tool == claim.file.name)
    return Owner(
        origin=claim.origin,
        plugin=plugin.name,
        directory=str(plugin.directory),
        # The entry in `[[tools]]` is a declaration at `high`.
        ceiling=max((Risk.HIGH, *declared), key=lambda grade: grade.rank),
        cleared=partial(before_start, plugin, lookup),
    )
