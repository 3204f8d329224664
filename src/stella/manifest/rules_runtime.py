"""The load rules of `[runtime]`: R-54 to R-60."""

from typing import Final

from stella.manifest.fault import fault
from stella.manifest.loop import Power
from stella.manifest.rule import Faults
from stella.manifest.rule import Rule
from stella.manifest.rule import below
from stella.manifest.rule import blank
from stella.manifest.rule import each
from stella.manifest.rule import listed_once
from stella.manifest.rule import words
from stella.manifest.sheet import Entry
from stella.manifest.sheet import Place
from stella.manifest.sheet import Sheet

RUNTIME: Final = ("runtime",)
ARGV: Final = ("runtime", "argv")
ENV: Final = ("runtime", "env")
TIMEOUT: Final[Place[int | None]] = Place(("runtime", "timeout_secs"), int, None)

_NUL: Final = "\0"


def runtime_needs_observer(sheet: Sheet) -> Faults:
    """R-54; a bundle of content is never started."""
    if sheet.has(*RUNTIME):
        yield from below(sheet, "R-54", Power.RUNTIME, RUNTIME, drop="[runtime]")


def argv_names_a_program(sheet: Sheet) -> Faults:
    """R-55."""
    if sheet.has(*RUNTIME) and sheet.words(*ARGV).empty:
        says = "is empty, and it must name a program"
        yield fault("R-55", ARGV, says, value=[], fix="write the program as the first entry")


def argument_can_be_passed(entry: Entry[str]) -> Faults:
    """R-56; a NUL is refused with the blank, because no system can pass it [B55]."""
    if blank(entry.value):
        says = "is blank"
        yield fault("R-56", entry.path, says, value=entry.value, fix="write it, or delete it")
    elif _NUL in entry.value:
        says = "holds a NUL character, which no program can be given"
        yield fault("R-56", entry.path, says, value=entry.value, fix="delete the NUL character")


def runtime_has_time(sheet: Sheet) -> Faults:
    """R-57."""
    if sheet.get(TIMEOUT) == 0:
        says = "leaves no time; it is at least 1 second"
        yield fault("R-57", TIMEOUT.path, says, value=0, fix="write 1 or more")


def variable_is_named(entry: Entry[str]) -> Faults:
    """R-58."""
    if not entry.value:
        says = "is empty, and no variable has that name"
        yield fault("R-58", entry.path, says, value=entry.value, fix="delete it")


def variable_can_exist(entry: Entry[str]) -> Faults:
    """R-59; a name of blanks alone is one with surrounding white space [Q-7]."""
    name = entry.value
    if "=" in name or _NUL in name or name != name.strip():
        says = "can never match a variable: it holds =, a NUL or white space at an end"
        yield fault("R-59", entry.path, says, value=name, fix="write the exact name")


RUNNING: Final[tuple[Rule, ...]] = (
    runtime_needs_observer,
    argv_names_a_program,
    each(words(*ARGV), argument_can_be_passed),
    runtime_has_time,
    each(words(*ENV), variable_is_named, variable_can_exist, listed_once("R-60")),
)
