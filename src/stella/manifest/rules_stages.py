"""The load rules of `[subloop]`, `[wrapper]` and `[roles]`: R-37 to R-52, R-61, R-62."""

from typing import Final

from stella.escape import brief
from stella.manifest.fault import fault
from stella.manifest.grammar import Kind
from stella.manifest.grammar import UnknownSignal
from stella.manifest.grammar import Unparsable
from stella.manifest.grammar import WrongKind
from stella.manifest.grammar import kind_of
from stella.manifest.grammar import parse_condition
from stella.manifest.loop import Power
from stella.manifest.rule import Faults
from stella.manifest.rule import Rule
from stella.manifest.rule import applied
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
from stella.manifest.sheet import Unestablished
from stella.manifest.stages import BOUNDARY
from stella.manifest.stages import malformed
from stella.wire.points import HOST_STAGES
from stella.wire.points import PUBLISHER
from stella.wire.points import Signal

SUBLOOP: Final = ("subloop",)
STEPS: Final = ("subloop", "stages")
WRAPPER: Final = ("wrapper",)
STAGES: Final = ("wrapper", "stages")
ROLES: Final = ("roles",)
ID: Final = Place(("wrapper", "id"), str, "")
NAME: Final = Place(("name",), str, "")
CONDITION: Final[Place[str | None]] = Place(("if",), str, None)

_SIGNALS: Final = tuple(signal.value for signal in Signal)
_KINDS: Final = {Kind.BOOLEAN: "true or false", Kind.COUNT: "a count"}


def subloop_needs_steering(sheet: Sheet) -> Faults:
    """R-37."""
    if sheet.has(*SUBLOOP):
        yield from below(sheet, "R-37", Power.SUBLOOP, SUBLOOP, drop="[subloop]")


def subloop_has_stages(sheet: Sheet) -> Faults:
    """R-38."""
    if sheet.has(*SUBLOOP) and sheet.words(*STEPS).empty:
        says = "is empty, and a subloop has at least one stage"
        yield fault("R-38", STEPS, says, value=[], fix="add a stage, or delete [subloop]")


def step_is_named(entry: Entry[str]) -> Faults:
    """R-39."""
    if blank(entry.value):
        fix = "name the stage, or delete it"
        yield fault("R-39", entry.path, "is blank", value=entry.value, fix=fix)


def wrapper_needs_steering(sheet: Sheet) -> Faults:
    """R-41."""
    if sheet.has(*WRAPPER):
        yield from below(sheet, "R-41", Power.WRAPPER, WRAPPER, drop="[wrapper]")


def wrapper_has_an_id(sheet: Sheet) -> Faults:
    """R-42."""
    if sheet.has(*WRAPPER) and blank(sheet.get(ID)):
        says = "is blank, and it is the value recorded on each run"
        yield fault("R-42", ID.path, says, value=sheet.get(ID), fix="write an id")


def stages(sheet: Sheet) -> Listed[Sheet]:
    """Return the stages of the wrapper, each called by its name."""
    return sheet.tables(*STAGES, name=NAME)


def wrapper_has_stages(sheet: Sheet) -> Faults:
    """R-43."""
    if sheet.has(*WRAPPER) and stages(sheet).empty:
        says = "is empty, and a wrapper has at least one stage"
        yield fault("R-43", STAGES, says, value=[], fix="add a stage, or delete [wrapper]")


def stage_is_named(entry: Entry[Sheet]) -> Faults:
    """R-44."""
    name = entry.value.get(NAME)
    if blank(name):
        yield fault("R-44", (*entry.path, "name"), "is blank", value=name, fix="name the stage")


def stage_shadows_no_boundary(entry: Entry[Sheet]) -> Faults:
    """R-45."""
    name = entry.value.get(NAME)
    if host := BOUNDARY.get(name):
        says = f'is written "{host}" in a manifest'
        yield fault("R-45", (*entry.path, "name"), says, value=name, fix=f'write "{host}"')


def stage_is_well_formed(entry: Entry[Sheet]) -> Faults:
    """R-46; host stages and the spellings of R-45 are no contributed stages [M-39]."""
    name = entry.value.get(NAME)
    if blank(name) or name in HOST_STAGES or name in BOUNDARY:
        return
    if reason := malformed(name):
        meant = entry.sheet.meant(name, HOST_STAGES)
        hint = f"; did you mean {' or '.join(meant)}?" if meant else ""
        says = f"is no stage name: {reason}{hint}"
        fix = "write a host stage, or a short name of a to z, 0 to 9 and -"
        yield fault("R-46", (*entry.path, "name"), says, value=name, fix=fix, near=meant)


def stage_stands_once(entry: Entry[Sheet]) -> Faults:
    """R-47."""
    if entry.repeated:
        name = entry.value.get(NAME)
        fix = "delete one of the two"
        yield fault("R-47", (*entry.path, "name"), "is listed already", value=name, fix=fix)


