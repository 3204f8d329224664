from stella.turn.facts import Noticed
from stella.turn.questions import Tell
from stella.turn.questions import tell


def test_only_the_last_of_several_facts_waits_for_the_disk() -> None:
    """[J2-30] A barrier covers everything before it."""
    facts = [Noticed(code="a", text="1"), Noticed(code="b", text="2")]
    told = list(tell("t1", *facts, durable=True))
    assert told == [
        Tell(turn="t1", fact=facts[0]),
        Tell(turn="t1", fact=facts[1], durable=True),
    ]
