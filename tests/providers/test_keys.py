from stella.process.environment import withheld
from stella.providers.keys import KEY_VARIABLES


def test_no_child_gets_a_providers_key() -> None:
    """[M2-28, T-11]"""
    assert set(withheld(KEY_VARIABLES, KEY_VARIABLES)) == KEY_VARIABLES
    assert "ANTHROPIC_API_KEY" in KEY_VARIABLES
