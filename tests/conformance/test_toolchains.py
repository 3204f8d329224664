"""What the build says where a language has no tools: aloud here, a failure in integration."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.making.shipped import PLUGINS
from tests.making.shipped import SHIPPED
from tests.making.shipped import VERIFY_PY

TARGETS = [plugin.directory.name for plugin in SHIPPED if plugin is not VERIFY_PY]


def built(target: str, where: Path, **more: str) -> tuple[int, str]:
    """Return how `make TARGET` ends, and what it says, on a `PATH` that names only make."""
    make = shutil.which("make")
    assert make is not None
    (where / "make").symlink_to(make)
    done = subprocess.run(
        ["make", "--no-print-directory", "-C", PLUGINS.parent, target],
        env={"PATH": str(where), **more},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_a_language_without_tools_is_left_out_aloud(target: str, tmp_path: Path) -> None:
    code, said = built(target, tmp_path)
    assert code == 0
    assert said.startswith(f"=== SKIPPED: {target} is NOT BUILT and NOT TESTED: ")
    assert said.endswith("missing ===\n")


@pytest.mark.parametrize("target", TARGETS)
def test_in_integration_it_is_a_failure(target: str, tmp_path: Path) -> None:
    code, said = built(target, tmp_path, CI="true")
    assert code != 0
    assert f"{target} cannot be built: " in said
