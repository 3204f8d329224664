from stella import codec
from stella.journal.kinds import KINDS
from stella.journal.kinds import arranged
from stella.turn.hook_facts import GateEnd
from stella.turn.hook_facts import HookRan
from stella.turn.hook_facts import StopGated


def test_the_ends_of_the_gate_are_spelled_as_the_contract_spells_them() -> None:
    """[E-44]"""
    assert [word.value for word in GateEnd] == [
        "not_asked",
        "allowed",
        "capped",
        "unavailable",
        "unanswered",
    ]


def test_the_records_have_the_keys_of_their_type_in_order() -> None:
    """[H-53, E-38] A success has no cause, and says so."""
    for fact in (HookRan, StopGated):
        row = [key.removesuffix("?") for key in KINDS[fact.type].split()]
        assert list(fact.__struct_fields__) == row
    ran = HookRan(event="Stop", by="plugin:a", decision="none", duration_ms=1)
    told = arranged("hook_run", codec.plain(ran))
    assert (told["cause"], told["exit_code"]) == (None, None)
    assert "stdout_tail" not in told
