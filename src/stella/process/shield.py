"""Keeping what the command holds from the programs it starts: its variables, files and memory.

A child runs as the same person, and the system would let it read all of that from `/proc`. Only
the command calls this; the process of an embedder is its own [attacks E127].
"""

import sys
from typing import Final

_DUMPABLE: Final = 4  # PR_SET_DUMPABLE


def shield() -> None:
    """Make this process closed to every other of the same person; Linux only, else nothing.

    A program that it starts is open again from its exec on, so none may carry credentials.
    """
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 - several milliseconds that no other system needs

        zero = ctypes.c_ulong(0)
        ctypes.CDLL(None).prctl(_DUMPABLE, zero, zero, zero, zero)
