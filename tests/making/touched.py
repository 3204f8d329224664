"""What the system says was done to a file, whoever did it: opened, read, written.

The kernel's own notices, so nothing a program says of itself is believed. A watch is on the file,
not on its name: a link's target is seen by whatever way it is reached. Opening a name only to
ask about it, as `stat` does, is no event.
"""

import ctypes
import os
import struct
from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

READ: Final = "read"
WRITTEN: Final = "written"
OPENED: Final = "opened"

_EVENTS: Final = {0x1: READ, 0x2: WRITTEN, 0x20: OPENED}  # IN_ACCESS, IN_MODIFY, IN_OPEN
_DONT_FOLLOW: Final = 0x02000000
_HEAD: Final = struct.Struct("iIII")
_ROOM: Final = 65_536


@contextmanager
def touched(*paths: Path) -> Iterator[Callable[[], set[tuple[str, str]]]]:
    """Watch files, and directories with what stands in them; links themselves, not their targets.

    What is given returns, when asked, each path as it was given with each thing done to it.
    """
    system = ctypes.CDLL(None, use_errno=True)
    notices = system.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    assert notices >= 0, os.strerror(ctypes.get_errno())
    seen: set[tuple[str, str]] = set()
    watches: dict[int, str] = {}

    def told() -> set[tuple[str, str]]:
        while True:
            try:
                data = os.read(notices, _ROOM)
            except BlockingIOError:
                return set(seen)
            while data:
                watch, what, _, length = _HEAD.unpack_from(data)
                data = data[_HEAD.size + length :]
                assert watch in watches, "more was done than the system keeps notices of"
                seen.update((watches[watch], word) for bit, word in _EVENTS.items() if what & bit)

    try:
        for path in paths:
            mask = sum(_EVENTS) | _DONT_FOLLOW
            watch = system.inotify_add_watch(notices, os.fsencode(path), ctypes.c_uint32(mask))
            assert watch >= 0, f"{path}: {os.strerror(ctypes.get_errno())}"
            watches[watch] = str(path)
        yield told
    finally:
        os.close(notices)
