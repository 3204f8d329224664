import pytest

from stella.authority.contract import Provenance
from stella.authority.contract import ToolContract
from stella.authority.risk import Risk


@pytest.mark.parametrize(
    ("read_only", "provenance", "trusted"),
    [
        (True, Provenance.BUILTIN, True),
        (True, Provenance.DECLARED, False),
        (False, Provenance.BUILTIN, False),
    ],
)
def test_only_a_builtin_read_is_trusted(
    read_only: bool,
    provenance: Provenance,
    trusted: bool,
) -> None:
    """[A-5]"""
    contract = ToolContract(
        name="x",
        description="",
        input_schema={},
        read_only=read_only,
        risk=Risk.LOW,
        provenance=provenance,
    )
    assert contract.trusted_read_only is trusted
