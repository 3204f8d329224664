"""The `[oracle]` table: what a plugin says decides whether a turn is done [M-23].

The host applies the checks to what the plugin reports. It starts no oracle process of its
own; `command` is shown in consent and nothing more [M-24].
"""

import msgspec

from stella.codec import U64
from stella.codec import Word


class FlipPolicy(Word):
    """Whether a fail-to-pass change is part of done [M-23]."""

    REQUIRED = "required"
    NOT_APPLICABLE = "not-applicable"


class TamperPolicy(Word):
    """How tampering is looked for; the check is the host's own [M-23]."""

    ARTIFACT_IDENTITY = "artifact-identity"


class Command(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A process of its own the plugin says it decides with; `timeout_secs` in seconds [M-23]."""

    argv: tuple[str, ...]
    timeout_secs: U64


class Check(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One comparison, as its author wrote it, for one requirement [M-23, M-26]."""

    requirement: str
    check: str


class Oracle(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """The flip policy, the numbers the plugin may report, the checks in manifest order [M-23]."""

    flip: FlipPolicy
    tamper: TamperPolicy = TamperPolicy.ARTIFACT_IDENTITY
    command: Command | None = None
    measurements: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
