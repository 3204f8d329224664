"""The `[wrapper]` table: the stages of a plugin's program and when each runs [M-35 to M-45]."""

import re
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from typing import assert_never

import msgspec

from stella import limits
from stella.codec import Word
from stella.escape import visible
from stella.manifest.grammar import Condition
from stella.manifest.grammar import Measure
from stella.manifest.grammar import Truth
from stella.manifest.grammar import parse_condition
from stella.wire.points import HOST_STAGES
from stella.wire.points import PUBLISHER
from stella.wire.points import Signal

BOUNDARY: Final = MappingProxyType(
    {
        "context_recall": "recall",
        "scope_review": "scope",
        "context_write": "contextwrite",
        "judge": "verdict",
        "verifier": "verdict",
    }
)
"""Spellings used elsewhere for host stages, and what a manifest writes instead [M-39]."""

EXECUTE: Final = "execute"
"""The one stage of a plugin without `[wrapper]` [M-36]."""

_FIRST: Final = re.compile(r"[a-z]")
_REST: Final = re.compile(r"[a-z0-9-]*")


class Stage(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One stage and the text of its condition, the key `if`; None runs always [M-35]."""

    name: str
    condition: str | None = msgspec.field(default=None, name="if")

    @property
    def contributed(self) -> bool:
        """Whether the stage is the plugin's own and no stage of the host [M-38, M-39]."""
        return self.name not in HOST_STAGES


class Wrapper(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The name a run is recorded under, and the stages in their order [M-35]."""

    id: str
    stages: tuple[Stage, ...]


def selectable(name: str) -> bool:
    """Return whether the selection flag can name an id: no comma, no white space [M-37]."""
    return "," not in name and not any(char.isspace() for char in name)


def malformed(name: str) -> str | None:
    """Return why a contributed stage's name is none, or None [M-39].

    Length, first character and the rest are looked at in this order; one reason is given.
    """
    if len(name.encode()) > limits.STAGE_NAME_BYTES:
        return f"it is longer than {limits.STAGE_NAME_BYTES} bytes"
    if not _FIRST.match(name):
        return "its first character is not a letter from a to z"
    if not _REST.fullmatch(name):
        return "it holds a character that is not a to z, 0 to 9 or -"
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A stage with its condition read, as a run sees it."""

    name: str
    condition: Condition | None = None

    def runs(self, values: Mapping[Signal, bool | int]) -> bool:
        """Return whether the stage runs under these signals, of which none is missing [D-20]."""
        return self.condition is None or self.condition.holds(values)


def program(stages: Iterable[Stage]) -> tuple[Step, ...]:
    """Return stages with their conditions read [M-43].

    Raises `ValueError` for a condition that is none, which a loaded manifest does not have.
    """
    return tuple(Step(name=stage.name, condition=_read(stage.condition)) for stage in stages)


def _read(text: str | None) -> Condition | None:
    if text is None:
        return None
    condition = parse_condition(text)
    if not isinstance(condition, Truth | Measure):
        message = f'"{visible(text)}" is no condition'
        raise ValueError(message)  # noqa: TRY004  # the text is wrong, not its type
    return condition


@dataclass(frozen=True, slots=True, kw_only=True)
class NotProduced:
    """A stage of a program built by hand reads a signal nothing has published [R-53]."""

    stage: str
    signal: Signal
    publisher: str


class Turnout(Word):
    """What became of the next stage of a program [D-27]."""

    RAN = "ran"
    SKIPPED = "skipped"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolver:
    """A program on its way: the steps that are left, and the stages that ran [D-27].

    It is a value: asking it gives another one and leaves it as it is.
    """

    left: tuple[Step, ...]
    ran: tuple[str, ...] = ()

    def advance(
        self, values: Mapping[Signal, bool | int]
    ) -> tuple[Turnout | NotProduced, "Resolver"]:
        """Return what becomes of the next stage under these signals, and the resolver behind it.

        Without a stage left, or when its signal was not published, it is this resolver [R-53].
        """
        if not self.left:
            return Turnout.DONE, self
        step, left = self.left[0], self.left[1:]
        if (missing := self._missing(step)) is not None:
            return missing, self
        if not step.runs(values):
            return Turnout.SKIPPED, Resolver(left=left, ran=self.ran)
        return Turnout.RAN, Resolver(left=left, ran=(*self.ran, step.name))

    def _missing(self, step: Step) -> NotProduced | None:
        if step.condition is None:
            return None
        signal = step.condition.signal
        publisher = PUBLISHER[signal]
        if publisher is None or publisher in self.ran:
            return None
        return NotProduced(stage=step.name, signal=signal, publisher=publisher)


def resolve(
    program: Iterable[Step], values: Mapping[Signal, bool | int]
) -> tuple[str, ...] | NotProduced:
    """Return the stages that run, in declared order [M-45].

    `values` has every signal. A program that loaded always resolves; one built by hand may
    read a signal whose publisher did not run before it, which is an answer of its own.
    """
    resolver = Resolver(left=tuple(program))
    while True:
        answer, resolver = resolver.advance(values)
        match answer:
            case NotProduced():
                return answer
            case Turnout.DONE:
                return resolver.ran
            case Turnout.RAN | Turnout.SKIPPED:
                continue
            case _:
                assert_never(answer)
