from pathlib import Path

import pytest

from stella import limits
from stella.authority.gate import Mode
from stella.session.options import Options
from stella.session.options import Pipeline
from stella.turn.seats import TIERS


@pytest.mark.behaviour("J-5")
def test_what_nobody_set_is_the_default() -> None:
    """[D-45, D-50, G-11, E-80]"""
    options = Options(
        workspace=Path("/w"),
        home=Path("/h"),
        cwd=Path("/w"),
        env={},
        prompt="x",
        model="script:m",
        model_source="flag",
    )
    assert (options.mode, options.max_steps) == (Mode.WORKSPACE, limits.STEPS_DEFAULT)
    assert options.pipeline is None
    assert (options.tiers, options.seats, options.settings) == (TIERS, {}, ())
    pipeline = Pipeline(names=("verify",))
    assert (pipeline.max_holds, pipeline.test_secs) == (
        limits.HOLDS_DEFAULT,
        limits.TEST_SECS_DEFAULT,
    )
