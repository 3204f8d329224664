"""The load rules of `[requirements]` and `[oracle]`: R-22 to R-35."""

from collections.abc import Iterable
from typing import Final

from stella import limits
from stella.escape import brief
from stella.manifest.fault import fault
from stella.manifest.grammar import Comparison
from stella.manifest.grammar import Unparsable
from stella.manifest.grammar import parse_check
from stella.manifest.loop import Power
from stella.manifest.oracle import FlipPolicy
from stella.manifest.rule import GRADE
from stella.manifest.rule import Faults
from stella.manifest.rule import Rule
from stella.manifest.rule import below
from stella.manifest.rule import blank
from stella.manifest.rule import called
from stella.manifest.rule import each
from stella.manifest.rule import each_key
from stella.manifest.rule import listed_once
from stella.manifest.rule import words
from stella.manifest.sheet import Entry
from stella.manifest.sheet import Listed
from stella.manifest.sheet import Place
from stella.manifest.sheet import Sheet
from stella.wire.grade import Grade
from stella.wire.points import Point

REQUIREMENTS: Final = ("requirements",)
ORACLE: Final = ("oracle",)
COMMAND: Final = ("oracle", "command")
ARGV: Final = (*COMMAND, "argv")
MEASUREMENTS: Final = ("oracle", "measurements")
CHECKS: Final = ("oracle", "checks")
POINTS: Final = ("loop", "points")

TIMEOUT: Final[Place[int | None]] = Place((*COMMAND, "timeout_secs"), int, None)
FLIP: Final[Place[FlipPolicy | None]] = Place(("oracle", "flip"), FlipPolicy, None)
REQUIREMENT: Final = Place(("requirement",), str, "")
CHECK: Final = Place(("check",), str, "")


def requirements_need_arbiter(sheet: Sheet) -> Faults:
    """R-22."""
    if sheet.has(*REQUIREMENTS):
        yield from below(sheet, "R-22", Power.REQUIREMENTS, REQUIREMENTS, drop="[requirements]")


def arbiter_has_requirements(sheet: Sheet) -> Faults:
    """R-23."""
    if sheet.get(GRADE) is Grade.ARBITER and not sheet.keys(*REQUIREMENTS):
        state = "is empty" if sheet.has(*REQUIREMENTS) else "is missing"
        says = f"{state}, and an arbiter cites a requirement each time it holds a turn"
        fix = "add a requirement to [requirements]"
        yield fault("R-23", REQUIREMENTS, says, fix=fix, anchor=GRADE.path)


def requirement_is_described(sheet: Sheet, key: str) -> Faults:
    """R-24."""
    path = (*REQUIREMENTS, key)
    description = sheet.get(Place(path, str, ""))
    if blank(description):
        says = "is blank; a hold shows this text to say what is missing"
        yield fault("R-24", path, says, value=description, fix="say when the requirement is met")


def oracle_needs_arbiter(sheet: Sheet) -> Faults:
    """R-25."""
    if sheet.has(*ORACLE):
        yield from below(sheet, "R-25", Power.ORACLE, ORACLE, drop="[oracle]")


def command_names_a_program(sheet: Sheet) -> Faults:
    """R-26."""
    if sheet.has(*COMMAND) and sheet.words(*ARGV).empty:
        says = "is empty, and it must name a program"
        yield fault("R-26", ARGV, says, value=[], fix="write the program as the first entry")


def command_has_time(sheet: Sheet) -> Faults:
    """R-27."""
    if sheet.get(TIMEOUT) == 0:
        says = "leaves no time; it is at least 1 second"
        yield fault("R-27", TIMEOUT.path, says, value=0, fix="write 1 or more")


def oracle_has_a_process(sheet: Sheet) -> Faults:
    """R-28."""
    if sheet.has(*ORACLE) and not sheet.has(*COMMAND) and not sheet.has("runtime"):
        says = "has neither a command nor a [runtime] to decide with"
        yield fault("R-28", ORACLE, says, fix="add [runtime], or command to [oracle]")


def oracle_needs_after_turn(sheet: Sheet) -> Faults:
    """R-29."""
    if sheet.has(*ORACLE) and not sheet.words(*POINTS).has(Point.AFTER_TURN.value):
        says = 'does not list "after_turn", where the evidence of [oracle] arrives'
        fix = 'add "after_turn" to points'
        yield fault("R-29", POINTS, says, value=sheet.raw(*POINTS), fix=fix, anchor=ORACLE)


