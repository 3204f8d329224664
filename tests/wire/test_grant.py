import pytest

from stella import codec
from stella.wire.grant import HOST_TREE
from stella.wire.grant import CandidateGrant
from stella.wire.grant import TestBaseline


@pytest.mark.behaviour("W-21")
def test_a_grant_without_a_test_has_no_test_key() -> None:
    """[W-21]"""
    grant = CandidateGrant(handle=HOST_TREE, root="/w")
    assert codec.encode(grant) == b'{"handle":"host-tree","root":"/w"}'


def test_baselines_are_spelled_as_the_contract_spells_them() -> None:
    """[W-48]"""
    assert [word.value for word in TestBaseline] == ["not-run", "passed", "failed", "unobserved"]
