"""What a package ships and sets: `[[tools]]`, `[[skills]]`, `[[records]]`, `[[configure]]` [M-53].

The declaration only; the files are reconciled with it when the package is installed.
"""

from typing import Final

import msgspec

from stella.codec import Word


class Enforcement(Word):
    """What a record asks to be; only a repository can make one blocking [M-53, R-69]."""

    ADVISORY = "advisory"
    BLOCKING = "blocking"


class ShippedTool(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A program the model may start [M-53]."""

    name: str
    description: str


class ShippedSkill(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text that joins a prompt when it matches [M-53]."""

    slug: str
    description: str


class ShippedRecord(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """A statement that steers matching turns [M-53]."""

    lineage: str
    statement: str
    enforcement: Enforcement = Enforcement.ADVISORY


class Configure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One setting the package asks to have set, and why [M-55].

    `value` is a string, an integer, a fraction, a boolean, a date or time, or a flat tuple of
    these; R-75 refuses everything else before a value is made.
    """

    key: str
    value: object
    purpose: str

    def __post_init__(self) -> None:
        """Hold a list as a tuple, as everywhere: a declaration does not change."""
        if isinstance(self.value, list):
            msgspec.structs.force_setattr(self, "value", tuple(self.value))


_COSTS: Final = "what is spent, and on which models"
_RECORDS: Final = "the system prompt, gates, records and served access"
_TOOLS: Final = "what tool calls may do and where"

CLOSED_SECTIONS: Final = {
    "providers": "endpoints and credentials",
    "authority": "the ceiling on what may steer",
    "hooks": "arbitrary commands on events",
    "plugins": "the switch that turns plugins on and off",
    "mcp": "external tool servers",
    "meta": "schema and scope of the file itself",
    "pipeline": "which pipelines run, tiers, and how many holds the person pays for",
    "permissions": _TOOLS,
    "workspace": _TOOLS,
    "budget": _COSTS,
    "prices": _COSTS,
    "tiers": _COSTS,
    "model": _COSTS,
    "agent": _RECORDS,
    "engine": _RECORDS,
    "detect": _RECORDS,
    "redaction": _RECORDS,
    "reward": _RECORDS,
    "serve": _RECORDS,
}
"""Sections no package may set, each with what it governs [M-56]."""
