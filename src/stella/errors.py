"""The errors Stella raises on purpose.

```
StellaError                     everything we raise on purpose
├── UsageError                  the command line asked for what cannot be; exit 2
│   ├── SettingsError           a settings file that must not be used [S2-4]; exit 2
│   └── TestCommandError        the test command cannot be read [G-4 to G-9]; exit 2
├── ShapeError(faults)          outside data had the wrong shape; every fault has a place
│   └── ManifestError           a plugin.toml that must not load
├── RosterError                 a plugin cannot be installed, found, used or removed
│   ├── NotInstalled · NameTaken · PackageRefused · NoTerminal
│   ├── NotAccepted             its bytes are not the ones a person accepted
│   ├── Untrusted               the workspace is not trusted, or cannot be
│   └── Unreadable              the system did not give a file that may be a good one
├── PipelineError               the selected plugins cannot run together
├── ModelError                  no model can be used
├── OutputError                 standard output refused what a command had to say
└── JournalError                the journal cannot be written or believed
    └── JournalDamaged          a record in it is not what it was
```

Expected ways to fail are values (`Silence`, `Ending`, `Unmet`), not errors.
"""

from collections.abc import Iterable
from typing import ClassVar
from typing import Protocol


class StellaError(Exception):
    """Everything Stella raises on purpose.

    `code` is the word machine formats carry [S-23]; `exit_code` is what a command ends
    with [S-10, I-70].
    """

    code: ClassVar[str] = "internal"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


class UsageError(StellaError):
    """The command line asked for what cannot be [S-2]."""

    code = "usage"
    exit_code = 2


class SettingsError(UsageError):
    """Settings that cannot be used; the message holds every fault of every file [S2-4]."""

    code = "settings"


class TestCommandError(UsageError):
    """A test command that cannot be read or resolved [G-4 to G-9]."""

    __test__: ClassVar[bool] = False
    code = "test_command"


class Placed(Protocol):
    """A fault of outside data: it prints as one line with its place first."""

    def __str__(self) -> str: ...


class ShapeError(StellaError):
    """Outside data had the wrong shape; `faults` holds every one, in order [M-4]."""

    code = "shape"

    def __init__(self, faults: Iterable[Placed]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(map(str, self.faults)))


class ManifestError(ShapeError):
    """A `plugin.toml` that must not load [M-3]."""

    code = "manifest"


class RosterError(StellaError):
    """A plugin cannot be installed, found, used or removed."""

    code = "roster"


class NotInstalled(RosterError):
    """No plugin of that name is installed [I-66]."""


class NameTaken(RosterError):
    """Another plugin in the tier bears the name [I-2]."""


class PackageRefused(RosterError):
    """The package's files break a rule [I-3 to I-8].

    `rule` is the id of the rule and `word` says which of its ways was broken [I-64].
    """

    def __init__(self, message: str, rule: str = "I-2", word: str = "PackageRefused") -> None:
        super().__init__(message)
        self.rule = rule
        self.word = word


class NoTerminal(RosterError):
    """A question had to be asked and there is no terminal to ask on [I-9]."""


class NotAccepted(RosterError):
    """The bytes of a plugin are not the ones a person accepted [I-30]."""

    code = "not_accepted"


class Untrusted(RosterError):
    """The workspace is not trusted, or cannot be [I-50, I-55]."""

    code = "trust"


class PipelineError(StellaError):
    """The selected plugins cannot run, alone or together [D-8, D-34, D-35]."""

    code = "pipeline"


class ModelError(StellaError):
    """No model can be used [M2-15]."""

    code = "no_model"


class OutputError(StellaError):
    """What a command had to say on standard output was refused, by a full disk for instance."""

    code = "output"


class JournalError(StellaError):
    """The journal cannot be written [J2-4, J2-34]."""

    code = "journal"


class JournalDamaged(JournalError):
    """A record of the journal is not what it was [J2-33]."""
