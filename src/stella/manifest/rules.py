"""Every load rule in the order of section 17 [M-62]."""

from typing import Final

from stella.manifest.rule import Faults
from stella.manifest.rule import Rule
from stella.manifest.rule import applied
from stella.manifest.rules_driver import DRIVING
from stella.manifest.rules_loop import COMPLETION
from stella.manifest.rules_loop import LISTS
from stella.manifest.rules_loop import NAMING
from stella.manifest.rules_oracle import DECIDING
from stella.manifest.rules_oracle import REQUIRED
from stella.manifest.rules_package import CONTENT
from stella.manifest.rules_package import REACH
from stella.manifest.rules_package import SETTINGS
from stella.manifest.rules_runtime import RUNNING
from stella.manifest.rules_stages import PROGRAM
from stella.manifest.rules_stages import SEATS
from stella.manifest.rules_stages import SPENDING
from stella.manifest.sheet import Sheet

ORDER: Final[tuple[Rule, ...]] = (
    *NAMING,  # 1
    *LISTS,  # 2 to 5
    *DRIVING,  # 6
    *COMPLETION,  # 7 and 8
    *REQUIRED,  # 9
    *DECIDING,  # 10
    *SPENDING,  # 11
    *PROGRAM,  # 12
    *RUNNING,  # 13
    *SEATS,  # 14
    *REACH,  # 15
    *CONTENT,  # 16
    *SETTINGS,  # 17
)
"""The rules by step of section 17; R-36 and R-53 never fire while loading [M-61]."""


def broken_rules(sheet: Sheet) -> Faults:
    """Yield what breaks a load rule, in order; rules that cannot know say nothing [M-5]."""
    for rule in ORDER:
        yield from applied(rule, sheet)
