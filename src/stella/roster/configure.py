"""What a package sets in a settings file, and how it is put back [I-20 to I-24].

A plugin may set only what the caller says is open to it. What stood there before is written
into the installed package, where somebody else may have changed it: of that journal nothing is
believed that is not derived again.
"""

import os
from collections.abc import Iterable
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from dataclasses import replace
from typing import Final

import msgspec

from stella import codec
from stella import limits
from stella.codec import Refused
from stella.errors import PackageRefused
from stella.errors import RosterError
from stella.escape import brief
from stella.escape import visible
from stella.files import tree
from stella.manifest.package import Configure
from stella.manifest.read import Loaded
from stella.near import clause
from stella.near import near
from stella.roster.scope import Tier
from stella.roster.shelf import Standing
from stella.roster.shelf import standing
from stella.roster.target import Target
from stella.roster.target import read_target

Settable = Mapping[str, type[bool] | tuple[str, ...]]
"""The keys open to a plugin, each with what it may hold: true or false, or one of some words."""

JOURNAL_MODE: Final = 0o644
_BYTES: Final = limits.SETTINGS_BYTES


class PriorRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What stood at one key: TOML text or null, and the table made for it or null [I-20]."""

    key: str
    value: str | None = None
    created: str | None = None


class Journal(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`.stella-configured.json` in an installed package [I-20]."""

    plugin: str
    config: str
    prior: tuple[PriorRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Whose settings are meant: a plugin of a tier, what it sets, and what is open to it.

    `configure` is None for a manifest that cannot be read.
    """

    tier: Tier
    name: str
    configure: tuple[Configure, ...] | None
    settable: Settable


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """A settings text with a plugin's keys put back; `left` are lines about the others [I-23]."""

    text: str | None
    restored: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def refuse_settings(configure: tuple[Configure, ...], settable: Settable) -> None:
    """Raise `PackageRefused` for a key that is not open, or a value it cannot hold [S2-15, Q-24].

    A key may be unknown or known and the person's alone: a plugin sets neither.
    """
    for entry in configure:
        allowed = settable.get(entry.key)
        place = f'[[configure]] key = "{brief(entry.key)}"'
        if allowed is None:
            hint = clause(near(entry.key, tuple(settable)), tuple(settable))
            said = f"{place}: no setting that a plugin may set{f'; {hint}' if hint else ''}"
            raise PackageRefused(said, "S2-15", "SettingRefused")
        if isinstance(allowed, tuple):
            good = isinstance(entry.value, str) and entry.value in allowed
            expected = f"one of {', '.join(allowed)}"
        else:
            good, expected = isinstance(entry.value, allowed), "true or false"
        if not good:
            said = f"{place}: expected {expected}, got {brief(repr(entry.value))}"
            raise PackageRefused(said, "Q-24", "SettingRefused")


def configured(owner: Owner, text: str | None) -> tuple[str | None, bytes]:
    """Return a settings text with all keys of a package set, and the journal of it [I-20, I-22].

    Raises `RosterError` naming the file.
    """
    from stella.roster.edit import set_key  # noqa: PLC0415  # most plugins change no settings

    rows: list[PriorRow] = []
    for entry in owner.configure or ():
        section, key = _parts(entry.key)
        try:
            text, prior = set_key(text or "", section, key, entry.value)
        except RosterError as error:
            where = visible(str(owner.tier.settings_path))
            raise RosterError(f"{where}: {entry.key}: {error}") from error
        rows.append(PriorRow(key=entry.key, value=prior.value, created=prior.created))
    journal = Journal(plugin=owner.name, config=_config(owner.tier), prior=tuple(rows))
    return text, codec.encode(journal) + b"\n"


def undone(owner: Owner, directory: int, text: str | None) -> Undone:
    """Return the settings text without what the package in an open directory set [I-23, I-24].

    Where the manifest or the journal cannot be believed, nothing is put back.
    """
    journal = _journal(directory)
    if owner.configure is None:
        rows = journal.prior if isinstance(journal, Journal) else ()
        keys = tuple(row.key for row in rows)
        return _nothing(owner, text, keys, "the manifest that says what was set cannot be read")
    keys = tuple(entry.key for entry in owner.configure)
    if journal is None:
        return _nothing(owner, text, keys, "nothing recorded what it was before")
    if isinstance(journal, str):
        return _nothing(owner, text, keys, journal)
    if (journal.plugin, journal.config) != (owner.name, _config(owner.tier)):
        why = f"{tree.CONFIGURED} is about another plugin or another file"
        return _nothing(owner, text, keys, why)
    return _put_back(owner, owner.configure, {row.key: row for row in journal.prior}, text)


def put_back(owner: Owner, directory: int, names: Iterable[str]) -> tuple[Target | None, Undone]:
    """Return the settings file of a tier and its text without what some packages set.

    `directory` is the open tier, `names` are directories in it. The file is None when no package
    says that it set anything, or when it cannot be read, which is told.
    """
    target, text = None, None
    restored: list[str] = []
    left: list[str] = []
    for name in names:
        found = standing(directory, owner.tier.path / name)
        each = replace(owner, configure=_set_by(found))
        with suppress(PackageRefused), tree.opened(found.directory, above=directory) as root:
            if each.configure == () or (each.configure is None and _journal(root) is None):
                continue
            try:
                if target is None:
                    target = read_target(owner.tier)
                    text = target.text
            except RosterError as error:
                left += [_left(each, entry.key, str(error)) for entry in each.configure or ()]
                continue
            done = undone(each, root, text)
            text = done.text
            restored += done.restored
            left += done.left
    return target, Undone(text=text, restored=tuple(restored), left=tuple(left))


def _set_by(found: Standing) -> tuple[Configure, ...] | None:
    return found.found.manifest.configure if isinstance(found.found, Loaded) else None


def unset(directory: int, configure: tuple[Configure, ...]) -> tuple[str, ...]:
    """Return the keys of a manifest that the install of an open directory did not set [I-33]."""
    journal = _journal(directory)
    known = {row.key for row in journal.prior} if isinstance(journal, Journal) else frozenset()
    return tuple(entry.key for entry in configure if entry.key not in known)


def _put_back(
    owner: Owner, configure: tuple[Configure, ...], rows: Mapping[str, PriorRow], text: str | None
) -> Undone:
    restored: list[str] = []
    left: list[str] = []
    for entry in reversed(configure):
        row = rows.get(entry.key)
        if row is None or entry.key not in owner.settable:
            left.append(_left(owner, entry.key, "it was not set when the plugin was installed"))
            continue
        try:
            text = _restored(text or "", entry, row)
        except RosterError as error:
            left.append(_left(owner, entry.key, str(error)))
        else:
            restored.append(entry.key)
    if restored and not (text or "").strip():
        text = None  # nothing but what the plugin brought was in it
    return Undone(text=text, restored=tuple(reversed(restored)), left=tuple(reversed(left)))


def _nothing(owner: Owner, text: str | None, keys: tuple[str, ...], why: str) -> Undone:
    return Undone(text=text, left=tuple(_left(owner, key, why) for key in keys))


def _restored(text: str, entry: Configure, row: PriorRow) -> str:
    from stella.roster.edit import Prior  # noqa: PLC0415  # most plugins change no settings
    from stella.roster.edit import found  # noqa: PLC0415  # as above
    from stella.roster.edit import restore_key  # noqa: PLC0415  # as above
    from stella.roster.edit import same_value  # noqa: PLC0415  # as above
    from stella.roster.edit import tree_of  # noqa: PLC0415  # as above

    section, key = _parts(entry.key)
    table = found(tree_of(text), section) or {}
    if key not in table or not same_value(table[key], entry.value):
        raise RosterError("it is not what the plugin set any more, so it is left as it is")
    return restore_key(text, section, key, Prior(value=row.value, created=row.created))


def _journal(directory: int) -> Journal | str | None:
    try:
        data = tree.read(directory, tree.CONFIGURED, _BYTES + 1)
        return None if data is None else codec.read(Journal, data[:_BYTES])
    except (PackageRefused, Refused) as error:
        return f"{tree.CONFIGURED}: {error}"


def _left(owner: Owner, key: str, why: str) -> str:
    where = visible(str(owner.tier.settings_path))
    return f"not restored: {brief(key)} in {where}: {why}"


def _config(tier: Tier) -> str:
    """Return the path of the settings file as the journal has it; JSON holds UTF-8 alone."""
    return os.fsencode(tier.settings_path).decode(errors="replace")


def _parts(key: str) -> tuple[str, str]:
    section, _, rest = key.partition(".")
    return section, rest
