"""The load rules of capabilities, shipped content and settings: R-63 to R-76."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from stella.manifest.fault import fault
from stella.manifest.package import CLOSED_SECTIONS
from stella.manifest.package import Enforcement
from stella.manifest.rule import Faults
from stella.manifest.rule import Rule
from stella.manifest.rule import blank
from stella.manifest.rule import called
from stella.manifest.rule import each
from stella.manifest.sheet import Entry
from stella.manifest.sheet import Listed
from stella.manifest.sheet import Place
from stella.manifest.sheet import Sheet

TOOL: Final = Place(("tool",), str, "")
PURPOSE: Final = Place(("purpose",), str, "")
ENFORCEMENT: Final = Place(("enforcement",), Enforcement, Enforcement.ADVISORY)
KEY: Final = Place(("key",), str, "")

_DOTTED: Final = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+")


def capabilities(sheet: Sheet) -> Listed[Sheet]:
    """Return the capabilities, each called by its tool."""
    return sheet.tables("capabilities", name=TOOL)


def capability_names_a_tool(entry: Entry[Sheet]) -> Faults:
    """R-63."""
    tool = entry.value.get(TOOL)
    if blank(tool):
        path = (*entry.path, "tool")
        yield fault("R-63", path, "is blank", value=tool, fix="name the tool")


def capability_has_a_purpose(entry: Entry[Sheet]) -> Faults:
    """R-64."""
    if blank(entry.value.get(PURPOSE)):
        says = "has a blank purpose; the person who decides needs a reason"
        label = called("tool", entry) or "no tool"
        fix = "write one sentence in purpose"
        yield fault("R-64", (*entry.path, "purpose"), says, label=label, fix=fix)


def capability_limits_say_something(entry: Entry[Sheet]) -> Faults:
    """R-65."""
    for limit in entry.value.words("scope"):
        if blank(limit.value):
            label = called("tool", entry)
            fix = "write the limit, or delete it"
            yield fault("R-65", limit.path, "is blank", value=limit.value, label=label, fix=fix)


def capability_stands_once(entry: Entry[Sheet]) -> Faults:
    """R-66."""
    if entry.repeated:
        says = "is listed already"
        tool = entry.value.get(TOOL)
        fix = "delete one of the two; what tells them apart belongs in scope"
        yield fault("R-66", (*entry.path, "tool"), says, value=tool, fix=fix)


@dataclass(frozen=True, slots=True)
class Shipped:
    """One kind of shipped content: its tables, the key of its identity and of its text."""

    table: str
    kind: str
    identity: str
    text: str

    def entries(self, sheet: Sheet) -> Listed[Sheet]:
        """Return the entries, each called by its identity."""
        return sheet.tables(self.table, name=Place((self.identity,), str, ""))

    def is_named(self, entry: Entry[Sheet]) -> Faults:
        """R-67."""
        name = entry.value.get(Place((self.identity,), str, ""))
        if blank(name):
            path = (*entry.path, self.identity)
            yield fault("R-67", path, "is blank", value=name, fix=f"name the {self.kind}")

    def is_described(self, entry: Entry[Sheet]) -> Faults:
        """R-68."""
        text = entry.value.get(Place((self.text,), str, ""))
        if blank(text):
            path, label = (*entry.path, self.text), called(self.kind, entry)
            fix = f"say what the {self.kind} is"
            yield fault("R-68", path, "is blank", value=text, label=label, fix=fix)

    def stands_once(self, entry: Entry[Sheet]) -> Faults:
        """R-70."""
        if entry.repeated:
            name = entry.value.get(Place((self.identity,), str, ""))
            says = f"names a {self.kind} that is listed already"
            path = (*entry.path, self.identity)
            yield fault("R-70", path, says, value=name, fix="delete one of the two")

    def rule(self, *more: Callable[[Entry[Sheet]], Faults]) -> Rule:
        """Return R-67, R-68, `more` and R-70 for each entry, in this order."""
        return each(self.entries, self.is_named, self.is_described, *more, self.stands_once)


def record_is_advisory(entry: Entry[Sheet]) -> Faults:
    """R-69."""
    if entry.value.get(ENFORCEMENT) is Enforcement.BLOCKING:
        says = "is what only the repository's own promotion can grant"
        path, label = (*entry.path, "enforcement"), called("record", entry)
        value, fix = Enforcement.BLOCKING.value, 'write "advisory"'
        yield fault("R-69", path, says, value=value, label=label, fix=fix)


def settings(sheet: Sheet) -> Listed[Sheet]:
    """Return the settings, each called by its key."""
    return sheet.tables("configure", name=KEY)


def setting_has_a_key(entry: Entry[Sheet]) -> Faults:
    """R-71."""
    key = entry.value.get(KEY)
    if blank(key):
        yield fault("R-71", (*entry.path, "key"), "is blank", value=key, fix="write section.key")


def setting_has_a_purpose(entry: Entry[Sheet]) -> Faults:
    """R-72."""
    purpose = entry.value.get(PURPOSE)
    if blank(purpose):
        says = "is blank; the person who decides needs a reason"
        path, label = (*entry.path, "purpose"), called("key", entry)
        fix = "write one sentence in purpose"
        yield fault("R-72", path, says, value=purpose, label=label, fix=fix)


def setting_key_is_dotted(entry: Entry[Sheet]) -> Faults:
    """R-73."""
    key = entry.value.get(KEY)
    if entry.name and not _DOTTED.fullmatch(key):
        says = "is no settings key, which is letters, digits, _ and - in two or more dotted parts"
        fix = "write it as section.key"
        yield fault("R-73", (*entry.path, "key"), says, value=key, fix=fix)


def setting_section_is_open(entry: Entry[Sheet]) -> Faults:
    """R-74; a key that is no settings key names no section [M-5]."""
    key = entry.value.get(KEY)
    section = key.partition(".")[0]
    if _DOTTED.fullmatch(key) and section in CLOSED_SECTIONS:
        says = f'sets "{section}", which no package may set: it governs {CLOSED_SECTIONS[section]}'
        fix = "ask the person to set it"
        yield fault("R-74", (*entry.path, "key"), says, value=key, fix=fix)


def setting_value_is_one_leaf(entry: Entry[Sheet]) -> Faults:
    """R-75."""
    value = entry.value.raw("value")
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, list | dict) for item in items):
        says = "is neither a string, a number, true or false, a date, nor a flat list of these"
        path, label = (*entry.path, "value"), called("key", entry)
        yield fault("R-75", path, says, value=value, label=label, fix="set one leaf at a time")


def setting_stands_once(entry: Entry[Sheet]) -> Faults:
    """R-76."""
    if entry.repeated:
        key = entry.value.get(KEY)
        says = "is set already"
        yield fault("R-76", (*entry.path, "key"), says, value=key, fix="delete one of the two")


REACH: Final[tuple[Rule, ...]] = (
    each(
        capabilities,
        capability_names_a_tool,
        capability_has_a_purpose,
        capability_limits_say_something,
        capability_stands_once,
    ),
)

CONTENT: Final[tuple[Rule, ...]] = (
    Shipped("tools", "tool", "name", "description").rule(),
    Shipped("skills", "skill", "slug", "description").rule(),
    Shipped("records", "record", "lineage", "statement").rule(record_is_advisory),
)

SETTINGS: Final[tuple[Rule, ...]] = (
    each(
        settings,
        setting_has_a_key,
        setting_has_a_purpose,
        setting_key_is_dotted,
        setting_section_is_open,
        setting_value_is_one_leaf,
        setting_stands_once,
    ),
)
