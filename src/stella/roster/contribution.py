"""Everything a project would contribute, as the text that `stella trust` shows [I-52].

What can run comes with the words it runs as and when it does; the rest comes by path. The bytes
that are shown are those that the trust will be about: each is checked against its digest.
"""

import hashlib
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from typing import Final

from stella import codec
from stella import limits
from stella.codec import Refused
from stella.consent.page import BULLET
from stella.consent.page import DETAIL
from stella.consent.page import Page
from stella.consent.page import Piece
from stella.consent.page import Shown
from stella.consent.page import exact
from stella.consent.page import joined
from stella.consent.page import quoted
from stella.consent.page import shown
from stella.errors import PackageRefused
from stella.errors import RosterError
from stella.errors import Untrusted
from stella.escape import counted
from stella.escape import visible
from stella.files import tree
from stella.manifest.scan import overreach
from stella.roster.items import SETTINGS
from stella.roster.items import Items
from stella.roster.items import items_of
from stella.roster.left_out import AGENTS
from stella.roster.left_out import SERVERS
from stella.roster.offer import Offer
from stella.roster.offer import offer
from stella.roster.plugin import State
from stella.roster.question import other_copies
from stella.roster.roster import read_roster
from stella.roster.scope import Places
from stella.roster.scope import Scope
from stella.roster.start import Lookup

HookEntries = Callable[[object], Iterable[tuple[str, object]]]
"""Yields the entries of a `[hooks]` table, each with its event: `settings.schema.hook_entries`."""

RIGHTS: Final = "What it brings is then used, and runs with your own rights on this machine."
"""What is said of all of it, whatever it is."""

_FOOT: Final = (
    "Nothing above is used until you accept. A later change of these files ends the trust; a "
    "program elsewhere that one of them names may change without that."
)
_HIDDEN: Final = "Some text above held hidden or control characters; they are shown as \\u{…}."
_TOOLS: Final = ".stella/tools/"
_SKILLS: Final = ".stella/skills/"
_RULES: Final = ".stella/rules/"
_NEED_TRUST: Final = ("model", "tiers", "pipeline", "ui", "plugins")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What a person is asked about: the files, the plugins without a record, and the whole text."""

    items: Items
    offers: tuple[Offer, ...]
    text: str

    @property
    def marks(self) -> Mapping[str, str]:
        """Each thing that is shown with what tells it from any other: files and plugins."""
        plugins = {
            f"plugin {each.name}": f"{each.package.digest} {each.consent}" for each in self.offers
        }
        return {**self.items.files, **plugins}


def contribution(places: Places, path_value: str | None, hook_entries: HookEntries) -> Contribution:
    """Return what the project in a workspace contributes now; nothing is started or written.

    Raises `Untrusted` for what no trust can be about, and when the text is longer than
    anybody reads.
    """
    items = items_of(places.workspace)
    if items.fault is not None:
        raise Untrusted(f"this workspace cannot be trusted: {items.fault}")
    lookup = Lookup(path_value=path_value, workspace=places.workspace)
    offers: list[Offer] = []
    refused: list[str] = []
    roster = read_roster(places, path_value)
    for plugin in (*roster.plugins, *roster.waiting):
        if plugin.scope is Scope.PROJECT and plugin.state is not State.OK:
            try:
                offers.append(offer(plugin.directory, lookup))
            except PackageRefused as error:
                refused.append(f"{visible(str(plugin.directory))}: {error}")
    teller = Teller(places, items, hook_entries)
    text = teller.text(tuple(offers), (*refused, *roster.faulty))
    if len(text.encode()) > limits.TRUST_TEXT_BYTES:
        raise Untrusted(
            f"what this workspace brings takes {len(text.encode())} bytes to tell, more than "
            f"anybody reads; the limit is {limits.TRUST_TEXT_BYTES}"
        )
    return Contribution(items=items, offers=tuple(offers), text=text)


class Teller:
    """Puts the text together, block by block; what is told by name is not told by path again."""

    def __init__(self, places: Places, items: Items, hook_entries: HookEntries) -> None:
        self.workspace = places.workspace
        self.own = other_copies(places, Scope.PROJECT)
        self.items = items
        self.hook_entries = hook_entries
        self.page = Page()
        self.named: set[str] = set()

    def text(self, offers: tuple[Offer, ...], refused: tuple[str, ...]) -> str:
        """Return the whole text."""
        page = self.page
        page.line("Trust the workspace ", exact(str(self.workspace)), "?")
        page.line(RIGHTS)
        self._tools()
        settings = self._table(SETTINGS)
        self._hooks(settings)
        self._servers()
        self._settings(settings)
        self._paths("skills, added to a prompt when they match:", self._below(_SKILLS))
        self._paths("rules, steering every matching turn:", self._below(_RULES))
        self._agents()
        others = [path for path in self.items.files if path not in self.named]
        self._paths("other files, which any of the above may use:", others)
        self._plugins(offers, refused)
        page.gap()
        if page.hidden:
            page.line(_HIDDEN)
        page.line(_FOOT)
        return page.text()

    def _block(self, title: str, rows: Iterable[tuple[Piece, ...]]) -> None:
        """Add a title and its rows, nothing without a row."""
        for number, row in enumerate(rows):
            if not number:
                self.page.gap()
                self.page.line(title)
            self.page.line(BULLET, *row)

    def _tools(self) -> None:
        files = self._below(_TOOLS)
        self._block("tools, programs the model may start on its own:", map(self._tool, files))

    def _tool(self, path: str) -> tuple[Piece, ...]:
        self.named.add(path)
        if not path.endswith(".toml"):
            return (exact(path), " (a file for a tool)")
        table = self._table(path)
        name, command = table.get("name"), table.get("command")
        if not isinstance(name, str) or command is None:
            return (exact(path), " (no tool can be made of it)")
        env = table.get("env")
        given: tuple[Piece, ...] = (" with ", quoted(_json(env))) if env else ()
        return (exact(name), ": ", _words(command), *given, " (", exact(path), ")")

    def _hooks(self, settings: Mapping[str, Any]) -> None:
        entries = self.hook_entries(settings.get("hooks"))
        rows = ((exact(event), ": ", _command(entry)) for event, entry in entries)
        self._block(f"hook commands of {SETTINGS}, each started at its event:", rows)

    def _servers(self) -> None:
        self.named.add(SERVERS)
        if SERVERS not in self.items.files:
            return
        found = self._table(SERVERS).get("servers")
        rows: list[tuple[Piece, ...]] = [
            (exact(str(name)), ": ", quoted(_json(server)))
            for name, server in (found.items() if isinstance(found, dict) else ())
        ]
        title = f"servers of {SERVERS}, started with a session or connected to:"
        self._block(title, rows or [("none that can be read",)])

    def _settings(self, settings: Mapping[str, Any]) -> None:
        self.named.add(SETTINGS)
        rows = (
            (*_setting(path, value), *self._loss(path, value))
            for section in _NEED_TRUST
            if section in settings
            for path, value in _leaves((section,), settings[section])
        )
        self._block(f"settings of {SETTINGS} that then count:", rows)

    def _loss(self, path: tuple[str, ...], value: object) -> Iterator[Piece]:
        """Yield that a setting takes a plugin of the person's own away from them [I-43]."""
        section, *names = path
        if section == "plugins" and value == "off" and "".join(names) in self.own:
            yield ", which switches off your own plugin of that name"

    def _agents(self) -> None:
        path = self.workspace / AGENTS
        try:
            size = path.lstat().st_size
        except OSError:
            return
        row = (AGENTS, ", ", counted(size, "byte"), "; a later change of it does not end the trust")
        self._block("text that every session reads:", (row,))

    def _paths(self, title: str, found: Iterable[str]) -> None:
        listed = list(found)
        self.named.update(listed)
        self._block(title, ((exact(path),) for path in listed))

    def _plugins(self, offers: tuple[Offer, ...], refused: tuple[str, ...]) -> None:
        self._block(
            "plugins that cannot be used as they are:", ((shown(each),) for each in refused)
        )
        for each in offers:
            self.page.gap()
            self.page.line(f"plugin {each.name}, which nobody accepted here as it is:")
            if (said := self.own.get(each.name)) is not None:
                self.page.line(DETAIL, said)
            for line in each.consent.split("\n"):
                self.page.line(DETAIL if line else "", line)

    def _below(self, folder: str) -> tuple[str, ...]:
        return tuple(path for path in self.items.files if path.startswith(folder))

    def _table(self, path: str) -> Mapping[str, Any]:
        """Return a TOML file of the items, empty when there is none or it cannot be read."""
        item = self.items.files.get(path)
        if item is None:
            return {}
        data = _bytes(self.workspace, path)
        if item.partition(" ")[2] != f"sha256:{hashlib.sha256(data).hexdigest()}":
            raise Untrusted(f"{visible(path)}: changed while it was read; try again")
        try:
            text = data.decode()
            return {} if overreach(text) else codec.parse_toml(text)
        except (UnicodeDecodeError, Refused):
            return {}


