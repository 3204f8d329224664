"""The load rules of `[driver]`: R-15 to R-17."""

from typing import Final

from stella.manifest.fault import fault
from stella.manifest.rule import Faults
from stella.manifest.rule import Rule
from stella.manifest.rule import each
from stella.manifest.rule import listed_once
from stella.manifest.rule import words
from stella.manifest.sheet import Place
from stella.manifest.sheet import Sheet

CALLS: Final = ("driver", "calls")
MAX_CALLS: Final[Place[int | None]] = Place(("driver", "max_calls"), int, None)


def max_calls_bounds_verbs(sheet: Sheet) -> Faults:
    """R-16."""
    most = sheet.get(MAX_CALLS)
    if most is not None and sheet.words(*CALLS).empty:
        says = "has nothing to bound, because calls lists nothing"
        yield fault("R-16", MAX_CALLS.path, says, value=most, fix="delete max_calls")


def max_calls_allows_some(sheet: Sheet) -> Faults:
    """R-17."""
    if sheet.get(MAX_CALLS) == 0:
        says = "would allow none of the calls"
        fix = "leave calls empty to ask for none"
        yield fault("R-17", MAX_CALLS.path, says, value=0, fix=fix)


DRIVING: Final[tuple[Rule, ...]] = (
    each(words(*CALLS), listed_once("R-15")),
    max_calls_bounds_verbs,
    max_calls_allows_some,
)
