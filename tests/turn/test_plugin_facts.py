from stella.journal.kinds import arranged
from stella.journal.kinds import known
from stella.turn import plugin_facts
from stella.turn.facts import Fact
from stella.turn.plugin_facts import under_a_turn


def test_every_record_of_a_plugin_is_known_to_the_journal() -> None:
    """[J2-40]"""
    kinds = {
        kind.type: kind
        for kind in vars(plugin_facts).values()
        if isinstance(kind, type) and issubclass(kind, Fact) and kind is not Fact
    }
    parts = {"served_call"}
    assert parts < set(kinds)
    for name in set(kinds) - parts:
        assert known(name)
        fields = dict.fromkeys(kinds[name].__struct_fields__)
        assert list(arranged(name, fields)) == list(fields)


def test_a_turn_under_a_turn_is_told_by_its_id() -> None:
    """[E-2]"""
    assert under_a_turn("t2.a1")
    assert not under_a_turn("t2")
    assert not under_a_turn(None)
