"""The content that is there and not used, for the lists of tools and skills [I-31, P-9, P-14]."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from stella.roster.carried import Carried
from stella.roster.content import Content
from stella.roster.plugin import State
from stella.roster.roster import Roster
from stella.roster.ships import on_disk

_SWITCHED_OFF: Final = "the plugin is switched off in settings"


@dataclass(frozen=True, slots=True, kw_only=True)
class Faulty:
    """A file of the person or the workspace in which nothing can be read, and every reason."""

    origin: str
    place: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Barred:
    """What stands in a plugin that may contribute none of it, and why not."""

    origin: str
    state: State
    content: Content
    reason: str | None


def faulty(carried: Carried, kind: str) -> Iterator[Faulty]:
    """Yield each faulty file of one kind once, with all that is wrong with it."""
    said: dict[tuple[str, str], list[str]] = {}
    for each in carried.faulty:
        if each.kind == kind:
            said.setdefault((each.origin, each.place), []).append(each.says)
    for (origin, place), says in said.items():
        yield Faulty(origin=origin, place=place, reason="; ".join(says))


def barred(roster: Roster) -> Iterator[Barred]:
    """Yield the content on disk of each plugin that may not contribute [I-31, P-9]."""
    for plugin in roster.every:
        if plugin.state is State.OK and plugin.offered is None:
            continue
        yield Barred(
            origin=f"plugin:{plugin.name}",
            state=plugin.state,
            content=on_disk(plugin.directory),
            reason=_SWITCHED_OFF if plugin.off else plugin.barrier or plugin.withheld,
        )
