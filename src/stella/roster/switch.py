"""Which plugins settings switch off, and for whom that holds [I-43]."""

from collections.abc import Iterator
from dataclasses import dataclass
from dataclasses import field
from typing import Final

from stella.roster.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Off:
    """The names that the person's settings and the project's switch off.

    `trusted` says whether the project has a say over the person's own plugins: a repository
    must not switch off a person's guard.
    """

    person: frozenset[str] = field(default_factory=frozenset)
    project: frozenset[str] = field(default_factory=frozenset)
    trusted: bool = False

    def holds(self, name: str, scope: Scope) -> bool:
        """Return whether the copy of a plugin in a scope is off; an off in any scope holds."""
        if name in self.person:
            return True
        return name in self.project and (self.trusted or scope is Scope.PROJECT)

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield each name in order with whose settings switch it off, for lists [I-60]."""
        for name in sorted(self.person | self.project):
            if name in self.person:
                yield name, "by the person's settings"
            elif self.trusted:
                yield name, "by the project's settings"
            else:
                yield name, "by the project's settings, for its own copy only"


NOTHING_OFF: Final = Off()
