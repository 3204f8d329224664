import re

import pytest

from stella.manifest.codes import CODES
from stella.manifest.fault import Reason
from stella.manifest.plugin import PluginManifest
from stella.manifest.read import Loaded
from stella.manifest.read import Unloadable
from stella.manifest.read import examine
from tests.making.manifests import manifest_vectors


def test_every_load_rule_has_a_code_of_its_own() -> None:
    """[R-1 to R-80, M-9]"""
    rules = [rule for rule in CODES if rule.startswith("R-")]
    assert rules == [f"R-{number}" for number in range(1, 81)]
    assert [rule for rule in CODES if rule not in rules] == ["M-20", "M-37", "M-52"]
    assert len(set(CODES.values())) == len(CODES)
    assert all(re.fullmatch(r"([A-Z][a-z]+)+", code) for code in CODES.values())


def vectors(kind: str) -> list[Loaded | Unloadable]:
    return [examine(path.read_bytes()) for path in manifest_vectors(f"manifest/{kind}")]


@pytest.mark.behaviour("M-61")
def test_every_rule_that_can_fire_while_loading_is_proved_by_a_vector() -> None:
    """[M-61]"""
    refused = [found for found in vectors("refused") if isinstance(found, Unloadable)]
    fired = {fault.rule for found in refused for fault in found.faults}
    assert fired == {rule for rule in CODES if rule.startswith("R-")} - {"R-36", "R-53"}


@pytest.mark.behaviour("M-11")
def test_every_reason_of_a_decoding_fault_is_proved_by_a_vector() -> None:
    """[M-11]; a file above the limit is made where it is needed (tests/manifest/test_read.py)."""
    refused = [found for found in vectors("refused") if isinstance(found, Unloadable)]
    reasons = {fault.reason for found in refused for fault in found.faults} - {None}
    assert reasons == set(Reason) - {Reason.TOO_LARGE}


@pytest.mark.behaviour("M-9")
def test_every_warning_is_proved_by_a_vector_that_loads() -> None:
    """[M-9]"""
    loaded = [found for found in vectors("accepted") if isinstance(found, Loaded)]
    assert len(loaded) == len(vectors("accepted"))
    warned = {fault.rule for found in loaded for fault in found.warnings}
    assert warned == {rule for rule in CODES if not rule.startswith("R-")}


@pytest.mark.behaviour("M-13")
def test_every_block_is_proved_by_a_vector_that_loads() -> None:
    """[M-13]"""
    defaults = PluginManifest(name="")
    used = {
        field
        for found in vectors("accepted")
        if isinstance(found, Loaded)
        for field in PluginManifest.__struct_fields__
        if getattr(found.manifest, field) != getattr(defaults, field)
    }
    assert used == set(PluginManifest.__struct_fields__)
