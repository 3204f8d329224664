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
    """Name, words and schema for the model; grade and origin for the gate [A-4]."""

    name: str
    description: str
    input_schema: dict[str, Any]
    read_only: bool
    risk: Risk
    provenance: Provenance = Provenance.BUILTIN

    @property
    def trusted_read_only(self) -> bool:
        """Whether the call may run beside others and in read-only mode [A-5]."""
        return self.read_only and self.provenance is Provenance.BUILTIN
