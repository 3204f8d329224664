import pytest

from stella.manifest.oracle import Check
from stella.manifest.oracle import Command
from stella.manifest.oracle import FlipPolicy
from stella.manifest.oracle import TamperPolicy
from tests.making.manifests import ARBITER
from tests.making.manifests import check
from tests.making.manifests import loaded


@pytest.mark.behaviour("M-23")
def test_an_oracle_is_read_with_its_checks_in_order() -> None:
    """[M-23]"""
    oracle = loaded(ARBITER + check("p50 <= 5") + check("p99 <= 9")).oracle
    assert oracle is not None
    assert oracle.flip is FlipPolicy.REQUIRED
    assert oracle.tamper is TamperPolicy.ARTIFACT_IDENTITY
    assert oracle.command is None
    assert oracle.measurements == ("p50", "p99")
    assert oracle.checks == (
        Check(requirement="fast", check="p50 <= 5"),
        Check(requirement="fast", check="p99 <= 9"),
    )


@pytest.mark.behaviour("M-28")
def test_a_command_of_its_own_is_read_and_its_arguments_are_not_judged() -> None:
    """[M-24, M-28]"""
    oracle = loaded(ARBITER + '[oracle.command]\nargv = ["x", ""]\ntimeout_secs = 5\n').oracle
    assert oracle is not None
    assert oracle.command == Command(argv=("x", ""), timeout_secs=5)
