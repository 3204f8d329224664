"""What a tool promises about itself [A-3 to A-5]."""

from dataclasses import dataclass
from typing import Any

from stella.authority.risk import Risk
from stella.codec import Word


class Provenance(Word):
    """Where a tool comes from; what is unknown reads as declared [A-3]."""

    BUILTIN = "builtin"
    DECLARED = "declared"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContract:
    """Name, words and schema for the model; grade and origin for the gate [A-4].

    `plugin` is whose tool it is, None for the host's and the person's own; its calls are that
    plugin's [A-41, P-20]. `ceiling` is the worst grade its declaration covers.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    read_only: bool
    risk: Risk
    provenance: Provenance = Provenance.BUILTIN
    origin: str = Provenance.BUILTIN.value
    plugin: str | None = None
    ceiling: Risk = Risk.DESTRUCTIVE

    @property
    def trusted_read_only(self) -> bool:
        """Whether the call may run beside others and in read-only mode [A-5]."""
        return self.read_only and self.provenance is Provenance.BUILTIN
