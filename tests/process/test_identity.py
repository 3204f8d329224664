import os
from signal import SIGKILL

import pytest

from stella import codec
from stella import limits
from stella.codec import Refused
from stella.process.identity import Identity
from stella.process.identity import alive
from stella.process.identity import own
from stella.process.identity import started
from tests.making.child import said_by_nobody
from tests.making.child import start
from tests.making.processes import children
from tests.making.processes import eventually


def test_this_process_is_alive_and_knows_when_it_started() -> None:
    me = own()
    assert me.pid == os.getpid()
    assert me.started.isdecimal()
    assert alive(me)


def test_a_process_of_the_same_number_and_another_start_is_another_process() -> None:
    """[T-33]"""
    assert not alive(Identity(pid=os.getpid(), started="1"))


def test_a_process_of_somebody_else_is_alive_too() -> None:
    """The system refuses the question, which is an answer."""
    lives = said_by_nobody(lambda: str(alive(Identity(pid=1, started=started(1)))))
    assert lives == "True"


def test_a_process_that_is_gone_is_not_alive() -> None:
    gone = Identity(pid=limits.PROCESS_ID_MAX, started="")
    assert started(gone.pid) == ""
    assert not alive(gone)


def test_a_dead_process_that_nobody_reaped_is_not_alive() -> None:
    """[T-33] its number still stands in the process table."""
    pid = start(lambda: os.kill(os.getpid(), SIGKILL))
    began = Identity(pid=pid, started="77")
    eventually(lambda: pid in children(os.getpid(), "Z"))
    assert started(pid) == ""
    assert not alive(began)
    os.waitpid(pid, 0)


@pytest.mark.parametrize("pid", [0, limits.PROCESS_ID_MAX + 1])
def test_a_number_that_no_process_has_is_not_read(pid: int) -> None:
    """limits.PROCESS_ID_MAX, one past it and below the first."""
    with pytest.raises(Refused):
        codec.read(Identity, codec.encode({"pid": pid, "started": ""}))
    at = codec.encode({"pid": limits.PROCESS_ID_MAX, "started": ""})
    assert codec.read(Identity, at).pid == limits.PROCESS_ID_MAX
