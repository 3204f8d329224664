"""How load rules are written and run [M-5, M-62].

A rule is a function from a sheet, or from one entry of a list, to the faults it finds. The
order in which rules run is a tuple of them; a rule that meets a value which did not decode
says nothing.
"""

from collections.abc import Callable
from collections.abc import Iterator
from functools import partial
from typing import Final
from typing import Protocol
from typing import TypeVar

from stella.escape import brief
from stella.manifest.fault import ManifestFault
from stella.manifest.fault import fault
from stella.manifest.loop import Power
from stella.manifest.loop import grades_with
from stella.manifest.loop import may
from stella.manifest.sheet import Entry
from stella.manifest.sheet import Listed
from stella.manifest.sheet import Place
from stella.manifest.sheet import Sheet
from stella.manifest.sheet import Unestablished
from stella.wire.grade import Grade

S = TypeVar("S")
T = TypeVar("T")

Faults = Iterator[ManifestFault]
Rule = Callable[[Sheet], Faults]


class KeyRule(Protocol):
    """A rule about one key of a table whose keys its author chose."""

    def __call__(self, sheet: Sheet, key: str) -> Faults:
        """Yield what is wrong with the key."""


GRADE: Final = Place(("loop", "participation"), Grade, Grade.NONE)


def applied(rule: Callable[[S], Faults], subject: S) -> Faults:
    """Yield what a rule finds, up to the first value that did not decode [M-5]."""
    try:
        yield from rule(subject)
    except Unestablished:
        return


def each(entries: Callable[[Sheet], Listed[T]], *rules: Callable[[Entry[T]], Faults]) -> Rule:
    """Return the rule that takes a list entry by entry, each through all of `rules` [M-62]."""

    def run(sheet: Sheet) -> Faults:
        for entry in entries(sheet):
            for rule in rules:
                yield from applied(rule, entry)

    return run


def each_key(*path: str, rule: KeyRule) -> Rule:
    """Return the rule that takes a table key by key, in byte order [M-62]."""

    def run(sheet: Sheet) -> Faults:
        for key in sheet.keys(*path):
            yield from applied(partial(rule, key=key), sheet)

    return run


def words(*path: str) -> Callable[[Sheet], Listed[str]]:
    """Return the reader of a list of strings."""
    return lambda sheet: sheet.words(*path)


def listed_once(rule: str) -> Callable[[Entry[str]], Faults]:
    """Return the rule that a word stands in its list once."""

    def check(entry: Entry[str]) -> Faults:
        if entry.repeated:
            says = "is listed twice"
            yield fault(rule, entry.path, says, value=entry.value, fix="delete one of the two")

    return check


def below(sheet: Sheet, rule: str, power: Power, path: tuple[str, ...], *, drop: str) -> Faults:
    """Yield the fault of asking for a power the declared grade does not hold [M-59].

    `path` is where the manifest asks for it, `drop` what to delete instead of raising it.
    """
    grade = sheet.get(GRADE)
    if may(grade, power):
        return
    asked = sheet.raw(*path)
    needed = " or ".join(f'"{each.value}"' for each in grades_with(power))
    yield fault(
        rule,
        path,
        f'needs participation {needed}, but the manifest says "{grade.value}"',
        value=None if isinstance(asked, dict) else asked,
        fix=f"raise participation, or delete {drop}",
    )


def blank(text: str) -> bool:
    """Return whether a text holds nothing but white space."""
    return not text.strip()


def called(kind: str, entry: Entry[Sheet]) -> str:
    """Return what an entry is called, `tool "bash"`; nothing when its name is blank."""
    return f'{kind} "{brief(entry.name)}"' if entry.name else ""
