import pytest

from stella import codec
from stella.wire.evidence import Artifact
from stella.wire.evidence import EvidenceSet
from stella.wire.evidence import Flip
from stella.wire.evidence import ObservedEvidence
from stella.wire.evidence import Provenance
from stella.wire.evidence import Tamper
from stella.wire.evidence import Tampered
from stella.wire.evidence import TamperState
from stella.wire.evidence import gathered

TAMPERED = Tampered(tampered=Artifact(artifact="tests/t.py"))


@pytest.mark.behaviour("D-42")
def test_the_hosts_finding_is_attached_to_what_the_plugin_saw() -> None:
    """[D-42]"""
    seen = ObservedEvidence(flip=Flip.ACHIEVED, measurements={"x": 1})
    evidence = gathered(seen, TAMPERED)
    assert evidence.provenance is Provenance.PLUGIN_REPORTED
    assert (evidence.flip, evidence.tamper, evidence.measurements) == (
        Flip.ACHIEVED,
        TAMPERED,
        {"x": 1},
    )


@pytest.mark.behaviour("D-41")
def test_when_nobody_answered_nothing_was_observed() -> None:
    """[D-41]"""
    evidence = gathered(None, TamperState.CLEAN)
    assert evidence == EvidenceSet(
        provenance=Provenance.HOST_OBSERVED, flip=Flip.UNOBSERVABLE, tamper=TamperState.CLEAN
    )


@pytest.mark.behaviour("J-50")
@pytest.mark.parametrize(
    ("tamper", "text"),
    [
        (TamperState.CLEAN, b'"clean"'),
        (TamperState.NOT_CHECKED, b'"not-checked"'),
        (TAMPERED, b'{"tampered":{"artifact":"tests/t.py"}}'),
    ],
)
@pytest.mark.behaviour("W-55")
def test_a_finding_has_one_json_form(tamper: Tamper, text: bytes) -> None:
    """[J-50]"""
    assert codec.encode(tamper) == text
    evidence = gathered(None, tamper)
    assert codec.read(EvidenceSet, codec.encode(evidence)) == evidence
