"""How a child process came to its end, and what it had said by then."""

from dataclasses import dataclass
from dataclasses import field
from enum import Enum


class Ending(Enum):
    """Why a run is over. Only the first two were the child's own doing."""

    EXITED = "exited"
    """The child exited; `code` says how [T-28]."""
    SIGNALLED = "signalled"
    """A signal that the host did not send ended the child [T-28]."""
    TIMED_OUT = "timed-out"
    """The deadline passed before the child had exited [T-22, T-27]."""
    OVERFLOWED = "overflowed"
    """The output crossed the cap [T-24]."""
    STOPPED = "stopped"
    """The talk asked for the end."""
    NOT_STARTED = "not-started"
    """There never was a child; `reason` says why [T-8]."""
    LOST = "lost"
    """The child was watched no longer: its guard was killed, or a pipe broke."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """One run, over. Nothing of it is running any more, except what `left` counts.

    `code` or `signal` is how the child itself ended, whoever ended it; both are None when
    there was none or nobody saw. `stdout` and `stderr` are what was kept, the `_bytes` beside
    them how much there was. A merged run has everything in `stdout`, in order of arrival.
    The bytes are left out of the repr, which asyncio makes of any task's result.
    """

    ending: Ending
    code: int | None = None
    signal: int | None = None
    stdout: bytes = field(default=b"", repr=False)
    stderr: bytes = field(default=b"", repr=False)
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    overflowed: str | None = None
    """The stream that crossed the cap, `stdout` or `stderr` [T-24]."""
    reason: str = ""
    """Why the child was not started or was lost, for a person; else empty [T-8]."""
    errno: int | None = None
    """The system's error number behind `reason`, when there is one."""
    duration_ms: int = 0
    """From the start to the child's exit, or to the end of the run when nobody saw the exit."""
    survivors: int = 0
    """Processes that were still there when the child had exited, and were killed [T-26]."""
    left: int = 0
    """Processes that the system did not let us kill: they run with other rights."""
    stdin_broken: str | None = None
    """A write error other than a broken pipe [T-21, W-52]."""