def measurement_is_named(entry: Entry[str]) -> Faults:
    """R-30."""
    if blank(entry.value):
        says = "is blank"
        yield fault("R-30", entry.path, says, value=entry.value, fix="name it, or delete it")


def checks(sheet: Sheet) -> Listed[Sheet]:
    """Return the checks, each with the requirement it is for."""
    return sheet.tables(*CHECKS, name=REQUIREMENT)


def check_has_a_requirement(entry: Entry[Sheet]) -> Faults:
    """R-32."""
    wanted = entry.value.get(REQUIREMENT)
    if entry.sheet.has(*REQUIREMENTS, wanted):
        return
    declared = entry.sheet.keys(*REQUIREMENTS)
    near = entry.sheet.near(wanted, declared)
    hint = _declared(near, declared[: limits.VOCABULARY_SHOWN], len(declared))
    yield fault(
        "R-32",
        (*entry.path, "requirement"),
        f"names no requirement; {hint}",
        value=wanted,
        fix="name one of [requirements]",
        near=near,
    )


def check_can_be_read(entry: Entry[Sheet]) -> Faults:
    """R-33."""
    text = entry.value.get(CHECK)
    read = parse_check(text)
    if isinstance(read, Unparsable):
        yield fault(
            "R-33",
            (*entry.path, "check"),
            f"is no check: {read.reason}",
            value=text,
            label=called("requirement", entry),
            fix='write it like "errors <= 0"',
        )


def check_reads_a_measurement(entry: Entry[Sheet]) -> Faults:
    """R-34; a text that is no check reads nothing [M-5]."""
    text = entry.value.get(CHECK)
    read = parse_check(text)
    measurements = entry.sheet.words(*MEASUREMENTS)
    if not isinstance(read, Comparison) or measurements.has(read.name):
        return
    near = entry.sheet.near(read.name, measurements.names)
    name = brief(read.name)
    first = [entry.value for entry in measurements.entries[: limits.VOCABULARY_SHOWN]]
    hint = _declared(near, first, len(measurements.entries))
    yield fault(
        "R-34",
        (*entry.path, "check"),
        f'reads "{name}", which measurements does not list; {hint}',
        value=text,
        label=called("requirement", entry),
        fix="read a listed measurement, or list this one",
        near=near,
    )


def requirements_can_be_decided(sheet: Sheet) -> Faults:
    """R-35; an unparsable check still counts as a check [Q-7]."""
    if sheet.get(FLIP) is not FlipPolicy.NOT_APPLICABLE:
        return
    listed = checks(sheet)
    named = {entry.value.peek(REQUIREMENT) for entry in listed}
    # A check that did not decode may be the one that is looked for.
    if not listed.whole or None in named:
        return
    for key in sheet.keys(*REQUIREMENTS):
        if key not in named:
            says = 'has no check, and with flip = "not-applicable" nothing else could decide it'
            yield fault("R-35", (*REQUIREMENTS, key), says, fix="add a check for it")


def _declared(near: Iterable[str], first: Iterable[str], total: int) -> str:
    """Return the near words and the declared names, as many as a person reads [M-8]."""
    meant = " or ".join(brief(word) for word in near)
    hint = f"did you mean {meant}? " if meant else ""
    listed = ", ".join(brief(name) for name in first) or "nothing"
    more = total - limits.VOCABULARY_SHOWN
    return f"{hint}declared: {listed}{f' and {more} more' if more > 0 else ''}"


REQUIRED: Final[tuple[Rule, ...]] = (
    requirements_need_arbiter,
    arbiter_has_requirements,
    each_key(*REQUIREMENTS, rule=requirement_is_described),
)

DECIDING: Final[tuple[Rule, ...]] = (
    oracle_needs_arbiter,
    command_names_a_program,
    command_has_time,
    oracle_has_a_process,
    oracle_needs_after_turn,
    each(words(*MEASUREMENTS), measurement_is_named, listed_once("R-31")),
    each(checks, check_has_a_requirement, check_can_be_read, check_reads_a_measurement),
    requirements_can_be_decided,
)
