"""A change of settings taken back in a text that somebody else changed meanwhile [I-23, Q-12].

Three texts: as it was before the change, as the change left it, and as it is now. Only keys that
still stand as the change left them go back; whatever else is in the text now is somebody's own.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from typing import Final

from stella.errors import RosterError
from stella.roster.edit import Prior
from stella.roster.edit import restore_key
from stella.roster.edit import same_value
from stella.roster.edit import set_key
from stella.roster.edit import tree_of

_ABSENT: Final = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebased:
    """The text with what could be taken back; `left` are the keys that somebody changed."""

    text: str
    left: tuple[str, ...] = ()


def rebased(before: str, after: str, now: str) -> Rebased:
    """Return the text of now with the keys of a change put back as they were before it.

    Raises `RosterError` for a text that is not TOML.
    """
    old, new = tree_of(before), tree_of(after)
    left: list[str] = []
    text = now
    tree_of(text)
    for section, key in _changed(old, new):
        created = None if section in old else section
        was, became = _at(old, section, key), _at(new, section, key)
        stands = _at(tree_of(text), section, key)
        if _same(stands, was):
            continue
        done = None
        if _same(stands, became):
            with suppress(RosterError):  # what the editor cannot do is left, and told
                done = _put_back(text, before, (section, key), was, created)
        if done is None:
            left.append(f"{section}.{key}")
        text = done or text
    return Rebased(text=text, left=tuple(left))


def _put_back(
    text: str, before: str, place: tuple[str, str], was: object, created: str | None
) -> str:
    """Return the text with what stood at one place before, as it was written then."""
    if was is _ABSENT:
        return restore_key(text, *place, Prior(value=None, created=created))
    if _at(tree_of(text), *place) is _ABSENT:
        return set_key(text, *place, was)[0]
    _, prior = set_key(before, *place, was)
    return restore_key(text, *place, prior)


def _changed(old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield section and key of each value that is not the same in both, in order."""
    for section in dict.fromkeys((*old, *new)):
        tables = [each.get(section, {}) for each in (old, new)]
        keys = dict.fromkeys(key for table in tables if isinstance(table, dict) for key in table)
        for key in keys:
            if not _same(_at(old, section, key), _at(new, section, key)):
                yield section, key


def _at(tree: dict[str, Any], section: str, key: str) -> object:
    table = tree.get(section)
    return table.get(key, _ABSENT) if isinstance(table, dict) else _ABSENT


def _same(one: object, other: object) -> bool:
    if one is _ABSENT or other is _ABSENT:
        return one is other
    return same_value(one, other)