def condition_can_be_read(entry: Entry[Sheet]) -> Faults:
    """R-48, R-49 and R-50: a text is wrong in one of the three ways."""
    text = entry.value.get(CONDITION)
    if text is None:
        return
    path, label = (*entry.path, "if"), called("stage", entry)
    match parse_condition(text):
        case Unparsable(reason=reason):
            says, fix = f"is no condition: {reason}", 'write it like "plans" or "questions > 0"'
            yield fault("R-48", path, says, value=text, label=label, fix=fix)
        case UnknownSignal(name=name):
            meant = entry.sheet.meant(name, _SIGNALS)
            hint = f"did you mean {' or '.join(meant)}? " if meant else ""
            says = f'names no signal: "{brief(name)}"; {hint}signals: {", ".join(_SIGNALS)}'
            fix = "name one of the signals"
            yield fault("R-49", path, says, value=text, label=label, fix=fix, near=meant)
        case WrongKind(signal=signal, used=used):
            kind = _KINDS[kind_of(signal)]
            says = f"uses {signal.value} as {_KINDS[used]}, and it is {kind}"
            fix = "compare a count with a number, and name a boolean alone"
            yield fault("R-50", path, says, value=text, label=label, fix=fix)
        case _:
            return


class _Earlier:
    """What stands before a stage: publishers that run, those that may not, and gaps [M-44]."""

    def __init__(self) -> None:
        self.passed = 0
        self.certain: set[str] = set()
        self.skippable: set[str] = set()
        self.unclear = False

    def add(self, entry: Entry[Sheet]) -> None:
        """Let a stage stand before those that follow."""
        self.unclear = self.unclear or entry.number > self.passed + 1
        self.passed = entry.number
        try:
            name, conditional = entry.value.get(NAME), entry.value.has("if")
        except Unestablished:
            self.unclear = True
            return
        (self.skippable if conditional else self.certain).add(name)

    def reads(self, entry: Entry[Sheet]) -> Faults:
        """R-52 and R-51 for one stage; a condition that is none is not tested [Q-7]."""
        text = entry.value.get(CONDITION)
        condition = None if text is None else parse_condition(text)
        if condition is None or isinstance(condition, Unparsable | UnknownSignal | WrongKind):
            return
        signal = condition.signal.value
        publisher = PUBLISHER[condition.signal]
        if publisher is None or publisher in self.certain:
            return
        path, label = (*entry.path, "if"), called("stage", entry)
        if publisher in self.skippable:
            says = f"reads {signal}, and {publisher}, which publishes it, has a condition itself"
            fix = f"remove the condition of {publisher}, or do not read {signal}"
            yield fault("R-52", path, says, value=text, label=label, fix=fix)
            return
        # A stage before this one whose name did not decode may be the publisher.
        if self.unclear or entry.number > self.passed + 1:
            raise Unestablished
        says = f"reads {signal}, and {publisher}, which publishes it, does not stand earlier"
        fix = f"move the stage behind {publisher}, or add {publisher} before it"
        yield fault("R-51", path, says, value=text, label=label, fix=fix)


def stages_in_order(sheet: Sheet) -> Faults:
    """R-44 to R-52, stage by stage: name, duplicate, condition text, graph [M-44]."""
    earlier = _Earlier()
    for entry in stages(sheet):
        for rule in (
            stage_is_named,
            stage_shadows_no_boundary,
            stage_is_well_formed,
            stage_stands_once,
            condition_can_be_read,
            earlier.reads,
        ):
            yield from applied(rule, entry)
        earlier.add(entry)


def roles_need_subloop(sheet: Sheet) -> Faults:
    """R-61."""
    if sheet.keys(*ROLES) and not sheet.has(*SUBLOOP):
        says = "needs [subloop], whose model calls the roles are for"
        yield fault("R-61", ROLES, says, fix="add [subloop], or delete the roles")


def role_has_a_tier(sheet: Sheet, key: str) -> Faults:
    """R-62."""
    place = Place((*ROLES, key, "tier"), str, "")
    tier = sheet.get(place)
    if blank(tier):
        says = "is blank"
        yield fault("R-62", place.path, says, value=tier, fix="name the tier of the role")


SPENDING: Final[tuple[Rule, ...]] = (
    subloop_needs_steering,
    subloop_has_stages,
    each(words(*STEPS), step_is_named, listed_once("R-40")),
)

PROGRAM: Final[tuple[Rule, ...]] = (
    wrapper_needs_steering,
    wrapper_has_an_id,
    wrapper_has_stages,
    stages_in_order,
)

SEATS: Final[tuple[Rule, ...]] = (
    roles_need_subloop,
    each_key(*ROLES, rule=role_has_a_tier),
)
