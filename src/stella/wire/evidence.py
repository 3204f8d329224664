"""What was observed: by the plugin, and by the host beside it [W-26, J-4, J-50].

A plugin reports a flip and numbers. The tamper finding is the host's and is attached
after decoding; no message can carry one [W-27, D-42].
"""

import msgspec

from stella.codec import U64
from stella.codec import Word


class Flip(Word):
    """What became of the fail-to-pass change [W-48]."""

    NOT_ATTEMPTED = "not-attempted"
    ACHIEVED = "achieved"
    NOT_ACHIEVED = "not-achieved"
    UNSATISFIABLE = "unsatisfiable"
    UNOBSERVABLE = "unobservable"


class Provenance(Word):
    """Who observed the evidence [J-4, D-41]."""

    PLUGIN_REPORTED = "plugin-reported"
    HOST_OBSERVED = "host-observed"


class TamperState(Word):
    """A tamper finding without an artifact [J-50]."""

    CLEAN = "clean"
    NOT_CHECKED = "not-checked"


class Artifact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first changed artifact, as a path relative to the root [J-51]."""

    artifact: str


class Tampered(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A watched artifact changed during the run [G-40, J-50]."""

    tampered: Artifact


Tamper = TamperState | Tampered
"""The host's finding about the watched artifacts [G-40]."""


class ObservedEvidence(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What a plugin says it saw. There is no tamper key and no verdict key [W-26, W-27]."""

    flip: Flip
    measurements: dict[str, U64] = {}


class EvidenceSet(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """All that judge may look at, whoever observed it [J-4, J-50]."""

    provenance: Provenance
    flip: Flip
    tamper: Tamper
    measurements: dict[str, U64] = {}


def gathered(observed: ObservedEvidence | None, tamper: Tamper) -> EvidenceSet:
    """Return the evidence of a round: theirs with our finding attached [D-41, D-42].

    None means that nobody whose answer counts has answered.
    """
    if observed is None:
        return EvidenceSet(
            provenance=Provenance.HOST_OBSERVED, flip=Flip.UNOBSERVABLE, tamper=tamper
        )
    return EvidenceSet(
        provenance=Provenance.PLUGIN_REPORTED,
        flip=observed.flip,
        tamper=tamper,
        measurements=observed.measurements,
    )
