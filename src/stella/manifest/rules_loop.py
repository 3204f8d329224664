"""The load rules of the name and of `[loop]`: R-2 to R-14, R-18 to R-21, R-77 to R-80."""

from typing import Final

from stella.manifest.events import well_formed
from stella.manifest.fault import fault
from stella.manifest.loop import NOT_FOR_PLUGINS
from stella.manifest.loop import Power
from stella.manifest.rule import GRADE
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
from stella.wire.grade import Grade
from stella.wire.points import Call
from stella.wire.points import Hook

NAME: Final = Place(("name",), str, "")
MAX_CALLS: Final[Place[int | None]] = Place(("loop", "max_calls"), int, None)
MAX_FANOUT_WIDTH: Final[Place[int | None]] = Place(("loop", "max_fanout_width"), int, None)
MAX_HOLDS: Final[Place[int | None]] = Place(("loop", "max_holds"), int, None)

HOOKS: Final = ("loop", "hooks")
POINTS: Final = ("loop", "points")
CALLS: Final = ("loop", "calls")
EVENTS: Final = ("loop", "events")


def name_is_given(sheet: Sheet) -> Faults:
    """R-2."""
    name = sheet.get(NAME)
    if blank(name):
        says = "is blank, and a name is mandatory"
        yield fault("R-2", NAME.path, says, value=name, fix="write the plugin's name")


def hook_is_for_plugins(entry: Entry[str]) -> Faults:
    """R-4."""
    if entry.value in NOT_FOR_PLUGINS:
        says = "belongs outside turns, and no plugin receives it"
        yield fault("R-4", entry.path, says, value=entry.value, fix=f'delete "{entry.value}"')


def hooks_need_steering(sheet: Sheet) -> Faults:
    """R-5."""
    if sheet.words(*HOOKS).entries:
        yield from below(sheet, "R-5", Power.HOOKS, HOOKS, drop="hooks")


def points_need_steering(sheet: Sheet) -> Faults:
    """R-7."""
    if sheet.words(*POINTS).entries:
        yield from below(sheet, "R-7", Power.POINTS, POINTS, drop="points")


def calls_need_steering(sheet: Sheet) -> Faults:
    """R-9."""
    if sheet.words(*CALLS).entries:
        yield from below(sheet, "R-9", Power.CALLS, CALLS, drop="calls")


def calls_need_points(sheet: Sheet) -> Faults:
    """R-10."""
    if sheet.words(*CALLS).entries and sheet.words(*POINTS).empty:
        says = "needs points, because calls are made only while answering a point"
        fix = "add a point, or delete calls"
        yield fault("R-10", CALLS, says, value=sheet.raw(*CALLS), fix=fix)


def max_calls_bounds_calls(sheet: Sheet) -> Faults:
    """R-11."""
    most = sheet.get(MAX_CALLS)
    if most is not None and sheet.words(*CALLS).empty:
        says = "has nothing to bound, because calls lists nothing"
        yield fault("R-11", MAX_CALLS.path, says, value=most, fix="delete max_calls")


def max_calls_allows_some(sheet: Sheet) -> Faults:
    """R-12."""
    if sheet.get(MAX_CALLS) == 0:
        says = "would allow none of the calls"
        yield fault("R-12", MAX_CALLS.path, says, value=0, fix="delete the calls instead")


def width_bounds_fanout(sheet: Sheet) -> Faults:
    """R-13."""
    width = sheet.get(MAX_FANOUT_WIDTH)
    if width is not None and not sheet.words(*CALLS).has(Call.CANDIDATE_FANOUT.value):
        says = 'has nothing to bound, because calls does not list "candidate_fanout"'
        fix = 'add "candidate_fanout" to calls, or delete max_fanout_width'
        yield fault("R-13", MAX_FANOUT_WIDTH.path, says, value=width, fix=fix)


def width_allows_some(sheet: Sheet) -> Faults:
    """R-14."""
    if sheet.get(MAX_FANOUT_WIDTH) == 0:
        says = "would allow no attempt"
        fix = 'delete "candidate_fanout" instead'
        yield fault("R-14", MAX_FANOUT_WIDTH.path, says, value=0, fix=fix)


def stop_needs_arbiter(sheet: Sheet) -> Faults:
    """R-18."""
    if Hook.STOP.value in sheet.words(*HOOKS).names:
        yield from below(sheet, "R-18", Power.STOP, HOOKS, drop='"Stop"')


def arbiter_lists_stop(sheet: Sheet) -> Faults:
    """R-19."""
    if sheet.get(GRADE) is Grade.ARBITER and not sheet.words(*HOOKS).has(Hook.STOP.value):
        says = 'does not list "Stop", and a hook that is not listed is never called'
        yield fault("R-19", HOOKS, says, value=sheet.raw(*HOOKS), fix='add "Stop" to hooks')


def max_holds_needs_arbiter(sheet: Sheet) -> Faults:
    """R-20."""
    if sheet.get(MAX_HOLDS) is not None:
        yield from below(sheet, "R-20", Power.MAX_HOLDS, MAX_HOLDS.path, drop="max_holds")


def max_holds_allows_some(sheet: Sheet) -> Faults:
    """R-21."""
    if sheet.get(MAX_HOLDS) == 0:
        says = "contradicts the grade, which is the say over when a turn is finished"
        yield fault("R-21", MAX_HOLDS.path, says, value=0, fix="lower the grade instead")


def event_pattern_is_legal(entry: Entry[str]) -> Faults:
    """R-77."""
    if not well_formed(entry.value):
        says = (
            "is no event pattern; legal are *, a full event name, "
            "and the beginning of one followed by .*"
        )
        fix = "write one of the three forms"
        yield fault("R-77", entry.path, says, value=entry.value, fix=fix)


def events_need_observer(sheet: Sheet) -> Faults:
    """R-79."""
    if sheet.words(*EVENTS).entries:
        yield from below(sheet, "R-79", Power.EVENTS, EVENTS, drop="events")


def events_need_runtime(sheet: Sheet) -> Faults:
    """R-80."""
    if sheet.words(*EVENTS).entries and not sheet.has("runtime"):
        says = "needs [runtime], because without a process nothing can receive an event"
        fix = "add [runtime], or delete events"
        yield fault("R-80", EVENTS, says, value=sheet.raw(*EVENTS), fix=fix)


NAMING: Final[tuple[Rule, ...]] = (name_is_given,)

LISTS: Final[tuple[Rule, ...]] = (
    each(words(*HOOKS), listed_once("R-3"), hook_is_for_plugins),
    hooks_need_steering,
    each(words(*POINTS), listed_once("R-6")),
    points_need_steering,
    each(words(*CALLS), listed_once("R-8")),
    calls_need_steering,
    calls_need_points,
    max_calls_bounds_calls,
    max_calls_allows_some,
    width_bounds_fanout,
    width_allows_some,
)

COMPLETION: Final[tuple[Rule, ...]] = (
    stop_needs_arbiter,
    arbiter_lists_stop,
    max_holds_needs_arbiter,
    max_holds_allows_some,
    each(words(*EVENTS), event_pattern_is_legal, listed_once("R-78")),
    events_need_observer,
    events_need_runtime,
)
