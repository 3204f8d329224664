from stella import codec
from stella.session.facts import SessionClosed
from stella.turn.facts import RunStatus
from stella.turn.facts import UsageTotal


def test_an_unknown_cost_is_written_as_null_and_zeros_as_zeros() -> None:
    """[E-82, E-85]"""
    closed = codec.plain(SessionClosed(status=RunStatus.MET, turns=1, usage=UsageTotal()))
    assert closed["cost_usd"] is None
    assert closed["usage"]["input_tokens"] == 0
    assert closed["usage"]["known_cost_usd"] == 0.0