def _bytes(workspace: Path, path: str) -> bytes:
    """Return the bytes of a file below the workspace, through no link."""
    *folders, name = path.split("/")
    try:
        with ExitStack() as held:
            here = held.enter_context(tree.opened(workspace))
            for folder in folders:
                here = held.enter_context(tree.opened(Path(folder), above=here))
            return tree.read(here, name, limits.TRUST_BYTES) or b""
    except RosterError as error:
        raise Untrusted(str(error)) from error


def _leaves(path: tuple[str, ...], value: object) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield each value of a table that is none itself, with the keys that lead to it."""
    if not isinstance(value, dict) or not value:
        yield path, value
        return
    for key, below in value.items():
        yield from _leaves((*path, key), below)


def _setting(path: tuple[str, ...], value: object) -> tuple[Piece, ...]:
    said = quoted(value) if isinstance(value, str) else Shown(visible(_json(value)))
    return joined((exact(key, ".= ") for key in path), "."), " = ", said


def _words(command: object) -> Shown:
    """Return the words something is started with, whatever shape they were written in."""
    if isinstance(command, list) and all(isinstance(word, str) for word in command):
        return joined((exact(word, " ") for word in command), " ")
    return quoted(command if isinstance(command, str) else _json(command))


def _command(entry: object) -> Shown:
    """Return what a hook starts: its words, its line for a shell, else all that stands there."""
    if isinstance(entry, dict) and "argv" in entry and "command" not in entry:
        return _words(entry["argv"])
    if isinstance(entry, dict) and "command" in entry and "argv" not in entry:
        return _words(entry["command"])
    return quoted(_json(entry))


def _json(value: object) -> str:
    return codec.encode(value).decode()
