"""The vocabulary of ends, and a value that can be logged."""

from stella.process.ending import Completed
from stella.process.ending import Ending


def test_the_ways_to_end_are_closed() -> None:
    assert [ending.value for ending in Ending] == [
        "exited",
        "signalled",
        "timed-out",
        "overflowed",
        "stopped",
        "not-started",
        "lost",
    ]


def test_what_a_child_said_is_not_in_the_repr() -> None:
    """asyncio makes the repr of any task's result, and output may be long and secret."""
    done = Completed(ending=Ending.EXITED, code=0, stdout=b"secret", stderr=b"secret")
    assert "secret" not in repr(done)
    assert "code=0" in repr(done)
