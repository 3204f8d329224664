"""What those who are asked about a tool call say of it, and whose word counts [A-8, A-32].

Deny outweighs a wish for a person's approval, and both outweigh allow, in whatever order they
were given. An allow removes nothing that another one said [A-33].
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from stella.codec import Word


class Contribution(Word):
    """What one source adds to a decision [A-8]; `none` stands in the trace and weighs nothing."""

    ALLOW = "allow"
    DENY = "deny"
    REQUIRE_APPROVAL = "require_approval"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """One source's word about one call [A-8].

    `cause` is from the closed list of A-51 and `sentence` is what the model is told, both for
    an opinion that can refuse the call.
    """

    rule: str
    source: str
    contribution: Contribution
    cause: str = ""
    sentence: str = ""


_STRONGEST_FIRST: Final = (Contribution.DENY, Contribution.REQUIRE_APPROVAL, Contribution.ALLOW)


def deciding(opinions: Iterable[Opinion]) -> Opinion | None:
    """Return the opinion that decides, None when nobody gave one [A-32].

    Among equal ones the last counts for allow, which nobody's "no objection" can earn [A-33],
    and the first for everything else.
    """
    given = tuple(opinions)
    for contribution in _STRONGEST_FIRST:
        equal = [each for each in given if each.contribution is contribution]
        if equal:
            return equal[-1] if contribution is Contribution.ALLOW else equal[0]
    return None
