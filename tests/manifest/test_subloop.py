import pytest

from stella.manifest.subloop import Role
from stella.manifest.subloop import Subloop
from tests.making.manifests import loaded
from tests.making.manifests import steering


@pytest.mark.behaviour("M-29", "M-30")
def test_stages_and_roles_are_free_text() -> None:
    """[M-29, M-30]"""
    manifest = loaded(
        steering('[subloop]\nstages = ["draft it", "execute"]\n[roles.critic]\ntier = "any word"\n')
    )
    assert manifest.subloop == Subloop(stages=("draft it", "execute"))
    assert manifest.roles == {"critic": Role(tier="any word")}
