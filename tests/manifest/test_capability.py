import pytest

from stella.authority.risk import Risk
from stella.manifest.capability import Capability


@pytest.mark.behaviour("M-50")
@pytest.mark.parametrize("risk", list(Risk))
def test_a_known_grade_reads_as_itself(risk: Risk) -> None:
    """[M-50]"""
    capability = Capability(tool="t", risk=risk.value, purpose="p")
    assert capability.grade is risk
    assert capability.graded


@pytest.mark.parametrize("token", ["catastrophic", "High", "", "high "])
def test_any_other_word_reads_as_destructive(token: str) -> None:
    """[M-52, K-24]"""
    capability = Capability(tool="t", risk=token, purpose="p")
    assert capability.grade is Risk.DESTRUCTIVE
    assert not capability.graded
