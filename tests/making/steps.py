"""Every step of real file work that writes, counted, and the system failing at any one of them.

Used in a process of its own: the functions of `os` are replaced there and stay so.
"""

import errno
import os
import signal
from collections.abc import Callable
from typing import Any

Act = Callable[[str], None]
STEPS = (
    "write",
    "fsync",
    "rename",
    "replace",
    "mkdir",
    "rmdir",
    "unlink",
    "link",
    "symlink",
    "chmod",
    "fchmod",
    "ftruncate",
)


def interposed(number: int, act: Act) -> Callable[[], list[str]]:
    """Do `act` in place of the writing step of that number, from 1; returns the steps so far.

    Of a write the first half is written before, as a full disk or a crash leaves it. A sync is
    counted and not done: only the loss of power could tell.
    """
    met: list[str] = []

    def met_one(name: str, halve: Callable[[], object]) -> None:
        met.append(name)
        if len(met) == number or (len(met) > number > 0 and act is failing_from_now):
            halve()
            act(name)

    def wrapped(name: str) -> None:
        own: Callable[..., Any] = getattr(os, name)

        def step(*args: Any, **terms: Any) -> Any:
            half = (lambda: own(args[0], args[1][: len(args[1]) // 2])) if name == "write" else int
            met_one(name, half)
            return None if name == "fsync" else own(*args, **terms)

        setattr(os, name, step)

    for name in STEPS:
        wrapped(name)
    opening = os.open

    def opened(path: Any, flags: int, *args: Any, **terms: Any) -> int:
        if flags & os.O_CREAT:
            met_one("open", int)
        return opening(path, flags, *args, **terms)

    os.open = opened
    return lambda: met


def killed(name: str) -> None:
    """End this process as the system would."""
    del name
    os.kill(os.getpid(), signal.SIGKILL)


def failing(error: int) -> Act:
    """Let the step fail with this error number."""

    def act(name: str) -> None:
        raise OSError(error, os.strerror(error))

    return act


def failing_from_now(name: str) -> None:
    """Let the step fail, and every later one."""
    raise OSError(errno.EROFS, os.strerror(errno.EROFS))
