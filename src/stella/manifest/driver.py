"""The `[driver]` table: work a plugin asks for from outside turns [M-47].

The table loads and is shown; this release serves no channel for it [M-48].
"""

from typing import Final

import msgspec

from stella.codec import U32
from stella.wire.points import DriverVerb

FAMILIES: Final = ("backlog", "work", "deliver", "sweep", "curate")
"""The families of verbs in their order; a verb begins with its family's name [M-47]."""


class Driver(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The verbs asked for and how many requests; an empty table asks for nothing [M-48]."""

    calls: tuple[DriverVerb, ...] = ()
    max_calls: U32 | None = None

    def of(self, family: str) -> tuple[DriverVerb, ...]:
        """Return the listed verbs of one family, in manifest order."""
        return tuple(verb for verb in self.calls if verb.value.startswith(f"{family}_"))
