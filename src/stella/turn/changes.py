"""Which files a turn changed, from what was measured around each call [T2-55]."""

from dataclasses import dataclass
from dataclasses import field

from stella.turn.questions import Change


@dataclass(slots=True)
class ChangeBook:
    """Adds up measured changes; a file that is back to its first content drops out.

    `lines` are lines added plus lines removed; `counted` is false when some could not be.
    """

    first: dict[str, str | None] = field(default_factory=dict)
    last: dict[str, str | None] = field(default_factory=dict)
    measured: bool = True
    actions: int = 0
    lines: int = 0
    counted: bool = True

    def add(self, changes: tuple[Change, ...] | None) -> None:
        """Note the changes of one call; None means that they could not be measured [T2-53]."""
        if changes is None:
            self.measured = False
            return
        self.actions += bool(changes)
        for change in changes:
            self.first.setdefault(change.path, change.before)
            self.last[change.path] = change.after
            if change.added is None or change.removed is None:
                self.counted = False
            else:
                self.lines += change.added + change.removed

    def absorb(self, later: "ChangeBook") -> None:
        """Add a later turn's book to the book of the run."""
        self.measured = self.measured and later.measured
        self.actions += later.actions
        self.lines += later.lines
        self.counted = self.counted and later.counted
        for path, digest in later.first.items():
            self.first.setdefault(path, digest)
            self.last[path] = later.last[path]

    @property
    def paths(self) -> tuple[str, ...] | None:
        """The changed paths in first-seen order, or None when unmeasured [W-19]."""
        if not self.measured:
            return None
        return tuple(path for path, digest in self.first.items() if self.last[path] != digest)

    @property
    def restored(self) -> tuple[str, ...]:
        """The paths that changed and are back to their first content."""
        return tuple(path for path, digest in self.first.items() if self.last[path] == digest)
