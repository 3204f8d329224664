"""What loads and is worth a warning: the closed list of M-9."""

from typing import Final

from stella.authority.risk import Risk
from stella.authority.risk import risk_of
from stella.manifest.events import CATALOGUE
from stella.manifest.events import exists
from stella.manifest.events import well_formed
from stella.manifest.fault import fault
from stella.manifest.rule import Faults
from stella.manifest.rule import Rule
from stella.manifest.rule import applied
from stella.manifest.rule import blank
from stella.manifest.rule import called
from stella.manifest.rule import each
from stella.manifest.rule import words
from stella.manifest.rules_loop import EVENTS
from stella.manifest.rules_package import capabilities
from stella.manifest.rules_stages import ID
from stella.manifest.sheet import Entry
from stella.manifest.sheet import Place
from stella.manifest.sheet import Sheet
from stella.manifest.stages import selectable

RISK: Final = Place(("risk",), str, Risk.LOW.value)


def event_is_known(entry: Entry[str]) -> Faults:
    """M-20; a pattern that is none has its own fault."""
    if not well_formed(entry.value) or exists(entry.value):
        return
    meant = entry.sheet.meant(entry.value, CATALOGUE)
    hint = f"; did you mean {' or '.join(meant)}?" if meant else ""
    says = f"names no event of this host, so nothing is received for it{hint}"
    yield fault("M-20", entry.path, says, value=entry.value, near=meant)


def wrapper_can_be_selected(sheet: Sheet) -> Faults:
    """M-37."""
    name = sheet.get(ID)
    if not blank(name) and not selectable(name):
        says = "holds a comma or white space, so the plugin is selected by its name"
        yield fault("M-37", ID.path, says, value=name)


def risk_is_known(entry: Entry[Sheet]) -> Faults:
    """M-52."""
    token = entry.value.get(RISK)
    if risk_of(token) is None:
        grades = [grade.value for grade in Risk]
        meant = entry.sheet.meant(token, grades)
        hint = f"did you mean {' or '.join(meant)}?" if meant else f"grades: {', '.join(grades)}"
        says = f'is not a known grade and is read as "{Risk.DESTRUCTIVE.value}"; {hint}'
        path, label = (*entry.path, "risk"), called("tool", entry)
        yield fault("M-52", path, says, value=token, label=label, near=meant)


ORDER: Final[tuple[Rule, ...]] = (
    each(words(*EVENTS), event_is_known),
    wrapper_can_be_selected,
    each(capabilities, risk_is_known),
)


def cautions(sheet: Sheet) -> Faults:
    """Yield the warnings about what could be established."""
    for rule in ORDER:
        yield from applied(rule, sheet)
