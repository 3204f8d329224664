from stella.wire.host_call import ARGS
from stella.wire.points import Call


def test_every_call_has_the_shape_of_its_arguments() -> None:
    """[W-30]"""
    assert set(ARGS) == set(Call)
