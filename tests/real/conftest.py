"""One folder of fetched releases for all tests of a session."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that is empty when the session begins, so that each session fetches anew."""
    return tmp_path_factory.mktemp("releases")
