"""The text of a hold: which declared requirements are not met, and why [J-26 to J-32].

It depends on the clauses and the count of holds only. Nothing a plugin answered can enter
it: the only author text is what the person accepted at install [J-30].
"""

from collections.abc import Sequence
from typing import Final
from typing import assert_never

import msgspec

from stella.escape import visible
from stella.verdict.finding import Because
from stella.verdict.finding import Clause
from stella.verdict.finding import NoFlip
from stella.verdict.finding import OverBudget
from stella.wire.evidence import Tampered

LABEL: Final = "wrapper-verdict"
"""The label of the message, and with `## ` in front its heading [J-26, J-31]."""

OPENING: Final = "The turn ended, but these declared requirements are not met:"
LAST_HOLD: Final = (
    "This is the last hold: after the next turn the run ends with whatever verdict it has."
)


class Guidance(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A message for the next prelude: its label and its text [J-26]."""

    label: str
    text: str


def guidance(clauses: Sequence[Clause], holds_spent: int, allowed: int) -> Guidance:
    """Return the message of the hold that follows `holds_spent` earlier ones [J-27, J-29].

    One line, one line per clause, and on the last hold one more; no trailing newline.
    """
    lines = [OPENING, *map(_line, clauses)]
    if holds_spent + 1 == allowed:
        lines.append(LAST_HOLD)
    return Guidance(label=LABEL, text="\n".join(lines))


def _line(clause: Clause) -> str:
    reason = reason_text(clause.because)
    return f"- {visible(clause.requirement)}: {visible(clause.statement)} ({reason})"


def reason_text(because: Because) -> str:
    """Return why a clause failed as one line that is safe to show [J-28]."""
    match because:
        case NoFlip(no_flip=why):
            return f"the required fail-to-pass change was reported as {why.observed.value}"
        case OverBudget(budget=why):
            return f'check "{visible(why.check)}" is false, reported {why.reported}'
        case Tampered(tampered=why):
            artifact = visible(why.artifact)
            return f"{artifact} was changed during the run, so its result earns no credit"
        case _:
            assert_never(because)
