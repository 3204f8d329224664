import pytest

from stella import limits
from stella.turn.emitting import emitted
from stella.turn.facts import Emitted
from stella.wire.host_call import EmitArgs
from stella.wire.host_result import RefusedCall
from stella.wire.points import Refusal


def event(name: str = "seen", size: int | None = None) -> Emitted | RefusedCall:
    payload: dict[str, object] = {} if size is None else {"a": "x" * (size - len('{"a":""}'))}
    return emitted("judge", EmitArgs(name=name, payload=payload))


@pytest.mark.behaviour("D-60")
@pytest.mark.parametrize("name", ["a", "flip-seen", "a.b_c.0-9", "x" * limits.EMIT_NAME_BYTES])
def test_an_event_bears_its_plugin_s_name(name: str) -> None:
    """[W-32, D-60]"""
    assert event(name) == Emitted(name=f"plugin.judge.{name}", payload={})


@pytest.mark.behaviour("W-32")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.*", 'the name "a.*" is not'),
        ("", 'the name "" is not'),
        ("A", 'the name "A" is not'),
        ("a..b", "is not dot-joined segments"),
        (".a", "is not dot-joined segments"),
        ("a.", "is not dot-joined segments"),
        ("a b", "is not dot-joined segments"),
        ("a\n", "is not dot-joined segments"),
        ("\u00e4", "is not dot-joined segments"),
        ("x" * (limits.EMIT_NAME_BYTES + 1), "the name has 65 bytes, and the limit is 64"),
    ],
)
def test_a_name_that_is_none_is_refused(name: str, words: str) -> None:
    """[W-32, K-146]"""
    refused = event(name)
    assert isinstance(refused, RefusedCall)
    assert refused.refusal is Refusal.FAILED
    assert words in refused.detail


def test_a_payload_may_have_65536_bytes_and_not_one_more() -> None:
    """[W-32, K-146]"""
    assert isinstance(event(size=limits.EMIT_BYTES), Emitted)
    refused = event(size=limits.EMIT_BYTES + 1)
    assert isinstance(refused, RefusedCall)
    assert refused.detail == "the payload has 65537 bytes, and the limit is 65536"
