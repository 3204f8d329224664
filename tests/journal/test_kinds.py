import pytest

from stella.journal.kinds import KINDS
from stella.journal.kinds import arranged
from stella.journal.kinds import known
from stella.turn import facts
from stella.turn.facts import Fact

FACTS = [fact for fact in vars(facts).values() if isinstance(fact, type) and issubclass(fact, Fact)]


def test_data_is_written_in_the_order_of_its_type() -> None:
    """[J2-10, J2-40]"""
    data = {"duration_ms": 1, "output": {}, "input": {}, "tool": "bash", "call_id": "t1.c1"}
    assert list(arranged("tool_finished", data)) == [
        "call_id",
        "tool",
        "input",
        "output",
        "duration_ms",
    ]


def test_a_key_that_may_be_absent_is_omitted_and_another_is_null() -> None:
    """[J2-10] unknown is null, never left out."""
    assert arranged("turn_ended", {"status": "failed", "cause": None}) == {
        "status": "failed",
        "cause": None,
        "stop_gate": None,
        "steps": None,
        "usage": None,
        "cost_usd": None,
        "text": None,
    }


def test_an_unknown_type_is_refused_with_a_near_word() -> None:
    with pytest.raises(ValueError, match='unknown record type "notise"; did you mean notice'):
        arranged("notise", {})
    with pytest.raises(ValueError, match='unknown record type "notice@2"; did you mean notice'):
        arranged("notice@2", {})
    with pytest.raises(ValueError, match=r'unknown record type "q"$'):
        arranged("q", {})


@pytest.mark.parametrize("key", ["redacted", "cut", "Text"])
def test_a_key_the_type_does_not_have_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match=f'notice: unknown key "{key}"'):
        arranged("notice", {"code": "a", "text": "b", key: 1})


@pytest.mark.parametrize(
    ("kind", "is_known"),
    [
        ("plugin.verify.measured", True),
        ("plugin.verify.a.b", True),
        ("host.shop.order", True),
        ("plugin.verify", False),
        ("plugin..x", False),
        ("plugin.verify.measured@2", False),
        ("other.verify.x", False),
        ("notice@2", False),
        ("notice", True),
    ],
)
def test_which_types_a_reader_knows(kind: str, is_known: bool) -> None:  # a row of a table
    """[J2-10, J2-12]"""
    assert known(kind) == is_known


def test_what_a_plugin_emits_stands_under_payload() -> None:
    assert arranged("plugin.verify.measured", {"payload": {"redacted": 1}}) == {
        "payload": {"redacted": 1}
    }
    with pytest.raises(ValueError, match="unknown key"):
        arranged("plugin.verify.measured", {"n": 1})


@pytest.mark.parametrize("fact", [fact for fact in FACTS if getattr(fact, "type", "") in KINDS])
def test_what_a_turn_tells_has_the_keys_of_its_record(fact: type[Fact]) -> None:
    """[J2-43]"""
    row = [key.removesuffix("?") for key in KINDS[fact.type].split()]
    told = [key for key in fact.__struct_fields__ if key not in fact.unwritten]
    assert told == [key for key in row if key in told]
