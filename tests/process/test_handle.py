"""A signal reaches the process it was meant for, or nobody [T-31]."""

import os
import signal
import subprocess

import pytest

from stella.process.handle import Handle
from tests.making.processes import descriptors


def test_a_signal_reaches_the_process() -> None:
    with subprocess.Popen(["/bin/sleep", "600"]) as process:
        handle = Handle(process.pid)
        assert handle.send(0)
        assert handle.send(signal.SIGKILL)
        process.wait()
        handle.close()
    assert process.returncode == -signal.SIGKILL


@pytest.mark.behaviour("T-31")
def test_nothing_is_sent_to_a_process_that_is_gone() -> None:
    with subprocess.Popen(["/bin/sleep", "600"]) as process:
        handle = Handle(process.pid)
        process.kill()
        process.wait()
        assert not handle.send(0)
        assert not handle.send(signal.SIGKILL)
        handle.close()


@pytest.mark.behaviour("T-31")
def test_nothing_is_sent_without_a_descriptor_unless_the_child_is_our_own() -> None:
    """The rule of a system that has no process descriptors."""
    with subprocess.Popen(["/bin/sleep", "600"]) as process:
        ours, theirs = Handle(process.pid, own=True), Handle(process.pid)
        for handle in (ours, theirs):
            assert handle._descriptor is not None  # noqa: SLF001 - the system that has none
            os.close(handle._descriptor)  # noqa: SLF001
            handle._descriptor = None  # noqa: SLF001
        assert not theirs.send(signal.SIGKILL)
        assert process.poll() is None
        assert ours.send(signal.SIGKILL)
        process.wait()
        assert not ours.send(0)


def test_a_process_that_never_was_gets_nothing() -> None:
    assert not Handle(2**22 + 1).send(0)


def test_a_closed_handle_holds_and_reaches_nothing() -> None:
    before = descriptors(os.getpid())
    handle = Handle(os.getpid(), own=True)
    handle.close()
    handle.close()
    assert not handle.send(0)
    assert descriptors(os.getpid()) == before
