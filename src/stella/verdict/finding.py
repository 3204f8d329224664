"""What judge says: a verdict, the clauses of a failure, the reason of an abstention [J-4, J-50].

Each arm of a union is a table with one key, which is its spelling in the journal; the
properties read through it. Nothing here decides anything.
"""

import msgspec

from stella.codec import U64
from stella.codec import Word
from stella.wire.evidence import Flip
from stella.wire.evidence import Provenance
from stella.wire.evidence import Tampered

# ── because: why a clause failed ──────────────────────────────────────────────────────


class ObservedFlip(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The flip that earned no credit."""

    observed: Flip


class NoFlip(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The required fail-to-pass change did not happen [J-9]."""

    no_flip: ObservedFlip


class Reported(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A check's text and the number that makes it false."""

    check: str
    reported: U64


class OverBudget(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A comparison is false [J-12]."""

    budget: Reported


Because = NoFlip | OverBudget | Tampered
"""Why a clause failed; a tampered artifact is carried as the evidence carries it."""


class Clause(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One known failure of one requirement; a requirement may have several [J-16]."""

    requirement: str
    statement: str
    because: Because


# ── reason: why nothing can be said ───────────────────────────────────────────────────


class Unknowable(Word):
    """A reason without data [J-50]."""

    NO_ORACLE = "no_oracle"
    FLIP_UNOBSERVABLE = "flip_unobservable"
    WITNESS_UNSATISFIABLE = "witness_unsatisfiable"
    TAMPER_UNCHECKED = "tamper_unchecked"


class Unchecked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A requirement that nothing could decide."""

    requirement: str


class Undecidable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Neither the flip nor a check speaks of the requirement [J-14]."""

    undecidable: Unchecked


class Unreported(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A requirement and the number its check reads."""

    requirement: str
    measurement: str


class MeasurementMissing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A check reads a number that was not reported [R-36, J-12, J-13]."""

    measurement_missing: Unreported


class Unread(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A requirement and how its check breaks the grammar."""

    requirement: str
    reason: str


class UnreadableCheck(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A check that cannot be read; only a rule built in code can hold one [J-12]."""

    unreadable_check: Unread


Reason = Unknowable | Undecidable | MeasurementMissing | UnreadableCheck
"""Why judge abstains [J-4]."""


# ── the verdict ───────────────────────────────────────────────────────────────────────


class Credited(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """On whose evidence a run is met."""

    evidence: Provenance


class Met(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Every requirement holds."""

    met: Credited

    @property
    def evidence(self) -> Provenance:
        """Return who observed the evidence the verdict rests on."""
        return self.met.evidence


class Failed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The clauses of a failure, in order of collection [J-71]."""

    unmet: tuple[Clause, ...]


class Unmet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """At least one clause failed."""

    unmet: Failed

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """Return every failed clause, never an empty tuple when judge made it."""
        return self.unmet.unmet


class Abstained(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first abstention [J-6]."""

    reason: Reason


class Undecided(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nothing failed and something is unknown."""

    undecided: Abstained

    @property
    def reason(self) -> Reason:
        """Return why nothing can be said."""
        return self.undecided.reason


Verdict = Met | Unmet | Undecided
"""What judge gives [J-4]."""


def undecided(reason: Reason) -> Undecided:
    """Return the verdict that abstains for `reason`."""
    return Undecided(undecided=Abstained(reason=reason))
