"""Real processes of this test run: a function runs in a fork, and what it says comes back."""

import os
import tempfile
import warnings
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from signal import SIGKILL

NOBODY = 65534


def start(work: Callable[[], None]) -> int:
    """Run `work` in a new process and return its id; the caller waits for it."""
    with warnings.catch_warnings():
        # The runner's own thread takes no lock that a forked child needs before it ends.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid:
        return pid
    try:
        work()
    finally:
        os._exit(0)


def said(work: Callable[[], str]) -> str:
    """Return what `work` returns in a process of its own, or the error that it ended with."""
    reading, writing = os.pipe()

    def answer() -> None:
        try:
            text = work()
        except BaseException as error:  # noqa: BLE001  # whatever it is, the parent asserts on it
            text = f"{type(error).__name__}: {error}"
        os.write(writing, text.encode())

    pid = start(answer)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(pid, 0)
    return text


def said_by_nobody(work: Callable[[], str]) -> str:
    """As `said`, without root's powers when the suite has them."""

    def lowered() -> str:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        return work()

    return said(lowered)


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that a process without powers may enter and use."""
    folder = Path(tempfile.mkdtemp(prefix="stella-test-"))
    try:
        folder.chmod(0o777)
        yield folder
    finally:
        rmtree(folder)


@contextmanager
def running(work: Callable[[], None]) -> Iterator[int]:
    """Run `work` in a process that is killed, as the system would do it, at the end."""
    pid = start(work)
    try:
        yield pid
    finally:
        os.kill(pid, SIGKILL)
        os.waitpid(pid, 0)


@contextmanager
def holding(setup: Callable[[], object]) -> Iterator[int]:
    """A process that has run `setup` and keeps what came of it until it is killed at the end."""
    reading, writing = os.pipe()
    never, kept_open = os.pipe()

    def hold() -> None:
        os.close(kept_open)
        kept = setup()
        os.write(writing, b".")
        os.read(never, 1)
        del kept

    try:
        with running(hold) as pid:
            os.close(writing)
            assert os.read(reading, 1) == b".", "the process could not set up"
            yield pid
    finally:
        for descriptor in (reading, never, kept_open):
            os.close(descriptor)
