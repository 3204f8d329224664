import re

from stella.manifest.codes import CODES
from tests.making.manifests import faults
from tests.making.manifests import manifest_vectors


def test_every_load_rule_has_a_code_of_its_own() -> None:
    """[R-1 to R-80, M-9]"""
    rules = [rule for rule in CODES if rule.startswith("R-")]
    assert rules == [f"R-{number}" for number in range(1, 81)]
    assert [rule for rule in CODES if rule not in rules] == ["M-20", "M-37", "M-52"]
    assert len(set(CODES.values())) == len(CODES)
    assert all(re.fullmatch(r"([A-Z][a-z]+)+", code) for code in CODES.values())


def test_every_rule_that_can_fire_while_loading_is_proved_by_a_vector() -> None:
    """[M-61]"""
    fired = {
        fault.rule
        for path in manifest_vectors("manifest/refused")
        for fault in faults(path.read_text("utf-8"))
    }
    assert fired == {rule for rule in CODES if rule.startswith("R-")} - {"R-36", "R-53"}
