"""What the input of a script tool may name."""

from pathlib import Path

import pytest

from stella.session.spelled import spelled


@pytest.mark.behaviour("P-65.spelled")
def test_every_text_is_a_path_as_written_and_as_the_disk_has_it(tmp_path: Path) -> None:
    """[P-65, A-14] At any depth; outside the root only what is written."""
    root = tmp_path / "root"
    (root / "vault").mkdir(parents=True)
    (root / "alias").symlink_to("vault")
    given = {
        "a": ["alias/k", {"b": f"{root}/vault/k"}],
        "c": "../root/vault/k",
        "d": "/etc",
        "e": 3,
        "f": None,
        "g": "nul\0",
    }
    found = list(spelled(root, given))
    assert found.count("vault/k") == 3
    written = {"alias/k", f"{root}/vault/k", "../root/vault/k", "/etc", "nul\0"}
    assert set(found) == written | {"vault/k"}
    assert list(spelled(root, 3)) == []
