from pathlib import Path

import pytest

from stella.manifest.plugin import PluginManifest
from stella.manifest.stages import Stage
from stella.wire.grade import Grade
from tests.making.manifests import loaded
from tests.making.manifests import manifest_vectors
from tests.making.manifests import steering
from tests.making.manifests import wrapper


def test_the_smallest_manifest_has_no_grade_no_point_and_no_process() -> None:
    """[M-66, K-1]"""
    assert loaded('name = "notes"') == PluginManifest(name="notes")
    assert PluginManifest(name="notes").loop.participation is Grade.NONE


@pytest.mark.behaviour("M-36")
def test_without_a_wrapper_a_plugin_is_one_stage_under_its_own_name() -> None:
    """[M-36]"""
    manifest = loaded(steering(""))
    assert manifest.pipeline == "probe"
    assert manifest.stages == (Stage(name="execute"),)


@pytest.mark.behaviour("M-35")
def test_with_a_wrapper_its_id_and_stages_count() -> None:
    """[M-35]"""
    manifest = loaded(wrapper(("triage", None), ("plan", "plans")))
    assert manifest.pipeline == "w"
    assert manifest.stages == (Stage(name="triage"), Stage(name="plan", condition="plans"))


@pytest.mark.behaviour("M-48")
@pytest.mark.parametrize("path", manifest_vectors("manifest/accepted"), ids=lambda path: path.stem)
def test_absent_and_present_but_empty_differ_for_the_driver_alone(path: Path) -> None:
    """[M-13, M-48, K-25]"""
    text = path.read_text("utf-8")
    assert (loaded(text).driver is None) is ("[driver]" not in text)
