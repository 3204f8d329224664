"""The `[[capabilities]]` tables: what a plugin says it will reach [M-49].

A declaration for the person to read. The gate does not check it.
"""

import msgspec

from stella.authority.risk import Risk
from stella.authority.risk import risk_of


class Capability(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A tool, how bad its use can be, why it is needed, and the author's limits [M-49].

    `risk` is the word as written; `grade` is how it reads.
    """

    tool: str
    risk: str
    purpose: str
    scope: tuple[str, ...] = ()

    @property
    def grade(self) -> Risk:
        """The grade of `risk`; a word that is none reads as destructive [M-52]."""
        return risk_of(self.risk) or Risk.DESTRUCTIVE

    @property
    def graded(self) -> bool:
        """Whether `risk` is a word of the vocabulary [M-50]."""
        return risk_of(self.risk) is not None
