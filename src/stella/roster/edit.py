"""One key of a settings file, changed so that everything else of the text stays as it is [I-22].

Text in, text out. What came of an edit is read back with the reader every other file is read
with; unless it says exactly what was meant, and no more, the edit is refused.
"""

import re
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import contextmanager
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from typing import Final

import tomlkit
from tomlkit.container import Container
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Item
from tomlkit.items import Key
from tomlkit.items import SingleKey

from stella import codec
from stella.codec import Refused
from stella.errors import RosterError
from stella.escape import brief
from stella.manifest.scan import overreach

_ALONE: Final = "x"
_LONE_FEED: Final = re.compile(r"(?<!\r)\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """What stood at a key before: the value as TOML text, None when there was none.

    `created` is the table that had to be made for the key, None when it was there [I-20].
    """

    value: str | None
    created: str | None


def tree_of(text: str) -> dict[str, Any]:
    """Return the tables of a settings file. Raises `RosterError` for what is not TOML."""
    if overreach(text):
        raise RosterError("more is nested, or a number is longer, than any setting is")
    try:
        return codec.parse_toml(text)
    except Refused as refused:
        raise RosterError(f"it is not TOML: {refused.reasons[0].message}") from refused


def found(tree: Mapping[str, Any], section: str) -> Mapping[str, Any] | None:
    """Return a section, None without one; `RosterError` when something else bears its name."""
    table = tree.get(section)
    if table is None or isinstance(table, dict):
        return table
    raise RosterError(
        f'"{brief(section)}" is no table there, so a key cannot be put into it; '
        "take it out or make it a table"
    )


def set_key(text: str, section: str, key: str, value: object) -> tuple[str, Prior]:
    """Return the text with `section.key = value`, and what stood there [I-20, I-22].

    Comments, order and format of everything else stay. Raises `RosterError`.
    """
    tree = tree_of(text)
    table = found(tree, section)
    meant = {**tree, section: {**(table or {}), key: value}}
    if table is None:
        line = f"{_header(section)}\n{tomlkit.key(key).as_string()} = {_written(value)}\n"
        gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
        return _checked(text, f"{text}{gap}{line}", meant), Prior(value=None, created=section)
    with _sure():
        document = tomlkit.parse(text)
        prior = _text(document[section][key]) if key in table else None
        document[section][key] = tomlkit.item(value)
        after = document.as_string()
    return _checked(text, after, meant), Prior(value=prior, created=None)


def restore_key(text: str, section: str, key: str, prior: Prior) -> str:
    """Return the text with what stood at a key before, which holds a value now [I-23].

    A table made for the key goes with it when nothing else is in it, not even a comment.
    Raises `RosterError`, also for a prior value that is not one TOML value.
    """
    tree = tree_of(text)
    table = dict(found(tree, section) or {})
    with _sure():
        document = tomlkit.parse(text)
        if prior.value is None:
            del table[key]
            del document[section][key]
        else:
            table[key] = tree_of(f"{_ALONE} = {prior.value}")[_ALONE]
            document[section][key] = _item(prior.value)
        after = document.as_string()
    left = _checked(text, after, {**tree, section: table})
    return _without_table(left, section) if prior.created == section and not table else left


def _without_table(text: str, section: str) -> str:
    """Return the text without the header of an empty table, or the same when it says more."""
    head = re.escape(_header(section))
    header = rf"(?m)(^\r?\n)?^{head}[ \t]*\r?(\n|\Z)(?=(\r?\n)*(\[|\Z))"
    meant = {name: table for name, table in tree_of(text).items() if name != section}
    for match in re.finditer(header, text):
        with suppress(RosterError):  # what looks like the header stands inside something else
            return _checked(text, text[: match.start()] + text[match.end() :], meant)
    return text


@contextmanager
def _sure() -> Iterator[None]:
    """Turn what the editor cannot do with a text into an error of ours."""
    try:
        yield
    except (TOMLKitError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise _unsure() from error


def _checked(before: str, after: str, meant: Mapping[str, Any]) -> str:
    """Return a text that says what is meant, with the line ends of the text before it."""
    if "\r\n" in before and not _LONE_FEED.search(before):
        after = _LONE_FEED.sub("\r\n", after)
    if _same(tree_of(after), meant):
        return after
    raise _unsure()


def _same(one: object, other: object) -> bool:
    """Return whether two trees are equal, kinds of values included: `1` is not `true`."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    # A number that equals nothing, itself included, is the same when it is written the same.
    return type(one) is type(other) and (one == other or repr(one) == repr(other))


def same_value(one: object, other: object) -> bool:
    """Return whether two values of settings are one, their kinds included [I-23]."""
    return _same(_plain(one), _plain(other))


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _item(text: str) -> Item:
    """Return the value that a text is; `RosterError` when it is more or less than one."""
    whole = f"{_ALONE} = {text}"
    if tree_of(whole).keys() != {_ALONE}:
        raise RosterError("the value that was recorded is not one TOML value")
    item = tomlkit.parse(whole)[_ALONE]
    if _text(item) == text:
        kept: Item = tomlkit.item(item)
        return kept
    raise RosterError("the value that was recorded is not one TOML value")


def _text(value: object) -> str:
    """Return a value of the editor's as it stands there; for a boolean it gives a plain one."""
    return value.as_string() if isinstance(value, (Item, Container)) else _written(value)


def _written(value: object) -> str:
    return tomlkit.item(value).as_string()


def _header(section: str) -> str:
    name: Key = SingleKey(section)
    return f"[{name.as_string()}]"


def _unsure() -> RosterError:
    return RosterError("the key cannot be changed without touching more than it; change it by hand")
