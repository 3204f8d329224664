"""Switching a plugin off and on again, in a settings file that stays as it is otherwise [I-65].

An off in any scope holds. What stands in a settings file for other ends is not looked at.
"""

from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from typing import Final

from stella.clock import Clock
from stella.errors import NotInstalled
from stella.errors import RosterError
from stella.escape import visible
from stella.roster.change import Change
from stella.roster.change import carry_out
from stella.roster.change import changing
from stella.roster.place import token
from stella.roster.remove import missing
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.scope import Tier
from stella.roster.scope import entered
from stella.roster.shelf import shelf
from stella.roster.target import Target
from stella.roster.target import read_target

_SECTION: Final = "plugins"
_OFF: Final = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Switched:
    """What came of it: the settings file, whether it was written, and others that hold an off."""

    path: Path
    written: bool
    also_off: tuple[Path, ...] = ()


def disable(name: str, places: Places, scope: Scope, clock: Clock) -> Switched:
    """Write `plugins.<name> = "off"` into the settings of a scope [I-65].

    Raises `NotInstalled` with near words for a name that is nowhere, and `RosterError` for a file
    that cannot be changed.
    """
    from stella.roster.edit import set_key  # noqa: PLC0415  # most commands change no settings

    tier = places.tier(scope)
    if name not in _known(places):
        raise NotInstalled(missing(name, places))
    with changing(tier):
        target = read_target(tier)
        with _naming(tier):
            if _switches(target).get(name) == _OFF:
                return Switched(path=tier.settings_path, written=False)
            text, _ = set_key(target.text or "", _SECTION, name, _OFF)
        _write(tier, name, target, text, clock)
    return Switched(path=tier.settings_path, written=True)


def enable(name: str, places: Places, scope: Scope, clock: Clock) -> Switched:
    """Take `plugins.<name>` out of the settings of a scope, and tell who else holds an off [I-65].

    A name that is off need not be installed any more. Raises as `disable` does.
    """
    from stella.roster.edit import Prior  # noqa: PLC0415  # most commands change no settings
    from stella.roster.edit import restore_key  # noqa: PLC0415  # as above

    tier = places.tier(scope)
    if name not in _known(places) and not offs(name, places):
        raise NotInstalled(missing(name, places))
    written = False
    with changing(tier):
        target = read_target(tier)
        with _naming(tier):
            if name in _switches(target):
                prior = Prior(value=None, created=_SECTION)
                text = restore_key(target.text or "", _SECTION, name, prior)
                _write(tier, name, target, text or None, clock)
                written = True
    return Switched(path=tier.settings_path, written=written, also_off=offs(name, places))


def _write(tier: Tier, name: str, target: Target, text: str | None, clock: Clock) -> None:
    settings = target, Target(text=text, mode=target.mode)
    carry_out(tier, Change(name=name, mark=token(clock), settings=settings))


def offs(name: str, places: Places) -> tuple[Path, ...]:
    """Return the settings files that hold an off for a plugin, as far as they can be read."""
    found = []
    for tier in places.tiers:
        with suppress(RosterError):
            if _switches(read_target(tier)).get(name) == _OFF:
                found.append(tier.settings_path)
    return tuple(found)


def _switches(target: Target) -> Mapping[str, Any]:
    """Return what `[plugins]` of a settings file says; `RosterError` for what is no such table."""
    from stella.roster.edit import found  # noqa: PLC0415  # most commands change no settings
    from stella.roster.edit import tree_of  # noqa: PLC0415  # as above

    return found(tree_of(target.text or ""), _SECTION) or {}


def _known(places: Places) -> set[str]:
    """Return every name that a directory of either tier bears or declares, faulty or not."""
    names: set[str] = set()
    for tier in places.tiers:
        with entered(tier, make=False) as directory:
            standing, _ = shelf(tier, directory)
        names.update(
            name for each in standing for name in (each.declared, each.directory.name) if name
        )
    return names


@contextmanager
def _naming(tier: Tier) -> Iterator[None]:
    """Let what is wrong with the text of a settings file say which file it is."""
    try:
        yield
    except RosterError as error:
        place = visible(str(tier.settings_path))
        said = str(error)
        raise RosterError(said if said.startswith(place) else f"{place}: {said}") from error
