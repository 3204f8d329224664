"""Keeping what the command holds from the programs it starts: its variables, files and memory.

A child runs as the same person, and the system would let it read all of that from `/proc`. Only
the command calls this; the process of an embedder is its own [attacks E127].
"""

import sys
from typing import Final

_DUMPABLE: Final = 4  # PR_SET_DUMPABLE


def conceal() -> str | None:
    """Close this process to every other of the same person; return why it could not be.

    Linux has the files and the switch; elsewhere there is nothing to close. A program that it
    starts is open again from its exec on, so none may carry credentials.
    """
    if sys.platform != "linux":
        return None
    try:
        import ctypes  # noqa: PLC0415  # several milliseconds that no other system needs
    except ImportError as error:
        return _open(str(error))
    zero = ctypes.c_ulong(0)
    if ctypes.CDLL(None).prctl(_DUMPABLE, zero, zero, zero, zero):
        return _open("the system refused")
    return None


def _open(why: str) -> str:
    return f"programs started here can read the variables and files of this command: {why}"
