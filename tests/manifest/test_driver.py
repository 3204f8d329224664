import pytest

from stella.manifest.driver import FAMILIES
from stella.manifest.driver import Driver
from stella.wire.points import DriverVerb


@pytest.mark.behaviour("M-47")
def test_every_verb_is_of_exactly_one_family_in_its_order() -> None:
    """[M-47]"""
    driver = Driver(calls=tuple(DriverVerb))
    grouped = [verb for family in FAMILIES for verb in driver.of(family)]
    assert grouped == list(DriverVerb)


def test_verbs_of_a_family_stand_in_manifest_order() -> None:
    """[C-13]"""
    driver = Driver(calls=(DriverVerb.WORK_STATUS, DriverVerb.SWEEP_META, DriverVerb.WORK_START))
    assert driver.of("work") == (DriverVerb.WORK_STATUS, DriverVerb.WORK_START)
    assert driver.of("curate") == ()
