"""Faults at any step of real file work, by the interpreter's own audit events.

Used in a process of its own, because an audit hook is there to stay.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

STEPS = frozenset(
    (
        "open",
        "os.chmod",
        "os.link",
        "os.listdir",
        "os.mkdir",
        "os.remove",
        "os.rename",
        "os.rmdir",
        "os.scandir",
        "os.symlink",
        "fcntl.flock",
    )
)
STARTS = frozenset(
    ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.system")
)


def at_step(number: int, act: Callable[[str, tuple[Any, ...]], None]) -> Callable[[], int]:
    """Do `act` just before the step of that number, from 1; returns how many there were."""
    count = 0

    def watch(event: str, args: tuple[Any, ...]) -> None:
        nonlocal count
        if event in STEPS:
            count += 1
            if count == number:
                act(event, args)

    sys.addaudithook(watch)
    return lambda: count


def from_step(number: int, act: Callable[[str, tuple[Any, ...]], None]) -> None:
    """Do `act` before the step of that number, from 1, and before every later one."""
    count = 0

    def watch(event: str, args: tuple[Any, ...]) -> None:
        nonlocal count
        if event in STEPS:
            count += 1
            if count >= number:
                act(event, args)

    sys.addaudithook(watch)


def die(event: str, args: tuple[Any, ...]) -> None:
    """End this process as the system would."""
    del event, args
    os.kill(os.getpid(), signal.SIGKILL)


def fail(error: int) -> Callable[[str, tuple[Any, ...]], None]:
    """Let the step fail with this error number."""

    def act(event: str, args: tuple[Any, ...]) -> None:
        del event, args
        raise OSError(error, os.strerror(error))

    return act


def on_opening(name: str, act: Callable[[], None]) -> None:
    """Do `act` once, just before a file of that name is opened."""
    done = False

    def watch(event: str, args: tuple[Any, ...]) -> None:
        nonlocal done
        if event == "open" and args[0] == name and not done:
            done = True
            act()

    sys.addaudithook(watch)


def starts() -> Callable[[], list[str]]:
    """Return a list, when asked, of every attempt to start a process from now on."""
    found: list[str] = []

    def watch(event: str, args: tuple[Any, ...]) -> None:
        del args
        if event in STARTS:
            found.append(event)

    sys.addaudithook(watch)
    return lambda: found
