import json
from pathlib import Path

import pytest

import stella
from tests.making.commands import shell


def test_the_version_names_the_contracts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """[S-1, S-78]"""
    with shell(tmp_path, capsys) as here:
        said = here.stella("version")
        assert said.out.splitlines()[0] == f"stella {stella.__version__}"
        assert here.stella("--version") == said
        answer = json.loads(here.stella("version", "--json").out)
        assert answer == {"version": stella.__version__, "protocol": 1, "journal_schema": 1}
